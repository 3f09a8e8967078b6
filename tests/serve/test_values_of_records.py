"""A filter whose column has another name in the records: rows that have its value in any column of text."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import connect
from plexlens.serve.records import _condition

NAME = "smf110_1_performance"

#: Blanks that the engine's ``trim`` takes away: those of Unicode's category Zs.
BLANKS = " \u00a0\u2003\u3000"

_AROUND = product(("", " ", "\u00a0"), ("AB", "A B", "Ä"), ("", "  ", "\u3000"))

TEXTS = [
    *(f"{before}{text}{after}" for before, text, after in _AROUND),
    *("", " ", "ABC", "AB!", "AB\u00a0C", "A", "B", "ab", "AB\u0000", "!AB", "zz", "\U0010ffff"),
    None,
]


def held(text: str | None, value: str) -> bool:
    return text is not None and text.strip(BLANKS) == value


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    connection = connect()
    connection.execute(f"create table {NAME} (source_id varchar, record_no bigint, first varchar, second varchar)")
    rows = list(enumerate(product(TEXTS, TEXTS)))
    connection.executemany(f"insert into {NAME} values ('AB', ?, ?, ?)", [(n, *texts) for n, texts in rows])
    return Inputs(connection)


@pytest.mark.parametrize("value", ["AB", "A B", "Ä", "ABC", "AB!", "A", "zz", "", "AB\u0000", "\U0010ffff"])
def test_rows_with_a_value_in_any_column(inputs: Inputs, value: str) -> None:
    found = _condition(inputs, NAME, {NAME: NAME}, ("applid", value))
    assert found is not None
    where, values = found
    rows: list[Any] = inputs.connection.execute(
        f"select record_no from {NAME} r where {where} order by 1", values
    ).fetchall()
    expected = [n for n, (one, other) in enumerate(product(TEXTS, TEXTS)) if held(one, value) or held(other, value)]
    assert [number for (number,) in rows] == expected


@pytest.mark.parametrize("value", ["NOSUCH", "B A", "aB", " AB"])
def test_a_value_of_no_record_restricts_nothing(inputs: Inputs, value: str) -> None:
    assert _condition(inputs, NAME, {NAME: NAME}, ("applid", value)) is None
