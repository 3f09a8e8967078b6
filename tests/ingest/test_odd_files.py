"""Paths that are no ordinary file, and files made to take long: each is answered at once, or in linear time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from plexlens.ingest import smf
from plexlens.ingest.kinds import recognise
from plexlens.ingest.source import ReadOptions
from tests.cli.command import run
from tests.records import dump, record

#: Processor seconds that reading may take for each MiB of a dump and of text, after expansion, as docs/architecture.md
#: states them.
SECONDS_PER_MIB = 2.0
SECONDS_PER_MIB_OF_TEXT = 5.0


@pytest.mark.parametrize("words", [("records",), ("ingest", "--pdb", "pdb")])
@pytest.mark.parametrize("kind", ["pipe", "endless device", "loop of links"])
def test_what_is_no_file_is_refused_at_once(kind: str, words: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "odd"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "endless device":
        path = Path("/dev/zero")
    else:
        path.symlink_to(tmp_path / "back")
        (tmp_path / "back").symlink_to(path)
    done = run(words[0], path, *words[1:], cwd=tmp_path)
    assert done.returncode == 3
    wanted = (
        "Too many levels of symbolic links; check the path" if kind == "loop of links" else "this is not a file; give"
    )
    assert f"{path}: {wanted}" in done.stderr
    assert not (tmp_path / "pdb").exists()


def test_a_folder_with_such_paths_is_read_for_its_dumps(tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    (folder / "day.smf").write_bytes(dump(record(200, "SYS1", b"one")))
    os.mkfifo(folder / "pipe")
    (folder / "up").symlink_to("..")
    (folder / "self").symlink_to("self")
    (folder / "gone").symlink_to("nothing")
    done = run("records", folder, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    heads = [line.removeprefix(f"{folder}/") for line in done.stdout.splitlines() if line.startswith(str(folder))]
    assert heads == [
        "day.smf: SMF, rdw, 21 bytes",
        "gone: skipped: No such file or directory",
        "pipe: skipped: this is not a file",
        "self: skipped: Too many levels of symbolic links",
    ]
    done = run("ingest", folder, "--pdb", "pdb", cwd=tmp_path)
    assert done.returncode == 3
    assert f"{folder}/day.smf: added (1 record" in done.stdout
    assert f"{folder}/self: Too many levels of symbolic links; check the path" in done.stderr


def test_a_name_may_hold_a_line_end(tmp_path: Path) -> None:
    path = tmp_path / "two\nlines.smf"
    path.write_bytes(dump(record(200, "SYS1", b"one")))
    assert run("ingest", path, "--pdb", "pdb", cwd=tmp_path).returncode == 0
    done = run("sql", "pdb", "select count(*) records from smf_record", "--json", cwd=tmp_path)
    assert '"records": 1' in done.stdout


def whole(size: int, body: bytes = b"") -> bytes:
    """Records of type 200, as many as fill so many bytes."""
    one = record(200, "SYS1", body)
    return one * (size // len(one))


#: Input made to take long, by what it is.
HOSTILE: dict[str, Callable[[int], bytes]] = {
    "first segments without another": lambda size: b"\x00\x05\x01\x00A" * (size // 5),
    "records of a header each": whole,
    "records full of records": lambda size: whole(size, whole(30_000)),
    "headers that nearly are": lambda size: bytes.fromhex("00120000000000000001000000") * (size // 13),
    "zeros and a byte": lambda size: (bytes(4095) + b"\x01") * (size // 4096),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_dumps_take_linear_time(what: str, tmp_path: Path) -> None:
    first = record(200, "SYS1", b"one")
    taken = []
    for size in (1 << 20, 4 << 20):
        path = tmp_path / f"{size}.smf"
        path.write_bytes(first + HOSTILE[what](size))
        began = time.process_time()
        for _ in smf.read(path, source_id="", threads=1):
            pass
        taken.append(time.process_time() - began)
    assert taken[1] < 4 * SECONDS_PER_MIB, taken
    # Four times as much takes about four times as long; a start takes some 0.2 s.
    assert taken[1] < 8 * taken[0] + 0.5, taken


@pytest.mark.parametrize("line", ["x" * 1000, " ", "> quoted\n", "-DISPLAY BUFFERPOOL(BP0) DETAIL\n", "1\f"])
def test_hostile_text_takes_linear_time(line: str, tmp_path: Path) -> None:
    head = "-DISPLAY BUFFERPOOL(BP2) DETAIL\nDSNB401I - BUFFERPOOL NAME BP2, BUFFERPOOL ID 2, USE COUNT 20\n"
    taken = []
    for size in (1 << 18, 1 << 20):
        path = tmp_path / f"{size}.txt"
        path.write_text(head + line * (size // len(line)))
        kind = recognise(path)
        began = time.process_time()
        for _ in kind.read(path, ReadOptions("id", lambda day: [])):  # type: ignore[arg-type,return-value]
            pass
        taken.append(time.process_time() - began)
    assert taken[1] < SECONDS_PER_MIB_OF_TEXT, taken
    assert taken[1] < 8 * taken[0] + 0.5, taken
