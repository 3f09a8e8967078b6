"""Every fact and every metric of every grain, rolled up from random facts, against a slow and obvious roll-up.

The roll-up itself is `tests.oracle.slow_rollup`, which shares no code with the frame. The metric is its printed formula
(`tests.oracle.slow_formula`), applied to what the slow roll-up gives for its facts. Its own expression stands in for
formulas that are words (`formulas_in_words.toml` lists them), and where a fact is missing, of which they say nothing.
Which rows count for a metric is told by trying its expression.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from plexlens.expression import sql_of
from plexlens.metrics import GRAINS, even_intervals
from plexlens.metrics import evaluate as evaluation
from plexlens.metrics.definition import Grain, Metric
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.query import Query
from plexlens.metrics.required import read_by
from plexlens.metrics.rolled.rule import reason
from plexlens.metrics.rollup_direct import has_lengths
from plexlens.pdb.engine import add_table, connect, literal, quoted
from tests.draws import SOAK
from tests.metrics.printed_formulas import in_words, printed_formula
from tests.metrics.raw import rows_of
from tests.oracle.random_facts import random_facts
from tests.oracle.slow_formula import Formula
from tests.oracle.slow_rollup import FactRule, Shape, Slow

_SEED = 12

#: Random values by which is told whether an expression can have a value.
_TRIES = 48

#: A share above its ceiling by more than this is not a number (docs/extending.md: above 101 %).
_CEILING = 1.01

_TEXT = ("system", "sysplex", "source_kind")

#: Grains whose facts a database rolls up beforehand: of these a table of its own tells the time.
_ROLLED = frozenset(name for name in GRAINS if not reason(GRAINS[name]))


def _facts_read(grain: Grain) -> dict[str, set[str]]:
    """The facts that each metric reads."""
    facts = {fact.name for fact in grain.facts}
    return {name: set(read.facts) & facts for name, read in read_by(grain, grain.metrics).items()}


def _shape(grain: Grain) -> Shape:
    entity = tuple(dict.fromkeys(("sysplex", "system", *grain.observers, *(key.name for key in grain.keys))))
    return Shape(grain.observers, entity, {f.name: FactRule(f.name, f.rollup.name, f.of) for f in grain.facts})


def _table(rows: Sequence[dict[str, Any]], grain: Grain) -> pa.Table:
    floats = {fact.name for fact in grain.facts} | {"utc_offset"}
    times = {"interval_start", "interval_end", "interval"}
    arrays = {}
    for name in rows[0]:
        kind = pa.float64() if name in floats else pa.timestamp("us", "UTC") if name in times else pa.string()
        arrays[name] = pa.array([r[name] for r in rows], pa.bool_() if name == "local_time" else kind)
    return pa.table(arrays)


def _counting(grain: Grain, patterns: set[frozenset[str]], read: dict[str, set[str]], connection: Any) -> Any:
    """For each metric, the sets of known facts with which its expression has a value, whatever the values are.

    Told by trying: some of many random values of what is known give a number, or none does. Each set is tried once.
    """
    by_pattern = _TRIED.setdefault(grain.name, {})
    if untried := patterns - by_pattern.keys():
        by_pattern |= _tried(grain, untried, read, connection)
    return {name: {known for known in patterns if name in by_pattern[known]} for name in read}


#: By grain: the metrics that have a value where a set of facts is known.
_TRIED: dict[str, dict[frozenset[str], set[str]]] = {}


def _tried(grain: Grain, patterns: set[frozenset[str]], read: dict[str, set[str]], connection: Any) -> Any:
    chance = np.random.default_rng(1)
    listed = sorted(patterns, key=sorted)
    count = len(listed) * _TRIES
    columns: dict[str, pa.Array] = {"pattern": pa.array(np.repeat(np.arange(len(listed), dtype=float), _TRIES))}
    for fact in grain.facts:
        # Zero is a value of its own: a goal without a percentile has zero of it.
        drawn = np.where(chance.random(count) < 0.1, 0.0, 10 ** chance.uniform(-2, 3, count))
        unknown = np.repeat([fact.name not in known for known in listed], _TRIES)
        columns[fact.name] = pa.array(drawn, mask=unknown)
    texts = (*_TEXT, *(k.name for k in grain.keys), *(a.name for a in grain.attributes))
    table = pa.table(columns)
    add_table(connection, "tried", table)
    tried = Query(connection, "tried", tuple(table.column_names))
    made = {name: quoted(name) for name in table.column_names} | dict.fromkeys(texts, "null::varchar")
    made["local_time"] = "false"
    tells = {m.name: f"bool_or(({sql_of(m.expression, quoted)}) is not null)" for m in grain.metrics}
    rows_with = tried.select(**made).grouped(("pattern",), tells).rows()
    connection.execute("drop table tried")
    return {listed[int(r["pattern"])]: {name for name in read if r[name]} for r in rows_with}


def _expected_metrics(grain: Grain, groups: list[dict[str, Any]], values: dict[str, list[Any]], connection: Any) -> Any:
    """Metrics over the facts that the slow roll-up gives for each, ``metric|fact``."""
    texts = (*_TEXT, *(k.name for k in grain.keys), *(a.name for a in grain.attributes))
    arrays = {name: pa.array([g.get(name) for g in groups], pa.string()) for name in dict.fromkeys(texts)}
    arrays |= {name: pa.array(column, pa.float64()) for name, column in values.items()}
    arrays["number"] = pa.array([float(n) for n in range(len(groups))])
    name = f"slow_{next(_NUMBERS)}"
    add_table(connection, name, pa.table(arrays))
    columns = {}
    for metric in grain.metrics:

        def column(fact: str, metric: Metric = metric) -> str:
            return quoted(f"{metric.name}|{fact}" if f"{metric.name}|{fact}" in values else fact)

        columns[metric.name] = sql_of(metric.expression, column)
    rows = Query(connection, name, tuple(arrays)).select("number", **columns).ordered("number").to_pylist()
    connection.execute(f"drop table {name}")
    for name, formula in _formulas(grain.name).items():
        of_formula = {fact: values.get(f"{name}|{fact}") for fact in formula.facts}
        for number, row in enumerate(rows):
            facts = {fact: column[number] if column else None for fact, column in of_formula.items()}
            if all(value is not None for value in facts.values()):
                row[name] = formula.value(facts)
    for metric in grain.metrics:
        if metric.unit.ceiling is not None:
            for row in rows:
                if row[metric.name] is not None and row[metric.name] > metric.unit.ceiling * _CEILING:
                    row[metric.name] = None
    return rows


@cache
def _formulas(name: str) -> dict[str, Formula]:
    """The printed formulas of a grain's metrics, but those that are not arithmetic."""
    grain = GRAINS[name]
    read = _facts_read(grain)
    return {
        metric.name: printed_formula(grain, metric, read[metric.name])
        for metric in grain.metrics
        if f"{grain.name}.{metric.name}" not in in_words()
    }


