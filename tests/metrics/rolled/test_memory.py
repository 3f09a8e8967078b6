"""Days that do not fit in memory are rolled up in parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.facts import from_sources, parts_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.rolled import making
from plexlens.metrics.rolled.making import update
from plexlens.pdb import Pdb, ingest
from tests.draws import SOAK
from tests.metrics.rolled.answers import ROLLED, days_of, differences

pytestmark = pytest.mark.drawn


@pytest.mark.usefixtures("two_grains")
@pytest.mark.parametrize("fits", [4, 16, 64] if SOAK else [4])
def test_where_memory_runs_out_days_are_made_in_parts(
    dumps: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fits: int
) -> None:
    """Fewer parts run out of memory; those that fit give the numbers of the raw rows."""
    begun: list[tuple[str, int]] = []
    before = making._levels

    def limited(part: Pdb, grain: Any, store: Any, run: list[str], parts: int) -> Any:
        begun.append((grain.name, parts))
        if parts < fits:
            raise duckdb.OutOfMemoryException("no memory")
        return before(part, grain, store, run, parts)

    monkeypatch.setattr(making, "_levels", limited)
    pdb = Pdb.create(tmp_path / "pdb")
    ingest([*dumps["paths"], dumps["late"]], pdb)
    update(pdb, least_rows=1)
    # What fits serves for the days that follow: nothing is tried twice for a grain.
    tried = [parts for name, parts in begun if name == "cics_transaction"]
    before_it = [parts for _, parts in making._PASSES if parts < fits]
    assert tried == [*before_it, fits, fits, fits]
    assert days_of(pdb.path) == (["2026-03-02", "2026-03-03", "2026-03-04"], [])
    for name in ("cics_transaction", "db2_accounting"):
        assert not any("raw" in way for way in differences(pdb.path, name))


@pytest.mark.parametrize("name", ROLLED)
def test_parts_are_chosen_before_rows_are_added_up(rolled: Path, name: str) -> None:
    """Otherwise each part takes the memory of the whole: no filter by the hash stands above the engine's grouping."""
    connection = Pdb.open(rolled).connect()
    grain = GRAINS[name]
    rows = from_sources(Inputs(connection, reads_rollups=False), grain)
    if rows is None:
        pytest.skip(f"{name} has no rows in these dumps")
    plan = connection.execute(f"explain (format json) {rows.where(parts_of(grain, 4)[1]).sql}").fetchall()[0][1]
    grouped, hashed = [], []

    def walk(node: dict[str, Any], depth: int) -> None:
        if "GROUP_BY" in node["name"]:
            grouped.append(depth)
        if "hash(" in json.dumps(node["extra_info"]):
            hashed.append(depth)
        for child in node["children"]:
            walk(child, depth + 1)

    walk(json.loads(plan)[0], 0)
    assert hashed
    assert min(hashed) > min(grouped)


def test_parts_hold_every_entity_once() -> None:
    bounds = [text.partition(" between ")[2].split(" and ") for text in parts_of(GRAINS["cics_transaction"], 16)]
    numbers = [int(number) for bound in bounds for number in bound]
    assert (numbers[0], numbers[-1]) == (0, 2**64 - 1)
    assert all(numbers[at] + 1 == numbers[at + 1] for at in range(1, 31, 2))


def test_where_nothing_fits_it_is_an_error(
    dumps: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> Any:
        raise duckdb.OutOfMemoryException("no memory")

    monkeypatch.setattr(making, "_levels", full)
    pdb = Pdb.create(tmp_path / "pdb")
    ingest(dumps["paths"][:1], pdb)
    with pytest.raises(duckdb.OutOfMemoryException):
        update(pdb, least_rows=1)


@pytest.mark.usefixtures("two_grains")
def test_a_grain_that_does_not_fit_leaves_the_others_rolled_up(
    dumps: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = making._levels

    def limited(part: Pdb, grain: Any, store: Any, run: list[str], parts: int) -> Any:
        if grain.name == "cics_transaction":
            raise duckdb.OutOfMemoryException("no memory")
        return before(part, grain, store, run, parts)

    monkeypatch.setattr(making, "_levels", limited)
    pdb = Pdb.create(tmp_path / "pdb")
    ingest([*dumps["paths"], dumps["late"]], pdb)
    with pytest.raises(duckdb.OutOfMemoryException, match="cics_transaction does not fit in 2GiB"):
        update(pdb, least_rows=1)
    assert not any("raw" in way for way in differences(pdb.path, "db2_accounting"))
    assert all("raw" in way for way in differences(pdb.path, "cics_transaction"))
