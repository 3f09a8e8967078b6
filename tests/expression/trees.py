"""Random trees of the language: any that the grammar has, and those whose kinds go together."""

from __future__ import annotations

from hypothesis import strategies as st

from plexlens.expression.tree import (
    ARITIES,
    LIST_FUNCTIONS,
    LITERAL_UNITS,
    NULL,
    Among,
    Binary,
    Call,
    Expression,
    Name,
    Number,
    Text,
    Unary,
)

#: Names of numbers, of lists of as many numbers, and of texts in the trees.
NUMBERS = ("a", "b", "c", "d")
LISTS = ("l", "m")
TEXTS = ("t", "u")

LITERALS = st.builds(
    Number,
    st.one_of(st.integers(0, 10**7).map(float), st.floats(0, 1e20), st.sampled_from([0.0, 0.5, 1.0, 33e-6, 1e22])),
    st.sampled_from([None, *LITERAL_UNITS.values()]),
)
TEXT_LITERALS = st.builds(Text, st.text("ab_%'\\\" é\n", max_size=4))
NUMBER_NAMES = st.sampled_from(NUMBERS).map(Name)
TEXT_NAMES = st.sampled_from(TEXTS).map(Name)
LIST_NAMES = st.sampled_from(LISTS).map(Name)


def _any(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.builds(Unary, st.sampled_from(["-", "not"]), inner),
        st.builds(
            Binary, st.sampled_from(["+", "-", "*", "/", "<", "<=", ">", ">=", "=", "!=", "and", "or"]), inner, inner
        ),
        st.builds(Among, inner, st.lists(TEXT_LITERALS, min_size=1, max_size=3).map(tuple)),
        st.sampled_from(sorted(ARITIES)).flatmap(
            lambda name: st.builds(
                Call,
                st.just(name),
                st.lists(inner, min_size=ARITIES[name][0], max_size=ARITIES[name][1] or 6).map(tuple),
            )
        ),
    )


#: Any tree of the grammar, whether or not its kinds go together.
ANY: st.SearchStrategy[Expression] = st.recursive(
    st.one_of(LITERALS, TEXT_LITERALS, NUMBER_NAMES, TEXT_NAMES, st.just(NULL)), _any, max_leaves=12
)


def _calls(name: str, *arguments: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.builds(Call, st.just(name), st.tuples(*arguments))


#: Trees of one function of lists.
OF_LISTS = st.sampled_from(sorted(LIST_FUNCTIONS)).flatmap(lambda name: _calls(name, *[LIST_NAMES] * ARITIES[name][0]))


#: The share and the bounds of a percentile are numbers as written.
SHARES = st.floats(0.001, 0.999).map(Number)
MILLISECOND, SECOND = st.just(Number(1.0, LITERAL_UNITS["ms"])), st.just(Number(1.0, LITERAL_UNITS["s"]))


def numbers(depth: int, *, lists: bool = False) -> st.SearchStrategy[Expression]:
    """Trees of numbers, so many levels deep; with functions of lists among them, as no row has."""
    leaf = st.one_of(NUMBER_NAMES, NUMBER_NAMES, NUMBER_NAMES, LITERALS, st.just(NULL), *([OF_LISTS] * 3 * lists))
    if depth == 0:
        return leaf
    inner = st.deferred(lambda: numbers(depth - 1, lists=lists))
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        leaf,
        st.builds(Binary, st.sampled_from("+-*/"), inner, inner),
        st.builds(Binary, st.sampled_from("+-*/"), inner, inner),
        st.builds(Unary, st.just("-"), inner),
        st.builds(Call, st.sampled_from(["greatest", "least", "total", "coalesce"]), several),
        _calls("sqrt", inner),
        _calls("ceiling", inner),
        _calls("deviation", inner, inner, inner),
        _calls("percentile", SHARES, inner, inner, MILLISECOND, inner, SECOND, inner),
        _calls("if", conditions(depth - 1), inner),
        _calls("if", conditions(depth - 1), inner, inner),
    )


def conditions(depth: int) -> st.SearchStrategy[Expression]:
    """Trees of conditions, so many levels deep."""
    inner = st.deferred(lambda: numbers(max(depth - 1, 0)))
    texts = st.one_of(TEXT_NAMES, TEXT_LITERALS)
    leaf = st.one_of(
        st.builds(Binary, st.sampled_from(["<", "<=", ">", ">=", "=", "!="]), inner, inner),
        _calls("known", inner),
        _calls("known", TEXT_NAMES),
        st.builds(Binary, st.sampled_from(["=", "!="]), TEXT_NAMES, texts),
        _calls("contains", TEXT_NAMES, TEXT_LITERALS),
        _calls("starts", TEXT_NAMES, TEXT_LITERALS),
        st.builds(Among, TEXT_NAMES, st.lists(TEXT_LITERALS, min_size=1, max_size=3).map(tuple)),
    )
    if depth == 0:
        return leaf
    truth = st.deferred(lambda: conditions(depth - 1))
    return st.one_of(
        leaf, st.builds(Unary, st.just("not"), truth), st.builds(Binary, st.sampled_from(["and", "or"]), truth, truth)
    )
