"""Facts of a grain from a few rows, and a database that holds nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Grain, Source
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import add_table, connect

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)

#: What a row may say beside the names of its grain.
PLACING = ("interval", "seconds", "undated")


def facts(grain: Grain, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """One row of facts for each given one; a row is the next interval of 900 s unless it says which and how long.

    A row that is ``undated`` tells no time, as an excerpt of a printed report does.

    Everything that a row does not give is null, but for the system, SYS1, and the length of the interval.
    """
    texts = ("system", "sysplex", *(key.name for key in grain.keys), *(one.name for one in grain.attributes))
    numbers = [fact.name for fact in grain.facts]
    columns: dict[str, list[Any]] = {name: [] for name in (*texts, *numbers, "interval_start", "interval_end")}
    for number, row in enumerate(rows):
        unknown = set(row) - set(texts) - set(numbers) - set(PLACING)
        assert not unknown, f"{grain.name} has no {', '.join(sorted(unknown))}"
        seconds = float(row.get("seconds", 900))
        begin = START + timedelta(seconds=seconds * row.get("interval", number))
        given = {"system": "SYS1", "interval_seconds": seconds} | {
            name: value for name, value in row.items() if name not in PLACING
        }
        for name in dict.fromkeys(texts):
            columns[name].append(given.get(name))
        for name in numbers:
            columns[name].append(None if given.get(name) is None else float(given[name]))
        dated = not row.get("undated")
        columns["interval_start"].append(begin if dated else None)
        columns["interval_end"].append(begin + timedelta(seconds=seconds) if dated else None)
    types = dict.fromkeys(texts, pa.string()) | dict.fromkeys(numbers, pa.float64())
    types |= dict.fromkeys(("interval_start", "interval_end"), pa.timestamp("us", "UTC"))
    return pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})


def database(tables: Mapping[str, Iterable[Mapping[str, Any]]]) -> tuple[Inputs, dict[str, Grain]]:
    """A database with the facts of these grains, and all grains: those with rows read them, the others find nothing."""
    connection = connect()
    grains = dict(GRAINS)
    for name, rows in tables.items():
        table = f"facts_of_{name}"
        add_table(connection, table, facts(GRAINS[name], list(rows)))
        source = Source(GRAINS[name].sources[0].kind, (table,), table=table)
        grains[name] = replace(GRAINS[name], sources=(source,))
    return Inputs(connection), grains
