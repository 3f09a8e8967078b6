"""Every fact and every metric of every grain, rolled up from random facts, against a slow and obvious roll-up.

The roll-up itself is `tests.oracle.slow_rollup`, which shares no code with the frame. The metric is its own expression,
applied to what the slow roll-up gives for its facts, for all metrics: what is compared is everything that goes before
it, not the formula. Which rows count for a metric is told by trying its expression.

Not compared: numbers that several observers report alike in unaligned intervals; overlaps of less than five seconds
(the frame counts intervals that overlap by two in full); local times; several rows of an entity in an interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

import ibis
import pyarrow as pa
import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Grain
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from tests.metrics.raw import rows_of
from tests.oracle.random_facts import random_facts
from tests.oracle.slow_rollup import FactRule, Shape, Slow

_SEED = 12

#: A share above its ceiling by more than this is no number (docs/extending.md: above 101 %).
_CEILING = 1.01

#: Metrics for which the frame does not tell what is needed: too many alternatives (`plexlens.metrics.required`).
_NOT_TOLD = {("workload_period", "performance_index")}

_TEXT = ("system", "sysplex", "source_kind")


class _Reads:
    """A table that notes which columns an expression reads, under names of its own for each metric."""

    def __init__(self, column: Callable[[str], Any]) -> None:
        self._column = column
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return self._column(name)

    def __getattr__(self, name: str) -> Any:
        return self[name]


def _facts_read(grain: Grain) -> dict[str, set[str]]:
    """The facts that each metric reads."""
    columns = {f.name: "float64" for f in grain.facts}
    texts = dict.fromkeys((*_TEXT, *(k.name for k in grain.keys), *(a.name for a in grain.attributes)), "string")
    table = ibis.table({**texts, **columns, "local_time": "boolean"}, name="shape")
    result = {}
    for metric in grain.metrics:
        reads = _Reads(lambda name: table[name])
        metric.expression(reads)
        result[metric.name] = {name for name in reads.names if name in columns}
    return result


def _shape(grain: Grain) -> Shape:
    observer = (*grain.observers, "local_time")
    entity = tuple(dict.fromkeys(("sysplex", "system", *grain.observers, *(key.name for key in grain.keys))))
    return Shape(observer, entity, {f.name: FactRule(f.name, f.rollup.name, f.of) for f in grain.facts})


def _table(rows: Sequence[dict[str, Any]], grain: Grain) -> pa.Table:
    floats = {fact.name for fact in grain.facts} | {"utc_offset"}
    times = {"interval_start", "interval_end", "interval"}
    arrays = {}
    for name in rows[0]:
        kind = pa.float64() if name in floats else pa.timestamp("us", "UTC") if name in times else pa.string()
        arrays[name] = pa.array([r[name] for r in rows], pa.bool_() if name == "local_time" else kind)
    return pa.table(arrays)


def _counting(grain: Grain, patterns: set[frozenset[str]], read: dict[str, set[str]], backend: Any) -> Any:
    """For each metric, the sets of known facts with which its expression has a value, whatever the values are.

    Told by trying: some of sixteen random values of what is known give a number, or none does.
    """
    random = Random(1)
    listed = sorted(patterns, key=sorted)
    rows = [
        {fact.name: 10 ** random.uniform(-2, 3) if fact.name in known else None for fact in grain.facts}
        | {"pattern": float(number)}
        for number, known in enumerate(listed)
        for _ in range(16)
    ]
    texts = (*_TEXT, *(k.name for k in grain.keys), *(a.name for a in grain.attributes))
    table = pa.table({name: pa.array([r[name] for r in rows], pa.float64()) for name in rows[0]})
    backend.create_table("tried", table)
    tried = backend.table("tried")
    tried = tried.mutate(**dict.fromkeys(texts, ibis.null("string")), local_time=ibis.literal(False))
    columns = {m.name: m.expression(tried).cast("float64").notnull() for m in grain.metrics}
    chosen = tried.select("pattern", **columns)
    rows_with = rows_of(chosen.group_by("pattern").aggregate(**{m.name: chosen[m.name].any() for m in grain.metrics}))
    by_pattern = {listed[int(r["pattern"])]: {name for name in read if r[name]} for r in rows_with}
    return {name: {known for known in listed if name in by_pattern[known]} for name in read}


def _expected_metrics(grain: Grain, groups: list[dict[str, Any]], values: dict[str, list[Any]], backend: Any) -> Any:
    """Metrics over the facts that the slow roll-up gives for each, ``metric|fact``."""
    texts = (*_TEXT, *(k.name for k in grain.keys), *(a.name for a in grain.attributes))
    arrays = {name: pa.array([g.get(name) for g in groups], pa.string()) for name in dict.fromkeys(texts)}
    arrays |= {name: pa.array(column, pa.float64()) for name, column in values.items()}
    arrays["number"] = pa.array([float(n) for n in range(len(groups))])
    name = f"slow_{next(_NUMBERS)}"
    backend.create_table(name, pa.table(arrays))
    table = backend.table(name)
    columns = {}
    for metric in grain.metrics:
        reads = _Reads(lambda name, m=metric.name: table[f"{m}|{name}" if f"{m}|{name}" in values else name])
        columns[metric.name] = metric.expression(reads).cast("float64")
    rows = rows_of(table.select("number", **columns).order_by("number"))
    for metric in grain.metrics:
        if metric.unit.ceiling is not None:
            for row in rows:
                if row[metric.name] is not None and row[metric.name] > metric.unit.ceiling * _CEILING:
                    row[metric.name] = None
    return rows


_NUMBERS = iter(range(1_000_000))

_WAYS: dict[str, tuple[Callable[[Grain], tuple[str, ...]], str]] = {
    "every entity, all time": (
        lambda g: tuple(dict.fromkeys(("system", "sysplex", *(k.name for k in g.keys)))),
        "all",
    ),
    "system and hour": (lambda _: ("sysplex", "system"), "hour"),
    "sysplex, all time": (lambda _: ("sysplex",), "all"),
}


@cache
def _given(name: str) -> tuple[list[dict[str, Any]], Inputs, Any]:
    grain = GRAINS[name]
    rows = random_facts(grain, _SEED)
    backend = ibis.duckdb.connect()
    backend.create_table("given", _table(rows, grain))
    return rows, Inputs(backend), backend.table("given")


def _same(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is None and second is None
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)


def _disagreements(grain: Grain, keys: tuple[str, ...], time: str) -> list[str]:
    rows, raw, kept = _given(grain.name)
    slow = Slow(rows, _shape(grain), keys, hour=time == "hour")
    read = _facts_read(grain)
    backend = ibis.duckdb.connect()
    counting = _counting(grain, {slow.known(i) for i in range(len(rows))}, read, backend)
    rules = {fact.name: fact.rollup.name for fact in grain.facts}
    spans = {name for name, rule in rules.items() if rule == "SPAN"}
    groups, plain, columns = [], [], {f"{m}|{f}": [] for m, facts in read.items() for f in facts}
    for group, members in slow.groups.items():
        described = {}
        for attribute in grain.attributes:
            texts = {rows[i][attribute.name] for i in members}
            described[attribute.name] = texts.pop() if len(texts) == 1 else None
        groups.append(described | dict(zip(keys, group[:-1], strict=True)))
        plain.append(
            {
                name: slow.value(
                    members,
                    name,
                    (lambda i: True) if name in spans else (lambda i, n=name: n in slow.known(i)),
                    rate=False,
                    measured=False,
                )
                for name in rules
            }
        )
        for metric, facts in read.items():
            measured = any(rules[f] in ("COUNT", "LEVEL", "SPAN") for f in facts)
            rate = bool(facts & spans)
            for fact in facts:
                columns[f"{metric}|{fact}"].append(
                    slow.value(
                        members, fact, lambda i, m=metric: slow.known(i) in counting[m], rate=rate, measured=measured
                    )
                )
    metrics = _expected_metrics(grain, groups, columns, backend)
    result = rows_of(evaluate(raw, grain, by=keys, time=time, kept=kept))
    found = {(*(r[key] for key in keys), r.get("time")): r for r in result}
    assert len(found) == len(result)
    assert set(found) == set(slow.groups)
    wrong = []
    for number, group in enumerate(slow.groups):
        expected = plain[number] | {m.name: metrics[number][m.name] for m in grain.metrics}
        for name, value in expected.items():
            if (grain.name, name) not in _NOT_TOLD and not _same(value, found[group][name]):
                wrong.append(f"{group} {name} ({rules.get(name, 'metric')}): {found[group][name]}, slowly {value}")
    return wrong


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("name", GRAINS)
def test_rolled_up_as_slowly(name: str, way: str) -> None:
    keys, time = _WAYS[way]
    wrong = _disagreements(GRAINS[name], keys(GRAINS[name]), time)
    assert not wrong, f"{len(wrong)} numbers differ:\n" + "\n".join(wrong[:20])
