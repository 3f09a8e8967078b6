"""Cells of a printed table as numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.example.printed import ExampleError, Study, decimals, half_unit, number


@pytest.mark.parametrize(
    ("cell", "value", "places"),
    [
        (".27", 0.27, 2),
        ("5", 5.0, 0),
        ("6.0", 6.0, 1),
        ("30K", 30.0, 0),
        ("73M", 73.0, 0),
        ("0.40%", 0.4, 2),
        ("-27.17%", -27.17, 2),
        (" 1153.804 ", 1153.804, 3),
    ],
)
def test_cells_are_numbers_with_the_decimals_they_show(cell: str, value: float, places: int) -> None:
    assert number(cell) == value
    assert decimals(cell) == places


def test_half_a_unit_is_half_of_the_last_decimal() -> None:
    assert half_unit(".27") == pytest.approx(0.005)
    assert half_unit("30K") == 0.5


@pytest.mark.parametrize("cell", ["", "INCLUDED IN ASYNC", "1-2%", "29K9", "."])
def test_text_is_no_number(cell: str) -> None:
    with pytest.raises(ValueError, match="not a printed number"):
        number(cell)


def test_a_rate_stands_for_the_whole_count_that_prints_as_it() -> None:
    study = Study(Path("s"))
    # 43.83/s over two minutes: 5259.6 is not a count, 5260 / 120 = 43.8333 prints as 43.83.
    assert study.count("43.83", 120.0) == 5260
    # 32 / 120 = 0.2667 prints as 0.27.
    assert study.count(".27", 120.0) == 32


def test_a_rate_that_no_count_prints_as_is_refused() -> None:
    # Over ten seconds counts are 0.1/s apart, so none prints as 0.27.
    with pytest.raises(ExampleError, match=r"no integer count over 10.0 s rounds to \.27/s"):
        Study(Path("s")).count(".27", 10.0)


def test_a_row_must_be_there_once(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("system,pool,rate\nSYS1,A,1\nSYS1,B,2\n")
    study = Study(tmp_path)
    assert study.row("t", system="SYS1", pool="B") == {"system": "SYS1", "pool": "B", "rate": "2"}
    with pytest.raises(ExampleError, match="0 rows have pool 'C'"):
        study.row("t", pool="C")
    with pytest.raises(ExampleError, match="2 rows have system 'SYS1'"):
        study.row("t", system="SYS1")


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExampleError, match=r"nowhere\.csv: the table cannot be read") as raised:
        Study(tmp_path).table("nowhere")
    assert raised.value.exit_code == 3
