"""The table of stage times."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.stage_times import STAGES, Took, table, timed


def test_stages_are_targets_of_the_makefile() -> None:
    text = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    for stage in STAGES:
        assert f"\n{stage.replace('.build/', '$(BUILD)/')}:" in text, stage
    (line,) = [line for line in text.splitlines() if line.startswith("test: ")]
    assert set(line.removeprefix("test: ").split()) <= STAGES.keys()


def test_times_are_added_up() -> None:
    lines = table({"cold": {stage: Took(59.6, 90.0) for stage in STAGES}}).splitlines()
    assert lines[2].endswith("| 1:00 | 1:30 |")
    # Five stages of 59.6 s and of 90 s.
    assert len(STAGES) == 5
    assert lines[-1] == "| all | | 4:58 | 7:30 |"


def test_a_stage_that_fails_makes_no_table(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("good:\n\t@true\nbad:\n\t@false\n")
    assert timed("good", tmp_path).wall >= 0
    with pytest.raises(SystemExit, match="make bad failed"):
        timed("bad", tmp_path)
