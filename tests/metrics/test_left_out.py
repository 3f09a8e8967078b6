"""Intervals that are left out, on random rows, against the definition applied to each row in plain Python."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from plexlens.metrics.definition import Metric
from plexlens.metrics.evaluate import kept_facts
from plexlens.metrics.left_out import LeftOut, left_out
from plexlens.metrics.unit import COUNT
from tests.metrics.raw import inputs
from tests.metrics.test_rollup import GRAIN, _at

MADE = replace(GRAIN, metrics=(*GRAIN.metrics, Metric("of_limit", "Of limit", COUNT, "level / limit", "")))

#: By metric: the facts that have to be known, and all that it reads.
READS = {
    "call_rate": ({"calls", "interval_seconds"}, {"calls", "interval_seconds"}),
    "captured_share": ({"captured", "busy"}, {"captured", "busy"}),
    "used": ({"level", "size"}, {"level", "size"}),
    "busy_part": ({"busy"}, {"busy", "captured"}),
    "of_limit": ({"level", "limit"}, {"level", "limit"}),
}
FACTS = ("calls", "busy", "captured", "size", "limit", "level")


def slow(rows: list[dict[str, Any]], metric: str, by: tuple[str, ...], *, timed: bool) -> list[LeftOut]:
    """The definition: `plexlens.metrics.left_out`."""
    required, read = READS[metric]
    known: dict[tuple[str, str, Any], set[str]] = {}
    for row in rows:
        cell = known.setdefault((row["system"], row["pool"], row["interval_start"]), {"interval_seconds"})
        cell |= {name for name in FACTS if row[name] is not None}
    # A limit or a size that an entity ever told is known in all of its intervals.
    for key, cell in known.items():
        cell.update({"limit", "size"} & set().union(*(known[other] for other in known if other[:2] == key[:2])))
    number = {key: tuple({"system": key[0], "pool": key[1]}[name] for name in by) for key in known}
    shown = {number[key] for key, cell in known.items() if required <= cell}
    present = {(key[0], key[2]) for key, cell in known.items() if required <= cell}
    lacking: dict[str, set[Any]] = {}
    for key, cell in known.items():
        if required <= cell or number[key] not in shown:
            continue
        is_length_alone = timed and "interval_seconds" in read and (key[0], key[2]) not in present
        if (cell & read) - {"interval_seconds"} or is_length_alone:
            lacking.setdefault(key[0], set()).add(key[2])
    every = {system: {key[2] for key in known if key[0] == system} for system in lacking}
    return [LeftOut(metric, (system,), len(lacking[system]), len(every[system])) for system in sorted(lacking)]


@pytest.mark.parametrize("seed", range(40))
def test_as_defined(seed: int) -> None:
    chance = random.Random(seed)
    share = chance.choice((0.1, 0.5, 0.9))
    rows = [
        _at(system, 900 * interval, 900, pool, **{name: 1.0 for name in FACTS if chance.random() < share})
        for system, pool, interval in product("AB", "PQR", range(4))
        if chance.random() < 0.8
        # Half of the tables have entities with several rows in an interval.
        for _ in range(chance.randint(1, 1 + seed % 2))
    ]
    raw = inputs(raw=rows)
    kept = kept_facts(raw, MADE)
    for by, timed, metric in product(((), ("system",), ("pool",), ("system", "pool")), (True, False), READS):
        found = left_out(raw, MADE, (metric,), kept=kept, by=by, timed=timed)
        assert found == slow(rows, metric, by, timed=timed), (metric, by, timed)