_NUMBERS = iter(range(1_000_000))


@dataclass(frozen=True)
class _Way:
    """How to roll up: the keys, and what `evaluate` and the slow roll-up take besides.

    With ``has_times`` a table of its own tells the time, as the intervals of roll-ups do.
    """

    keys: Callable[[Grain], tuple[str, ...]]
    time: str = "all"
    cases: tuple[str, ...] = ()
    system: str = ""
    apart: tuple[str, ...] = ()
    utc_offset: float = 0.0
    has_times: bool = False


def _objects_of_sysplex(grain: Grain) -> tuple[str, ...]:
    return ("sysplex", *_objects(grain))


_WAYS: dict[str, _Way] = {
    "every entity, all time": _Way(lambda g: tuple(dict.fromkeys(("system", "sysplex", *(k.name for k in g.keys))))),
    "system and hour": _Way(lambda _: ("sysplex", "system"), "hour"),
    "sysplex, all time": _Way(lambda _: ("sysplex",)),
    "sysplex and day of a clock ahead": _Way(lambda _: ("sysplex",), "day", utc_offset=55_800.0),
    "entity and hour that begins at half past": _Way(
        lambda g: ("sysplex", *_first_key(g)), "hour", utc_offset=19_800.0
    ),
    "everything, all time": _Way(lambda _: ()),
    "systems apart from the others": _Way(lambda _: ("sysplex",), system="S1"),
    "parts with times of their own": _Way(lambda _: ("sysplex", "source_kind"), apart=("source_kind",)),
    "unaligned, by interval": _Way(lambda _: ("sysplex",), "interval", cases=("WORST1",)),
    "aligned, by interval": _Way(lambda g: ("sysplex", *_first_key(g)), "interval", cases=("LOSSES",)),
    "one after the other, every entity": _Way(
        lambda g: tuple(dict.fromkeys(("system", "sysplex", *(k.name for k in g.keys)))), cases=("LOSSES",)
    ),
    "one after the other, systems and hours": _Way(
        lambda g: tuple(dict.fromkeys(("system", "sysplex", *g.observers))), "hour", cases=("LOSSES",)
    ),
    "several rows of an entity, and rows without ends": _Way(
        lambda g: tuple(dict.fromkeys(("system", "sysplex", *(k.name for k in g.keys)))),
        cases=("REPEATS", "ENDLESS"),
    ),
    "such rows, by interval": _Way(lambda _: ("sysplex",), "interval", cases=("REPEATS", "ENDLESS")),
    "the same intervals, all time": _Way(lambda _: ("sysplex",), cases=("ALIGNED",)),
    "the same intervals, by interval": _Way(lambda _: ("sysplex",), "interval", cases=("ALIGNED",)),
    "the same intervals, every entity and hour": _Way(
        lambda g: tuple(dict.fromkeys(("system", "sysplex", *(k.name for k in g.keys)))), "hour", cases=("ALIGNED",)
    ),
    "intervals of their own, each observer": _Way(
        lambda g: tuple(dict.fromkeys(("system", "sysplex", *g.observers))), cases=("UNALIGNED",)
    ),
    "intervals of their own, each observer by hour": _Way(
        lambda g: tuple(dict.fromkeys(("system", "sysplex", *g.observers))), "hour", cases=("UNALIGNED",)
    ),
    "the same intervals with holes, all time": _Way(lambda _: ("sysplex",), cases=("HOLES",)),
    "the same intervals with holes, by interval": _Way(lambda _: ("sysplex",), "interval", cases=("HOLES",)),
    "the same intervals with holes, objects of all systems": _Way(
        lambda g: ("sysplex", *_objects(g)), "hour", cases=("HOLES",)
    ),
    "the same intervals with holes, every row": _Way(
        lambda g: tuple(dict.fromkeys(("system", *(k.name for k in g.keys)))), "interval", cases=("HOLES",)
    ),
    "intervals of their own, together": _Way(lambda _: ("sysplex",), cases=("WORST1",)),
    "intervals of their own, together by hour": _Way(lambda _: ("sysplex",), "hour", cases=("UNALIGNED", "WORST2")),
    "even and uneven, by interval": _Way(lambda _: ("sysplex",), "interval", cases=("EDGES",), has_times=True),
    "even and uneven, objects by interval": _Way(_objects_of_sysplex, "interval", cases=("EDGES",), has_times=True),
    "even and uneven, a system by interval": _Way(
        lambda g: ("sysplex", *_first_key(g)), "interval", cases=("EDGES",), system="S1", has_times=True
    ),
    "intervals in common, all time": _Way(_objects_of_sysplex, cases=("EDGES",), has_times=True),
    "intervals in common, by hour": _Way(_objects_of_sysplex, "hour", cases=("EDGES",), has_times=True),
    "local times, by interval": _Way(lambda _: (), "interval", cases=("LOCAL", "SHORT")),
}


