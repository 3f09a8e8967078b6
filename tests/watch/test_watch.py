"""Dumps that arrive: taken once, when they have settled; bad ones set aside; findings passed on once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from plexlens.errors import UnreadableInputError
from plexlens.findings import load_rules
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.lock import writer_lock
from plexlens.pdb.opening import DumpReading
from plexlens.watch.aside import is_set_aside, reason_file, set_aside
from plexlens.watch.judging import STATE, Judge
from plexlens.watch.passing_on import Receivers
from plexlens.watch.settling import Folders
from plexlens.watch.watcher import Watcher
from tests.cli.command import run
from tests.example_file import write_example
from tests.records import dump, record


def small(number: int) -> bytes:
    """A dump of a record without a layout."""
    return dump(record(200, "SYS1", f"record {number}".encode()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "incoming"
    made.mkdir()
    return made


def watcher(folder: Path, lines: list[str] | None = None, said: list[str] | None = None) -> Watcher:
    """A watch over the folder into the database beside it, as the command makes it."""
    tell = (said if said is not None else []).append
    pdb = Pdb.open_or_create(folder.parent / "pdb")
    receivers = Receivers((lines if lines is not None else []).append, tell)
    return Watcher(Folders([folder], tell), pdb, Judge(pdb, load_rules()), receivers, reading=DumpReading(), tell=tell)


def files(folder: Path) -> list[str]:
    """Names of the files that the database has taken."""
    return [Path(one.file).name for one in Pdb.open(folder.parent / "pdb").ingests]


class Stop(threading.Event):
    """Ends a watch after so many looks; between two looks something happens."""

    def __init__(self, looks: int, between: Callable[[int], None] = lambda look: None) -> None:
        super().__init__()
        self.looks, self.between, self.past = looks, between, 0

    def wait(self, timeout: float | None = None) -> bool:
        self.past += 1
        self.between(self.past)
        return self.past >= self.looks


def test_a_file_is_taken_when_size_and_time_are_the_same_in_two_looks(folder: Path) -> None:
    seen = Folders([folder], pytest.fail)
    path = folder / "day.smf"
    path.write_bytes(small(1))
    assert seen.look() == []
    assert seen.look() == [path]
    # It grows again before it was taken.
    path.write_bytes(small(1) + small(2))
    assert seen.look() == []
    assert seen.look() == [path]
    seen.done(path)
    assert seen.look() == []
    # Of the same size, with another time.
    os.utime(path, ns=(1, 1))
    assert seen.look() == []
    assert seen.look() == [path]


def test_hidden_empty_and_reason_files_and_databases_are_left_alone(folder: Path) -> None:
    (folder / ".part.smf").write_bytes(small(1))
    (folder / "empty.smf").touch()
    (folder / "day.smf.reason").write_text("why")
    (folder / "pdb").mkdir()
    (folder / "pdb" / "manifest.json").write_text("{}")
    (folder / "deeper").mkdir()
    (folder / "deeper" / "day.smf").write_bytes(small(1))
    seen = Folders([folder], pytest.fail)
    seen.look()
    assert seen.look() == [folder / "deeper" / "day.smf"]


def test_each_content_is_taken_once_through_restarts(folder: Path) -> None:
    (folder / "1.smf").write_bytes(small(1))

    def later(look: int) -> None:
        if look == 2:
            (folder / "2.smf").write_bytes(small(2))
            (folder / "copy of 1.smf").write_bytes(small(1))

    assert watcher(folder).run(0.0, Stop(5, later)).ingested == 2
    assert files(folder) == ["1.smf", "2.smf"]
    said: list[str] = []
    again = watcher(folder, said=said)
    assert again.run(0.0, Stop(3)).ingested == 0
    assert files(folder) == ["1.smf", "2.smf"]
    assert sum("already held" in one for one in said) == 3


def test_a_bad_file_is_set_aside_with_its_reason_and_not_tried_again(folder: Path) -> None:
    bad = folder / "bad.smf"
    bad.write_text("this is not a dump")
    (folder / "good.smf").write_bytes(small(1))
    assert watcher(folder).run(0.0, Stop(3)).set_aside == 1
    reason = reason_file(bad).read_text()
    assert "bad.smf was not ingested" in reason
    assert "what to do" in reason
    assert files(folder) == ["good.smf"]
    assert watcher(folder).run(0.0, Stop(3)).set_aside == 0
    # Sent again, it is tried again, and the reason goes.
    bad.write_bytes(small(2))
    assert watcher(folder).run(0.0, Stop(3)).ingested == 1
    assert not reason_file(bad).exists()


def test_a_reason_that_cannot_be_written_is_told(folder: Path) -> None:
    path = folder / "bad.smf"
    path.write_text("x")
    reason_file(path).mkdir()
    said: list[str] = []
    set_aside(path, UnreadableInputError(file="", what="it is bad", remedy="send it"), said.append)
    assert "cannot be written" in said[0]
    assert not is_set_aside(path)


def test_a_locked_database_is_waited_for(folder: Path) -> None:
    (folder / "1.smf").write_bytes(small(1))
    said: list[str] = []
    watch = watcher(folder, said=said)
    lock = writer_lock(folder.parent / "pdb" / "lock", pdb=folder.parent / "pdb")
    lock.__enter__()

    def free(look: int) -> None:
        if look == 4:
            lock.__exit__(None, None, None)

    assert watch.run(0.0, Stop(6, free)).ingested == 1
    assert sum("is writing into this PDB" in one for one in said) == 1
    assert not reason_file(folder / "1.smf").exists()


def test_a_folder_that_goes_away_is_told_once_and_looked_at_again(folder: Path) -> None:
    said: list[str] = []
    away = folder.with_name("away")
    (folder / "1.smf").write_bytes(small(1))

    def move(look: int) -> None:
        if look == 1:
            folder.rename(away)
        elif look == 4:
            away.rename(folder)

    assert watcher(folder, said=said).run(0.0, Stop(7, move)).ingested == 1
    assert sum("cannot be read" in one for one in said) == 1


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("example") / "example.smf"
    write_example(path)
    return path.read_bytes()


def rules_of(lines: list[str]) -> set[tuple[str, str]]:
    """Rule and object of each line."""
    return {(one["rule"], json.dumps(one["entity"])) for one in map(json.loads, lines)}


def test_new_findings_are_lines_of_json_and_come_once(folder: Path, example: bytes) -> None:
    """Oracle: the findings of the report of the same dump."""
    lines: list[str] = []
    watch = watcher(folder, lines)
    (folder / "day.smf").write_bytes(example)
    assert watch.run(0.0, Stop(3)).findings == len(lines) > 10
    report = json.loads(run("report", "incoming/day.smf", "--json", cwd=folder.parent).stdout)
    assert rules_of(lines) == {(one["rule"], json.dumps(one["entity"])) for one in report["findings"]["fired"]}
    # The same records in another file, after a restart: nothing new is found.
    (folder / "again.smf").write_bytes(example + small(1)[:-2])
    more: list[str] = []
    watcher(folder, more).run(0.0, Stop(3))
    assert more == []


def test_findings_of_a_crash_between_ingest_and_judgement_are_passed_on_after_it(folder: Path, example: bytes) -> None:
    (folder / "day.smf").write_bytes(example)
    watch = watcher(folder)
    ingest([folder / "day.smf"], watch.pdb)
    lines: list[str] = []
    watcher(folder, lines).run(0.0, Stop(1))
    assert len(lines) > 10


def test_what_a_database_held_before_the_first_watch_is_not_new(folder: Path, example: bytes) -> None:
    (folder / "day.smf").write_bytes(example)
    ingest([folder / "day.smf"], Pdb.open_or_create(folder.parent / "pdb"))
    lines: list[str] = []
    watcher(folder, lines).run(0.0, Stop(3))
    assert lines == []
    assert (folder.parent / "pdb" / STATE).is_file()


class Receiver(BaseHTTPRequestHandler):
    """Answers with the codes that it is told, one after the other, and keeps what it got."""

    codes: ClassVar[list[int]]
    got: ClassVar[list[bytes]]

    def do_POST(self) -> None:
        code = self.codes.pop(0)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if code == 0:
            self.connection.close()
            return
        if code == 200:
            self.got.append(body)
        self.send_response(code)
        if code == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[tuple[str, type[Receiver]]]:
    class Own(Receiver):
        codes: ClassVar[list[int]] = []
        got: ClassVar[list[bytes]] = []

    server = HTTPServer(("127.0.0.1", 0), Own)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/findings", Own
    server.shutdown()
    server.server_close()
    thread.join()


FINDING = {"rule": "a.b", "entity": {"system": "SYS1"}, "sentence": "µ"}


@pytest.mark.parametrize(
    ("codes", "arrives", "said"),
    [
        ([200], True, ""),
        ([500, 200], True, ""),
        ([0, 503, 200], True, ""),
        ([500, 500, 500], False, "500"),
        ([401, 401, 401], False, "401"),
        ([302, 302, 302], False, "302"),
    ],
)
def test_a_webhook_gets_a_finding_or_its_failure_is_told(
    receiver: tuple[str, type[Receiver]], codes: list[int], arrives: bool, said: str
) -> None:
    address, server = receiver
    server.codes.extend(codes)
    told: list[str] = []
    lines: list[str] = []
    Receivers(lines.append, told.append, webhook=address, wait=0.0).give(FINDING)
    assert [json.loads(one) for one in lines] == [FINDING]
    assert [json.loads(one) for one in server.got] == [FINDING] * arrives
    assert server.codes == []
    assert len(told) == (not arrives)
    assert said in "".join(told)


def test_a_webhook_that_is_not_there_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    Receivers(lambda text: None, told.append, webhook="http://127.0.0.1:9/x", wait=0.0).give(FINDING)
    assert "after 3 tries" in told[0]


def test_a_command_gets_a_finding_on_its_input_and_no_shell_reads_it(tmp_path: Path) -> None:
    program = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"
    told: list[str] = []
    command = f'"{sys.executable}" -c "{program}" "{tmp_path}/$(id) found.jsonl"'
    Receivers(lambda text: None, told.append, command=command, wait=0.0).give(FINDING)
    assert told == []
    assert json.loads((tmp_path / "$(id) found.jsonl").read_text()) == FINDING
    failing = f'"{sys.executable}" -c "import sys; sys.exit(\'no room\')"'
    Receivers(lambda text: None, told.append, command=failing, wait=0.0).give(FINDING)
    assert "code 1: no room" in told[0]
    Receivers(lambda text: None, told.append, command="no-such-program", wait=0.0).give(FINDING)
    assert "no-such-program" in told[1]


def test_the_command_once(folder: Path) -> None:
    (folder / "1.smf").write_bytes(small(1))
    (folder / "bad.smf").write_text("this is not a dump")
    done = run("watch", "incoming", "--pdb", "pdb", "--once", "--interval", "0.01", cwd=folder.parent)
    assert (done.returncode, done.stdout) == (3, "")
    assert "1 files ingested, 1 set aside, 0 new findings" in done.stderr
    done = run("watch", "incoming", "--pdb", "pdb", "--once", "--interval", "0.01", cwd=folder.parent)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_watch_cleanly(folder: Path, number: signal.Signals) -> None:
    (folder / "1.smf").write_bytes(small(1))
    words = [sys.executable, "-m", "plexlens.cli", "watch", str(folder), "--pdb", "pdb", "--interval", "0.1"]
    process = subprocess.Popen(words, cwd=folder.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "added" in process.stderr.readline()
    begin = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert "(stopped)" in err
    assert time.monotonic() - begin < 30
    assert files(folder) == ["1.smf"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing", "--pdb", "pdb"), "no such folder"),
        (("incoming", "--pdb", "pdb", "--interval", "0"), "out of range"),
        (("incoming", "--pdb", "pdb", "--webhook", "file:///etc/passwd"), "not an HTTP address"),
        (("incoming", "--pdb", "pdb", "--webhook", "https://"), "not an HTTP address"),
        (("incoming", "--pdb", "pdb", "--command", "'open"), "quotation"),
        (("incoming", "--pdb", "pdb", "--command", "  "), "--command is empty"),
        (("incoming", "--pdb", "file"), "a PDB is a folder"),
        (("old", "--pdb", "pdb"), "not a folder in which dumps arrive"),
    ],
)
def test_a_wrong_use_says_what_to_do(folder: Path, words: tuple[str, ...], said: str) -> None:
    (folder.parent / "file").write_text("x")
    Pdb.create(folder.parent / "old")
    done = run("watch", *words, "--once", cwd=folder.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (folder.parent / "pdb").exists()
