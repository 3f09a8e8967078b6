"""Every table of a report, including charts, for writers that use a sheet or file per table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from plexlens.report.chart.xy_columns import xy_columns, xy_rows
from plexlens.report.model import Advice, Block, Cell, Column, ColumnKind, Report, Section, Table
from plexlens.report.model.chart import Chart
from plexlens.report.model.xy import XYChart


def tables_of(report: Report) -> Iterator[tuple[Section, Table]]:
    """Each table of a report and its section, in the order of the page.

    A chart becomes a table: one row per time or number, one column per series. The evidence of findings is among the
    tables. A heat map is left out: the page has its numbers as a table too. Columns that repeat other numbers as a
    picture are left out, and so are tables without columns or rows.
    """
    for section in report.sections:
        for block in section.blocks:
            for table in _tables(block):
                if table.columns and table.rows:
                    yield section, _without_pictures(table)


def _tables(block: Block) -> Iterator[Table]:
    if isinstance(block, Table):
        yield block
    elif isinstance(block, Chart):
        yield _over_time(block)
    elif isinstance(block, XYChart):
        rows = tuple(xy_rows(block, most=len(block.places) + len(block.marks) + 2))
        # A series is named by its title, which is short; the column of text is only numbered.
        columns = tuple(replace(column, name=column.title) if column.group else column for column in xy_columns(block))
        yield Table(block.name, block.title, columns, rows, note=block.note, origin=block.origin)
    elif isinstance(block, Advice):
        yield block.evidence
        yield from block.more


def _over_time(chart: Chart) -> Table:
    number = ColumnKind.NUMBER
    columns = (
        Column("start", "Start", ColumnKind.TIME, key=True),
        Column("end", "End", ColumnKind.TIME),
        *(Column(series.name, series.name, number, chart.unit) for series in chart.series),
    )
    values = zip(chart.times, chart.ends, *(series.values for series in chart.series), strict=True)
    rows: tuple[tuple[Cell, ...], ...] = tuple(values)
    return Table(chart.name, chart.title, columns, rows, origin=chart.origin)


def _without_pictures(table: Table) -> Table:
    kept = [at for at, column in enumerate(table.columns) if column.kind is not ColumnKind.SPARK]
    if len(kept) == len(table.columns):
        return table
    return replace(
        table,
        columns=tuple(table.columns[at] for at in kept),
        rows=tuple(tuple(row[at] for at in kept) for row in table.rows),
    )
