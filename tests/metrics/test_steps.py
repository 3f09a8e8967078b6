"""Whether groups combine rows of several observers, against a plain account of the rows."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from plexlens.metrics import GRAINS, steps
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.steps import are_of_several
from plexlens.pdb.engine import add_table, connect


@pytest.mark.parametrize("first", [3, 20_000])
@pytest.mark.parametrize("seed", range(40))
def test_groups_of_several_observers(seed: int, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "_FIRST_ROWS", first)
    chance = Random(seed)
    names = ["SYSA", "SYSB", None] if seed % 2 else ["SYSA"]
    regions = ["CICS1", "CICS2"] if seed % 3 else ["CICS1"]
    rows = [
        {
            "sysplex": None,
            "system": chance.choice(names),
            "applid": chance.choice(regions),
            "transaction": f"T{chance.randint(0, 5)}",
        }
        for _ in range(chance.randint(1, 12))
    ]
    connection = connect()
    kinds = pa.schema([(name, pa.string()) for name in rows[0]])
    add_table(connection, "given", pa.Table.from_pylist(rows, kinds))
    observers: dict[str, set[tuple[str | None, ...]]] = {}
    for row in rows:
        observers.setdefault(row["transaction"] or "", set()).add((row["system"], row["applid"]))
    several = any(len(group) > 1 for group in observers.values())
    grain = GRAINS["cics_transaction"]
    assert are_of_several(Inputs(connection), "given", grain, ("transaction",), (), cut=False) is several
