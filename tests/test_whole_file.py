"""Files that are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.errors import UsageError
from plexlens.whole_file import whole_file


def test_a_file_is_there_when_all_went_well(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")
    with whole_file(path) as part:
        part.write_text("after")
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_what_was_there_stays_when_something_goes_wrong(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), whole_file(path) as part:
        part.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match=r"a\.txt: it cannot be written: No such file"),
        whole_file(tmp_path / "none" / "a.txt") as part,
    ):
        part.write_text("x")