def _objects(grain: Grain) -> tuple[str, ...]:
    return tuple(key.name for key in grain.keys if key.name not in ("sysplex", "system"))


def _first_key(grain: Grain) -> tuple[str, ...]:
    return _objects(grain)[:1]


@cache
def _given(name: str) -> tuple[list[dict[str, Any]], Inputs, Any]:
    grain = GRAINS[name]
    rows = random_facts(grain, _SEED)
    connection = connect()
    add_table(connection, "given", _table(rows, grain))
    return rows, Inputs(connection), Query(connection, "given", tuple(rows[0]))


@cache
def _scratch() -> Any:
    """A database for tables that are asked once and dropped."""
    return connect()


def _same(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is None and second is None
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)


def _disagreements(grain: Grain, way: _Way) -> list[str]:
    rows, raw, kept = _given(grain.name)
    keys = way.keys(grain)
    if way.cases:
        rows = [row for row in rows if row["sysplex"] in way.cases]
    slow = Slow(
        rows,
        _shape(grain),
        keys,
        time=way.time,
        where=lambda row: not way.system or row["system"] == way.system,
        apart=way.apart,
        utc_offset=way.utc_offset,
    )
    read = _facts_read(grain)
    connection = _scratch()
    counting = _counting(grain, {slow.known(i) for i in range(len(slow.rows))}, read, connection)
    rules = {fact.name: fact.rollup.name for fact in grain.facts}
    spans = {name for name, rule in rules.items() if rule == "SPAN"}
    settings = {
        metric: tuple(sorted(f for f in facts if rules[f] == "SETTING"))
        for metric, facts in read.items()
        if any(rules[f] != "SETTING" for f in facts)
    }
    groups, plain, columns = [], [], {f"{m}|{f}": [] for m, facts in read.items() for f in facts}
    for group, listed in slow.groups.items():
        members = tuple(listed)
        described = {}
        for attribute in grain.attributes:
            texts = {slow.rows[i][attribute.name] for i in members}
            described[attribute.name] = texts.pop() if len(texts) == 1 else None
        groups.append(described | dict(zip(keys, group[:-1], strict=True)))
        every = frozenset(members)
        plain.append(
            {
                name: slow.value(
                    members, name, every if name in spans else frozenset(i for i in members if name in slow.known(i))
                )
                for name in rules
            }
        )
        for metric, facts in read.items():
            counts = slow.counting(members, counting[metric], settings.get(metric, ()))
            measured = any(rules[f] in ("COUNT", "LEVEL", "SPAN") for f in facts)
            for fact in facts:
                columns[f"{metric}|{fact}"].append(
                    slow.value(
                        members,
                        fact,
                        counts,
                        rate=bool(facts & spans),
                        measured=measured,
                        alone=len(facts) == 1,
                        settings=settings.get(metric, ()),
                    )
                )
    metrics = _expected_metrics(grain, groups, columns, connection)
    result = rows_of(
        evaluate(
            raw,
            grain,
            by=keys,
            time=way.time,
            kept=replace(kept, timed=kept) if way.has_times else kept,
            where=f"system = '{way.system}'" if way.system else None,
            within=f"sysplex in ({', '.join(map(literal, way.cases))})" if way.cases else None,
            apart=way.apart,
            utc_offset=way.utc_offset,
        )
    )
    found = {(*(r[key] for key in keys), r.get("time")): r for r in result}
    assert len(found) == len(result)
    assert set(found) == set(slow.groups)
    wrong = []
    for number, group in enumerate(slow.groups):
        expected = plain[number] | {m.name: metrics[number][m.name] for m in grain.metrics}
        for name, value in expected.items():
            if not _same(value, found[group][name]):
                wrong.append(f"{group} {name} ({rules.get(name, 'metric')}): {found[group][name]}, slowly {value}")
    return wrong


