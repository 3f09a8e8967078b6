"""Advice on which way into CICS suits a payload, a rate, a kind of connection and security: its cost and its limit.

The ways, where each was measured and what limits it are data (``ways_in.toml`` next to the study's tables). Costs are
read from the measured points: between two of them the processor time of each address space is interpolated over the
rate. Outside of what was measured nothing is said unless it is asked for, and the result then says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import tomli

from plexlens.compare.analysis.entries import Entry
from plexlens.compare.analysis.values import Numbers
from plexlens.compare.audit.audit import Audit, audit
from plexlens.compare.numbers.line import fit_line
from plexlens.compare.numbers.quantity import UndefinedError
from plexlens.compare.study.model import StudyError
from plexlens.compare.study.reader import load_study
from plexlens.errors import UsageError
from plexlens.metrics.page_numbers import page_numbers

#: The study that measured the ways.
STUDY = "cics-2012"

CONNECTIONS = ("persistent", "per-request")
SECURITIES = ("none", "ssl")

_WAYS = page_numbers("ways")

#: Any of the choices.
ANY = "any"

#: What ways can be ranked by: all processor time, or that on general-purpose processors.
RANKS = ("cpu", "general")

_PAYLOAD = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>|bytes|byte|b|k|kb|kib)\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Wish:
    """The requirements.

    Attributes
    ----------
    payload
        Bytes in, and as many out.
    rate
        Transactions per second.
    connection, security
        One of `CONNECTIONS` and `SECURITIES`, or `ANY`.
    engines
        General-purpose processors there are.
    extrapolate
        Whether ways are ranked that were not measured at that payload or rate.
    rank
        One of `RANKS`.
    """

    payload: int
    rate: float
    connection: str = ANY
    security: str = ANY
    engines: float | None = None
    extrapolate: bool = False
    rank: str = "cpu"

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("connection", self.connection, (*CONNECTIONS, ANY)), ("security", self.security, (*SECURITIES, ANY)),
            ("rank", self.rank, RANKS),
        ):  # fmt: skip
            if value not in choices:
                raise UsageError(
                    file="", what=f"there is no {name} {value!r}", remedy=f"use one of {', '.join(choices)}"
                )
        if not (self.rate > 0 and math.isfinite(self.rate)):
            raise UsageError(
                file="", what=f"rate {self.rate:g} is not above zero", remedy="give transactions per second"
            )
        if self.payload <= 0:
            raise UsageError(file="", what="the payload is not above zero", remedy="give bytes, as 1920 or 32KB")
        if self.engines is not None and not self.engines > 0:
            raise UsageError(file="", what=f"there are {self.engines:g} engines", remedy="give a number above zero")


def payload_bytes(text: str) -> int:
    """Bytes of a payload such as ``1920`` or ``32KB``; a KB is 1024 bytes, as in the study.

    Raises
    ------
    UsageError
        It is not a size.
    """
    match = _PAYLOAD.match(text.strip())
    if match is None:
        raise UsageError(file="", what=f"{text!r} is not a payload", remedy="give bytes, as 1920, 1920bytes or 32KB")
    return round(float(match["number"]) * (1024 if match["unit"].lower().startswith("k") else 1))


@dataclass(frozen=True)
class Limit:
    """A limit on throughput.

    Attributes
    ----------
    name, text
        What it is, and how it limits.
    rate
        Transactions per second at which it binds.
    basis
        Where the rate comes from.
    relief
        What there has to be more of, for more.
    """

    name: str
    text: str
    rate: float
    basis: str
    relief: str


@dataclass(frozen=True)
class Way:
    """A usable way, at the requested rate.

    Attributes
    ----------
    parts
        Milliseconds per transaction by address space: on general-purpose processors, then on specialty engines.
    general_ms, specialty_ms, total_ms
        Their sums.
    general_engines, specialty_engines
        Processors of each kind kept busy.
    response_ms
        Response time, interpolated between measured points; None outside of them.
    measured
        Lowest and highest rate measured.
    payload
        Bytes measured.
    limits
        In rising order of rate; the first one binds first.
    beyond
        Respects in which the request is outside the measured range; empty if there are none.
    """

    id: str
    title: str
    table: str
    connection: str
    security: str
    parts: tuple[tuple[str, float], ...]
    general_ms: float
    specialty_ms: float
    response_ms: float | None
    general_engines: float
    specialty_engines: float
    measured: tuple[float, float]
    payload: int
    limits: tuple[Limit, ...]
    beyond: tuple[str, ...]
    caveats: tuple[str, ...]

    @property
    def total_ms(self) -> float:
        """Milliseconds per transaction on processors of any kind."""
        return self.general_ms + self.specialty_ms

    @property
    def binding(self) -> Limit:
        """The limit that binds first."""
        return self.limits[0]

    def needed(self, rate: float) -> int:
        """Number of units of the limiting resource required for a rate."""
        return max(1, math.ceil(rate / self.binding.rate - 1e-9))


@dataclass(frozen=True)
class NotTaken:
    """A way that is left out, and the reason.

    Attributes
    ----------
    can_extrapolate
        Whether it would be ranked if extrapolation were asked for.
    """

    id: str
    title: str
    reason: str
    can_extrapolate: bool = False


@dataclass(frozen=True)
class Advice:
    """Ranked ways.

    Attributes
    ----------
    ways
        The cheapest first.
    left_out
        All others.
    caveats
        What holds for the study as a whole.
    source
        Which study.
    """

    wish: Wish
    engines: float
    ways: tuple[Way, ...]
    left_out: tuple[NotTaken, ...]
    caveats: tuple[str, ...]
    source: str


def advise(wish: Wish, result: Audit | None = None) -> Advice:
    """Rank the ways for the requirements.

    Parameters
    ----------
    wish
        What is asked for.
    result
        The study recomputed; that which comes with Plexlens if not given.

    Raises
    ------
    UsageError
        No way was measured so; the message says what was.
    StudyError
        ``ways_in.toml`` cannot be read or names what the study does not have.
    """
    result = audit(load_study(STUDY)) if result is None else result
    path = result.study.path.parent / "ways_in.toml"
    try:
        content = tomli.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise StudyError(
            file=str(path),
            what="there is no such file, so the study names no ways",
            remedy="name the way of each test: plexlens run --study FOLDER --way NAME:PAYLOAD:CONNECTION:SECURITY",
        ) from error
    except (OSError, UnicodeDecodeError, tomli.TOMLDecodeError) as error:
        raise StudyError(file=str(path), what=f"it cannot be read: {error}", remedy="restore the file") from error
    whole = Entry(content, "", Numbers(result, str(path)))
    whole.only("caveats", "engines", "specialty_engines", "ways")
    engines = whole.number("engines") if wish.engines is None else wish.engines
    ways = [_way(entry, wish, engines) for entry in whole.entries("ways")]
    taken = [way for way in ways if isinstance(way, Way)]
    others = [way for way in ways if isinstance(way, NotTaken)]
    if not taken:
        near = [other for other in others if other.can_extrapolate]
        text = "; ".join(f"{way.title}: {way.reason}" for way in near)
        raise UsageError(
            file="",
            what=f"no way into CICS was measured at {wish.payload:,} bytes at {wish.rate:,g} transactions per second, "
            f"{wish.connection} connections and {wish.security} security" + (f" ({text})" if text else ""),
            remedy="give measured values, or --extrapolate" if near else
            f"use {ANY} for connection and security, or a smaller payload",
        )  # fmt: skip
    taken.sort(key=lambda way: (bool(way.beyond), way.total_ms if wish.rank == "cpu" else way.general_ms))
    return Advice(
        wish, engines, tuple(taken), tuple(others), whole.texts("caveats"),
        f"{result.study.title}. {result.study.source}",
    )  # fmt: skip


def _way(entry: Entry, wish: Wish, engines: float) -> Way | NotTaken:
    entry.only(
        "id", "title", "table", "rate", "response", "payload", "largest_payload", "connection", "security", "general",
        "specialty", "region", "caveats", "limits",
    )  # fmt: skip
    name, title = entry.text("id"), entry.text("title")
    connection, security = entry.one_of("connection", CONNECTIONS), entry.one_of("security", SECURITIES)
    table = entry.table()
    rows = list(range(len(table.rows)))
    rates = entry.sums("rate", table, rows)
    payload = int(entry.number("payload"))
    unfit = [
        f"{what}: {there}, not {text}"
        for text, there, what in (
            (wish.connection, connection, "connections"),
            (wish.security, security, "security"),
        )
        if text not in (ANY, there)
    ]
    largest = entry.number("largest_payload", math.inf)
    if wish.payload > largest:
        unfit.append(f"takes at most {largest:,.0f} bytes")
    if unfit:
        return NotTaken(name, title, "; ".join(unfit))
    beyond: list[tuple[str, str]] = []
    if wish.payload != payload:
        bound = "an upper bound" if wish.payload < payload else "a lower bound"
        beyond.append(
            (
                f"measured at {payload:,} bytes",
                f"the cost of {payload:,} bytes is taken unchanged, {bound} for {wish.payload:,}",
            )
        )
    if not min(rates) <= wish.rate <= max(rates):
        beyond.append(
            (
                f"measured from {min(rates):,.0f} to {max(rates):,.0f} transactions per second",
                "a straight line through the measured points is taken",
            )
        )
    if not min(rates) <= wish.rate <= max(rates) and len(set(rates)) < 2:
        return NotTaken(name, title, f"measured at {rates[0]:,.4g} transactions per second alone")
    if beyond and not wish.extrapolate:
        return NotTaken(name, title, "; ".join(measured for measured, _ in beyond), True)
    shares = {column: entry.numbers.floats(table, rows, column, entry.where) for column in _columns(entry)}
    inside = min(rates) <= wish.rate <= max(rates)
    busy = {column: _at(rates, percent, wish.rate) / 100 for column, percent in shares.items()}
    parts = tuple((column, 1000 * (_WAYS["cpu"](busy=value, rate=wish.rate) or 0.0)) for column, value in busy.items())
    specialty = set(entry.texts("specialty"))
    general_ms = sum(ms for column, ms in parts if column not in specialty)
    specialty_ms = sum(ms for column, ms in parts if column in specialty)
    response = _at(rates, entry.sums("response", table, rows), wish.rate) if inside else None
    limits = sorted(
        (*_declared(entry), *_general(entry, rates, shares, general_ms, engines)), key=lambda limit: limit.rate
    )
    return Way(
        name, title, table.id, connection, security, parts, general_ms, specialty_ms, response,
        _engines(wish, general_ms), _engines(wish, specialty_ms), (min(rates), max(rates)), payload,
        tuple(limits), tuple(f"{measured}; {taken}" for measured, taken in beyond), entry.texts("caveats"),
    )  # fmt: skip


def _engines(wish: Wish, milliseconds: float) -> float:
    return _WAYS["engines"](rate=wish.rate, cpu=milliseconds / 1000) or 0.0


def _columns(entry: Entry) -> tuple[str, ...]:
    return (*entry.texts("general"), *entry.texts("specialty"))


def _at(rates: Sequence[float], values: Sequence[float], rate: float) -> float:
    """A value at a rate: interpolated between its neighbours, or on the least squares line outside the range."""
    points = sorted(zip(rates, values, strict=True))
    if rate in rates:
        same = [value for measured, value in points if measured == rate]
        return sum(same) / len(same)
    for (left, low), (right, high) in pairwise(points):
        if left <= rate <= right:
            return low + (high - low) * (rate - left) / (right - left)
    line = fit_line(rates, values)
    if line is None:
        raise ValueError("a line needs two different rates")
    return max(0.0, line.at(rate))


def _declared(entry: Entry) -> list[Limit]:
    results = []
    for limit in entry.entries("limits"):
        limit.only("name", "text", "rate", "basis", "relief")
        try:
            rate = limit.numbers.value(limit.content.get("rate"), f"{limit.where}, key 'rate'")
        except UndefinedError as error:
            raise limit.wrong("rate", str(error), "name cells that hold numbers") from error
        results.append(
            Limit(
                limit.text("name"),
                limit.text("text"),
                float(rate.quantity.value),
                limit.text("basis"),
                limit.text("relief"),
            )
        )
    return results


def _general(
    entry: Entry, rates: Sequence[float], shares: dict[str, list[float]], general_ms: float, engines: float
) -> list[Limit]:
    """Limits common to all ways: the processors, and the region if a single TCB may do all of its work."""
    limits = [
        Limit(
            "general-purpose processors",
            f"{engines:g} processors, always busy.",
            1000 * engines / general_ms,
            "processor time per transaction",
            f"{engines:g} processors",
        )
    ]
    if "region" not in entry.content:
        return limits
    region = shares[entry.text("region")]
    top = max(range(len(rates)), key=lambda place: rates[place])
    stated = any(limit.get("name") == "QR TCB" for limit in _raw_limits(entry))
    if not stated and region[top] <= 100:
        limits.append(
            Limit(
                "QR TCB, at worst",
                f"The region used {region[top]:.1f} % of a processor at {rates[top]:,.0f} transactions per second. If "
                "the QR TCB did all of this work, it would be full at this rate; work on open TCBs leaves more room.",
                100 * rates[top] / region[top],
                "region's processor time at the highest rate, in proportion",
                "CICS regions",
            )
        )
    return limits


def _raw_limits(entry: Entry) -> list[dict[str, Any]]:
    value = entry.content.get("limits", [])
    return [item for item in value if isinstance(item, dict)]
