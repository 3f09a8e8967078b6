"""A report as CSV, against lines written by hand."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from plexlens.metrics.unit import COUNT, MILLISECONDS
from plexlens.report.model import Column, ColumnKind, Figure, KeyFigures, PrintedNumber, Report, Section, Table
from plexlens.report.model.chart import Chart, ChartKind, Series
from plexlens.report.writers.csv_cells import render_csv, rows_left_out

START = datetime(2024, 3, 1, 9, tzinfo=UTC)

TABLE = Table(
    name="structures",
    title="Structures",
    columns=(
        Column("structure", "Structure", ColumnKind.TEXT, key=True),
        Column("service", "Service time", ColumnKind.NUMBER, MILLISECONDS),
        Column("trend", "Trend", ColumnKind.SPARK),
    ),
    rows=(("LOCK1", 0.0125, (1.0, 2.0)), ("GBP, 1", None, ())),
    total_rows=5,
    query="select structure from coupling_structure",
)
CHART = Chart(
    name="requests",
    title="Requests",
    unit=COUNT,
    kind=ChartKind.LINES,
    times=(START, START + timedelta(minutes=15)),
    ends=(START + timedelta(minutes=15), START + timedelta(minutes=30)),
    series=(Series("LOCK1", (4.0, None)),),
)
REPORT = Report(
    title="A morning",
    systems=("SYS1",),
    sysplexes=(),
    start=START,
    end=START + timedelta(minutes=30),
    utc_offset=0.0,
    time_note="",
    alerts=(),
    sections=(
        Section("coupling", "Coupling", (KeyFigures("keys", (Figure("count", "Structures", 5, COUNT),)), TABLE, CHART)),
    ),
)


def test_every_cell_is_a_line_in_base_units() -> None:
    """Milliseconds are shown; seconds are written. A spark line repeats the metric and is not written."""
    assert list(csv.reader(render_csv(REPORT).splitlines())) == [
        ["section", "block", "kind", "row", "label", "column", "title", "unit", "value"],
        ["coupling", "figures", "figure", "1", "", "count", "Structures", "count", "5"],
        ["coupling", "structures", "table", "1", "LOCK1", "structure", "Structure", "", "LOCK1"],
        ["coupling", "structures", "table", "1", "LOCK1", "service", "Service time", "s", "0.0125"],
        ["coupling", "structures", "table", "2", "GBP, 1", "structure", "Structure", "", "GBP, 1"],
        ["coupling", "structures", "table", "2", "GBP, 1", "service", "Service time", "s", ""],
        ["coupling", "requests", "chart", "1", "2024-03-01T09:00:00Z", "LOCK1", "Requests", "count", "4.0"],
        ["coupling", "requests", "chart", "2", "2024-03-01T09:15:00Z", "LOCK1", "Requests", "count", ""],
    ]


def test_a_printed_number_is_written_as_printed() -> None:
    columns = (Column("size", "Size", ColumnKind.PRINTED),)
    table = Table("sizes", "Sizes", columns, ((PrintedNumber("20,000 pages", 20_000.0),),))
    report = replace(REPORT, sections=(Section("read", "Data read", (table,)),))
    *_, line = csv.reader(render_csv(report).splitlines())
    assert line == ["read", "sizes", "table", "1", "", "size", "Size", "", "20,000 pages"]


def test_rows_that_the_report_does_not_hold_are_named() -> None:
    (sentence,) = rows_left_out(REPORT)
    assert sentence == (
        "Coupling, Structures: 2 of 5 rows are written; SQL for all of them: select structure from coupling_structure"
    )
