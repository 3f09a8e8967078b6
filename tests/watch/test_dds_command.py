"""`plexlens watch` with the address of a server: what it prints, how it ends, and that no password shows."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plexlens.pdb import Pdb
from plexlens.watch.dds.address import PASSWORD as PASSWORD_VARIABLE
from plexlens.watch.dds.address import USER as USER_VARIABLE
from plexlens.watch.outbox import STATE
from plexlens.watch.passing_on import Receivers
from tests.cli.command import Done, run
from tests.watch.stand_in import LENGTH, PASSWORD, USER, StandIn


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with StandIn() as made:
        yield made


@pytest.fixture(autouse=True)
def user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(USER_VARIABLE, USER)
    monkeypatch.setenv(PASSWORD_VARIABLE, PASSWORD)


def watch(folder: Path, *words: str) -> Done:
    return run("watch", *words, "--pdb", "pdb", "--once", cwd=folder)


def test_intervals_there_are_now(stand_in: StandIn, tmp_path: Path) -> None:
    done = watch(tmp_path, stand_in.address)
    assert (done.returncode, done.stdout) == (0, "")
    assert "reports CPC, SYSINFO, CHANNEL, DEVR of SYS1, SYS2" in done.stderr
    assert "1 intervals taken" in done.stderr
    assert "goes over the network without TLS" in done.stderr
    stand_in.advance(LENGTH * 30)
    done = watch(tmp_path, stand_in.address)
    assert "30 intervals taken" in done.stderr
    assert PASSWORD not in done.stderr


def test_new_findings_of_intervals_are_lines_of_json_and_wait_for_a_webhook(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.watch.stand_in.value_of", lambda start, system: 490)
    # Nobody listens at the webhook: what it does not get is kept.
    hook = ("--webhook", "http://127.0.0.1:9/x")
    first = watch(tmp_path, stand_in.address, *hook)
    assert first.returncode == 0
    stand_in.advance(LENGTH * 12)
    done = watch(tmp_path, stand_in.address, *hook)
    lines = [json.loads(line) for line in (first.stdout + done.stdout).splitlines()]
    # Two partitions, each 49 % of the 4 processors.
    assert "cpu.machine_full" in {one["rule"] for one in lines}
    waiting = json.loads((tmp_path / "pdb" / STATE).read_text())
    assert [one["finding"] for one in waiting] == lines
    assert f"{len(lines)} findings wait for their receiver" in done.stderr


def test_a_command_does_not_get_the_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import os; open('seen', 'w').write(repr(dict(os.environ)))"
    told: list[str] = []
    monkeypatch.chdir(tmp_path)
    Receivers(lambda text: None, told.append, command=f'"{sys.executable}" -c "{program}"').give({"rule": "a.b"})
    assert told == []
    assert "PATH" in (tmp_path / "seen").read_text()
    assert PASSWORD not in (tmp_path / "seen").read_text()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("401", "is not accepted; check PLEXLENS_DDS_USER"),
        ("404", "check the address, its port and its path"),
        ("html", "is text/html and not XML"),
        ("redirect", "redirections are not followed"),
        ("503", "was answered with 503"),
        ("no answer", ""),
    ],
)
def test_a_server_that_does_not_answer_ends_a_single_look_with_code_3(
    stand_in: StandIn, tmp_path: Path, fault: str, said: str
) -> None:
    stand_in.fault = lambda document, asked: fault
    done = watch(tmp_path, stand_in.address)
    assert (done.returncode, done.stdout) == (3, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_is_watched_beside_a_server_that_is_away(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.stop()
    (tmp_path / "incoming").mkdir()
    (tmp_path / "incoming" / "day.xml").write_text(
        stand_in._document("rmfm3.xml", {"report": "CPC", "resource": ",SYS1,MVS_IMAGE"}) or ""
    )
    done = watch(tmp_path, "incoming", stand_in.address, "--interval", "0.01")
    assert done.returncode == 3
    assert "there is no connection" in done.stderr
    assert "1 files ingested" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ftp://host",), "not the address of a Distributed Data Server"),
        (("http://me:hidden@host",), "leave it out, and set the variables"),
        (("http://host", "--reports", "C?C"), "not the name of a report"),
        (("http://host", "--catch-up", "-1"), "out of range"),
        (("http://host", "--ca", "nothing.pem"), "no certificates can be read"),
        ((".", "--ca", "x.pem"), "--ca is for a server"),
    ],
)
def test_a_wrong_use_says_what_to_do(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    ca = ("https" + words[0][4:], *words[1:]) if "--ca" in words and words[0] != "." else words
    done = watch(tmp_path, *ca)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "hidden" not in done.stderr
    assert not (tmp_path / "pdb").exists()


def test_one_of_user_and_password_is_not_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PASSWORD_VARIABLE)
    done = watch(tmp_path, "https://plex.example")
    assert done.returncode == 2
    assert f"{PASSWORD_VARIABLE} is not" in done.stderr


def test_a_watch_in_a_process_of_its_own_shows_no_password_and_ends_with_ctrl_c(
    stand_in: StandIn, tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "plexlens.cli", "watch", stand_in.address, "--pdb", "pdb"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    lines = [process.stderr.readline() for _ in range(3)]
    assert "added" in lines[2]
    listed = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert "(stopped)" in err
    assert PASSWORD.encode() not in listed
    assert PASSWORD not in "".join(lines) + err
    # It is in no address, log or name either.
    assert not any(PASSWORD in f"{document} {asked}" for document, asked in stand_in.asked)
    held = b"".join(path.read_bytes() for path in (tmp_path / "pdb").rglob("*") if path.is_file())
    assert PASSWORD.encode() not in held
    assert len(Pdb.open(tmp_path / "pdb").ingests) == 1
