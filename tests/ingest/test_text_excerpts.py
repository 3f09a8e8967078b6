"""Reports cut out of published studies as they stand there: no number of theirs is lost, and none is made up.

The studies lie beside the checkout; nothing of them is copied here but the lines by which their reports are found. The
oracle knows nothing of reports: a number is a word of digits, points, commas and colons, with a suffix at most, and
every one must be a value read from its line, stand in a line that was named as not understood, or be listed here as
part of a name.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from plexlens.ingest.printed import text as text_reports

SHARED = Path(__file__).parents[3] / "shared" / "seeds"

_NUMBER = re.compile(r"[+-]?\.?\d[\d.,:]*[KMG]?%?")
_CUT = re.compile(r"[\s=()|]+|</?b>")


class Excerpt(NamedTuple):
    """A report in a study.

    Attributes
    ----------
    study : str
        First characters of the file's name.
    first, last : str
        Beginnings of its first and last line, blanks and tabs as one blank; an empty last one is a blank line.
    numbers : int
        Numbers that it prints, those of names among them.
    tables : dict
        Twin tables that it fills, and their rows.
    names : tuple of str
        Numbers that are words of names, as often as they stand in the excerpt.
    occurrence : int
        Which of the lines that begin so is meant, from 1.
    """

    study: str
    first: str
    last: str
    numbers: int
    tables: dict[str, int]
    names: tuple[str, ...] = ()
    occurrence: int = 1


EXCERPTS = {
    "lock structure": Excerpt(
        "000", "STRUCTURE NAME = DSNDB2B_LOCK1", "-FALSE CONT", 16, {"text_rmf_coupling_structure": 1}
    ),
    "cache structures": Excerpt(
        "000",
        "COUPLING FACILITY NAME = T1CF1LP",
        "DSNDB2I1_GBP6",
        53,
        {"text_rmf_coupling_facility": 1, "text_rmf_coupling_structure": 10},
    ),
    "lock structures": Excerpt(
        "000",
        "COUPLING FACILITY ACTIVITY",
        "STRUCTURE TOTALS",
        32,
        {"text_rmf_coupling_facility": 1, "text_rmf_coupling_structure": 4},
    ),
    "group buffer pool": Excerpt(
        "000", "Read Operations", "Clean Pages - Async", 25, {"text_db2_group_buffer_pool": 1}
    ),
    "cache requests": Excerpt(
        "000", "SYSTEM NAME TOTAL AVG/SEC #REQ", "4.67 ASYNC", 22, {"text_rmf_coupling_structure": 2}
    ),
    "workload activity": Excerpt("001", "REPORT BY: POLICY", "MS ENC", 52, {"text_rmf_workload_period": 1}),
    "accounting": Excerpt("001", "AVERAGE APPL", "", 31, {"text_db2_accounting": 1}),
    "pool with paging": Excerpt("002", "BP1 GENERAL", "PAGE-INS REQUIRED FOR WRITE", 85, {"text_db2_pool": 1}),
    "log": Excerpt(
        "002",
        "SUBSYSTEM SERVICES QUANTITY",
        "LOG WRITE SUSPENDED",
        59,
        {"text_db2_log": 1, "text_db2_subsystem": 1},
        ("1", "1", "2"),
    ),
    "pool without engines": Excerpt(
        "002", "BP1 GENERAL", "PAGE-INS REQUIRED FOR READ", 88, {"text_db2_pool": 1}, (), 2
    ),
    "its writes": Excerpt(
        "002", "BP1 WRITE OPERATIONS", "PAGE-INS REQUIRED FOR WRITE", 20, {"text_db2_pool": 1}, (), 2
    ),
    "pool with parallelism": Excerpt("002", "BF20 GENERAL", "PAGE-INS REQUIRED FOR READ", 88, {"text_db2_pool": 1}),
    "writes of it": Excerpt("002", "BP20 WRITE OPERATIONS", "PAGE-INS REQUIRED FOR WRITE", 20, {"text_db2_pool": 1}),
    "address space": Excerpt("004", "SERVICE TIME ---APPL", "IIP 0.000", 10, {"text_rmf_workload_period": 1}),
    "region": Excerpt("004", "-TRANSACTIONS-", "AVG ENC", 14, {"text_rmf_workload_period": 1}),
    "report group": Excerpt("004", "SERVICE TIME ---APPL", "IIP 121.848", 10, {"text_rmf_workload_period": 1}, (), 2),
    "tcb modes": Excerpt("004", "TCB < TCBs", "S8", 32, {"text_cics_statistics": 32}),
}
every_excerpt = pytest.mark.parametrize("excerpt", EXCERPTS.values(), ids=EXCERPTS.keys())


def studies_are_there() -> None:
    """Skip the test where they are not."""
    if not SHARED.is_dir():
        pytest.skip("the texts of the studies do not lie beside the checkout")


@pytest.fixture(autouse=True)
def studies() -> None:
    studies_are_there()


def study(name: str) -> Path:
    (path,) = SHARED.glob(f"{name}_*.txt")
    return path


def folded(line: str) -> str:
    return " ".join(line.split())


def cut(excerpt: Excerpt) -> tuple[list[str], int]:
    """An excerpt's lines, and how many lines of the file stand before them."""
    lines = study(excerpt.study).read_text(encoding="utf-8").splitlines()
    begins = [at for at, line in enumerate(lines) if folded(line).startswith(excerpt.first)]
    begin = begins[excerpt.occurrence - 1]
    end = next(
        at
        for at in range(begin, len(lines))
        if (folded(lines[at]).startswith(excerpt.last) if excerpt.last else not folded(lines[at]))
    )
    return lines[begin : end + 1], begin


