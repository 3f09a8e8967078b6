"""Faults that users make on the way: each answer says what is wrong, where, and what to do next."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.cli.command import run
from tests.example_file import write_example, write_part_of_example
from tests.golden.test_pages import TWO_MEMBERS
from tests.records import records_of


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("example") / "example.smf"
    write_example(path)
    return path


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Types 70 and 74 of the example: a report of them takes a second."""
    path = tmp_path_factory.mktemp("part") / "part.smf"
    write_part_of_example(path)
    return path


def test_stripped_descriptor_words(example: Path, tmp_path: Path) -> None:
    """FTP in binary without `quote site rdw`."""
    records = records_of(example.read_bytes())
    (tmp_path / "bare.smf").write_bytes(b"".join(record[4:] for record in records))
    done = run("report", "bare.smf", "-o", "r.html", cwd=tmp_path)
    assert done.returncode == 3
    # The first record of a type other than RMF's (70 to 79) and the dump program's does not tell its length.
    at = next(at for at, record in enumerate(records) if not (70 <= record[5] <= 79 or record[5] in (2, 3)))
    offset = sum(len(record) - 4 for record in records[:at])
    assert re.search(r"bare\.smf: (record \d+, )?byte (\d+): the record descriptor words are lost", done.stderr)
    assert f"at byte {offset} (type {records[at][5]}) does not tell its own length" in done.stderr
    assert done.stderr.rstrip().endswith("with its record descriptor words (FTP: binary, quote site rdw)")
    for riddle in ("message above", "no_descriptors"):
        assert riddle not in done.stderr


def test_wrong_subtype(example: Path, tmp_path: Path) -> None:
    """SMF 74-99, which is not read, where 74-4 was meant: the ten records of coupling facilities are made such."""
    records = records_of(example.read_bytes())
    count = sum(record[5] == 74 for record in records)
    changed = [record[:22] + b"\0\x63" + record[24:] if record[5] == 74 else record for record in records]
    (tmp_path / "wrong.smf").write_bytes(b"".join(changed))
    held = f"74-99 ({count} records)"
    done = run("trend", "wrong.smf", "--metric", "coupling_structure.sync_service_time", cwd=tmp_path)
    assert done.returncode == 4
    assert f"wrong.smf: there is no data of coupling_structure; of SMF 74 it holds {held}" in done.stderr
    assert "ingest one of SMF 74-4" in done.stderr
    done = run("sharing", "wrong.smf", cwd=tmp_path)
    assert f"of SMF 74 it holds {held}" in " ".join(done.stdout.split())
    assert run("report", "wrong.smf", "-o", "r.txt", cwd=tmp_path).returncode == 0
    page = " ".join((tmp_path / "r.txt").read_text().split())
    assert f"WARNING: Of SMF 74 the data has {held}, which no number is made of; " in page
    assert "collect 74-1, 74-2, 74-3, 74-4, 74-5, 74-6, 74-7, 74-8, 74-9, 74-10." in page


def test_a_subtype_beside_those_that_are_read_is_no_warning(part: Path, tmp_path: Path) -> None:
    records = records_of(part.read_bytes())
    first = next(at for at, record in enumerate(records) if record[5] == 74)
    records[first] = records[first][:22] + b"\0\x63" + records[first][24:]
    (tmp_path / "both.smf").write_bytes(b"".join(records))
    assert run("report", "both.smf", "-o", "r.txt", cwd=tmp_path).returncode == 0
    assert "which no number is made of" not in (tmp_path / "r.txt").read_text()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sysplexes whose systems have the same names."""
    folder = tmp_path_factory.mktemp("two")
    for name in ("PLEX1", "PLEX2"):
        (folder / f"{name}.toml").write_text(f'sysplex = "{name}"\n' + TWO_MEMBERS.read_text())
        done = run("simulate", f"{name}.toml", "--seconds", "20", "-o", f"{name}.smf", cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("command", ["sharing", "plan"])
def test_two_sysplexes_in_one_model(two: Path, command: str) -> None:
    """Their work would add up to one: twice the cost per unit of work, two thirds of the load at which it breaks."""
    done = run(command, "PLEX1.smf", "PLEX2.smf", cwd=two)
    assert done.returncode == 2
    assert "SYS1, SYS2 are systems of PLEX1 and of PLEX2" in done.stderr
    assert done.stderr.rstrip().endswith("give the files of one sysplex, or a database for each")
    assert run(command, "PLEX1.smf", cwd=two).returncode == 0


def test_two_sysplexes_in_one_report(two: Path) -> None:
    assert run("report", "PLEX1.smf", "PLEX2.smf", "-o", "both.txt", cwd=two).returncode == 0
    page = " ".join((two / "both.txt").read_text().split())
    assert "WARNING: SYS1, SYS2 are systems of PLEX1 and of PLEX2." in page
    assert "Make a report of the files of each sysplex." in page
    assert run("report", "PLEX1.smf", "-o", "one.txt", cwd=two).returncode == 0
    assert "are systems of" not in (two / "one.txt").read_text()


def test_a_full_disk_behind_standard_output(tmp_path: Path) -> None:
    """In a process of its own: the system closes standard output at its end."""
    import subprocess
    import sys

    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    for words in (("metrics",), ("--version",), ("metrics", "--json")):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "plexlens.cli", *words],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == 3, done.stderr
        assert done.stderr.count("\n") == 1
        assert "standard output: it cannot be written: No space left on device" in done.stderr
        assert "send it to another disk" in done.stderr


def test_a_line_end_in_the_name_of_a_file(example: Path, tmp_path: Path) -> None:
    shutil.copy(example, tmp_path / "a\nb.smf")
    done = run("records", "a\nb.smf", cwd=tmp_path)
    assert done.stdout.startswith("a\ufffdb.smf: SMF, rdw, ")
