"""What the metrics make of the example: values of the expressions in the table of expected numbers.

An expression is ``grain.column[key=value,...]``, or two of them with `` / `` or `` * `` between. The keys in brackets
are kept apart, all others are rolled up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from plexlens.example.plan import Plan, read_plan
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from tests.example.paths import STUDIES

_TERM = re.compile(r"(?P<grain>\w+)\.(?P<column>\w+)\[(?P<keys>[^\]]+)\]\Z")
_PRINTED = re.compile(r"(?P<below>< )?(?P<digits>-?[\d.,]+)(?P<suffix>[%KM]?)\Z")

_CLOCK = re.compile(r"(\d+):(\d\d):(\d\d\.\d+)\Z")

#: What a printed suffix, and a unit that the table's heading names, are in base units. An M is a MiB but in counts.
#: "cut" behind a unit: further digits were cut off, not rounded.
_SUFFIXES = {"": 1.0, "%": 0.01, "K": 1000.0, "M": 1024.0**2}
_UNITS = {"": 1.0, "%": 0.01, "us": 1e-6, "ms": 1e-3, "count": 1.0, "MiB": 1024.0**2}
_MILLION = 1e6

#: Grains of records that are written when something ends, not by interval.
QUARTERS = {"cics_transaction", "db2_accounting"}


@dataclass
class Metrics:
    """Metrics of one database, each roll-up evaluated once."""

    inputs: Inputs
    plan: Plan = field(default_factory=lambda: read_plan(STUDIES))
    _rolled: dict[tuple[str, tuple[str, ...]], list[dict[str, Any]]] = field(default_factory=dict)

    def value(self, expression: str, run: str) -> float | None:
        """Value of an expression in the interval of a run; None where the metric is null."""
        values = [self._term(term.strip(), run) for term in re.split(" [/*] ", expression)]
        if None in values:
            return None
        numbers = [value for value in values if value is not None]
        if len(numbers) == 1:
            return numbers[0]
        return numbers[0] / numbers[1] if " / " in expression else numbers[0] * numbers[1]

    def _term(self, term: str, run: str) -> float | None:
        parts = _TERM.match(term)
        assert parts is not None, f"{term!r} is not a term"
        keys = dict(pair.split("=") for pair in parts["keys"].split(","))
        roll_up = (parts["grain"], tuple(keys))
        if roll_up not in self._rolled:
            table = evaluate(self.inputs, GRAINS[parts["grain"]], by=tuple(keys))
            assert table is not None, f"the dump has nothing for {parts['grain']}"
            self._rolled[roll_up] = table.rows()
        rows = [
            row
            for row in self._rolled[roll_up]
            if row["time"] == self._time(parts["grain"], run) and all(row[key] == value for key, value in keys.items())
        ]
        assert len(rows) == 1, f"{len(rows)} rows for {term} in run {run}"
        found: float | None = rows[0][parts["column"]]
        return found

    def _time(self, grain: str, run: str) -> datetime:
        """What names a run in a grain: the minute nearest to its start, or the quarter of an hour in which it ended."""
        sites = (*self.plan.sites, *self.plan.db2.subsystems)
        spans = {each.name: (each.start, each.end, site.utc_offset) for site in sites for each in site.runs}
        region, window = self.plan.site(self.plan.cics.study), self.plan.cics.statistics
        spans[window.name] = (window.start, window.end, region.utc_offset)
        start, end, offset = spans[run]
        if grain in QUARTERS:
            end = (end - offset).replace(tzinfo=UTC)
            return end.replace(minute=end.minute // 15 * 15, second=0, microsecond=0)
        return (start - offset + timedelta(seconds=30)).replace(second=0, microsecond=0, tzinfo=UTC)


def disagreement(line: dict[str, str], value: float | None) -> str | None:
    """Why a value does not print as expected; None when it does."""
    if value is None:
        return "the metric is null"
    if (clock := _CLOCK.match(line["printed"])) is not None:
        hours, minutes, seconds = (float(part) for part in clock.groups())
        near = abs(value - (hours * 3600 + minutes * 60 + seconds)) <= 0.5001 * 10.0 ** -int(line["decimals"])
        return None if near else f"{value} s are not {line['printed']}"
    parts = _PRINTED.match(line["printed"])
    assert parts is not None, line
    suffix = parts["suffix"]
    scale = _MILLION if (suffix, line["unit"]) == ("M", "count") else _SUFFIXES[suffix]
    unit, _, cut = line["unit"].partition(" ")
    shown = value / scale / _UNITS[unit]
    printed = float(parts["digits"].replace(",", ""))
    if parts["below"]:
        return None if shown < printed else f"{shown} is not below {printed}"
    if cut == "cut":
        within = printed <= shown < printed + 10.0 ** -int(line["decimals"])
        return None if within else f"{shown} cut off does not print as {line['printed']}"
    # A ten-thousandth of the last digit for sums of times kept in whole microseconds.
    half = 0.5001 * 10.0 ** -int(line["decimals"])
    return None if abs(shown - printed) <= half else f"{shown} does not print as {line['printed']}"
