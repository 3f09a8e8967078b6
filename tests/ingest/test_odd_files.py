"""Paths that are no ordinary file, and files made to take long: each is answered at once, or in linear time."""

from __future__ import annotations

import math
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


def is_linear(read: Callable[[Path], None], small: Path, large: Path, times: int) -> tuple[bool, list[float]]:
    """Whether the larger of two files, so many times the size of the other, takes about so many times as long.

    A limit in seconds would judge the machine. Twice the factor is allowed: work that grows with the square of the size
    takes the factor squared. The shorter of two attempts counts where the first was disturbed.
    """
    read(small)
    taken = [math.inf, math.inf]
    for _ in range(2):
        for place, path in enumerate((small, large)):
            began = time.process_time()
            read(path)
            taken[place] = min(taken[place], time.process_time() - began)
        # Where both take next to nothing, the clock decides.
        if taken[1] < 2 * times * taken[0] + 0.2:
            return True, taken
    return False, taken


@pytest.mark.parametrize(
    ("seconds", "disturbances", "linear"),
    [
        (lambda size: 1e-3 * size, [0, 0, 0, 0, 0], True),
        (lambda size: 1e-5 * size**2, [0, 0, 0, 0, 0], False),
        # Something else delays the first reading of the larger file, then both.
        (lambda size: 1e-3 * size, [0, 0, 30, 0, 0], True),
        (lambda size: 1e-3 * size, [0, 0, 30, 0, 30], False),
    ],
)
def test_linear_work_is_told_from_work_that_grows_with_the_square(
    seconds: Callable[[int], float],
    disturbances: list[int],
    linear: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = 0.0
    delays = iter(disturbances)

    def read(path: Path) -> None:
        nonlocal clock
        clock += seconds(path.stat().st_size) + next(delays)

    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(bytes(1000))
    large.write_bytes(bytes(8000))
    monkeypatch.setattr(time, "process_time", lambda: clock)
    assert is_linear(read, small, large, 8)[0] is linear


def read_dump(path: Path) -> None:
    for _ in smf.read(path, source_id="", threads=1):
        pass


def read_text(path: Path) -> None:
    kind = recognise(path)
    for _ in kind.read(path, ReadOptions("id", lambda day: [])):  # type: ignore[arg-type,return-value]
        pass


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_dumps_take_linear_time(what: str, tmp_path: Path) -> None:
    small, large = tmp_path / "small.smf", tmp_path / "large.smf"
    for path, size in ((small, 1 << 20), (large, 8 << 20)):
        path.write_bytes(record(200, "SYS1", b"one") + HOSTILE[what](size))
    linear, taken = is_linear(read_dump, small, large, 8)
    assert linear, taken


@pytest.mark.parametrize("line", ["x" * 1000, " ", "> quoted\n", "-DISPLAY BUFFERPOOL(BP0) DETAIL\n", "1\f"])
def test_hostile_text_takes_linear_time(line: str, tmp_path: Path) -> None:
    head = "-DISPLAY BUFFERPOOL(BP2) DETAIL\nDSNB401I - BUFFERPOOL NAME BP2, BUFFERPOOL ID 2, USE COUNT 20\n"
    small, large = tmp_path / "small.txt", tmp_path / "large.txt"
    for path, size in ((small, 1 << 16), (large, 1 << 19)):
        path.write_text(head + line * (size // len(line)))
    linear, taken = is_linear(read_text, small, large, 8)
    assert linear, taken
