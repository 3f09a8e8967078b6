"""Accounting records of z/VM: files written by hand from the published card, and classes worked out by hand."""

from __future__ import annotations

import csv
import gzip
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plexlens.ingest.source import ReadOptions
from plexlens.ingest.vm_account import read_with
from tests.cli.command import run

STOP = "030226140000"


def card(
    user: str, *, connected: int = 3600, cpu: int = 0, virtual: int = 0, ios: int = 0, reads: int = 0, writes: int = 0,
    stop: str = STOP, kind: str = "01", account: str = "DEPT42",
) -> bytes:  # fmt: skip
    """A record: names and the date in EBCDIC, seven full words and the kind at the end."""
    head = f"{user:8}{account:8}{stop}".encode("cp037")
    words = struct.pack(">9I", connected, cpu, virtual, reads, writes, ios, 0, 0, 0)
    return head + words + bytes(14) + kind.encode("cp037")


#: Of six users, by virtual I/O per hour connected: ONE has none. TWO has 400 in half an hour, 800 per hour: VIO1. THREE
#: has 999 + 1,500 in an hour, 2,499: VIO2. FOUR has 2,500: VIO3. FIVE has 30,000 in two hours, 15,000: VIO4. SIX has
#: 100,000, which is no longer VIO7.
CARDS = (
    card("ONE", cpu=500, virtual=400),
    card("TWO", connected=1800, cpu=1500, virtual=1000, ios=400, reads=90),
    card("THREE", connected=1200, cpu=1000, virtual=500, ios=999, stop="030226132000"),
    card("THREE", connected=2400, cpu=3000, virtual=1500, ios=1500),
    card("FOUR", cpu=4000, virtual=1000, ios=2500),
    card("FIVE", connected=7200, cpu=10_000, virtual=5000, ios=30_000),
    card("SIX", cpu=80_000, virtual=40_000, ios=100_000),
)


def written(path: Path, *cards: bytes) -> Path:
    path.write_bytes(b"".join(cards))
    return path


