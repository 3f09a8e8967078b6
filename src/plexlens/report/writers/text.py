"""A report as fixed-width text in the style of RMF's printed reports: spaced headings, units in the heads.

Pages have no end: the text is meant for a terminal, a data set or a mail. A table wider than the line is printed in
parts that repeat the columns which name the row. Charts become their mean, extremes and the time of the peak.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from plexlens.report.chart.heat_svg import describe_heat
from plexlens.report.chart.xy_columns import xy_columns, xy_rows
from plexlens.report.model import (
    Advice,
    Block,
    Cell,
    Column,
    ColumnKind,
    Definition,
    KeyFigures,
    Level,
    Missing,
    Note,
    PrintedNumber,
    Report,
    Section,
    Table,
)
from plexlens.report.model.chart import Chart
from plexlens.report.model.display import NULL, counted, listed, shown, with_symbol
from plexlens.report.model.heat import HeatMap
from plexlens.report.model.xy import XYChart
from plexlens.report.writers.names import printable

#: A text column takes at most this share of the line; longer cells run on in the next lines.
_TEXT_SHARE = 0.3

#: Narrowest line that tables are laid out for.
LEAST_WIDTH = 40

_GAP = "  "
_LEVELS = {Level.INFO: "NOTE", Level.WARNING: "WARNING", Level.LOSS: "DATA LOST"}


def render_text(report: Report, width: int = 132, *, rows: int = 40) -> str:
    """The report as text.

    Parameters
    ----------
    report
        As `plexlens.report.build` makes it.
    width
        Characters in a line; at least 40.
    rows
        Rows of a table that are printed; the text says how many it leaves out.

    Returns
    -------
    str
        Lines of at most ``width`` characters, none with blanks at its end.

    Raises
    ------
    ValueError
        ``width`` is below 40.
    """
    if width < LEAST_WIDTH:
        raise ValueError(f"width {width} is too narrow for a table; give at least {LEAST_WIDTH}")
    lines = _Writer(report, width, rows).lines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


@dataclass
class _Writer:
    report: Report
    width: int
    rows: int

    def __post_init__(self) -> None:
        self.clock = self.report.clock

    def lines(self) -> Iterator[str]:
        report = self.report
        yield self.heading(self.report.kind)
        yield from self.wrapped(report.title)
        yield from self.wrapped(self.identity())
        yield from self.wrapped(report.time_note)
        for alert in report.alerts:
            yield ""
            yield from self.note(alert)
        for section in report.sections:
            yield from self.section(section)
        yield from self.definitions()
        yield ""
        yield f" {report.generator}"

    def heading(self, title: str) -> str:
        """The title in spaced capitals, centred."""
        spaced = "   ".join(" ".join(word) for word in title.upper().split())
        return (spaced if len(spaced) <= self.width else title.upper()).center(self.width)

    def wrapped(self, text: str, indent: str = " ") -> list[str]:
        return textwrap.wrap(
            printable(text),
            self.width - 1,
            initial_indent=indent,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )

    def identity(self) -> str:
        report = self.report
        parts = []
        if report.sysplexes:
            parts.append(f"SYSPLEX {', '.join(report.sysplexes)}")
        if report.systems:
            parts.append(f"SYSTEM {listed(report.systems)}")
        if report.start is not None and report.end is not None:
            parts += [f"START {self.clock.minute(report.start)}", f"END {self.clock.minute(report.end)}"]
            parts.append(self.clock.zone_of(report.start))
        if report.local_start is not None and report.local_end is not None:
            parts += [f"START {self.clock.minute(report.local_start)}", f"END {self.clock.minute(report.local_end)}"]
        return "    ".join(parts) or report.subject or "No interval was read"

    def section(self, section: Section) -> Iterator[str]:
        yield ""
        yield "=" * self.width
        yield self.heading(section.title)
        if section.lead:
            yield from self.wrapped(section.lead)
        if section.selection:
            yield from self.wrapped(f"SELECTION: {section.selection}.")
        group = ""
        for block in section.blocks:
            yield ""
            if isinstance(block, Table) and block.group != group:
                group = block.group
                yield from self.wrapped(group.upper())
                yield " " + "=" * min(len(group), self.width - 1)
                yield ""
            yield from self.block(block)

    def block(self, block: Block) -> Iterator[str]:
        if isinstance(block, Table):
            yield from self.table(block)
        elif isinstance(block, Chart):
            yield from self.chart(block)
        elif isinstance(block, HeatMap):
            yield from self.wrapped(describe_heat(block))
        elif isinstance(block, XYChart):
            yield from self.xy(block)
        elif isinstance(block, KeyFigures):
            yield from self.figures(block)
        elif isinstance(block, Note):
            yield from self.note(block)
        elif isinstance(block, Advice):
            yield from self.advice(block)
        else:
            yield from self.missing(block)

    def note(self, note: Note) -> Iterator[str]:
        yield from self.wrapped(f"{_LEVELS[note.level]}: {note.text}")
        for detail in note.details:
            yield from self.wrapped(detail, "   ")

    def missing(self, missing: Missing) -> Iterator[str]:
        yield from self.wrapped(missing.what.upper())
        for way in missing.ways:
            yield from self.wrapped(f"{way.kind}: {way.how}", "   ")

    def advice(self, advice: Advice) -> Iterator[str]:
        cost = f", {advice.cost}" if advice.cost else ""
        rank = f"{advice.rank}. " if advice.rank else ""
        head = f"{rank}{advice.severity.upper()}: {advice.title.upper()} ({advice.objects}{cost})"
        yield from self.wrapped(head)
        yield from self.wrapped(advice.text, "   ")
        if advice.folded:
            return
        yield from self.wrapped(f"What to do: {advice.action}", "   ")
        yield from self.command(advice.command)
        if advice.undo:
            yield "   To undo it:"
            yield from self.command(advice.undo)
        for remark in advice.remarks:
            yield from self.wrapped(remark, "   ")
        if advice.condition:
            yield from self.wrapped(f"Fires when: {advice.condition}", "   ")
        if advice.source:
            source = f"Source: {advice.source}" + (f" {advice.url}" if advice.url else "")
            yield from self.wrapped(source, "   ")
        if advice.cost_meaning:
            yield from self.wrapped(f"Cost: {advice.cost_meaning}", "   ")
        if advice.evidence.note:
            yield from self.wrapped(advice.evidence.note, "   ")
        if advice.evidence.columns:
            yield from self.grid(advice.evidence.columns, advice.evidence.rows[: self.rows])
        for table in advice.more:
            yield from self.wrapped(f"{table.title} ({len(table.rows):,})", "   ")

    def command(self, command: str) -> Iterator[str]:
        for line in command.splitlines():
            # Not wrapped as prose is: a command broken at a blank would be another one.
            yield from textwrap.wrap(
                printable(line), self.width - 8, initial_indent="       ", subsequent_indent=" " * 7
            )

    def figures(self, block: KeyFigures) -> Iterator[str]:
        if block.title:
            yield from self.titled(block.title)
        titles = [figure.title for figure in block.figures]
        values = [
            with_symbol(figure.value, figure.unit)
            if isinstance(figure.value, int | float)
            else NULL
            if figure.value is None
            else printable(str(figure.value))
            for figure in block.figures
        ]
        left = min(max(map(len, titles)), self.width // 2)
        right = max(map(len, values))
        for figure, title, value in zip(block.figures, titles, values, strict=True):
            detail = f"   {printable(figure.detail)}" if figure.detail else ""
            line = f" {(title[:left] + ' ').ljust(left + 3, '.')}{(' ' + value).rjust(right + 1, '.')}{detail}"
            yield from [line] if len(line) <= self.width else self.wrapped(line.strip())

    def chart(self, chart: Chart) -> Iterator[str]:
        yield from self.titled(chart.title, chart.unit.symbol)
        yield from self.wrapped(chart.origin)
        cells = []
        for series in chart.series:
            known = [(v, t) for v, t in zip(series.values, chart.times, strict=True) if v is not None]
            if known:
                peak, moment = max(known, key=lambda point: point[0])
                least = min(value for value, _ in known)
                cells.append((series.name, chart.mean_of(series), least, peak, moment))
        number = ColumnKind.NUMBER
        columns = (
            Column("series", "Series", ColumnKind.TEXT, key=True),
            Column("mean", "Mean", number, chart.unit),
            Column("least", "Lowest", number, chart.unit),
            Column("peak", "Highest", number, chart.unit),
            Column("time", "Highest at", ColumnKind.TIME),
        )
        yield from self.grid(columns, cells)
        if chart.left_out:
            yield f" {counted(chart.left_out, 'further series', 'further series')}; the table shows all"

    def xy(self, chart: XYChart) -> Iterator[str]:
        yield from self.titled(chart.title)
        yield from self.wrapped(" ".join(part for part in (chart.note, chart.origin) if part))
        yield from self.grid(xy_columns(chart), xy_rows(chart, self.rows))
        if chart.left_out:
            yield f" {counted(chart.left_out, 'further series', 'further series')}; the table shows all"

    def titled(self, title: str, unit: str = "") -> list[str]:
        return self.wrapped(title.upper() + (f" ({unit})" if unit else ""))

    def table(self, table: Table) -> Iterator[str]:
        yield from self.titled(table.title)
        yield from self.wrapped(" ".join(part for part in (table.note, table.origin) if part))
        yield from self.grid(table.columns, table.rows[: self.rows])
        hidden = table.total_rows - min(len(table.rows), self.rows)
        if hidden:
            yield f" {counted(hidden, 'further row')} not printed"
        if table.left_out:
            yield from self.wrapped(f"SQL for all of them: {table.query}")

    def definitions(self) -> Iterator[str]:
        if not self.report.definitions:
            return
        yield ""
        yield "=" * self.width
        yield self.heading("Definitions")
        grains: dict[str, list[Definition]] = {}
        for definition in self.report.definitions.values():
            grains.setdefault(definition.grain, []).append(definition)
        for grain, members in grains.items():
            yield ""
            yield from self.titled(grain)
            for member in members:
                unit = f" ({member.unit.symbol})" if member.unit.symbol else ""
                how = member.formula or f"recorded; {member.rollup}"
                yield from self.wrapped(f"{member.title}{unit} = {how}", "   ")
                yield from self.wrapped(f"{member.id}; source: {member.source}", "     ")
                if member.caveat:
                    yield from self.wrapped(member.caveat, "     ")

    # --- the grid -----------------------------------------------------------------------------------------------

    def grid(self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
        kept = [
            index for index, column in enumerate(columns) if column.kind not in (ColumnKind.SPARK, ColumnKind.PROFILE)
        ]
        texts = [[self.cell(row[index], columns[index]) for row in rows] for index in kept]
        laid = [
            replace(
                _Laid.of(columns[index], cells, self.width),
                numbers=frozenset(at for at, row in enumerate(rows) if isinstance(row[index], PrintedNumber)),
            )
            for index, cells in zip(kept, texts, strict=True)
        ]
        laid = _roomy(laid)
        for number, part in enumerate(_parts(laid, self.width)):
            if number:
                yield ""
            yield from self.heads(part)
            for row in range(len(rows)):
                yield from _lines([column.lines(row) for column in part], part)

    def cell(self, cell: Cell, column: Column) -> str:
        if column.kind is ColumnKind.NUMBER:
            return shown(cell, column.unit)  # type: ignore[arg-type]
        if isinstance(cell, datetime):
            return self.clock.second(cell)
        if isinstance(cell, PrintedNumber):
            return printable(cell.text)
        return NULL if cell is None or cell == "" else printable(str(cell))

    def heads(self, part: Sequence[_Laid]) -> Iterator[str]:
        if any(laid.column.group for laid in part):
            yield from _group_heads(part)
        depth = max(len(laid.head) for laid in part)
        yield from _lines([[""] * (depth - len(laid.head)) + list(laid.head) for laid in part], part)
        yield " " + _GAP.join("-" * laid.width for laid in part)


@dataclass(frozen=True)
class _Laid:
    """A column in layout: its width, the lines of its head, its cells, and the rows with a printed number."""

    column: Column
    width: int
    head: tuple[str, ...]
    cells: tuple[str, ...]
    numbers: frozenset[int] = frozenset()

    @classmethod
    def of(cls, column: Column, cells: Sequence[str], line: int) -> _Laid:
        unit = column.unit.symbol if column.unit is not None and column.kind is ColumnKind.NUMBER else ""
        words = column.title.upper().split()
        widest = max((len(cell) for cell in cells), default=0)
        least = max([len(word) for word in words] + [len(unit)])
        if column.kind in (ColumnKind.TEXT, ColumnKind.PRINTED):
            widest = min(widest, max(12, int(line * _TEXT_SHARE)))
            least = min(least, max(12, int(line * _TEXT_SHARE)))
        width = max(widest, least)
        head = textwrap.wrap(column.title.upper(), width, break_on_hyphens=False) + ([unit] if unit else [])
        return cls(column, width, tuple(head), tuple(cells))

    def lines(self, row: int) -> list[str]:
        cell = self.cells[row].rjust(self.width) if row in self.numbers else self.cells[row]
        return [cell] if len(cell) <= self.width else textwrap.wrap(cell, self.width, break_on_hyphens=False)

    def placed(self, text: str) -> str:
        return text.rjust(self.width) if self.column.kind is ColumnKind.NUMBER else text.ljust(self.width)


def _group_heads(part: Sequence[_Laid]) -> Iterator[str]:
    """Headings over groups of columns, with dashes on both sides; several lines if a group is too narrow."""
    stacks: list[tuple[int, list[str]]] = []
    for group, members in groupby(part, key=lambda laid: laid.column.group):
        span = list(members)
        width = sum(column.width for column in span) + len(_GAP) * (len(span) - 1)
        fits = len(group) + 2 <= width
        lines = [f" {group} ".center(width, "-")] if fits else [line.center(width) for line in _narrow(group, width)]
        stacks.append((width, lines if group else []))
    depth = max(len(lines) for _, lines in stacks)
    for row in range(depth):
        yield " " + _GAP.join(
            lines[row - depth + len(lines)] if row >= depth - len(lines) else " " * width for width, lines in stacks
        )


def _narrow(text: str, width: int) -> list[str]:
    """The text in lines of a given width; a word that is too long is cut."""
    return [line[:width] for line in textwrap.wrap(text, width, break_long_words=False)]


def _roomy(laid: Sequence[_Laid]) -> list[_Laid]:
    """The columns, with the last of each group widened until the group's heading fits."""
    roomy: list[_Laid] = []
    for group, members in groupby(laid, key=lambda laid: laid.column.group):
        span = list(members)
        lacking = len(group) + 2 - sum(column.width for column in span) - len(_GAP) * (len(span) - 1)
        if group and lacking > 0:
            span[-1] = replace(span[-1], width=span[-1].width + lacking)
        roomy += span
    return roomy


def _lines(stacks: Sequence[Sequence[str]], part: Sequence[_Laid]) -> Iterator[str]:
    """Multi-line cells next to each other."""
    for depth in range(max(len(stack) for stack in stacks)):
        yield " " + _GAP.join(
            laid.placed(stack[depth] if depth < len(stack) else "") for laid, stack in zip(part, stacks, strict=True)
        )


def _parts(laid: Sequence[_Laid], width: int) -> list[list[_Laid]]:
    """The columns split into as many parts as the line width requires, each beginning with the name columns."""
    keys = [column for column in laid if column.column.key]
    others = [column for column in laid if not column.column.key]

    def taken(part: Sequence[_Laid]) -> int:
        return 1 + sum(laid.width for laid in part) + len(_GAP) * (len(part) - 1)

    parts = [list(keys)]
    for other in others:
        part = parts[-1]
        if len(part) > len(keys) and taken([*part, other]) > width:
            part = list(keys)
            parts.append(part)
        part.append(other)
    return parts
