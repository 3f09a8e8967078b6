"""Combinations of known facts as numbers, against loops over the combinations themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from plexlens.metrics.variants import Combinations

NAMES = st.sampled_from("abcd")
PATTERNS = st.lists(st.dictionaries(NAMES, st.booleans()), max_size=6)
CLAUSES = st.frozensets(st.frozensets(NAMES, min_size=1, max_size=3), max_size=3)


def meets(known: Mapping[str, bool], needed: frozenset[frozenset[str]]) -> bool:
    return all(any(known.get(name, False) for name in clause) for clause in needed)


@given(PATTERNS, CLAUSES, CLAUSES)
def test_clauses_met_by_the_same_combinations_have_the_same_number(
    patterns: Sequence[Mapping[str, bool]], one: frozenset[frozenset[str]], other: frozenset[frozenset[str]]
) -> None:
    combinations = Combinations(patterns)
    are_alike = [meets(known, one) for known in patterns] == [meets(known, other) for known in patterns]
    assert (combinations.meeting(one) == combinations.meeting(other)) == are_alike


@given(PATTERNS, CLAUSES, st.none() | st.frozensets(NAMES))
def test_rows_are_mixed_where_some_that_count_lack_an_input(
    patterns: Sequence[Mapping[str, bool]], needed: frozenset[frozenset[str]], facts: frozenset[str] | None
) -> None:
    def counts(known: Mapping[str, bool]) -> bool:
        return facts is None or any(known.get(name, False) for name in facts.union(*needed))

    expected = any(counts(known) and not meets(known, needed) for known in patterns)
    assert Combinations(patterns).mixed(needed, facts) == expected