def rows(pdb: Path, sql: str) -> list[dict[str, Any]]:
    done = run("sql", pdb, sql, "--format", "json", cwd=pdb.parent)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def pdb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("account")
    done = run("ingest", written(folder / "ACCOUNT", *CARDS), "--pdb", folder / "pdb", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "pdb"


def test_a_record_is_what_the_card_says(pdb: Path) -> None:
    found = rows(
        pdb,
        "select interval_start, interval_end, utc_offset, acntnom, acntcont, acnttime, acntvtim, acntpgrd, acntioct "
        "from vm_account where acntuser = 'TWO'",
    )
    # 14:00 local time less half an hour; 1,500 and 1,000 ms.
    assert [str(value)[:19].replace("T", " ") for value in list(found[0].values())[:2]] == [
        "2026-03-02 13:30:00",
        "2026-03-02 14:00:00",
    ]
    assert list(found[0].values())[2:] == [None, "DEPT42", 1800, 1.5, 1.0, 90, 400]


def test_machines_have_their_rates(pdb: Path) -> None:
    found = rows(
        pdb,
        "select tvr, virtual_ios_per_second, page_reads_per_second, processors_used from vm_user "
        "where \"user\" = 'TWO'",
    )
    assert [pytest.approx(value) for value in found[0].values()] == [1.5, 400 / 1800, 0.05, 1.5 / 1800]


def test_classes_are_those_of_the_study(pdb: Path) -> None:
    found = {
        row["user_class"]: (row["users"], pytest.approx(row["user_fraction"]), pytest.approx(row["cpu_fraction"]))
        for row in rows(pdb, "select user_class, users, user_fraction, cpu_fraction from vm_user_class")
    }
    # Processor time of all is 100 s.
    assert found == {
        "VIO0": (1, 1 / 6, 0.005),
        "VIO1": (1, 1 / 6, 0.015),
        "VIO2": (1, 1 / 6, 0.04),
        "VIO3": (1, 1 / 6, 0.04),
        "VIO4": (1, 1 / 6, 0.10),
        "above VIO7": (1, 1 / 6, 0.80),
    }


def test_the_shares_of_the_study_stand_beside(pdb: Path) -> None:
    """The table of the study itself is the oracle."""
    table = Path(__file__).parents[2] / "studies" / "vmesa-1992" / "customer_classes.csv"
    with table.open(encoding="utf-8", newline="") as file:
        published = {
            row["CLASS"]: tuple(
                pytest.approx(float(row[name].rstrip("%")) / 100)
                for name in ("NUMERICAL DISTRIBUTION", "CPU-USAGE DISTRIBUTION")
            )
            for row in csv.DictReader(file)
        }
    found = rows(pdb, "select user_class, study_user_fraction, study_cpu_fraction from vm_user_class")
    assert len(found) == 6
    for row in found:
        assert (row["study_user_fraction"], row["study_cpu_fraction"]) == published.get(row["user_class"], (None, None))


def test_a_day_is_a_day_of_the_local_clock(tmp_path: Path) -> None:
    # 23:30 and 00:30 are of two days; a user of both is one of each.
    source = written(
        tmp_path / "ACCOUNT",
        card("ONE", ios=10, cpu=1000, stop="123125233000"),
        card("ONE", ios=0, cpu=3000, stop="010126003000"),
    )
    assert run("ingest", source, "--pdb", tmp_path / "pdb", cwd=tmp_path).returncode == 0
    found = rows(tmp_path / "pdb", "select interval_start, user_class from vm_user_class order by 1")
    assert [(str(row["interval_start"])[:10], row["user_class"]) for row in found] == [
        ("2025-12-31", "VIO1"),
        ("2026-01-01", "VIO0"),
    ]


def test_the_report_shows_them(tmp_path: Path) -> None:
    done = run("report", written(tmp_path / "ACCOUNT", *CARDS), "-o", "-", "--format", "text", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "VIRTUAL MACHINES BY VIRTUAL I/O" in done.stdout
    assert "above VIO7" in done.stdout
    assert "local time" in done.stdout.splitlines()[2]


def test_a_record_that_two_files_hold_counts_once(tmp_path: Path) -> None:
    first = written(tmp_path / "ACCOUNT1", *CARDS[:3])
    packed = tmp_path / "ACCOUNT2.gz"
    packed.write_bytes(gzip.compress(b"".join(CARDS)))
    for source in (first, packed):
        done = run("ingest", source, "--pdb", tmp_path / "pdb", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert rows(tmp_path / "pdb", "select count(*) as n from vm_account") == [{"n": len(CARDS)}]


def test_other_kinds_and_damage_are_counted(tmp_path: Path) -> None:
    source = written(
        tmp_path / "ACCOUNT",
        card("ONE", kind="02"),
        card("ONE"),
        card("TWO", stop="133126140000"),
        bytes(80),
        card("THREE", kind="C0"),
        card("FOUR")[:50],
    )
    done = run("ingest", source, "--pdb", tmp_path / "pdb", cwd=tmp_path)
    assert done.returncode in (0, 4), done.stderr
    assert "byte 160: '133126140000' where MMDDYYHHMMSS is expected; transfer the file again in binary" in done.stderr
    damage = rows(tmp_path / "pdb", 'select record_no, "offset", reason, detail from damage order by record_no')
    assert [tuple(row.values()) for row in damage] == [
        (3, 160, "no date and time", "'133126140000' where MMDDYYHHMMSS is expected"),
        (4, 240, "not an accounting record", "no user ID and no kind of record are in their places"),
        (6, 400, "truncated record", "50 of 80 bytes"),
    ]
    reading = read_with(source, ReadOptions("dump", lambda day: np.empty(0, np.uint64)))
    assert [table.num_rows for _, table in reading] == [1]
    notes = {(note["note"], note["section"]): note["count"] for note in reading.summary["notes"]}
    assert notes == {
        ("system_not_named", "vm_account"): 1,
        ("record_without_layout", "kind 02"): 1,
        ("record_without_layout", "kind C0"): 1,
    }


def test_records_sent_as_text_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "ACCOUNT"
    source.write_bytes(b"".join(each.decode("cp037").encode("latin-1") for each in CARDS))
    done = run("ingest", source, "--pdb", tmp_path / "pdb", cwd=tmp_path)
    assert done.returncode != 0
    assert "z/VM accounting records converted to ASCII" in done.stderr
    assert "transfer them in binary" in done.stderr


@pytest.mark.parametrize("command", ["records", "anonymise"])
def test_commands_that_do_not_take_them_say_so(tmp_path: Path, command: str) -> None:
    source = written(tmp_path / "ACCOUNT", *CARDS)
    words = ["-o", tmp_path / "copy"] if command == "anonymise" else []
    done = run(command, source, *words, cwd=tmp_path)
    assert done.returncode != 0
    assert "z/VM accounting records" in done.stderr
