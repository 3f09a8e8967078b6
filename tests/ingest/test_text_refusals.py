"""What is taken for a text report and what is not; text reports in a PDB."""

from __future__ import annotations

import gzip
import random
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from plexlens.errors import UnknownSourceError
from plexlens.ingest import kinds as sources
from plexlens.ingest.printed import text as text_reports
from plexlens.ingest.printed.text_kinds import KINDS
from plexlens.ingest.recognition import read_head
from plexlens.pdb import Outcome, Pdb, ingest
from tests.ingest.smf_by_hand import record, thing
from tests.ingest.text_report_documents import (
    LOCKING,
    carriage_control,
    db2_heading,
    fixed_records,
    quoted,
    statistics,
    statistics_pages,
)
from tests.ingest.text_rmf_documents import COUPLING, CPU, DFHSTUP, PARTITION, TCB_MODES, WORKLOAD

LETTER = """\
Dear all,

last Monday between 07:00 and 07:15 the response time of 3 transactions doubled, from 0.5 to 1.0 seconds.
CPU was at 97.5 %. Can you have a look? The SMF records are on their way.

Regards
"""
TABLE = "name,quantity,rate\nBP0,17,0.5\nBP1,18,0.6\n"
SOURCE = "#include <stdio.h>\nint main(void) { return 0; }\n"

DISPLAY = """\
DSNB401I  -DB2A BUFFERPOOL NAME BP1, BUFFERPOOL ID 1, USE COUNT 9
DSNB402I  -DB2A BUFFER POOL SIZE = 4000 BUFFERS  AUTOSIZE = NO
"""
PANEL = "Reads Due To Cross Invalidation = 12%  Reads Due To Page Not Found in Buffer Pool = 88%\n"


@pytest.mark.parametrize(
    "text",
    [statistics(), LOCKING, DISPLAY, PANEL, CPU, PARTITION, WORKLOAD, COUPLING, DFHSTUP, TCB_MODES],
    ids=["statistics", "block", "display", "panel", "cpu", "partition", "workload", "coupling", "dfhstup", "tcb modes"],
)
def test_reports_are_recognised(tmp_path: Path, text: str) -> None:
    for data in (
        *(text.encode(), text.encode("utf-16"), gzip.compress(text.encode()), quoted(text).encode()),
        text.replace("\n", "\x85").encode("cp037"),
    ):
        path = tmp_path / "file"
        path.write_bytes(data)
        assert text_reports.sniff(read_head(path), "anything")
        assert sources.recognise(path).name == "text_reports"


@pytest.mark.parametrize("data", [fixed_records(statistics_pages()), carriage_control(statistics_pages()).encode()])
def test_listings_are_recognised(data: bytes) -> None:
    assert text_reports.sniff(data, "LISTING.BIN")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00" * 4096,
        random.Random(5).randbytes(4096),
        record(datetime(2023, 3, 15), things=(thing(1), thing(2))) * 20,
        b"<?xml version='1.0'?><ddsml></ddsml>",
        b"<html><body>BP1 GENERAL</body></html>",
        LETTER.encode(),
        TABLE.encode(),
        SOURCE.encode(),
        LETTER.encode("cp037"),
        gzip.compress(LETTER.encode())[:30],
        b'{"QUANTITY": 5}',
    ],
    ids=["empty", "zeros", "noise", "dump", "xml", "html", "letter", "table", "source", "ebcdic", "broken", "json"],
)
def test_other_files_are_not(data: bytes) -> None:
    assert not text_reports.sniff(data, "report.txt")


@pytest.mark.parametrize("text", [LETTER, TABLE, SOURCE], ids=["letter", "table", "source"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp037"])
def test_text_that_is_no_report_is_refused_with_the_known_kinds(tmp_path: Path, text: str, encoding: str) -> None:
    path = tmp_path / "report.txt"
    path.write_bytes(text.replace("\n", "\x85" if encoding == "cp037" else "\n").encode(encoding))
    with pytest.raises(UnknownSourceError) as recognised:
        sources.recognise(path)
    with pytest.raises(text_reports.TextReportError) as read:
        list(text_reports.read(path, source_id="x"))
    assert "in binary" in recognised.value.remedy, "it may be a dump sent as text"
    for kind in KINDS.values():
        assert kind in str(recognised.value)
        assert kind in str(read.value)
    assert str(path) in str(read.value)
    assert read.value.remedy


def test_a_heading_without_a_report_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text(db2_heading("1-1"))
    with pytest.raises(text_reports.TextReportError, match="no known report"):
        list(text_reports.read(path, source_id="x"))


@pytest.mark.parametrize("name", ["missing.txt", "."])
def test_what_cannot_be_opened(tmp_path: Path, name: str) -> None:
    with pytest.raises(text_reports.TextReportError) as refused:
        list(text_reports.read(tmp_path / name, source_id="x"))
    assert refused.value.what
    assert refused.value.remedy


def test_a_reading_is_iterated_once(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text(LOCKING)
    reading = text_reports.read(path, source_id="x")
    assert list(reading)
    with pytest.raises(RuntimeError):
        list(reading)


def test_batches_come_before_the_file_is_read_to_its_end(tmp_path: Path) -> None:
    """A month of listings is not held in memory."""
    path = tmp_path / "report.txt"
    path.write_text("".join(statistics().replace("DB2A", f"D{number:03}") + "\n" for number in range(200)))
    reading = text_reports.read(path, source_id="x")
    next(iter(reading))
    assert reading.position < path.stat().st_size


# --- in a PDB -----------------------------------------------------------------------------------------------------


def rows(pdb: Pdb, sql: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = pdb.connect().execute(sql).to_arrow_table().to_pylist()
    return listed


def test_a_report_is_kept_once_however_it_comes(tmp_path: Path) -> None:
    pdb = Pdb.create(tmp_path / "pdb")
    plain, mailed, more = tmp_path / "plain.txt", tmp_path / "mailed.txt", tmp_path / "more.txt"
    plain.write_text(statistics())
    mailed.write_text(quoted(statistics()))
    more.write_text(statistics() + "\f" + statistics().replace("DB2A", "DB2B"))
    assert [result.outcome for result in ingest([plain], pdb)] == [Outcome.ADDED]
    assert [result.outcome for result in ingest([plain, mailed, more], pdb)][-1] == Outcome.ADDED
    counted = rows(pdb, "SELECT member, count(*) AS n FROM text_report_value GROUP BY ALL ORDER BY member")
    assert [row["member"] for row in counted] == ["DB2A", "DB2B"]
    assert counted[0]["n"] == counted[1]["n"]
    pools = rows(pdb, "SELECT member, getpages FROM text_db2_pool ORDER BY member")
    assert pools == [{"member": "DB2A", "getpages": 9_876_500.0}, {"member": "DB2B", "getpages": 9_876_500.0}]


def test_damage_goes_with_the_report(tmp_path: Path) -> None:
    pdb = Pdb.create(tmp_path / "pdb")
    path = tmp_path / "report.txt"
    path.write_text(LOCKING + "ABC   17  DEF   23.5  XYZ   9  9  9  9\n")
    ingest([path], pdb)
    (damage,) = rows(pdb, "SELECT reason, severity, detail FROM damage WHERE severity = 'error'")
    assert (damage["reason"], damage["severity"]) == ("line not recognised", "error")
    assert "ABC" in damage["detail"]
