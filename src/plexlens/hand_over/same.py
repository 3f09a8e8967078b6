"""Proof that two databases have the same metrics: every row of every grain, but for names and moved times."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from plexlens.errors import NothingUsableError
from plexlens.findings.check import check
from plexlens.hand_over.translation import Translation, words_of
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.question import Question, ask, grain_of

#: An entity without a name is called after its source.
_UNNAMED = re.compile(r"unnamed \([0-9a-f]{8}, ")
_CLOSE = 1e-9
"""Relative difference of numbers that are sums of the same addends in another order."""


@dataclass
class Comparison:
    """Numbers compared, and the differences.

    Attributes
    ----------
    rows : dict of str to int
        Rows compared, by grain.
    numbers : int
        Numbers compared, nulls among them.
    findings : int
        Findings compared.
    differences : list of str
        The first differences, a sentence each.
    differing : int
        How many there are.
    """

    rows: dict[str, int] = field(default_factory=dict)
    numbers: int = 0
    findings: int = 0
    differences: list[str] = field(default_factory=list)
    differing: int = 0

    def differ(self, sentence: str) -> None:
        """Note a difference."""
        self.differing += 1
        if len(self.differences) < _SHOWN:
            self.differences.append(sentence)


_SHOWN = 20

#: Forms of a text that are tried, at most: each word replaced or not.
_FORMS = 4096


def compare(before: Inputs, after: Inputs, translation: Translation) -> Comparison:
    """Compare all metrics and facts of two databases, and the findings on them.

    Parameters
    ----------
    before, after
        The tables of the original and of what was handed over.
    translation
        The key: replacements of names, and days that times are moved by.

    Returns
    -------
    Comparison
        Without differences if both are the same.
    """
    comparison = Comparison()
    for name in GRAINS:
        first, other = _table(before, name), _table(after, name)
        if first is None and other is None:
            continue
        if first is None or other is None:
            comparison.differ(f"{name}: only {'the second' if first is None else 'the first'} has rows")
            continue
        _compare_tables(comparison, name, (first, other), translation)
    _compare_findings(comparison, before, after, translation)
    return comparison


def _table(inputs: Inputs, name: str) -> pa.Table | None:
    grain = grain_of(name)
    if not available(inputs, grain):
        return None
    numbers = [*(metric.name for metric in grain.metrics), *(fact.name for fact in grain.facts)]
    columns = [*(attribute.name for attribute in grain.attributes), *numbers]
    try:
        return ask(inputs, Question.of(name, every="interval", columns=columns), name, utc_offset=0.0).table
    except NothingUsableError:
        return None


def _compare_tables(
    comparison: Comparison, name: str, tables: tuple[pa.Table, pa.Table], translation: Translation
) -> None:
    first, other = tables
    comparison.rows[name] = first.num_rows
    if first.num_rows != other.num_rows:
        comparison.differ(f"{name}: {first.num_rows:,} rows against {other.num_rows:,}")
        return
    if first.column_names != other.column_names:
        odd = sorted(set(first.column_names) ^ set(other.column_names))
        comparison.differ(f"{name}: only one of them has the column {', '.join(odd)}")
        return
    moved = timedelta(days=translation.key.days)
    texts: list[str] = []
    unnamed = functools.partial(_UNNAMED.sub, "unnamed (")
    left: dict[str, list[Any]] = {}
    right: dict[str, list[Any]] = {}
    for column in first.column_names:
        values, others = first.column(column).to_pylist(), other.column(column).to_pylist()
        if any(isinstance(value, str) for value in (*values, *others)):
            texts.append(column)
            values, others = (
                [unnamed(value) if isinstance(value, str) else value for value in side] for side in (values, others)
            )
            renamed = [translation(value) if isinstance(value, str) else value for value in values]
            # A code is the same on both sides; a name has its replacement.
            if Counter(values) != Counter(others):
                values = renamed if Counter(renamed) == Counter(others) else _as_there(values, renamed, set(others))
        elif any(isinstance(value, datetime) for value in values):
            values = [value + moved if isinstance(value, datetime) else value for value in values]
            if column == "time":
                texts.append(column)
        left[column], right[column] = values, others
    order = [_ordered(side, texts, first) for side in (left, right)]
    for at, to in zip(*order, strict=True):
        for column in first.column_names:
            comparison.numbers += 1
            if not _equal(left[column][at], right[column][to]):
                where = ", ".join(f"{text} {right[text][to]}" for text in texts)
                comparison.differ(f"{name} ({where}): {column} is {left[column][at]!r} against {right[column][to]!r}")


def _as_there(values: Sequence[Any], renamed: Sequence[Any], there: set[Any]) -> list[Any]:
    """Texts with names replaced, each as the other side has it: a word that reports use themselves stays there."""
    chosen: dict[Any, Any] = {}
    for value, new in zip(values, renamed, strict=True):
        if isinstance(value, str) and value not in chosen:
            pairs = zip(words_of(value), words_of(new), strict=False)
            # Numbers and single characters stay in reports, and may be names elsewhere.
            ordered = ((old, word) if len(old) == 1 or old.isdigit() else (word, old) for old, word in pairs)
            forms = itertools.product(*map(dict.fromkeys, ordered))
            mixed = ("".join(form) for form in itertools.islice(forms, _FORMS))
            chosen[value] = next((form for form in mixed if form in there), new)
    return [chosen.get(value, value) for value in values]


def _ordered(side: Mapping[str, list[Any]], texts: Sequence[str], table: pa.Table) -> list[int]:
    """Rows in an order that names and times give, and numbers where those are equal."""
    columns = [*texts, *(column for column in table.column_names if column not in texts)]

    def key(row: int) -> tuple[Any, ...]:
        return tuple(_sortable(side[column][row]) for column in columns)

    return sorted(range(table.num_rows), key=key)


def _sortable(value: Any) -> tuple[int, Any]:
    if value is None:
        return (0, 0)
    if isinstance(value, (bool, int, float)):
        # Sums in another order differ in their last digits.
        return (1, float(f"{value:.9g}") if math.isfinite(value) else 0.0)
    return (2, str(value))


def _equal(first: Any, other: Any) -> bool:
    if isinstance(first, float) and isinstance(other, float):
        if math.isnan(first) or math.isnan(other):
            return math.isnan(first) and math.isnan(other)
        return math.isclose(first, other, rel_tol=_CLOSE, abs_tol=0.0) or first == other
    return bool(first == other)


def _compare_findings(comparison: Comparison, before: Inputs, after: Inputs, translation: Translation) -> None:
    first, other = check(before), check(after)
    left = Counter(_findings(other))
    for finding in _findings(first):
        comparison.findings += 1
        # A name has its replacement, a code and a number stay: as in the rows that the findings are of.
        choices = itertools.product(*({name, translation(name)} for name in finding[1]))
        match = next((wanted for names in choices if left[wanted := (finding[0], names, *finding[2:])]), None)
        if match is None:
            comparison.differ(f"finding {finding[0]} of {', '.join(finding[1]) or 'all'}: only the first has it")
        else:
            left[match] -= 1
    for finding in +left:
        comparison.differ(f"finding {finding[0]} of {', '.join(finding[1]) or 'all'}: only the second has it")
    passed = [sorted(rule.rule.id for rule in side.passed) for side in (first, other)]
    if passed[0] != passed[1]:
        rules = sorted(set(passed[0]) ^ set(passed[1]))
        comparison.differ(f"rules that hold in one of them only: {', '.join(rules)}")


def _findings(checked: Any) -> Iterator[tuple[Any, ...]]:
    """Rule, names, severity, number of intervals and evidence of each finding."""
    for finding in checked.fired:
        numbers = tuple(f"{evidence.value:.6g}" for evidence in finding.evidence if isinstance(evidence.value, float))
        names = tuple(
            _UNNAMED.sub("unnamed (", entity.value) for entity in finding.entity if isinstance(entity.value, str)
        )
        yield (finding.rule.id, names, finding.severity.value, finding.holding, finding.intervals, numbers)
