"""Workload activity report: the grain of SMF 72-3's class periods and response time distributions.

A report of whole classes (WLMGL(WGPER), WLMGL(SCLASS)) gives a class's transactions, service and times once, and its
goals period by period: here one row for the class (`period` null) with the former, one for each period with the
latter. A report of periods (WLMGL(SCPER)) gives both for each period: one row holds them.

Several names were printed for the same thing over the releases (``zIIP`` and ``IIP``); all are in the catalogue. What a
report prints under a name not known there is in ``rmf_xml_value`` all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from plexlens.ingest.printed.address import key
from plexlens.ingest.printed.values import DURATION, Printed
from plexlens.ingest.printed.xml.by_address import ReportByAddress, Rows, Values, cells, heads_of, of_segment
from plexlens.ingest.printed.xml.cell_values import read_value
from plexlens.ingest.printed.xml.model import Part, Row, Segment, Table, as_index, as_text, cell

_TITLE = re.compile(
    r"(?P<kind>service class|report class|workload|policy|tenant report class)(?: period)?s?[ :=]+"
    r"(?P<name>[^\s,]+)(?:[ ,]+period[ :=]*(?P<period>\d+))?",
    re.IGNORECASE,
)
_ALL_ZERO = re.compile(r"all data zero", re.IGNORECASE)
_PERCENT_IN_GOAL = re.compile(r"(\d+(?:\.\d+)?) ?%")
_WORD = re.compile(r"[^\s,;]+")
_NAMES = ("policy", "class_kind", "class_name", "period")
_HEADING = ("workload", "description", "resource_group", "critical", "honor_priority", "all_zero")
_PERIODS, _BUCKETS = "rmf_xml_workload_period", "rmf_xml_workload_bucket"


class WorkloadReport(ReportByAddress):
    """Rows of a workload activity report."""

    def segment(self, segment: Segment) -> Rows:
        """Rows of a complete segment; none for segments that are not about a class."""
        names = _names(segment)
        if names is None:
            return
        spec = self.specs[_PERIODS]
        said = of_segment(spec, segment)
        is_zero = any(_ALL_ZERO.search(message) for message in segment.messages)
        if is_zero:
            zeros = (column.name for column in spec.columns if column.all_zero or column.formula is not None)
            said |= dict.fromkeys(zeros, 0.0)
        if names["class_kind"] == "policy" and not said.keys() - {*_NAMES, *_HEADING} and not is_zero:
            # "Policy Activation" names a date, not a class of work.
            return
        values = {**said, **self.common, **names, "all_zero": is_zero}
        heading = {**self.common, **names, **{name: said.get(name) for name in _HEADING}, "all_zero": False}
        goals = [goal for part in segment.parts for table in part.tables for goal in self._goals(table)]
        if names["period"] is not None:
            for goal in goals[:1]:
                values.update({column: value for column, value in goal.items() if column != "period"})
            for column, value in self._stated_goal(segment).items():
                values.setdefault(column, value)
            goals = []
        yield _PERIODS, values
        for goal in goals:
            yield _PERIODS, {**heading, **goal}
        for part in segment.parts:
            for table in part.tables:
                for number, bucket in enumerate(self._buckets(part, table), start=1):
                    yield _BUCKETS, {**self.common, **names, "bucket_no": number, **bucket}

    def _goals(self, table: Table) -> Iterator[Values]:
        where = heads_of(self.specs[_PERIODS], table, "goal")
        if "performance_index" not in where:
            return
        for row in table.rows:
            if not row.is_total:
                goal = {"period": None, "importance": None, **cells(self.specs[_PERIODS], row, where)}
                for column in ("goal_response_seconds", "actual_response_seconds"):
                    goal.pop(column, None)
                printed, actual = cell(row, where.get("goal_response_seconds")), where.get("actual_response_seconds")
                words = " ".join(as_text(results) or "" for results in (cell(row, where.get("importance")), printed))
                yield {**goal, **_goal_of(words, goal.get("goal_velocity") is not None), **_actual(cell(row, actual))}

    def _stated_goal(self, segment: Segment) -> Values:
        """A period's goal from variables: ``Importance``, ``Goal``, ``Execution Velocity``."""
        results = of_segment(self.specs[_PERIODS], segment, "stated")
        results.pop("goal_response_seconds", None)
        named = (("Importance", "Imp"), ("Response Time Goal", "Goal", "Response Time"))
        words = " ".join(as_text(segment.variable(*names)) or "" for names in named)
        return results | _goal_of(words, "goal_velocity" in results)

    def _buckets(self, part: Part, table: Table) -> Iterator[Values]:
        """Rows of a response time distribution."""
        spec = self.specs[_BUCKETS]
        where = heads_of(spec, table)
        is_one = "distribution" in key(part.name) or any("in bucket" in key(head) for head in table.heads)
        if not is_one or "bound_seconds" not in where or "transactions" not in where:
            return
        for row in table.rows:
            if not row.is_total:
                yield {**cells(spec, row, where), **_bound(row, where["bound_seconds"])}


def _names(segment: Segment) -> Values | None:
    """Policy, kind, class and period of a segment; None if it is not about a class."""
    title = _TITLE.match(" ".join((segment.name or "").split()))
    kinds = (("report class", "Report Class"), ("service class", "Service Class"), ("workload", "Workload"))
    if title is not None:
        kind, name = key(title["kind"]), title["name"]
        for known, variable in kinds:
            if known == kind:
                name = as_text(segment.variable(variable)) or name
    elif segment.variable("Workload", "Service Class", "Report Class") is not None:
        shown = ((known, as_text(segment.variable(variable))) for known, variable in kinds)
        kind, name = next(((known, text) for known, text in shown if text is not None), ("", ""))
    else:
        return None
    period = as_index(segment.variable("Period"))
    if period is None and title is not None and title["period"]:
        period = int(title["period"])
    return dict(zip(_NAMES, (as_text(segment.variable("Policy")), kind, name, period), strict=True))


def _actual(actual: Printed | None) -> Values:
    if actual is None or actual.number is None:
        return {}
    return {"actual_response_seconds" if actual.type == DURATION else "actual_response_percent": actual.number}


def _goal_of(words: str, is_velocity: bool) -> Values:
    """Kind of goal and its values from the printed words: ``000.00.00.500 90%``, ``SYSTEM``, ``DISCRETIONARY``."""
    folded = words.casefold()
    if "discretionary" in folded:
        return {"goal_type": "discretionary"}
    if "system" in folded:
        return {"goal_type": "system"}
    if is_velocity:
        return {"goal_type": "velocity"}
    values: Values = {}
    for word in _WORD.findall(words):
        value = read_value(word)
        if value.type == DURATION:
            values["goal_response_seconds"] = value.number
    percent = _PERCENT_IN_GOAL.search(words)
    if percent:
        values["goal_percentile"] = float(percent[1])
    if "goal_response_seconds" not in values:
        return {}
    return {"goal_type": "percentile" if percent else "average", **values}


def _bound(row: Row, at: int) -> Values:
    """``<= 00.00.00.500000`` as relation and seconds; the relation may be in the cell before."""
    printed = cell(row, at)
    words = (printed.text if printed is not None else "").strip()
    rest = words.lstrip("<>= ")
    value = read_value(rest)
    relation = words[: len(words) - len(rest)].strip() or None
    if relation is None and at:
        before = as_text(cell(row, at - 1))
        relation = before if before and set(before) <= set("<>=") else None
    return {"relation": relation, "bound_seconds": value.number if value.type == DURATION else None}
