"""The sentence about lost data after an ingest names the first place that has one, and what to do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from plexlens.ingest.source import DAMAGE_SCHEMA, Damage, Severity, damage_batch
from plexlens.pdb.engine import add_table, connect
from plexlens.pdb.opening import losses


def said(*rows: Damage) -> list[str]:
    connection = connect()
    add_table(connection, "damage", pa.Table.from_batches([damage_batch(rows)], schema=DAMAGE_SCHEMA))
    pdb: Any = SimpleNamespace(manifest=SimpleNamespace(columns={"damage": {}}), connect=lambda: connection)
    result: Any = SimpleNamespace(ingest=SimpleNamespace(id="s1", damage=len(rows)))
    return losses(pdb, [result])


def damage(record_no: int | None, offset: int | None, detail: str) -> Damage:
    return Damage("s1", "a.smf", record_no, offset, "cut", Severity.DATA_LOSS, detail, "send it again")


def test_damage_without_a_place_keeps_its_detail_and_remedy() -> None:
    assert said(damage(None, None, "no end tag")) == [
        "a.smf: data is lost at an unknown place: no end tag; send it again"
    ]


def test_the_first_place_is_named() -> None:
    assert said(damage(None, None, "whole"), damage(5, 70, "five"), damage(3, 90, "three")) == [
        "a.smf: data is lost in 3 places, first at record 3, byte 90: three; send it again"
    ]
