"""Printed tables that are too wide are turned or divided, and no cell gets lost."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plexlens.report.blocks.printed_width import fitted
from plexlens.report.model import Column, ColumnKind, Table


def table(rows: int, columns: int, *, keys: int = 1, letters: int = 8) -> Table:
    heads = tuple(Column(f"c{n}", f"Head {n}", ColumnKind.PRINTED, key=n < keys) for n in range(columns))
    cells = tuple(tuple(f"{row}.{n}".ljust(letters, "x") for n in range(columns)) for row in range(rows))
    return Table("t", "T", heads, cells)


def test_a_narrow_table_stays_as_it_is() -> None:
    narrow = table(1, 5)
    assert list(fitted(narrow)) == [narrow]


@pytest.mark.parametrize("rows", [1, 3])
def test_a_table_of_few_rows_is_turned(rows: int) -> None:
    (turned,) = fitted(table(rows, 40))
    assert len(turned.rows) == 40
    assert len(turned.columns) == 1 + rows
    assert turned.rows[7][0] == "Head 7"
    assert turned.rows[7][1:] == tuple(f"{row}.7xxxxx" for row in range(rows))


def test_a_table_of_many_rows_is_divided_and_its_keys_repeated() -> None:
    parts = list(fitted(table(9, 40, keys=2)))
    assert len(parts) > 1
    assert len({part.name for part in parts}) == len(parts)
    for part in parts:
        assert [column.name for column in part.columns[:2]] == ["c0", "c1"]
        assert len(part.rows) == 9
        # 150 letters: two keys and twelve columns of ten with the space after them.
        assert len(part.columns) <= 15
    assert [column.name for part in parts for column in part.columns[2:]] == [f"c{n}" for n in range(2, 40)]


@given(rows=st.integers(0, 6), columns=st.integers(1, 60), keys=st.integers(0, 3), letters=st.integers(4, 200))
def test_every_cell_is_kept(rows: int, columns: int, keys: int, letters: int) -> None:
    made = table(rows, columns, keys=keys, letters=letters)
    cells = Counter(cell for part in fitted(made) for line in part.rows for cell in line)
    assert Counter(cell for line in made.rows for cell in line) - cells == Counter()