def numbers(text: str) -> Counter[str]:
    return Counter(word for word in _CUT.split(text) if _NUMBER.fullmatch(word))


class Reading(NamedTuple):
    """What was read of a file: values by line, rows of twin tables, lines named as not understood, damage."""

    values: dict[int, list[dict[str, Any]]]
    tables: Counter[str]
    strange: set[int]
    damage: dict[str, int]


def read(path: Path) -> Reading:
    reading = text_reports.read(path, source_id="x")
    values: dict[int, list[dict[str, Any]]] = {}
    tables: Counter[str] = Counter()
    for table, batch in reading:
        if table != "text_report_value":
            tables[table] += batch.num_rows
            continue
        for row in batch.to_pylist():
            values.setdefault(row["line"], []).append(row)
    strange = {
        int(found[1])
        for damage in reading.damage
        if damage.reason == "line not recognised" and (found := re.match(r"line (\d+):", damage.detail))
    }
    return Reading(values, tables, strange, reading.summary["damage"])


@every_excerpt
def test_no_number_is_lost_and_none_is_made_up(tmp_path: Path, excerpt: Excerpt) -> None:
    lines, _ = cut(excerpt)
    path = tmp_path / "excerpt.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = read(path)
    printed: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for number, line in enumerate(lines, start=1):
        shown = numbers(line)
        values = sum((numbers(row["value"]) for row in found.values.get(number, [])), Counter())
        assert values <= shown, f"line {number}: {values - shown} are not printed"
        printed += shown
        if number not in found.strange:
            lost += shown - values
    assert sorted(lost.elements()) == sorted(excerpt.names)
    assert printed.total() == excerpt.numbers
    assert found.tables == excerpt.tables
    assert not found.strange, "every line of these is understood"


@every_excerpt
def test_what_is_read_is_what_is_printed(tmp_path: Path, excerpt: Excerpt) -> None:
    """Each number again by plain float, within half of its last digit as `Decimal` counts it."""
    lines, _ = cut(excerpt)
    path = tmp_path / "excerpt.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    checked = 0
    for rows in read(path).values.values():
        for row in rows:
            found = re.fullmatch(r"(\d+(?:\.\d+)?)([KM]?)(%?)", row["value"])
            if found is None or row["value_type"] != "number":
                continue
            checked += 1
            power = 1024.0 if row["number_unit"] == "bytes" else 1000.0
            scale = {"": 1.0, "K": power, "M": power**2}[found[2]]
            if row["number_unit"] == "seconds" and row["number_scale"] is not None:
                scale = row["number_scale"]
            assert row["number"] == pytest.approx(float(found[1]) * scale, rel=1e-12)
            assert row["low"] <= row["number"] <= row["high"]
            half = 0.5 * scale / 10 ** len(found[1].partition(".")[2])
            assert row["high"] - row["number"] in (0.0, pytest.approx(half, rel=1e-9))
    assert checked >= min(excerpt.numbers // 2, 10)


@pytest.mark.parametrize("name", sorted({excerpt.study for excerpt in EXCERPTS.values()}))
def test_reports_are_found_within_the_study_itself(tmp_path: Path, name: str) -> None:
    """Sentences, tables of the authors and captions around them change nothing."""
    whole = read(study(name))
    for title, excerpt in EXCERPTS.items():
        if excerpt.study != name:
            continue
        lines, before = cut(excerpt)
        path = tmp_path / "excerpt.txt"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        for number, rows in read(path).values.items():
            alone = [(row["name"], row["column_head"], row["value"]) for row in rows]
            within = [(row["name"], row["column_head"], row["value"]) for row in whole.values.get(number + before, [])]
            assert within == alone, f"{title}, line {number}"
    assert not whole.strange & set(whole.values)


def test_the_misprint_of_a_pool_is_told() -> None:
    """1270 page-ins are printed at 0.40 a second; the report's other pairs are of 2998.9 s, which makes it 0.42."""
    assert read(study("002")).damage["printed numbers disagree"] == 1
