"""Text reports on the command line, as someone uses them who has a report and no dump."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import run
from tests.ingest.test_text_studies import LOG_AND_SERVICES, POOL_2006
from tests.ingest.text_report_documents import db2_heading, statistics
from tests.ingest.text_rmf_documents import COUPLING, TCB_MODES, WORKLOAD


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (
        ("stats.txt", statistics()),
        ("rmf.txt", WORKLOAD + "\f" + COUPLING),
        ("cics.txt", TCB_MODES),
        (
            "excerpt.txt",
            f"{POOL_2006}\nWe also have the log of another day for you, and it looks bad.\n{LOG_AND_SERVICES}",
        ),
        ("letter.txt", "Dear all,\nthe response time of 3 transactions doubled.\n"),
        ("heading.txt", db2_heading("1-1")),
    ):
        (tmp_path / name).write_text(text)
    (tmp_path / "noise.txt").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "empty.txt").write_bytes(b"")
    return tmp_path


def test_records_lists_reports_with_whom_they_are_of(folder: Path) -> None:
    done = run("records", "stats.txt", "rmf.txt", "cics.txt", cwd=folder)
    assert done.returncode == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["db2_statistics", "1", "DB2A", "1"] in lines
    assert ["rmf_workload", "1", "PLEX1", "1"] in lines
    assert ["cics_statistics", "1", "IYK2Z1V1", "1"] in lines
    found = json.loads(run("records", "rmf.txt", "--json", cwd=folder).stdout)
    assert found["records"] == {"rmf_coupling_facility": 1, "rmf_workload": 1}
    assert found["span"] == ["2021-07-27T10:00:00", "2021-07-27T10:15:00"]


def test_ingest_keeps_a_report_once(folder: Path) -> None:
    first = json.loads(run("ingest", "stats.txt", "--pdb", "pdb", "--json", cwd=folder).stdout)
    again = json.loads(run("ingest", "stats.txt", "--pdb", "pdb", "--json", cwd=folder).stdout)
    assert [one["outcome"] for answer in (first, again) for one in answer["files"]] == ["added", "already held"]
    done = run("sql", "pdb", "select subsystem, pool, getpages from db2_pool", "--json", cwd=folder)
    assert json.loads(done.stdout) == [{"subsystem": "DB2A", "pool": "BP2", "getpages": 9_876_500.0}]


def test_report_of_reports(folder: Path) -> None:
    done = run("report", "stats.txt", "rmf.txt", "cics.txt", "-o", "page.html", cwd=folder)
    assert (done.returncode, (folder / "page.html").exists()) == (0, True), done.stderr
    page = (folder / "page.html").read_text()
    for name in ("DSNGRP_LOCK1", "CICSHI", "BP2"):
        assert name in page


def test_report_of_an_excerpt_says_where_its_interval_is_from(folder: Path) -> None:
    done = run("report", "excerpt.txt", "--format", "text", cwd=folder)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "interval computed" in text
    assert "printed numbers disagree" in text
    # 7270.9K getpages in 2998.9 s.
    assert "2,424.5" in text or "2,424" in text


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("letter.txt", 3, "Db2 statistics, Db2 accounting, -DISPLAY BUFFERPOOL"),
        ("heading.txt", 3, "the file contains no known report"),
        ("noise.txt", 3, "noise.txt"),
        ("empty.txt", 4, "empty.txt"),
        ("missing.txt", 3, "No such file"),
    ],
)
def test_what_is_no_report_ends_with_a_message(folder: Path, name: str, code: int, says: str) -> None:
    done = run("report", name, "-o", "page.html", cwd=folder)
    assert done.returncode == code
    assert says in done.stderr
    assert done.stdout == ""
    assert not (folder / "page.html").exists()
