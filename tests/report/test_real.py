"""Reports over files that real systems wrote, against numbers that RMF printed and sums written here in SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lxml.etree
import lxml.html
import pytest

from plexlens.metrics.inputs import Inputs
from plexlens.pdb import IngestResult, Pdb, ingest
from plexlens.pdb.engine import Connection
from plexlens.report import Report, render_html, render_text, to_json
from plexlens.report.blocks.readings import readings_of
from plexlens.report.build import build


@pytest.fixture(scope="module")
def read(shared_data: Path) -> Iterator[tuple[Connection, list[IngestResult]]]:
    """The connection to a database of all real files, and what became of each."""
    with Pdb.temporary() as pdb:
        results = ingest([shared_data / "mq", shared_data / "rmf"], pdb)
        yield pdb.connect(), results


@pytest.fixture(scope="module")
def report(read: tuple[Connection, list[IngestResult]]) -> Report:
    connection, results = read
    return build(Inputs(connection), readings_of(connection, results=results))


@pytest.fixture(scope="module")
def found(report: Report) -> dict[str, dict[str, Any]]:
    return {table["name"]: table for section in to_json(report)["sections"] for table in section["tables"]}


def _printed(path: Path, name: str) -> list[str]:
    """Values that a variable of this name has in an RMF XML file, in order."""
    root = lxml.etree.parse(str(path))
    pairs = [((v.findtext("name") or "").strip(), (v.findtext("value") or "").strip()) for v in root.iter("var")]
    return [value for key, value in pairs if key == name]


def test_coupling_facility_busy_of_no_processors_is_named_and_not_used(report: Report, shared_data: Path) -> None:
    """RMF prints 65.2 and 65.4 % busy for two facilities with 0.0 effective processors."""
    printed = _printed(shared_data / "rmf" / "cf.xml", "Avg CF Utilization %Busy")
    assert len(printed) == 2
    page = lxml.html.document_fromstring(render_html(report))
    rows = page.xpath("//*[@id='table-coupling_facilities']//tbody/tr")
    assert len(rows) == 2
    assert not {cell.text_content().strip() for row in rows for cell in row.xpath("./td")} & set(printed)
    named = page.xpath("//*[@id='table-read_implausible']//tbody/tr/td/@data-v")
    assert {float(value) for value in printed} <= {float(value) for value in named}


def test_queue_managers_are_the_sums_of_their_records(
    found: dict[str, dict[str, Any]], read: tuple[Connection, list[IngestResult]]
) -> None:
    calls = "+".join(
        f"sum(qmst{name})"
        for name in ("open", "clos", "get", "put", "put1", "inq", "set", "sub", "subr", "cb", "ctl", "stus")
    )
    rows = (
        read[0]
        .execute(
            f"select subsystem, ({calls}) / sum(epoch(interval_end) - epoch(interval_start)),"
            " sum(qmstget) / sum(epoch(interval_end) - epoch(interval_start)) from smf115_2_qmst group by 1"
        )
        .fetchall()
    )
    assert len(rows) == 2
    shown = {row["queue_manager"]: row for row in found["mq_queue_managers"]["rows"]}
    for name, all_calls, gets in rows:
        assert shown[name]["calls_per_second"] == pytest.approx(all_calls, rel=1e-9)
        assert shown[name]["gets_per_second"] == pytest.approx(gets, rel=1e-9)


def test_every_record_read_is_in_the_inventory(found: dict[str, dict[str, Any]], shared_data: Path) -> None:
    kinds = {row["kind"] for row in found["read_records"]["rows"]}
    assert kinds >= {"SMF 115-1", "SMF 115-231", "SMF 116-1", "SMF 116-10", "RMF XML CPU", "RMF XML WLMGL"}
    assert sum(row["records"] for row in found["read_files"]["rows"]) == sum(
        row["records"] for row in found["read_records"]["rows"]
    )
    assert len(found["read_files"]["rows"]) == len(list(shared_data.glob("*/*.*")))


def test_what_is_not_there_says_how_to_get_it(report: Report) -> None:
    text = " ".join(render_text(report).split())
    assert re.search(r"NO DATA ON DIRECT ACCESS DEVICES[A-Z, ]*\. SMF 74-1: Monitor I option DEVICE\(DASD\)", text)


def test_data_of_different_years_is_said_to_be(report: Report) -> None:
    assert report.utc_offset is None
    assert "more than one local time" in report.time_note
    assert any("between its first and its last interval" in alert.text for alert in report.alerts)
