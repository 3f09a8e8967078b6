"""The page of each study as text, up to its tables, as it was last reviewed.

``PLEXLENS_UPDATE_GOLDEN=1 pytest tests/compare/test_golden.py`` rewrites the files; the change is then read like code.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from plexlens.compare import audit, load_study, study_names
from plexlens.report import render_text
from plexlens.report.study import study_report

FOLDER = Path(__file__).parents[1] / "golden" / "studies"


def shown(name: str) -> str:
    """Question, findings, figures, curves, checks, claims and the audit's counts of every table."""
    report = study_report([audit(load_study(name))])
    last = next(number for number, section in enumerate(report.sections) if section.id == f"{name}-audit")
    # The release would change every file.
    return render_text(
        dataclasses.replace(report, sections=report.sections[: last + 1], definitions={}, generator="Plexlens")
    )


@pytest.mark.parametrize("name", study_names())
def test_study_reads_as_reviewed(name: str) -> None:
    path = FOLDER / f"{name}.txt"
    text = shown(name)
    if os.environ.get("PLEXLENS_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), "not reviewed yet; PLEXLENS_UPDATE_GOLDEN=1 writes it"
    assert text.splitlines() == path.read_text(encoding="utf-8").splitlines()


def test_there_is_no_golden_of_a_study_that_is_gone() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(study_names())
