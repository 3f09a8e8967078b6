"""Contents of a report, independent of its format.

A `Report` holds sections, a section holds blocks: key figures, charts, tables, notes, and statements of what is
missing. Values stand in base units (seconds, bytes, counts, fractions); each column, chart and figure names the `Unit`
in which it is shown and the definition it comes from. The writers (`html`, `text`, `json_object`) only format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from plexlens.metrics.unit import Unit
from plexlens.report.model.chart import Chart
from plexlens.report.model.clock import Clock
from plexlens.report.model.heat import HeatMap
from plexlens.report.model.xy import XYChart

# A report of curves has no findings and must not wait for their rules to be loaded.
if TYPE_CHECKING:
    from plexlens.findings import Findings


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A number displayed as its source printed it: ``136902.1M``, ``00.00.25.534``.

    Attributes
    ----------
    text
        As printed.
    value
        The number it stands for, in the unit that the printed form implies.
    """

    text: str
    value: float


class Linked(str):
    """A text with links to places on the page.

    Attributes
    ----------
    places
        Words of the text, and the ids of the sections that they lead to; a text without such words has
        them behind it.
    """

    places: tuple[tuple[str, str], ...]

    def __new__(cls, text: str, places: Sequence[tuple[str, str]]) -> Linked:
        """The text with its places."""
        linked = super().__new__(cls, text)
        linked.places = tuple(places)
        return linked


Cell = str | float | int | datetime | tuple[float | None, ...] | PrintedNumber | None
"""A table cell: text, a number in the base unit, a time (UTC; local of
unknown offset if it has no time zone), a series (sparkline), a printed number, or null."""


#: What reports print where there is no number.
_FILLERS = ("N/A", "n/a", "-", "--", "---", "***", "****")


class ColumnKind(StrEnum):
    """Kind of the cells in a column."""

    TEXT = "text"
    NUMBER = "number"
    TIME = "time"
    SPARK = "spark"
    """A trend over time with reduced resolution, drawn next to the numbers."""
    PROFILE = "profile"
    """Several numbers of the row as a small histogram."""
    PRINTED = "printed"
    """The printed cell: a `PrintedNumber`, or a text."""


class Level(StrEnum):
    """Severity of a note."""

    INFO = "info"
    WARNING = "warning"
    LOSS = "loss"


@dataclass(frozen=True)
class Definition:
    """Source and meaning of a number; every number shown links to its definition.

    Attributes
    ----------
    id
        ``grain.name``; unique in the report.
    grain
        Title of the grain; ``row`` says what one row of it is.
    title, unit, formula, source, caveat
        As `plexlens.metrics.definition.Metric` has them. A fact has no formula: its source is the field it is.
    rollup
        How values of a fact are combined across entities and over time; empty for a metric.
    """

    id: str
    grain: str
    row: str
    title: str
    unit: Unit
    formula: str
    source: str
    caveat: str = ""
    rollup: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name
        Key of the column in JSON; unique in its table.
    title
        Heading, without the unit.
    unit
        For numbers: base unit of the cells, and the unit they are shown in.
    definition
        Id of the definition the numbers come from; empty for texts, times and plain counts of the report itself.
    group
        Heading over neighbouring columns that belong together; empty for none.
    bar
        Whether a bar in the cell shows the number's size relative to its neighbours.
    stack
        Names of columns whose numbers add up to this one's; the cell's bar shows them as its parts.
    key
        Whether the column names the row: repeated when a wide table is split, fixed when it scrolls.
    """

    name: str
    title: str
    kind: ColumnKind
    unit: Unit | None = None
    definition: str = ""
    group: str = ""
    bar: bool = False
    key: bool = False
    stack: tuple[str, ...] = ()


def text_column(name: str, title: str, *, key: bool = False, group: str = "") -> Column:
    """A column of texts."""
    return Column(name, title, ColumnKind.TEXT, key=key, group=group)


@dataclass(frozen=True)
class Table:
    """Rows under column heads.

    Attributes
    ----------
    name
        Key of the table in JSON; unique in the report.
    title
        Caption.
    rows
        Cells in the order of ``columns``.
    top
        Rows shown before the reader asks for all.
    sorted_by
        Name of the column by which ``rows`` stand in order, and whether falling; None where the order is another one.
    total_rows
        Rows there are; more than ``len(rows)`` where the rest was left out.
    query
        SQL that gives what was left out; empty where nothing was.
    note
        One or two sentences under the caption.
    origin
        What the numbers were read from, and how many intervals they cover.
    folded
        Whether the page shows only the caption until the reader opens it.
    drill
        Name of the table that holds the parts of a row, found there by the keys that both tables have; empty for none.
    group
        Heading over neighbouring tables that belong together; empty for none.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    top: int = 12
    sorted_by: tuple[str, bool] | None = None
    total_rows: int = 0
    query: str = ""
    note: str = ""
    origin: str = ""
    folded: bool = False
    drill: str = ""
    group: str = ""

    def __post_init__(self) -> None:
        width = len(self.columns)
        for number, row in enumerate(self.rows, 1):
            if len(row) != width:
                raise ValueError(f"table {self.name}: row {number} has {len(row)} cells for {width} columns")
        if self.total_rows < len(self.rows):
            object.__setattr__(self, "total_rows", len(self.rows))

    def all_numbers(self, index: int) -> bool:
        """Whether a column holds numbers: by its kind, or because every printed text in it is a number or a missing
        value.
        """
        if self.columns[index].kind is not ColumnKind.PRINTED:
            return self.columns[index].kind is ColumnKind.NUMBER
        cells = [row[index] for row in self.rows if row[index] not in (None, "", *_FILLERS)]
        return bool(cells) and all(isinstance(cell, PrintedNumber) for cell in cells)

    @property
    def left_out(self) -> int:
        """Rows that exist and are not in the report."""
        return self.total_rows - len(self.rows)


