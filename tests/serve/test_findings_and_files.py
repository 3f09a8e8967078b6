"""Findings lead to the objects that they are about; tables of pages can be taken along."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
from starlette.types import ASGIApp

from tests.cli.command import run
from tests.serve.client import ask


def test_evidence_leads_to_its_object(app: ASGIApp) -> None:
    """The link of a row of evidence has the row's own names as filters, and the page it leads to has data."""
    page = ask(app, "/page/findings").page
    links = page.xpath("//*[contains(@class, 'advice')]//tbody//a[@class='lead']")
    assert len(links) > 5
    for link in links[:8]:
        answer = ask(app, link.get("href"))
        assert answer.status == 200, link.get("href")
        assert "No row meets the filters" not in answer.words
        chips = [chip.text_content() for chip in answer.page.xpath("//ul[@class='chips']//b")]
        assert link.text_content() in chips


def test_findings_are_those_of_the_report_over_the_same_selection(app: ASGIApp, pdb: Path) -> None:
    done = run("report", pdb, "--system", "IPD4", "--json", cwd=pdb.parent)
    told = {one["rule"] for one in json.loads(done.stdout)["findings"]["fired"]}
    page = ask(app, "/page/findings?system=IPD4").page
    shown = {one.get("id").removeprefix("advice-") for one in page.xpath("//*[contains(@class, 'card advice')]")}
    assert shown
    assert shown == told


def test_the_tables_of_a_page_as_files(app: ASGIApp) -> None:
    names = {one.get("id") for one in ask(app, "/page/cpu").page.xpath("//*[starts-with(@id, 'table-cpu')]")}
    assert names
    with zipfile.ZipFile(io.BytesIO(ask(app, "/page/cpu/tables.zip").body)) as archive:
        assert len([name for name in archive.namelist() if name.endswith(".csv")]) >= len(names)
    assert openpyxl.load_workbook(io.BytesIO(ask(app, "/page/cpu/tables.xlsx").body)).sheetnames
    assert json.loads(ask(app, "/page/cpu/tables.json").text)["sections"]
    assert ask(app, "/page/cpu/tables.csv").headers["content-type"].startswith("text/csv")
    assert ask(app, "/page/cpu/tables.exe").status == 404
    assert ask(app, "/page/nope/tables.csv").status == 404


def test_the_rows_of_a_grain_as_files_are_those_of_its_page(app: ASGIApp) -> None:
    query = "by=structure&metric=sync_requests&where=system%3DSYS1"
    rows = json.loads(ask(app, f"/grain/coupling_structure/rows.json?{query}").text)
    page = ask(app, f"/grain/coupling_structure?{query}").page
    shown = [row[0].text_content() for row in page.xpath("//*[@id='table-rows']//tbody/tr")]
    assert [row["structure"] for row in rows] == shown
    table = pq.read_table(io.BytesIO(ask(app, f"/grain/coupling_structure/rows.parquet?{query}").body))
    assert table.to_pylist() == rows
    text = ask(app, f"/grain/coupling_structure/rows.csv?{query}").text
    assert text.count("\n") == len(rows) + 1
    sheet = openpyxl.load_workbook(io.BytesIO(ask(app, f"/grain/coupling_structure/rows.xlsx?{query}").body)).active
    assert sheet.max_row == len(rows) + 1
    assert ask(app, f"/grain/coupling_structure/rows.exe?{query}").status == 404
    assert ask(app, "/grain/coupling_structure/rows.csv?from=2020-01-01").status == 404
