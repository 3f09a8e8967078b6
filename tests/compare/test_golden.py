"""The page of each study as text, up to its tables, as it was last reviewed (`tests.golden.reviewed`)."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from plexlens.compare import study_names
from plexlens.compare.page.study import study_report
from plexlens.report import render_text
from tests.compare.audited import analysed, audited
from tests.golden.reviewed import check_no_other, check_text

FOLDER = Path(__file__).parents[1] / "golden" / "studies"


def shown(name: str) -> str:
    """Question, findings, figures, curves, checks, claims and the audit's counts of every table."""
    report = study_report([audited(name)], [analysed(name)])
    last = next(number for number, section in enumerate(report.sections) if section.id == f"{name}-audit")
    # The release would change every file.
    return render_text(
        dataclasses.replace(report, sections=report.sections[: last + 1], definitions={}, generator="Plexlens")
    )


@pytest.mark.parametrize("name", study_names())
def test_study_reads_as_reviewed(name: str) -> None:
    check_text(FOLDER / f"{name}.txt", shown(name))


def test_there_is_no_golden_of_a_study_that_is_gone() -> None:
    check_no_other(FOLDER, {f"{name}.txt" for name in study_names()})
