"""A segment of a report in memory, for the twin readers: parts, variables, tables, cells with their heads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from plexlens.ingest.printed.address import key
from plexlens.ingest.printed.values import Printed


@dataclass(slots=True)
class Report:
    """Head of a report: metric, resource and interval, shared by all its values.

    `start` and `end` are points in time for Arrow's UTC timestamps: real UTC when `utc_offset` is known, local
    time as recorded when it is None.
    """

    number: int
    line: int
    gatherer: str
    id: str | None = None
    option: str | None = None
    title: str | None = None
    type: str | None = None
    resource: str | None = None
    resource_type: str | None = None
    system: str | None = None
    sysplex: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    utc_offset: float | None = None
    interval_seconds: float | None = None
    locale: str | None = None

    def local(self, moment: datetime | None) -> datetime | None:
        """`start` or `end` on the local clock of the report, without a time zone."""
        if moment is None:
            return None
        try:
            return (moment + timedelta(seconds=self.utc_offset or 0.0)).replace(tzinfo=None)
        except OverflowError:
            return moment.replace(tzinfo=None)


@dataclass(slots=True)
class Row:
    """A row of a table: its attributes and its cells in order."""

    line: int
    attributes: dict[str, str]
    cells: list[Printed]

    @property
    def is_total(self) -> bool:
        """Whether the report marks the row as a sum over others."""
        return self.attributes.get("type", "").upper() == "SUM"


@dataclass(slots=True)
class Table:
    """A table: heads in order, rows in order."""

    heads: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def find(self, pattern: str) -> int | None:
        """Position of the first head that matches a regular expression, without case."""
        expression = re.compile(pattern, re.IGNORECASE)
        for position, head in enumerate(self.heads):
            if expression.search(" ".join(head.split())):
                return position
        return None


@dataclass(slots=True)
class Part:
    """A part of a segment: variables and tables under one name."""

    name: str | None = None
    variables: list[tuple[str, Printed]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)

    def variable(self, *names: str) -> Printed | None:
        """The first variable that has one of the names, names in order of preference."""
        for name in names:
            for listed, value in self.variables:
                if key(listed) == key(name):
                    return value
        return None


@dataclass(slots=True)
class Segment:
    """A segment: named parts and the texts of its messages."""

    name: str | None = None
    line: int = 0
    parts: list[Part] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def named(self, pattern: str) -> Iterator[Part]:
        """Parts whose name matches a regular expression from its start, without case."""
        expression = re.compile(pattern, re.IGNORECASE)
        for part in self.parts:
            if expression.match(" ".join((part.name or "").split())):
                yield part

    def variable(self, *names: str) -> Printed | None:
        """The first variable of any part that has one of the names."""
        for part in self.parts:
            results = part.variable(*names)
            if results is not None:
                return results
        return None


def cell(row: Row, position: int | None) -> Printed | None:
    """The cell at a position; None when the table has no such column or the row is shorter."""
    if position is None or position >= len(row.cells):
        return None
    return row.cells[position]


def as_text(value: Printed | None) -> str | None:
    """The printed text; None for a missing value, ``N/A`` and fillers."""
    if value is None or value.text in {"", "N/A", "n/a", "***", "****", "-", "--", "---"}:
        return None
    return value.text


def as_number(value: Printed | None) -> float | None:
    """The number in base units; None for text, fillers and missing values."""
    return None if value is None else value.number


def as_index(value: Printed | None) -> int | None:
    """The number as a small integer; None if it is not one."""
    number = as_number(value)
    if number is None or number < 0 or number != int(number) or number > 0xFFFFFFFF:
        return None
    return int(number)
