"""The workbook of a study, read back with another library than the one that wrote it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from plexlens.compare import load_study, study_names
from plexlens.compare.page.study_workbook import COLOURS, DERIVED_HEADS, study_workbook
from plexlens.report.writers.workbook import SHEET_NAME
from tests.cli.command import run
from tests.compare.audited import analysed, audited


def book(*names: str) -> Any:
    return openpyxl.load_workbook(
        io.BytesIO(study_workbook([audited(name) for name in names], [analysed(name) for name in names]))
    )


def place(sheet: Any, text: str) -> tuple[int, int]:
    return next((cell.row, cell.column) for row in sheet.iter_rows() for cell in row if cell.value == text)


@pytest.fixture(scope="module")
def cics() -> Any:
    return book("cics-2012")


def test_every_table_has_a_sheet_and_every_sheet_a_name_that_excel_takes() -> None:
    names = study_names()
    sheets = book(*names).sheetnames
    tables = sum(len(load_study(name).tables) for name in names)
    assert len(sheets) == tables + 6
    assert len({name.lower() for name in sheets}) == len(sheets)
    assert all(len(name) <= SHEET_NAME and not set(name) & set("[]:*?/\\'") for name in sheets)


def test_a_table_stands_as_printed_with_numbers_as_numbers(cics: Any) -> None:
    sheet = cics["table-01"]
    row, column = place(sheet, "ETR")
    # First row of table 1 in the paper.
    printed = [sheet.cell(row + 1, column + step) for step in range(6)]
    assert [cell.value for cell in printed] == [1245.14, 6, 9.73, 5.71, 2.5, 0.144]
    assert [cell.number_format for cell in printed] == ["0.00", "0", "0.00", "0.00", "0.00", "0.000"]


def test_a_cell_that_cannot_be_is_red_with_its_arithmetic(cics: Any) -> None:
    sheet = cics["table-10"]
    row, column = place(sheet, "ETR")
    last = sheet.cell(row + 5, column + 4)
    assert last.value == 1.548
    assert last.fill.fgColor.rgb == "FF" + COLOURS["DISAGREES"][0].removeprefix("#")
    # 97.99 + 7.49 percent of a processor at 787.34 transactions a second are 1.3397 ms.
    assert "97.99 + 7.49" in last.comment.text
    agreeing = sheet.cell(row + 1, column + 4)
    assert agreeing.fill.fgColor.rgb == "FF" + COLOURS["agrees"][0].removeprefix("#")
    assert agreeing.comment is None


def test_derived_cells_have_computed_bounds_difference_and_formula(cics: Any) -> None:
    sheet = cics["table-10"]
    row, _ = place(sheet, "Difference")
    heads = [sheet.cell(row, number).value for number in range(1, len(DERIVED_HEADS) + 1)]
    assert tuple(heads) == DERIVED_HEADS
    rows = [[cell.value for cell in line] for line in sheet.iter_rows(min_row=row + 1, max_col=len(heads))]
    (last,) = [
        found
        for found in (dict(zip(heads, line, strict=True)) for line in rows)
        if found["Row"] == 5 and found["Column"] == "TOTAL ms CPU per transaction"
    ]
    expected = (97.99 + 7.49) * 10 / 787.34
    assert last["Computed"] == pytest.approx(expected)
    assert last["Low"] < expected < last["High"]
    assert last["Difference"] == pytest.approx(expected - 1.548)
    assert (last["Printed"], last["Result"], last["Unit"]) == ("1.548", "DISAGREES", "ms")
    assert "over" in last["Formula in words"]


def test_nothing_is_an_excel_formula() -> None:
    for sheet in book("pools-2014", "zxml-2008"):
        assert not [cell.coordinate for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]


def test_summary_leads_to_each_sheet_and_counts_as_the_audit_does(cics: Any) -> None:
    found = audited("cics-2012")
    sheet = cics["Summary"]
    row, _ = place(sheet, "Not computed")
    for number, one in enumerate(found.tables, row + 1):
        link = sheet.cell(number, 2)
        assert link.value == one.table.id and one.table.id in link.hyperlink.location
        counts = [sheet.cell(number, column).value for column in range(4, 9)]
        assert counts == [
            len(one.table.rows), len(one.compared), one.agree, len(one.disagree), len(one.not_computed)
        ]  # fmt: skip


def test_command_writes_it_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "study.xlsx"
    done = run("study", "zxml-2008", "-o", path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "values" in openpyxl.load_workbook(path).sheetnames
    assert [one.name for one in tmp_path.iterdir()] == ["study.xlsx"]


def test_findings_curves_checks_and_claims_have_sheets() -> None:
    found = book("vmesa-1992")
    findings = [row[1].value for row in found["Findings"].iter_rows(min_row=2)]
    assert any("1344 MiB" in text for text in findings)
    curves = list(found["Curves"].iter_rows(min_row=2, values_only=True))
    measured = [row[4] for row in curves if row[1] == "capacity-9021" and row[4] is not None]
    assert measured == [44.73, 87.53, 123.64, 236.35]
    checks = list(found["Checks"].iter_rows(min_row=2, values_only=True))
    (six,) = [row for row in checks if row[1] == "capacity-six" and "Amdahl" in row[3]]
    assert six[7] == pytest.approx(100 * (six[5] / 236.35 - 1))
    claims = list(found["Claims"].iter_rows(min_row=2))
    wrong = next(row for row in claims if "more than 54 s later" in row[1].value)
    assert wrong[9].value == "DISAGREES" and wrong[5].value == pytest.approx(53.479)
    assert wrong[9].fill.fgColor.rgb == "FF" + COLOURS["DISAGREES"][0].removeprefix("#")
