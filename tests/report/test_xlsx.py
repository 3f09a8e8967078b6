"""Workbooks and ZIP files of reports, read back with other libraries than those that wrote them."""

from __future__ import annotations

import csv
import io
import zipfile
from dataclasses import replace
from datetime import datetime
from typing import Any

import openpyxl

from plexlens.metrics.unit import COUNT, MILLISECONDS
from plexlens.report import render_xlsx, render_zip
from plexlens.report.model import Advice, Column, ColumnKind, Level, Note, PrintedNumber, Report, Section, Table
from plexlens.report.model.xy import XYChart, XYMark, XYSeries
from plexlens.report.writers.workbook import CELL_TEXT, Workbook
from tests.report.test_csv_cells import CHART, REPORT, TABLE


def with_blocks(*blocks: Any) -> Report:
    return replace(REPORT, sections=(Section("one", "One", blocks),))


def book(report: Report) -> Any:
    return openpyxl.load_workbook(io.BytesIO(render_xlsx(report)))


def values(sheet: Any) -> list[tuple[Any, ...]]:
    return list(sheet.iter_rows(values_only=True))


def test_sheets_are_contents_figures_tables_and_charts() -> None:
    assert book(REPORT).sheetnames == ["Contents", "Key figures", "structures", "requests"]


def test_numbers_are_numbers_in_the_unit_shown_and_the_spark_line_is_left_out() -> None:
    sheet = book(REPORT)["structures"]
    # 0.0125 s are 12.5 ms.
    assert values(sheet) == [("Structure", "Service time, ms"), ("LOCK1", 12.5), ("GBP, 1", None)]
    assert sheet["B2"].number_format == "#,##0." + "0" * MILLISECONDS.digits


def test_contents_say_what_is_left_out_and_lead_to_the_sheet() -> None:
    sheet = book(REPORT)["Contents"]
    (row,) = [row for row in sheet.iter_rows() if row[2].value == "Structures"]
    assert [cell.value for cell in row][:5] == ["Coupling", "structures", "Structures", 2, 3]
    assert row[1].hyperlink.location == "'structures'!A1"
    assert "select structure from coupling_structure" in row[5].value


def test_a_chart_has_a_row_for_each_interval_in_the_time_of_the_page() -> None:
    sheet = book(replace(REPORT, utc_offset=7200.0))["requests"]
    heads, first, second = values(sheet)
    assert heads == ("Start (UTC+02:00)", "End (UTC+02:00)", "LOCK1")
    # 09:00 UTC is 11:00 at two hours east of it.
    assert first == (datetime(2024, 3, 1, 11), datetime(2024, 3, 1, 11, 15), 4)
    assert second[2] is None


def test_a_chart_over_a_number_has_every_point_and_mark() -> None:
    points = tuple((float(x), float(x * x)) for x in range(1, 101))
    chart = XYChart("curve", "Curve", "Size", "Reads", (XYSeries("BP1", points),), (XYMark(4.5, "now"),))
    rows = values(book(with_blocks(chart))["curve"])
    assert [row[:2] for row in rows[1:] if row[1] is not None] == [(x, y) for x, y in points]
    assert [row for row in rows if row[2] == "now"] == [(4.5, None, "now")]


def test_a_printed_number_is_a_number_where_the_print_is_that_number() -> None:
    column = (Column("size", "Size", ColumnKind.PRINTED),)
    cells = (PrintedNumber("20,000 pages", 20_000.0), PrintedNumber("1.50", 1.5), PrintedNumber("136.1M", 136.1e6))
    sheet = book(with_blocks(Table("sizes", "Sizes", column, tuple((cell,) for cell in cells))))["sizes"]
    assert [cell.value for (cell,) in sheet.iter_rows(min_row=2)] == [20_000, 1.5, "136.1M"]
    assert [cell.number_format for (cell,) in sheet.iter_rows(min_row=2, max_row=3)] == ['#,##0" pages"', "0.00"]


def test_notes_and_advice_are_on_the_sheet_of_notes_and_the_evidence_has_a_sheet() -> None:
    advice = Advice(
        "db2.x", 1, "high", "Pool too small", "BP1 reads.", "1 pool", TABLE, "Enlarge it.", "reads > 1", "IBM",
        command="-ALTER BUFFERPOOL(BP1) VPSIZE(2)",
    )  # fmt: skip
    found = book(with_blocks(Note("Look here.", Level.WARNING, ("a", "b")), advice))
    texts = [row[2] for row in values(found["Notes"])]
    assert "Look here.\na\nb" in texts
    assert any("-ALTER BUFFERPOOL(BP1) VPSIZE(2)" in text for text in texts)
    assert values(found["structures"])[1] == ("LOCK1", 12.5)


def test_a_text_that_begins_as_a_formula_stays_text() -> None:
    table = Table("names", "Names", (Column("name", "Name", ColumnKind.TEXT),), (("=1+1",),))
    cell = book(with_blocks(table))["names"]["A2"]
    assert (cell.value, cell.data_type) == ("=1+1", "s")


def test_a_workbook_keeps_to_the_limits_of_excel_and_says_so() -> None:
    made = Workbook()
    sheet, name = made.sheet("A/B: " + "x" * 40)
    other = made.name("a-b- " + "x" * 40)
    made.rows(sheet, [("n", 10), ("t", 10), ("f", 10)], [(2**60 + 1, "y" * 40_000, float("nan"))])
    assert name.lower() != other.lower() and max(len(name), len(other)) <= 31
    number, text, unknown = values(openpyxl.load_workbook(io.BytesIO(made.data()))[name])[1]
    # 2**60 + 1 has more digits than Excel keeps.
    assert number == str(2**60 + 1)
    assert len(text) == CELL_TEXT and text.endswith("longer text)")
    assert unknown is None


def test_a_zip_file_has_one_csv_file_for_each_table_in_base_units() -> None:
    archive = zipfile.ZipFile(io.BytesIO(render_zip(with_blocks(TABLE, CHART, replace(TABLE, name="STRUCTURES")))))
    files = {name: list(csv.reader(io.StringIO(archive.read(name).decode()))) for name in archive.namelist()}
    assert list(files) == ["structures.csv", "requests.csv", "STRUCTURES-2.csv", "contents.csv", "columns.csv"]
    assert files["structures.csv"] == [["structure", "service"], ["LOCK1", "0.0125"], ["GBP, 1", ""]]
    assert files["requests.csv"][1] == ["2024-03-01T09:00:00Z", "2024-03-01T09:15:00Z", "4.0"]
    assert files["contents.csv"][1][:6] == ["structures.csv", "one", "One", "Structures", "2", "3"]
    assert ["structures.csv", "service", "", "Service time", "s", ""] in files["columns.csv"]


def test_the_same_report_gives_the_same_zip_file() -> None:
    assert render_zip(REPORT) == render_zip(REPORT)


def test_a_count_has_no_decimals() -> None:
    table = Table("n", "N", (Column("n", "N", ColumnKind.NUMBER, COUNT),), ((1234.0,),))
    assert book(with_blocks(table))["n"]["A2"].number_format == "#,##0"