@dataclass(frozen=True)
class Figure:
    """A key number, with its course over time.

    Attributes
    ----------
    detail
        Text next to the number, such as its peak and the time of the peak.
    trend
        Values over the time of the report; empty where there is one interval only.
    alarm
        Whether the number is bad news.
    percentiles
        Percentiles over the intervals by name (``p50``, ``p95``), in the base unit; empty with too few intervals.
    """

    name: str
    title: str
    value: Cell
    unit: Unit | None = None
    definition: str = ""
    detail: str = ""
    trend: tuple[float | None, ...] = ()
    alarm: bool = False
    percentiles: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class KeyFigures:
    """Figures shown next to each other.

    Attributes
    ----------
    title, section
        Heading, and the id of the section that says more; both empty where the figures stand in their own section.
    """

    name: str
    figures: tuple[Figure, ...]
    title: str = ""
    section: str = ""


@dataclass(frozen=True)
class Note:
    """A sentence for the reader, with the places it refers to, each on its own line."""

    text: str
    level: Level = Level.INFO
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Way:
    """Data that would fill a gap, and how to collect it."""

    kind: str
    """Name of the data for readers: ``SMF 74-4``."""
    how: str
    """Options, commands or parameters that make the system write it."""


@dataclass(frozen=True)
class Missing:
    """A gap in the data, and the ways to fill it."""

    what: str
    ways: tuple[Way, ...]


@dataclass(frozen=True)
class Advice:
    """A problem: its objects, evidence, remedy and source.

    Attributes
    ----------
    name
        Id of the rule; unique in the report.
    rank
        Place among the advice of the report, from 1; 0 for what has none.
    severity
        ``low``, ``medium``, ``high`` or ``critical``; of a step of a recommendation ``worth it`` or ``not worth it``.
    text
        What is wrong, with the numbers of the worst object.
    objects
        How many objects it concerns, in words.
    cost
        Estimated cost, in words; empty where none is derived.
    cost_meaning
        What the estimate counts.
    evidence
        A row for each object; its numbers lead to definitions.
    action, command
        What to do, and the exact text of commands or parameters; the latter may be empty.
    undo
        The text that takes the commands back; empty where there is none.
    condition
        When the rule fires; empty for what no rule says.
    source, url
        The document behind it, and its address; both may be nothing.
    folded
        Whether only its head is shown until the reader opens it.
    remarks
        What is to be known before acting.
    more
        What others see of the same cause, folded.
    """

    name: str
    rank: int
    severity: str
    title: str
    text: str
    objects: str
    evidence: Table
    action: str
    condition: str
    source: str
    cost: str = ""
    cost_meaning: str = ""
    command: str = ""
    undo: str = ""
    url: str = ""
    folded: bool = False
    remarks: tuple[str, ...] = ()
    more: tuple[Table, ...] = ()


Block = Table | Chart | XYChart | HeatMap | KeyFigures | Note | Missing | Advice


@dataclass(frozen=True)
class Section:
    """A part of the report under its own heading.

    Attributes
    ----------
    lead
        One or two sentences that say what the section shows.
    selection
        The part of the data that the section is about; empty for all of it.
    group
        Heading under which the contents fold this and neighbouring sections of the same group; empty for none.
    """

    id: str
    title: str
    blocks: tuple[Block, ...]
    lead: str = ""
    selection: str = ""
    group: str = ""


@dataclass(frozen=True)
class Report:
    """A finished report.

    Attributes
    ----------
    title
        Sysplex or system the report is about.
    start, end
        First and last moment that any interval covers: UTC, or local time without a time zone where no interval's
        offset is known; None where no interval was read.
    local_start, local_end
        The same for intervals in local time of unknown offset, if there are others; they have no time zone.
    utc_offset
        Local minus UTC in seconds, as recorded; None where it is unknown or not the same throughout, and times are
        then shown as UTC.
    time_note
        How times are shown and why.
    alerts
        What the reader must know before the first number: damage, loss, gaps.
    definitions
        Definition of every number shown, by id.
    generator
        Program and version.
    findings
        Results of the rules; None if the report has no page of them.
    kind, subject
        What the report is, and what stands for systems and times where it is not of measured intervals.
    selection
        The part of the data that the report is about; empty for all of it.
    """

    title: str
    systems: tuple[str, ...] = ()
    sysplexes: tuple[str, ...] = ()
    start: datetime | None = None
    end: datetime | None = None
    utc_offset: float | None = None
    time_note: str = ""
    alerts: tuple[Note, ...] = ()
    sections: tuple[Section, ...] = ()
    definitions: dict[str, Definition] = field(default_factory=dict)
    generator: str = ""
    findings: Findings | None = None
    kind: str = "Performance report"
    local_start: datetime | None = None
    local_end: datetime | None = None
    subject: str = ""
    selection: str = ""

    @property
    def clock(self) -> Clock:
        """Clock for the display of its times."""
        return Clock(self.utc_offset, self.time_note, marks_local=self.local_start is not None)

    def section(self, section_id: str) -> Section:
        """A section by id; the KeyError lists the valid ids."""
        for section in self.sections:
            if section.id == section_id:
                return section
        raise KeyError(f"no section {section_id!r}; there are {', '.join(s.id for s in self.sections)}")
