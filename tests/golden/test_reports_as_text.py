"""The metrics of a text report give back every number that the report prints and its inputs determine."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.engine import rows_of
from tests.golden.expectations import FOLDER, STUDIES, Expectation, Row, evaluated, matching, read_expectations
from tests.ingest.test_text_excerpts import EXCERPTS, cut, numbers, studies_are_there

REPORTS = FOLDER / "reports"


class Reports:
    """Reports of text, each in a database of its own; rows of a grain are taken once."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], list[Row]] = {}

    def rows(self, report: str, grain: str) -> list[Row]:
        """Rows of a grain in a report, every key apart."""
        if (report, grain) not in self._rows:
            with Pdb.temporary() as pdb:
                ingest([REPORTS / f"{report}.txt"], pdb)
                inputs = Inputs(pdb.connect())
                for wanted in {line.grain for study in STUDIES for line in read(study) if line.report == report}:
                    self._rows[report, wanted] = _rows(inputs, wanted)
        return self._rows[report, grain]

    def value(self, line: Expectation) -> float | None:
        """What the metrics make of a printed number's inputs."""
        rows = self.rows(line.report, line.grain)
        if line.grain == "text_report_value":
            (row,) = matching(rows, line.keys | {"name": line.value})
            found: float | None = row["number"]
            return None if found is None else found * (0.01 if row["number_unit"] == "percent" else 1.0)
        chosen = matching(rows, line.keys)
        alone = chosen[0] if len(chosen) == 1 else None
        assert alone is not None or line.value.startswith("sum("), f"{line}: {len(chosen)} rows"
        return evaluated(line.value, alone, rows)


def _rows(inputs: Inputs, grain: str) -> list[Row]:
    if grain.startswith("text_"):
        return list(rows_of(inputs.connection, f"select * from {grain}"))
    table = evaluate(inputs, GRAINS[grain])
    assert table is not None, f"no source of {grain}"
    return list(table.rows())


@cache
def read(study: str) -> list[Expectation]:
    return read_expectations(study)


@pytest.fixture(scope="module")
def reports() -> Reports:
    return Reports()


@pytest.mark.parametrize("study", STUDIES)
def test_printed_numbers(reports: Reports, study: str) -> None:
    """One golden test for each study; the message lists every number that is off."""
    lines = read(study)
    wrong = [found for line in lines if (found := line.disagreement(reports.value(line), exact=False))]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(lines)}", *wrong])


@pytest.mark.parametrize("study", STUDIES)
def test_a_number_that_is_off_in_its_last_digit_is_noticed(reports: Reports, study: str) -> None:
    """Not where its inputs are so rounded that they leave more than that open: these are few."""
    noticed = 0
    lines = [line for line in read(study) if not line.is_missing]
    for line in lines:
        value, (_, half) = reports.value(line), line.bounds(line.printed)
        assert value is not None
        noticed += all(line.disagreement(value + off, exact=False) is not None for off in (2.1 * half, -2.1 * half))
    assert noticed >= 0.85 * len(lines)


def test_what_contradicts_has_its_arithmetic() -> None:
    contradicting = [line for study in STUDIES for line in read(study) if line.instead]
    assert len(contradicting) == 3
    assert all(line.note for line in contradicting)


def test_slack_is_explained_and_small() -> None:
    for line in (line for study in STUDIES for line in read(study) if line.slack):
        assert line.note, line
        number, _ = line.bounds(line.printed)
        scale = line.bounds("1")[0]
        assert line.slack * scale <= 0.02 * number, line


@pytest.mark.parametrize("title", EXCERPTS)
def test_the_reports_here_print_what_the_studies_print(title: str) -> None:
    """Where the studies lie beside the checkout: number for number, line by line."""
    studies_are_there()
    lines, _ = cut(EXCERPTS[title])
    printed = [found for line in lines if (found := numbers(line))]
    kept = {
        path: [found for line in path.read_text(encoding="utf-8").splitlines() if (found := numbers(line))]
        for path in REPORTS.glob("*.txt")
    }
    assert any(_holds(held, printed) for held in kept.values()), title


def _holds(held: list[Any], wanted: list[Any]) -> bool:
    """Whether the lines stand in the others, one after the other."""
    return any(held[at : at + len(wanted)] == wanted for at in range(len(held) - len(wanted) + 1))


def test_every_report_is_used() -> None:
    used = {line.report for study in STUDIES for line in read(study)}
    assert used == {Path(path).stem for path in REPORTS.glob("*.txt")}


NOT_MEASURED = {
    "cache_structures": ["119", "119", "119"],
    "group_buffer_pool": ["2.", "6"],
    "lock_structures": ["002.00.000", "01.000", "119", "119", "119", "14.04.00", "5.2.0"],
    "log": ["1", "1", "2"],
}
"""Numbers that count samples of RMF, or stand in names, captions and page headings."""


@pytest.mark.parametrize("path", sorted(REPORTS.glob("*.txt")), ids=lambda path: path.stem)
def test_every_number_of_a_report_is_expected(path: Path) -> None:
    printed = sum((numbers(line) for line in path.read_text(encoding="utf-8").splitlines()), Counter())
    # RMF prints percentages to a tenth; the study's tables put a zero behind.
    shown: Counter[str] = Counter()
    for text, count in printed.items():
        shown[re.sub(r"(\.\d)0%$", r"\1%", text)] += count
    lines = [line for study in STUDIES for line in read(study) if line.report == path.stem]
    # A duration of hours is expected in seconds, its print is the note.
    expected = Counter(line.note if re.fullmatch(r"\d\d:\d\d:[\d.]+", line.note) else line.printed for line in lines)
    assert sorted((shown - expected).elements()) == NOT_MEASURED.get(path.stem, [])
