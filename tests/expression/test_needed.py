"""What has to be known, against trying out: without it there is no value, and with it there can be one."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.expression import Expression, names_of, needed, parse, value
from plexlens.expression.tree import Binary, Call, Name, Number
from tests.draws import draws
from tests.expression.trees import NUMBERS


def _sums(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    """Operations that have a value above 0 for operands above 0."""
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Binary, st.sampled_from("+*/"), inner, inner),
        st.builds(Call, st.sampled_from(["coalesce", "total", "greatest", "least"]), several),
        st.builds(Call, st.just("sqrt"), st.tuples(inner)),
        st.builds(Call, st.just("deviation"), st.tuples(inner, inner, inner)).map(lambda one: Binary("+", one, ONE)),
        st.builds(
            lambda x, y: Call("if", (Binary(">", x, ZERO), y)),
            inner,
            inner,
        ),
    )


ZERO, ONE = Number(0.0), Number(1.0)
TREES = st.recursive(st.one_of(st.sampled_from(NUMBERS).map(Name), st.just(ONE)), _sums, max_leaves=6)


@given(TREES)
@settings(max_examples=draws(500), deadline=None)
def test_a_tree_has_a_value_exactly_where_what_it_needs_is_known(tree: Expression) -> None:
    clauses = needed(tree)
    names = sorted(names_of(tree))
    for count in range(len(names) + 1):
        for known in combinations(names, count):
            values = {name: 1.5 if name in known else None for name in names}
            counts = all(clause & set(known) for clause in clauses)
            assert (value(tree, values) is not None) == counts, (known, clauses)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", []),
        ("a / b", ["a", "b"]),
        ("a - coalesce(b, 0)", ["a"]),
        ("coalesce(a, b)", ["a b"]),
        ("total(a, b) / c", ["a b", "c"]),
        ("coalesce(a, b + c)", ["a b", "a c"]),
        ("coalesce(a, a + b)", ["a"]),
        ("total(a, null)", ["a"]),
        ("deviation(a, b, c)", ["a", "b", "c"]),
        # Of a choice: what is compared, and what one of the results needs.
        ("if(a > 1, b, c)", ["a", "b c"]),
        ("if(a > 1, b)", ["a", "b"]),
        ("if(known(a), b, c)", ["b c"]),
        ("if(known(a), a / b, c / b)", ["b", "a c"]),
        ("if(known(a), b)", ["a", "b"]),
        ("if(not known(a), null, b)", ["a", "b"]),
        ("if(not known(a) or not known(b), null, c)", ["a", "b", "c"]),
        # A total that is too small: b may be missing, and then nothing is too small.
        ("if(total(a, c) < b, null, total(a, c))", ["a c"]),
        ("if(a > 1, b, if(a > 2, c, d))", ["a", "b c d"]),
        ("if(known(a) and b > 1, c)", ["a", "b", "c"]),
        ("if(known(a) or b > 1, c)", ["a b", "c"]),
        ("coalesce(" + ", ".join(f"a{n} * b{n}" for n in range(7)) + ")", []),
    ],
)
def test_what_is_needed_by_hand(text: str, expected: list[str]) -> None:
    assert needed(parse(text)) == {frozenset(clause.split()) for clause in expected}
