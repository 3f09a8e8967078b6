"""The command line as a user meets it: what it prints where, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import run
from tests.records import dump, record


def program(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "plexlens.cli", *map(str, words)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_a_process_of_its_own_answers_as_the_tests_below(day: Path, tmp_path: Path) -> None:
    for words in (("records", "day.smf", "--json"), ("records", "nosuch.smf"), ("--version",)):
        done, here = program(*words, cwd=tmp_path), run(*words, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (here.returncode, here.stdout, here.stderr)


@pytest.fixture
def day(tmp_path: Path) -> Path:
    """A dump of three records of two types from two systems, none of which has a layout."""
    path = tmp_path / "day.smf"
    path.write_bytes(dump(record(200, "SYS1", b"one"), record(200, "SYS2", b"two"), record(201, "SYS1", b"three")))
    return path


def test_records_as_json_is_one_object(day: Path, tmp_path: Path) -> None:
    done = run("records", "day.smf", "--json", cwd=tmp_path)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["records"] == {"200": 2, "201": 1}
    assert found["systems"] == {"SYS1": {"200": 1, "201": 1}, "SYS2": {"200": 1}}
    assert found["damage"] == []
    assert [one["file"] for one in found["files"]] == ["day.smf"]
    # 2024-03-01 is day 61; 4,000,000 hundredths are 11:06:40.
    assert found["span"] == ["2024-03-01T11:06:40.00", "2024-03-01T11:06:40.00"]


def test_records_names_a_cut_record(day: Path, tmp_path: Path) -> None:
    whole = day.read_bytes()
    (tmp_path / "cut.smf").write_bytes(whole[:-2])
    done = run("records", "cut.smf", "--json", cwd=tmp_path)
    assert done.returncode == 0
    (damage,) = json.loads(done.stdout)["damage"]
    # The third record begins after the first two; each of those is 18 + 3 bytes long.
    assert (damage["record"], damage["offset"]) == (3, 42)


def test_the_same_dump_twice_changes_nothing(day: Path, tmp_path: Path) -> None:
    first = run("ingest", "day.smf", "--pdb", "pdb", "--json", cwd=tmp_path)
    assert json.loads(first.stdout)["files"][0]["records"] == 3
    before = sorted(path.relative_to(tmp_path) for path in (tmp_path / "pdb").rglob("*.parquet"))
    again = run("ingest", "day.smf", "--pdb", "pdb", cwd=tmp_path)
    assert "already held" in again.stdout
    assert sorted(path.relative_to(tmp_path) for path in (tmp_path / "pdb").rglob("*.parquet")) == before
    counted = run(
        "sql", "pdb", "select record_type, count(*) n from smf_record group by 1 order by 1", "--json", cwd=tmp_path
    )
    assert json.loads(counted.stdout) == [{"record_type": 200, "n": 2}, {"record_type": 201, "n": 1}]


def test_report_on_dumps_without_measurements_says_what_would_fill_it(day: Path, tmp_path: Path) -> None:
    done = run("report", "day.smf", "-o", "out.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    page = (tmp_path / "out.html").read_text()
    assert "SMF 72" in page
    assert "200" in page


def test_layouts_are_listed_and_shown(tmp_path: Path) -> None:
    listed = run("layouts", "list", cwd=tmp_path)
    assert "smf74_4_request" in listed.stdout
    shown = run("layouts", "show", "smf74_4_request", "--json", cwd=tmp_path)
    fields = {field["field"]: field for field in json.loads(shown.stdout)["fields"]}
    assert (fields["R744SSTM"]["offset"], fields["R744SSTM"]["length"]) == (100, 8)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("report", "nosuch.smf"), 3, "nosuch.smf"),
        (("report", "notes.txt"), 3, "the file is text"),
        (("report", "empty.smf"), 4, "empty"),
        (("report", "day.smf", "-o", "nowhere/x.html"), 2, "nowhere"),
        (("report", "day.smf", "-o", "."), 2, "folder"),
        (("report", "day.smf", "--format", "pdf"), 2, "html"),
        (("report",), 2, "FILE"),
        (("records", "day.smf", "nosuch.smf"), 3, "nosuch.smf"),
        (("ingest", "day.smf"), 2, "--pdb"),
        (("ingest", "day.smf", "--pdb", "notes.txt"), 2, "notes.txt"),
        (("sql", "nopdb", "select 1"), 3, "nopdb"),
        (("layouts", "show", "smf99_9"), 2, "layouts list"),
        (("report", "day.smf", "--layouts", "nofolder"), 2, "nofolder"),
        (("bogus",), 2, "bogus"),
    ],
)
def test_wrong_use_ends_with_a_message(day: Path, tmp_path: Path, words: tuple[str, ...], code: int, says: str) -> None:
    (tmp_path / "notes.txt").write_text("minutes of the meeting\n" * 20)
    (tmp_path / "empty.smf").touch()
    done = run(*words, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "report.html").exists()


def test_a_query_that_fails_says_how_to_find_names(day: Path, tmp_path: Path) -> None:
    run("ingest", "day.smf", "--pdb", "pdb", cwd=tmp_path)
    done = run("sql", "pdb", "select nosuch from smf_record", cwd=tmp_path)
    assert done.returncode == 2
    assert "nosuch" in done.stderr
    assert "show tables" in done.stderr


def test_version(tmp_path: Path) -> None:
    done = run("--version", cwd=tmp_path)
    assert done.stdout.startswith("plexlens ")


def test_code_page_and_leap_seconds_reach_the_reader(tmp_path: Path) -> None:
    """The system id is text: X'BA' is a left bracket in code page 037 and a Y with acute accent in 1047."""
    path = tmp_path / "odd.smf"
    path.write_bytes(dump(record(200, "SYS1", b"one").replace("SYS1".encode("cp037"), b"\xe2\xe8\xe2\xba")))
    for page, name in (("037", "SYS["), ("1047", "SYSÝ")):
        run("ingest", "odd.smf", "--pdb", f"pdb{page}", "--codepage", page, "--leap-seconds", cwd=tmp_path)
        found = run("sql", f"pdb{page}", "select system from smf_record", "--json", cwd=tmp_path)
        assert json.loads(found.stdout) == [{"system": name}]
