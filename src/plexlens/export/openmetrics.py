"""The last interval of metric views as OpenMetrics text, for Prometheus and what reads its format.

Names and units follow its conventions: ``plexlens_GRAIN_METRIC``, base units as suffixes (seconds, bytes, ratio), keys
as labels. Every number is a gauge: a metric is of an interval, not a count that runs on. Attributes of an entity are
labels of ``plexlens_GRAIN_info``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest

from plexlens import __version__
from plexlens.metrics.definition import Fact
from plexlens.metrics.question import Answer

#: Media type of the text.
CONTENT_TYPE = CONTENT_TYPE_LATEST

#: First part of every name.
_PREFIX = "plexlens"

#: Suffix of a name by base unit; units that are missing here are plain numbers.
_UNITS = {
    "s": "seconds",
    "bytes": "bytes",
    "bytes/s": "bytes_per_second",
    "fraction": "ratio",
    "ratio": "ratio",
    "s/s": "seconds_per_second",
    "s²": "square_seconds",
    "processors": "processors",
    "MSU": "msu",
    "SU": "service_units",
    "frames": "frames",
    "slots": "slots",
    "pages": "pages",
}

#: Endings that say with other words what the suffix says.
_SAID = {
    "seconds": ("_time",),
    "ratio": ("_fraction", "_share"),
    "seconds_per_second": ("_time_per_second", "_per_second"),
}


def openmetrics(answers: Iterable[Answer], *, timestamps: bool = False) -> str:
    """The last interval of each system, Db2 or region in these views as OpenMetrics text.

    Parameters
    ----------
    answers
        Views by interval, with every key apart (`plexlens.export.views.views`).
    timestamps
        Whether samples have the end of their interval as their time. Prometheus forgets such a sample after five
        minutes, and the text file collector of its node exporter refuses it. Otherwise the time of the scrape counts,
        and ``plexlens_interval_end_timestamp_seconds`` has the end of the interval.

    Returns
    -------
    str
        The text, with the end mark of OpenMetrics.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Families([_Last(answer) for answer in answers], timestamps))
    return str(generate_latest(registry).decode())


def family_names(columns: Mapping[str, str], grain: str) -> dict[str, tuple[str, str]]:
    """Name and unit of each number of a grain.

    Parameters
    ----------
    columns
        Base unit of each number.
    grain
        Name of the grain.

    Examples
    --------
    >>> units = {"sync_service_time": "s", "sync_fraction": "fraction", "sync_per_second": "1/s"}
    >>> for name, unit in family_names(units, "coupling_structure").values():
    ...     print(name, unit)
    plexlens_coupling_structure_sync_service_seconds seconds
    plexlens_coupling_structure_sync_ratio ratio
    plexlens_coupling_structure_sync_per_second
    """
    short = {name: _named(name, base) for name, base in columns.items()}
    taken = list(short.values())
    results = {}
    for name, base in columns.items():
        unit = _UNITS.get(base, "")
        # Of two that would be called the same, each keeps its own name before the unit.
        shown = short[name] if taken.count(short[name]) == 1 else "_".join(part for part in (name, unit) if part)
        results[name] = (f"{_PREFIX}_{grain}_{shown}", unit)
    return results


def _named(name: str, base: str) -> str:
    unit = _UNITS.get(base, "")
    if not unit or name == unit or name.endswith(f"_{unit}"):
        return name
    for ending in _SAID.get(unit, ()):
        if name.endswith(ending):
            return f"{name.removesuffix(ending)}_{unit}"
    return f"{name}_{unit}"


class _Last:
    """The rows of a view that are of the last interval of their observer."""

    def __init__(self, answer: Answer) -> None:
        self.question = answer.question
        self.grain = answer.question.grain
        rows = answer.table.to_pylist()
        self.observer = tuple(name for name in self.grain.observers if name in answer.question.by)
        last: dict[tuple[Any, ...], datetime] = {}
        for row in rows:
            if row["time"] is not None:
                who = self.who(row)
                last[who] = max(last.get(who, row["time"]), row["time"])
        self.rows = [row for row in rows if row["time"] is not None and row["time"] == last[self.who(row)]]
        self._ends = answer.ends
        self._blank = {name for name in answer.question.by if any(row[name] == "" for row in self.rows)}

    def who(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """Observer of a row, and the kind of clock that it uses."""
        return (*(row[name] for name in self.observer), row.get("local_time", False))

    def end(self, row: Mapping[str, Any]) -> float | None:
        """End of the interval in seconds since 1970; None if its offset from UTC is unknown."""
        time: datetime = row["time"]
        if time.tzinfo is None or row.get("local_time"):
            return None
        return self._ends[time.astimezone(UTC)].timestamp()

    def labels(self, row: Mapping[str, Any], names: Sequence[str]) -> list[str]:
        """Values of labels. An empty label is the same as none; where other rows have an empty text, none is a word."""
        return [("(none)" if name in self._blank else "") if row[name] is None else str(row[name]) for name in names]


class _Families:
    """The metric families of several views, as prometheus_client collects them."""

    def __init__(self, views: Sequence[_Last], timestamps: bool) -> None:
        self._views = views
        self._timestamps = timestamps

    def collect(self) -> Iterator[Metric]:
        """Every family that has a sample."""
        about = InfoMetricFamily(f"{_PREFIX}_build", "Program that computed these numbers")
        about.add_metric([], {"version": __version__})
        yield about
        if self._views:
            yield self._intervals()
        for view in self._views:
            yield from self._described(view)
            yield from self._numbers(view)

    def _intervals(self) -> Metric:
        names = ("system", "sysplex", "subsystem", "applid", "queue_manager")
        family = GaugeMetricFamily(
            f"{_PREFIX}_interval_end_timestamp_seconds",
            "End of the interval of a grain's numbers",
            labels=["grain", *names],
            unit="seconds",
        )
        for view in self._views:
            ends: dict[tuple[str, ...], float] = {}
            for row in view.rows:
                end = view.end(row)
                if end is not None:
                    shown = [row[name] if name in view.observer and row[name] is not None else "" for name in names]
                    who = (view.grain.name, *shown)
                    ends[who] = max(ends.get(who, end), end)
            for who, end in ends.items():
                family.add_metric(list(who), end)
        return family

    def _described(self, view: _Last) -> Iterator[Metric]:
        names = [attribute.name for attribute in view.grain.attributes if attribute.name not in view.question.by]
        if not names or not view.rows:
            return
        by = view.question.by
        family = InfoMetricFamily(
            f"{_PREFIX}_{view.grain.name}", _text(f"{view.grain.title}: attributes"), labels=list(by)
        )
        for row in view.rows:
            texts = {name: str(row[name]) for name in names if row.get(name) is not None}
            family.add_metric(view.labels(row, by), texts)
        yield family

    def _numbers(self, view: _Last) -> Iterator[Metric]:
        question = view.question
        bases = {name: question.column(name).unit.base for name in question.numbers}
        for column, (name, unit) in family_names(bases, view.grain.name).items():
            known = [row for row in view.rows if row[column] is not None]
            if not known:
                continue
            definition = question.column(column)
            formula = definition.source if isinstance(definition, Fact) else definition.words
            text = _text(f"{view.grain.title}: {definition.title} = {formula}")
            family = GaugeMetricFamily(name, text, labels=list(question.by), unit=unit)
            for row in known:
                time = view.end(row) if self._timestamps else None
                family.add_metric(view.labels(row, question.by), float(row[column]), timestamp=time)
            yield family


def _text(text: str) -> str:
    """A help text in one line."""
    return re.sub(r"\s+", " ", text)