#: Ways that reach most of the roll-up: a grain takes one of them in turn, and one of the others.
_ALWAYS = ("every entity, all time", "sysplex, all time", "unaligned, by interval", "systems apart from the others")

#: Ways that nearly all grains are rolled up in by one step (`plexlens.metrics.rollup_direct`).
_ONE_STEP = (
    "the same intervals, all time",
    "the same intervals, by interval",
    "the same intervals, every entity and hour",
    "intervals of their own, each observer",
    "intervals of their own, each observer by hour",
)


def _grains_and_ways() -> list[tuple[str, str]]:
    """Three ways for each grain, so that every way meets many grains; in a soak each grain in every way."""
    if SOAK:
        return [(name, way) for name in GRAINS for way in _WAYS]
    others = [way for way in _WAYS if way not in (*_ALWAYS, *_ONE_STEP)]
    return [
        (name, way)
        for number, name in enumerate(GRAINS)
        for way in (
            _ALWAYS[number % len(_ALWAYS)],
            others[number % len(others)],
            _ONE_STEP[number % len(_ONE_STEP)],
        )
    ]


def test_every_way_meets_many_grains() -> None:
    met = Counter(way for _, way in _grains_and_ways())
    assert set(met) == set(_WAYS)
    assert min(met.values()) >= 3, met


