"""Progress: a bar on a terminal, a line per stage elsewhere, nothing on standard output."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from plexlens.cli.terminal import amount_text
from tests.cli.command import run
from tests.example_file import write_example
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


def on_terminal(*words: str, cwd: Path) -> tuple[subprocess.CompletedProcess[bytes], str]:
    """A command with standard error on a terminal, and everything that was shown there."""
    leader, follower = pty.openpty()
    shown: list[bytes] = []

    def drain() -> None:
        # A terminal whose other end is closed has nothing more to read, which Linux calls an error.
        with suppress(OSError):
            while part := os.read(leader, 1 << 16):
                shown.append(part)

    reader = Thread(target=drain)
    reader.start()
    done = subprocess.run(
        [sys.executable, "-m", "plexlens.cli", *words],
        cwd=cwd, stdout=subprocess.PIPE, stderr=follower, check=False, timeout=300,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    )  # fmt: skip
    os.close(follower)
    reader.join()
    os.close(leader)
    # Colours and movements of the cursor are left out.
    return done, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(shown).decode())


def test_a_terminal_shows_a_bar_with_the_time_left_and_json_stays_clean(day: Path) -> None:
    done, shown = on_terminal("ingest", "day.smf", "--pdb", "pdb", "--json", cwd=day)
    assert done.returncode == 0
    assert json.loads(done.stdout)["files"][0]["records"] == 1
    assert "day.smf" in shown and "left:" in shown


def test_a_report_counts_its_steps(tmp_path: Path) -> None:
    """The last step that is shown is near the last one there is; the bar moves on its way there."""
    write_example(tmp_path / "example.smf")
    done, shown = on_terminal("report", "example.smf", "--json", cwd=tmp_path)
    assert done.returncode == 0, shown
    steps = [(int(step), int(of)) for step, of in re.findall(r"writing the report .*?(\d+) of (\d+) ", shown)]
    assert len({of for _, of in steps}) == 1
    numbers = [step for step, _ in steps]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) > 5 and 0.9 * steps[0][1] < numbers[-1] < steps[0][1]
    # After the first steps there is an estimate of the time that is left.
    assert re.search(r"writing the report .*left: 0:\d\d:\d\d", shown)


def test_a_long_query_shows_its_share_and_stops_by_ctrl_c(day: Path) -> None:
    done = run("ingest", "day.smf", "--pdb", "pdb", cwd=day)
    assert done.returncode == 0
    endless = "select count(*) from range(100000000) a, range(100000000) b where a.range * b.range % 7 = 3"
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "plexlens.cli", "sql", "pdb", endless],
        cwd=day, stdout=subprocess.PIPE, stderr=follower, env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    )  # fmt: skip
    os.close(follower)
    shown = ""
    while not ("running the query" in shown and "of 100 %" in shown):
        shown += os.read(leader, 1 << 16).decode(errors="replace")
    process.send_signal(signal.SIGINT)
    rest = b""
    with suppress(OSError):
        while part := os.read(leader, 1 << 16):
            rest += part
    out, _ = process.communicate(timeout=60)
    os.close(leader)
    assert process.returncode == 130
    assert out == b""
    assert "plexlens: stopped by Ctrl-C" in rest.decode()


@pytest.mark.parametrize(
    ("words", "stage"),
    [
        (("records", "day.smf", "--json"), "reading day.smf"),
        (("study", "cics-2012", "--json"), "recomputing"),
        (("sql", "pdb", "select 1 as one", "--json"), "running the query"),
    ],
)
def test_short_commands_have_a_bar_on_a_terminal_alone(day: Path, words: tuple[str, ...], stage: str) -> None:
    run("ingest", "day.smf", "--pdb", "pdb", cwd=day)
    done, shown = on_terminal(*words, cwd=day)
    assert done.returncode == 0, shown
    assert json.loads(done.stdout)
    assert stage in shown and "left:" in shown
    assert run(*words, cwd=day).stderr == ""


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
