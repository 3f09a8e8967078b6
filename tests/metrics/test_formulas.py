"""The printed formula of every metric gives what its expression gives."""

from __future__ import annotations

import math
from functools import cache
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from plexlens.expression import sql_of
from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Grain, Metric
from plexlens.metrics.query import Query
from plexlens.metrics.required import read_by
from plexlens.pdb.engine import add_table, connect, quoted
from tests.metrics.printed_formulas import in_words, printed_formula
from tests.metrics.raw import rows_of
from tests.oracle.slow_formula import Formula, Named, NotAFormulaError

#: Rows of random facts; a part of them is zero.
_ROWS, _ZEROS = 80, 0.15


@cache
def _given(name: str) -> tuple[list[dict[str, float]], list[dict[str, Any]]]:
    """Random facts, and the metrics that their expressions make of them."""
    grain = GRAINS[name]
    chance = Random(name)
    rows = [
        {f.name: 0.0 if chance.random() < _ZEROS else chance.uniform(1, 100) for f in grain.facts} for _ in range(_ROWS)
    ]
    texts = {"system", "sysplex", "source_kind", *(k.name for k in grain.keys), *(a.name for a in grain.attributes)}
    connection = connect()
    arrays = {name: pa.array([row[name] for row in rows]) for name in rows[0]}
    arrays |= {text: pa.array(["text"] * _ROWS) for text in texts} | {"local_time": pa.array([False] * _ROWS)}
    add_table(connection, "given", pa.table(arrays))
    given = Query(connection, "given", tuple(arrays))
    return rows, rows_of(given.select(**{m.name: sql_of(m.expression, quoted) for m in grain.metrics}))


def _agrees(grain: Grain, metric: Metric) -> bool:
    """Whether the formula can be read, and gives the same for all rows."""
    try:
        formula = printed_formula(grain, metric, read_by(grain, [metric])[metric.name].facts)
    except NotAFormulaError:
        return False
    for facts, metrics in zip(*_given(grain.name), strict=True):
        value, expected = formula.value(facts), metrics[metric.name]
        if (value is None) != (expected is None):
            return False
        if value is not None and expected is not None and not math.isclose(value, expected, rel_tol=1e-9):
            return False
    return True


@pytest.mark.parametrize("name", GRAINS)
def test_a_printed_formula_is_what_is_worked_out(name: str) -> None:
    grain = GRAINS[name]
    wrong = [m.name for m in grain.metrics if f"{name}.{m.name}" not in in_words() and not _agrees(grain, m)]
    assert not wrong, (
        f"printed formulas of {name} that cannot be read, or give another value than the metric: {', '.join(wrong)}; "
        "write `words` that a reader can compute, or enter the metric in formulas_in_words.toml with the reason"
    )


def test_the_formulas_in_words_are_few_and_are_no_arithmetic() -> None:
    readable = [
        name
        for name in in_words()
        if _agrees(GRAINS[name.split(".")[0]], GRAINS[name.split(".")[0]].metric(name.split(".")[1]))
    ]
    assert not readable, f"listed as words, and can be worked out: {', '.join(readable)}"
    assert len(in_words()) <= 0.07 * sum(len(grain.metrics) for grain in GRAINS.values())


def test_a_formula_is_read_as_it_is_printed() -> None:
    facts = [Named("reads", "Read I/Os", "SMF 1 FLDR"), Named("pages", "Pages", "SMF 1 IFCID 2 FLDP - FLDQ")]
    values = {"reads": 4.0, "pages": 10.0, "interval_seconds": 2.0}
    for text, value in {
        "ΣFLDR / interval": 2.0,
        "(read I/Os + FLDP - FLDQ) x 1,000 / interval": 7000.0,
        "pages - reads - 1": 5.0,
        "pages / reads / 2": 1.25,
        "pages / (reads - FLDR)": None,
    }.items():
        assert Formula(text, facts).value(values) == value, text
    assert Formula("answers / interval", facts, {"answers": "reads + pages"}).value(values) == 7.0
    for text in ("reads per second", "reads / writes", "(reads + pages", "reads pages", ""):
        with pytest.raises(NotAFormulaError):
            Formula(text, facts)


def test_words_are_given_only_where_they_say_more_than_the_fields() -> None:
    given = [(name, metric) for name, grain in GRAINS.items() for metric in grain.metrics if metric.given_words]
    idle = [f"{name}.{m.name}" for name, m in given if m.given_words == m.vocabulary.words_of(m.formula)]
    assert not idle, f"words that are those of the fields: {', '.join(idle)}"
    assert len(given) <= 50
