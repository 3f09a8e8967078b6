"""Parts that occur more than once: put back they give the expressions, and none is left that occurs twice."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.expression import Binary, Expression, Name, expand, names_of, parse, shared_parts, text_of, walk
from plexlens.expression.shared import FEWEST_PIECES
from plexlens.expression.tree import Call, operands_of
from tests.draws import draws
from tests.expression.trees import numbers


def taken(*texts: str) -> tuple[list[dict[str, str]], list[str]]:
    steps, expressions = shared_parts([parse(text) for text in texts], "part_")
    return [{name: text_of(part) for name, part in step.items()} for step in steps], [text_of(e) for e in expressions]


def test_a_part_of_two_formulas_is_made_once() -> None:
    steps, formulas = taken("total(a, b, c, d, e) / f", "g / total(a, b, c, d, e)")
    assert steps == [{"part_1": "total(a, b, c, d, e)"}]
    assert formulas == ["part_1 / f", "g / part_1"]


def test_parts_of_parts_are_made_first() -> None:
    inner = "total(a, b, c, d, e)"
    steps, formulas = taken(f"{inner} * f - {inner} / g", f"({inner} * f - {inner} / g) / h")
    assert steps == [{"part_1": inner}, {"part_2": "part_1 * f - part_1 / g"}]
    assert formulas == ["part_2", "part_2 / h"]


def test_a_part_has_no_name_that_is_there_already() -> None:
    steps, formulas = shared_parts(
        [parse("total(a, b, c, d, e) / part_1"), parse("g / total(a, b, c, d, e)")], "part_", {"part_2"}
    )
    assert [text_of(one) for one in formulas] == ["part_3 / part_1", "g / part_3"]
    assert [list(step) for step in steps] == [["part_3"]]


def test_short_parts_stay_where_they_are() -> None:
    assert taken("a / b + c", "a / b - c") == ([], ["a / b + c", "a / b - c"])


def test_a_total_within_a_total_is_added_to_the_whole_and_is_no_part() -> None:
    inner = "total(a, b, c, d, e)"
    assert taken(f"total({inner}, f)")[0] == []


def _put_back(steps: list[dict[str, Expression]], one: Expression) -> Expression:
    return expand(one, {name: part for step in steps for name, part in step.items()})


@settings(deadline=None, max_examples=draws(300))
@given(st.lists(numbers(3), min_size=2, max_size=4), st.data())
def test_parts_put_back_give_the_expressions(trees: list[Expression], data: st.DataObject) -> None:
    # Sums of the same trees, so that there is something to share.
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(trees), st.sampled_from(trees)), min_size=1, max_size=3))
    given_ones: list[Expression] = [*trees, *(Binary("+", left, right) for left, right in pairs)]
    steps, found = shared_parts(given_ones, "part_")
    assert [_put_back(steps, one) for one in found] == given_ones
    known: set[str] = set()
    for step in steps:
        for part in step.values():
            assert {name for name in names_of(part) if name.startswith("part_")} <= known
        known |= set(step)
    uses = Counter[Expression]()
    for one in [*found, *(part for step in steps for part in step.values())]:
        uses.update(part for part in walk(one) if not isinstance(part, Name))
    within_totals = {
        part for one in uses if isinstance(one, Call) and one.function == "total" for part in operands_of(one)
    }
    twice = [one for one, count in uses.items() if count > 1 and one not in within_totals]
    assert all(sum(1 for _ in walk(_put_back(steps, one))) < FEWEST_PIECES for one in twice)
