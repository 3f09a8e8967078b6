"""Statements of a study about two of its tables: claims in its text, and predictions of the second from the first.

``compare.toml`` of the study declares it in ``[[pairs]]``: the two tables, the file with the claims
(`plexlens.compare.analysis.claims`), and the predictions as printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli

from plexlens.compare.analysis.claims import Claim, read_claim
from plexlens.compare.analysis.entries import Entry
from plexlens.compare.analysis.values import Numbers
from plexlens.compare.audit.audit import audit
from plexlens.compare.comparison.study_run import COMPARE
from plexlens.compare.numbers.quantity import printed
from plexlens.compare.runs.headings import Headings, common_name
from plexlens.compare.runs.prediction_check import RateCheck, check_rate
from plexlens.compare.runs.run import Run
from plexlens.compare.study.model import Study, StudyError
from plexlens.compare.study.reader import load_study

_PAIR_KEYS = ("base", "new", "claims", "predictions", "notes")
_PREDICTION_KEYS = ("object", "rate", "work", "predicted", "place", "text")


@dataclass(frozen=True)
class StudyPair:
    """Statements of a study about two tables.

    Attributes
    ----------
    claims
        Numbers of its text against its tables.
    predictions
        Predictions of its text, each for one object, against the second table; with what the load explains.
    notes
        Other statements about the comparison, paraphrased.
    """

    claims: tuple[Claim, ...]
    predictions: tuple[tuple[str, str, RateCheck], ...]
    notes: tuple[str, ...]


def study_pair(base: Run, new: Run, folder: Path | None = None) -> StudyPair | None:
    """Statements of the study about the tables of two runs; None if there are none.

    Raises
    ------
    StudyError
        The files that declare it cannot be read, or name what is not there.
    """
    study = load_study(base.family, folder)
    path = study.path.parent / COMPARE
    if not path.is_file():
        return None
    tables = tuple(run.name.partition(":")[2] for run in (base, new))
    content = tomli.loads(path.read_text(encoding="utf-8"))
    for number, pair in enumerate(content.get("pairs", ()), 1):
        where = f"pair {number}"
        _only(path, where, pair, _PAIR_KEYS)
        for key in ("base", "new"):
            if pair.get(key) not in study.tables:
                raise _wrong(path, f"{where}: there is no table {pair.get(key)!r}", ", ".join(study.tables))
        if (pair["base"], pair["new"]) == tables:
            return _read(study, path, where, pair, (base, new))
    return None


def _read(study: Study, path: Path, where: str, pair: Mapping[str, Any], runs: tuple[Run, Run]) -> StudyPair:
    claims: tuple[Claim, ...] = ()
    if "claims" in pair:
        file = study.path.parent / str(pair["claims"])
        if not file.is_file():
            raise _wrong(path, f"{where}, claims: there is no file {file.name}", "the name of a file next to this one")
        numbers = Numbers(audit(study), str(file))
        content = tomli.loads(file.read_text(encoding="utf-8"))
        claims = tuple(read_claim(entry) for entry in Entry(content, file.name, numbers).entries("claims"))
    predictions = []
    for number, name in enumerate(pair.get("predictions", ()), 1):
        place = f"{where}, prediction {number}"
        _only(path, place, name, _PREDICTION_KEYS)
        predictions.append(_prediction(path, place, name, runs, study.headings))
    return StudyPair(claims, tuple(predictions), tuple(str(note) for note in pair.get("notes", ())))


def _prediction(
    path: Path, where: str, entry: Mapping[str, Any], runs: tuple[Run, Run], headings: Headings
) -> tuple[str, str, RateCheck]:
    base, new = runs
    for key in _PREDICTION_KEYS:
        if key not in entry:
            raise _wrong(path, f"{where}: key {key!r} is missing", "a value for it")
    object_name = str(entry["object"])
    try:
        predicted = printed(str(entry["predicted"]))
    except ValueError as error:
        raise _wrong(path, f"{where}: {error}", "the number as printed") from error
    rate, work = (common_name(headings, str(entry[key])) for key in ("rate", "work"))
    before, actual = base.value(rate, object_name), new.value(rate, object_name)
    work_before, work_after = base.value(work, object_name), new.value(work, object_name)
    if predicted is None or before is None or actual is None or work_before is None or work_after is None:
        raise _wrong(
            path, f"{where}: {object_name!r} has no {entry['rate']!r} or {entry['work']!r}", "an object of both tables"
        )
    check = check_rate(
        object_name,
        base=before,
        predicted=float(predicted.value),
        actual=actual,
        work_base=work_before,
        work_new=work_after,
    )
    return str(entry["text"]), str(entry["place"]), check


def _only(path: Path, where: str, entry: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(entry, dict):
        raise _wrong(path, f"{where}: it is not a table", ", ".join(allowed))
    for key in entry:
        if key not in allowed:
            raise _wrong(path, f"{where}: there is no key {key!r}", ", ".join(allowed))


def _wrong(path: Path, what: str, choices: str) -> StudyError:
    return StudyError(file=str(path), what=what, remedy=f"use {choices}")
