"""Goals and predictions that the command line requests from the curves of a study."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from plexlens.compare.analysis.analysis import Analysis
from plexlens.compare.analysis.curves import CapacityCurve
from plexlens.errors import UsageError

#: Largest number of processors that a law is asked for.
MOST_PROCESSORS = 1024


def _number(text: str, option: str, given: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (number > 0 and math.isfinite(number)):
        raise UsageError(
            file="",
            what=f"{option} {given}: {text!r} is not a number above zero",
            remedy=f"write {option} CURVE=NUMBER",
        )
    return number


def _split(given: str, option: str) -> tuple[str, str]:
    name, sign, value = given.partition("=")
    if not name or not sign:
        raise UsageError(file="", what=f"{option} {given!r} names no curve", remedy=f"write {option} CURVE=NUMBER")
    return name, value


def asked_of(goals: Iterable[str], predictions: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The requests, by the id of the curve.

    Parameters
    ----------
    goals
        Each ``CURVE=NUMBER``: the goal of a curve over load or size, in its unit.
    predictions
        Each ``CURVE=NUMBER[,NUMBER...]``: numbers of processors for which a capacity curve is to predict throughput.

    Raises
    ------
    UsageError
        One of them is not written so.
    """
    options: dict[str, dict[str, Any]] = {}
    for given in goals:
        name, value = _split(given, "--goal")
        options.setdefault(name, {})["goal"] = _number(value, "--goal", given)
    for given in predictions:
        name, value = _split(given, "--predict")
        numbers = sorted({_number(part, "--predict", given) for part in value.split(",")})
        if numbers[-1] > MOST_PROCESSORS:
            raise UsageError(
                file="",
                what=f"--predict {given}: {numbers[-1]:g} processors",
                remedy=f"ask for {MOST_PROCESSORS} at most",
            )
        options.setdefault(name, {})["predict"] = numbers
    return options


def check_asked(options: dict[str, dict[str, Any]], analyses: Sequence[Analysis]) -> None:
    """Refuse requests that no curve of the studies can answer.

    Raises
    ------
    UsageError
        There is no curve of that name; the message names those that there are.
    """
    curves = {curve.id: curve for analysis in analyses for curve in analysis.curves}
    for name, keys in options.items():
        option = "--predict" if "predict" in keys else "--goal"
        fitting = [
            other for other, curve in curves.items() if isinstance(curve, CapacityCurve) == (option == "--predict")
        ]
        if name not in fitting:
            raise UsageError(
                file="",
                what=f"{option} {name}: there is no such curve",
                remedy=f"name one of {', '.join(fitting)}" if fitting else "name a study that has such curves",
            )
