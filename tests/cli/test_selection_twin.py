"""Each command over a selection gives what it gives over a dump that has only the selected records.

The slow twin is a dump cut record by record in this file: by the system, the time and the type in the standard header
of SMF, and by the names of classes in it. It shares no code with the selection.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import run
from tests.conftest import REPOSITORY

#: Two intervals of 15 minutes from 09:00 local time, which is UTC, of SYS1 and SYS2.
BEGINNING, QUARTER = 9 * 3600, 900
DAY = "2026-01-05"
SECOND = f"{DAY}T09:15"

#: Types of records: dump header and trailer, service classes, Db2 statistics, Db2 accounting.
HEADER, TRAILER, RMF_72, DB2_STATISTICS, DB2_ACCOUNTING = 2, 3, 72, 100, 101


def records(dump: bytes) -> Iterator[bytes]:
    """The records of a dump with record descriptor words."""
    place = 0
    while place < len(dump):
        length = int.from_bytes(dump[place : place + 2], "big")
        yield dump[place : place + length]
        place += length


def kind(record: bytes) -> int:
    return record[5]


def system(record: bytes) -> str:
    return record[14:18].decode("cp037").strip()


def seconds(record: bytes) -> float:
    """When it was written, since the first interval began."""
    return int.from_bytes(record[6:10], "big") / 100 - BEGINNING


def late(record: bytes) -> bool:
    """Of the second interval: written at its end; accounting counts in the quarter of an hour in which it is written,
    and the interval of a cumulative record begins at the record before."""
    if kind(record) in (DB2_STATISTICS, DB2_ACCOUNTING):
        return seconds(record) >= QUARTER
    return seconds(record) > QUARTER


def early(record: bytes) -> bool:
    """Of the first interval."""
    return seconds(record) < QUARTER if kind(record) == DB2_ACCOUNTING else seconds(record) <= QUARTER


def of_classes(*names: str) -> Callable[[bytes], bool]:
    """Service classes of these names, and everything that names no class."""
    padded = [name.ljust(8).encode("cp037") for name in names]
    return lambda record: kind(record) != RMF_72 or any(name in record for name in padded)


def both(*conditions: Callable[[bytes], bool]) -> Callable[[bytes], bool]:
    return lambda record: all(condition(record) for condition in conditions)


def of_system(name: str) -> Callable[[bytes], bool]:
    return lambda record: system(record) == name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a simulated dump of half an hour and its database."""
    path = tmp_path_factory.mktemp("twin")
    scenario = (REPOSITORY / "tests" / "simulate" / "two-members.toml").read_text(encoding="utf-8")
    for before, after in (("interval = 20.0", f"interval = {QUARTER}.0"), ("rate = 100.0", "rate = 20.0")):
        assert before in scenario
        scenario = scenario.replace(before, after, 1)
    (path / "two.toml").write_text(scenario, encoding="utf-8")
    assert run("simulate", "two.toml", "--seconds", "1800", "-o", "whole.smf", cwd=path).returncode == 0
    assert run("ingest", "whole.smf", "--pdb", "whole.pdb", cwd=path).returncode == 0
    return path


def cut(folder: Path, name: str, wanted: Callable[[bytes], bool]) -> str:
    """A dump of the records that are wanted; its name."""
    kept = [
        record
        for record in records((folder / "whole.smf").read_bytes())
        if kind(record) in (HEADER, TRAILER) or wanted(record)
    ]
    (folder / f"{name}.smf").write_bytes(b"".join(kept))
    return f"{name}.smf"


def answer(folder: Path, *words: str) -> Any:
    done = run(*words, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


#: What names the source or the selection, and not a number; what is missing in a dump is left out by a selection.
_OF_THE_SOURCE = {"selection", "source", "base", "new", "title", "missing"}


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Places where two answers differ by more than the rounding of sums in another order."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = [name for name in sorted({*one, *other}) if name not in _OF_THE_SOURCE]
        return [text for name in names for text in differences(one.get(name), other.get(name), f"{path}/{name}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [text for number, (a, b) in pairs for text in differences(a, b, f"{path}[{number}]")]
    if isinstance(one, float) and isinstance(other, float):
        return [] if math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) else [f"{path}: {one} {other}"]
    return [] if one == other else [f"{path}: {str(one)[:80]} | {str(other)[:80]}"]


CASES = {
    "system": (("--system", "SYS1"), of_system("SYS1")),
    "from": (("--from", SECOND), late),
    "to": (("--to", SECOND), early),
    "shift": (("--shift", "mon/09:15-10:00"), late),
    "offset": (("--from", f"{DAY}T11:15+02:00"), late),
}


@pytest.fixture(scope="module")
def expected_sharing() -> dict[Callable[[bytes], bool], Any]:
    """Answers by the records that they are of: three cases select the same ones."""
    return {}


@pytest.mark.parametrize("case", CASES)
def test_sharing(folder: Path, expected_sharing: dict[Callable[[bytes], bool], Any], case: str) -> None:
    options, wanted = CASES[case]
    if wanted not in expected_sharing:
        expected_sharing[wanted] = answer(folder, "sharing", cut(folder, case, wanted))
    assert differences(answer(folder, "sharing", "whole.pdb", *options), expected_sharing[wanted]) == []


@pytest.mark.parametrize("case", ["system", "from"])
def test_plan(folder: Path, case: str) -> None:
    options, wanted = CASES[case]
    expected = answer(folder, "plan", cut(folder, case, wanted))
    assert differences(answer(folder, "plan", "whole.pdb", *options), expected) == []


def test_plan_of_classes(folder: Path) -> None:
    """The class of the transactions and that of the regions whose CPU time is theirs."""
    expected = answer(folder, "plan", cut(folder, "classes", of_classes("UPDA", "CICSRGN")))
    found = answer(folder, "plan", "whole.pdb", "--class", "upda,CICSR*")
    assert differences(found, expected) == []
    # Without the class of the regions no CPU time is left, and the message says that the selection did it.
    done = run("plan", "whole.pdb", "--class", "UPDA", cwd=folder)
    assert done.returncode == 4
    assert "in the selection (class UPDA) no system has CPU time in its classes" in done.stderr


def test_compare_by_addresses_and_options(folder: Path) -> None:
    """Each run is the part of its window that the options leave."""
    wanted = of_system("SYS2")
    runs = cut(folder, "base", both(early, wanted)), cut(folder, "new", both(late, wanted))
    expected = answer(folder, "compare", *runs)
    windows = f"whole.pdb@{DAY}T09:00..{SECOND}", f"whole.pdb@{SECOND}..{DAY}T10:00"
    found = answer(folder, "compare", *windows, "--system", "SYS2")
    wrong = [text for text in differences(found, expected) if ".smf" not in text]
    assert wrong == []


@pytest.mark.parametrize("case", CASES)
def test_sql(folder: Path, case: str) -> None:
    """A metric of SMF 72-3 and a raw table of it."""
    options, wanted = CASES[case]
    dump = cut(folder, case, wanted)
    assert run("ingest", dump, "--pdb", f"{case}.pdb", cwd=folder).returncode in (0, 2)
    for query in (
        "select system, class_name, interval, cpu_seconds, transactions from workload_period order by all",
        "select system, r723mcnm, interval_start from smf72_3_wlm_control order by all",
    ):
        expected = answer(folder, "sql", f"{case}.pdb", query)
        assert expected
        assert differences(answer(folder, "sql", "whole.pdb", query, *options), expected) == []
