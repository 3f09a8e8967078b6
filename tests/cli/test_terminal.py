"""Progress: a bar on a terminal, a line per stage elsewhere, nothing on standard output."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from plexlens.cli.terminal import amount_text
from plexlens.example import write_example
from tests.cli.command import run
from tests.records import dump, record


@pytest.mark.parametrize(
    ("done", "total", "text"),
    [(0, 0, ""), (3, 7, "3 of 7"), (3 << 20, 8 << 20, "3.0 of 8.0 MiB")],
)
def test_amounts(done: int, total: int, text: str) -> None:
    assert amount_text(done, total) == text


@pytest.fixture
def day(tmp_path: Path) -> Path:
    (tmp_path / "day.smf").write_bytes(dump(record(200, "SYS1", b"one")))
    return tmp_path


def test_stages_are_lines_on_standard_error_where_there_is_no_terminal(day: Path) -> None:
    done = run("ingest", "day.smf", "--pdb", "pdb", "--json", cwd=day)
    assert json.loads(done.stdout)["files"][0]["records"] == 1
    assert done.stderr.splitlines() == ["reading day.smf", "storing day.smf"]


def test_a_terminal_shows_a_bar_with_the_time_left_and_json_stays_clean(day: Path) -> None:
    leader, follower = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "plexlens.cli", "ingest", "day.smf", "--pdb", "pdb", "--json"],
        cwd=day, stdout=subprocess.PIPE, stderr=follower, check=False, timeout=120,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    )  # fmt: skip
    os.close(follower)
    shown = os.read(leader, 1 << 16).decode()
    os.close(leader)
    assert done.returncode == 0
    assert json.loads(done.stdout)["files"][0]["records"] == 1
    assert "day.smf" in shown and "left:" in shown


def test_ctrl_c_ends_with_one_line_and_leaves_no_file(tmp_path: Path) -> None:
    """The command is stopped while it works on the page; nothing is left of it and of its temporary database."""
    write_example(tmp_path / "example.smf")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "plexlens.cli", "report", "example.smf", "-o", "page.html"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"TMPDIR": str(scratch)},
    )  # fmt: skip
    assert process.stderr is not None
    shown = ""
    while "writing the report" not in shown:
        shown += process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, rest = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out == ""
    assert rest == "plexlens: stopped by Ctrl-C; no file was left half written\n"
    assert [path.name for path in tmp_path.iterdir() if path.name != "scratch"] == ["example.smf"]
    assert list(scratch.iterdir()) == []