@pytest.mark.drawn
@pytest.mark.parametrize(("name", "way"), _grains_and_ways())
def test_rolled_up_as_slowly(name: str, way: str) -> None:
    wrong = _disagreements(GRAINS[name], _WAYS[way])
    assert not wrong, f"{len(wrong)} numbers differ:\n" + "\n".join(wrong[:20])


def _grains_and_timed_ways() -> list[tuple[str, str]]:
    """Two ways for each fourth grain and those that are rolled up beforehand; in a soak each grain in every way."""
    ways = [way for way, told in _WAYS.items() if told.has_times]
    if SOAK:
        return [(name, way) for name in GRAINS for way in ways]
    names = [name for number, name in enumerate(GRAINS) if number % 4 == 0 or name in _ROLLED]
    return [(name, ways[(number + more) % len(ways)]) for number, name in enumerate(names) for more in (0, 2)]


@pytest.mark.drawn
@pytest.mark.parametrize(("name", "way"), _grains_and_timed_ways())
def test_even_and_uneven_intervals(name: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # There are few intervals, of which the first and the last are often uneven.
    monkeypatch.setattr(even_intervals, "MOST_UNEVEN_SHARE", 1.0)
    wrong = _disagreements(GRAINS[name], _WAYS[way])
    assert not wrong, f"{len(wrong)} numbers differ:\n" + "\n".join(wrong[:20])


def test_most_grains_with_lengths_are_parted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this all intervals could be rolled up together, and the parts go untested."""
    parts: Counter[str] = Counter()
    whole = evaluation.parted

    def noted(*given: Any) -> Any:
        result = whole(*given)
        parts[name] += result is not None and result.uneven is not None
        return result

    monkeypatch.setattr(evaluation, "parted", noted)
    monkeypatch.setattr(even_intervals, "MOST_UNEVEN_SHARE", 1.0)
    # A third of them tell the share; grains of a topic, which are alike, are neighbours.
    of_lengths = [name for name, grain in GRAINS.items() if has_lengths(grain)][:: 1 if SOAK else 3]
    for name in of_lengths:
        _, raw, kept = _given(name)
        evaluate(
            raw,
            GRAINS[name],
            by=("sysplex",),
            time="interval",
            kept=replace(kept, timed=kept),
            within="sysplex = 'EDGES'",
        )
    assert len(+parts) > 0.7 * len(of_lengths), sorted(set(of_lengths) - set(+parts))


@pytest.mark.parametrize("way", _ONE_STEP)
def test_clean_intervals_are_rolled_up_in_one_step(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this the other statement could answer in all of these ways, and the one step go untested."""
    made: list[str] = []
    whole = evaluation.direct_statement

    def noted(*given: Any) -> str:
        made.append(name)
        return whole(*given)

    monkeypatch.setattr(evaluation, "direct_statement", noted)
    # The grains that `test_rolled_up_as_slowly` meets in this way.
    names = [name for name, met in _grains_and_ways() if met == way]
    for name in names:
        grain = GRAINS[name]
        _, raw, kept = _given(name)
        within = f"sysplex in ({', '.join(map(literal, _WAYS[way].cases))})"
        evaluate(raw, grain, by=_WAYS[way].keys(grain), time=_WAYS[way].time, kept=kept, within=within)
    assert len(made) > 0.9 * len(names), sorted(set(names) - set(made))
