"""Answers of roll-ups and of raw rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

from plexlens.metrics import GRAINS
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.roll_ups import RollUps
from plexlens.metrics.rolled.reading import rolled_of
from plexlens.metrics.rolled.rule import reason
from plexlens.metrics.selection import EVERYTHING, Selection, resolve
from plexlens.pdb import Pdb
from plexlens.report.blocks.origin import origin
from tests.draws import SOAK
from tests.metrics import accounting_dumps as made

TIMES = ("all", "month", "week", "day", "hour", "interval")

#: Columns of a question.
_AT_ONCE = 25

ROLLED = tuple(name for name in GRAINS if not reason(GRAINS[name]))


def readers(path: Path, selection: Selection) -> tuple[RollUps, RollUps]:
    """Readers of roll-ups and of raw rows."""
    found = []
    for reads in (True, False):
        connection = Pdb.open(path).connect()
        inputs = Inputs(connection, resolve(selection, connection, "pdb"), reads_rollups=reads)
        found.append(RollUps(inputs, GRAINS, 3600.0))
    return found[0], found[1]


def differences(
    path: Path, name: str, selection: Selection = EVERYTHING, *, wheres: tuple[Any, ...] = (None,)
) -> Counter[str]:
    """Compare facts and metrics of a grain, rolled up in many ways; count the answers by the rows that gave them.

    Over all ways each fact and metric is asked at least once. Outside of the soak, half of the ways are asked: each
    grouping with half of the times and conditions, so that every grouping, every time and every condition is asked.
    """
    grain = GRAINS[name]
    columns = [*(fact.name for fact in grain.facts), *(metric.name for metric in grain.metrics)]
    pair = readers(path, selection)
    for reader in pair:
        reader.need(name, [*columns, *(one.name for one in grain.attributes)], None)
    ours, raw = (reader.data(name) for reader in pair)
    if raw is None or ours is None:
        assert ours is raw
        return Counter()
    assert [(c.times, c.spans, c.time) for c in ours.clocks] == [(c.times, c.spans, c.time) for c in raw.clocks]
    assert (ours.systems, ours.kinds, ours.epochs) == (raw.systems, raw.kinds, raw.epochs)
    used: Counter[str] = Counter()
    last = grain.keys[-1].name
    waiting: list[str] = []
    random = Random(len(columns))
    groupings = ((), ("system",), (grain.keys[0].name,), (last,), tuple(key.name for key in grain.keys))
    for number, by in enumerate(groupings):
        for place, time in enumerate(TIMES):
            for turn, where in enumerate(wheres):
                if not SOAK and (number + place + turn) % 2:
                    continue
                if len(waiting) < _AT_ONCE:
                    waiting += random.sample(columns, len(columns))
                asked, waiting = waiting[:_AT_ONCE], waiting[_AT_ONCE:]
                rows = [
                    reader.rows(data, asked, by=by, time=time, where=where)[0].to_pylist()
                    for reader, data in zip(pair, (ours, raw), strict=True)
                ]
                assert len(rows[0]) == len(rows[1]), (by, time, where)
                for one, other in zip(*rows, strict=True):
                    for column, value in other.items():
                        assert same(one[column], value), (name, by, time, where, column, one[column], value)
                level = "raw"
                if ours.levels is not None:
                    level = ours.levels.level(frozenset(asked), time, where, 3600.0)
                used[f"{time} by {level}"] += 1
    return used


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        # Roots of differences of nearly equal sums lose more than the sums do.
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)


def days_of(path: Path, name: str = "cics_transaction") -> tuple[list[str], list[str]]:
    """Days whose facts come from roll-ups, and from raw rows."""
    inputs = Inputs(Pdb.open(path).connect())
    found = rolled_of(inputs, GRAINS[name])
    return ([], []) if found is None else ([day.day for day in found.days], list(found.missing))


def by_hour(path: Path, *, reads: bool = True) -> tuple[Counter[tuple[str, datetime]], str]:
    """Transactions by name and hour, and what a table says of its source."""
    reader = readers(path, EVERYTHING)[0 if reads else 1]
    reader.need("cics_transaction", ["transactions"], None)
    data = reader.data("cics_transaction")
    assert data is not None
    rows, _ = reader.rows(data, ["transactions"], by=("transaction",), time="hour")
    return Counter({(row["transaction"], row["time"]): row["transactions"] for row in rows.to_pylist()}), origin(data)


def counted(tasks: Iterable[made.Task]) -> Counter[tuple[str, datetime]]:
    return Counter((task.transaction, task.stop.replace(minute=0, second=0, microsecond=0)) for task in tasks)


def answer_of(
    path: Path, columns: list[str], *, time: str, where: str | None = None, by: tuple[str, ...] = ()
) -> tuple[list[dict[str, Any]], str]:
    """Rows of transactions, and what a table says of its source."""
    reader = readers(path, EVERYTHING)[0]
    reader.need("cics_transaction", columns, where)
    data = reader.data("cics_transaction")
    assert data is not None
    return reader.rows(data, columns, by=by, time=time, where=where)[0].to_pylist(), origin(data)


def are_same(rows: list[dict[str, Any]], others: list[dict[str, Any]]) -> bool:
    return len(rows) == len(others) and all(
        same(one[name], value) for one, other in zip(rows, others, strict=True) for name, value in other.items()
    )
