"""The printed formulas of metrics, as `tests.oracle.slow_formula` reads them, and those that it cannot read."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from plexlens.metrics.definition import Grain, Metric
from tests.oracle.slow_formula import Formula, Named

_HERE = Path(__file__).parent


@cache
def in_words() -> dict[str, str]:
    """Metrics (``grain.metric``) whose printed formula cannot be worked out, and the reason."""
    listed = tomllib.loads((_HERE / "formulas_in_words.toml").read_text(encoding="utf-8"))["exceptions"]
    return {metric: part["reason"] for part in listed for metric in part["metrics"]}


@cache
def _words() -> dict[str, dict[str, str]]:
    return tomllib.loads((_HERE / "formula_words.toml").read_text(encoding="utf-8"))


def printed_formula(grain: Grain, metric: Metric, read: Iterable[str]) -> Formula:
    """The printed formula of a metric; names that several facts bear mean those that it reads."""
    read = set(read)
    facts = sorted(grain.facts, key=lambda fact: fact.name not in read)
    named = [Named(fact.name, fact.title, fact.source) for fact in facts]
    words = {fact.word: fact.name for fact in grain.facts if fact.word}
    return Formula(metric.words, named, words | _words().get(grain.name, {}))
