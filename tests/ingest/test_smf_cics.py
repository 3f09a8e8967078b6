"""CICS monitoring records made by hand against a slow decode; and what the report says of those not read."""

from __future__ import annotations

import datetime
import math
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens.ingest import smf
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.report.blocks.readings import readings_of
from plexlens.report.build import build
from plexlens.report.model import Table
from tests.ingest import cics_by_hand as by_hand
from tests.oracle import slow_cics

PERFORMANCE = "smf110_1_performance"


def decoded(path: Path) -> tuple[list[dict[str, Any]], smf.SmfReading]:
    """Rows of performance records in the order of the dump, and the reading."""
    reading = smf.read(path, source_id="x", codepage="037")
    rows = [row for table, batch in reading if table == PERFORMANCE for row in pa.table(batch).to_pylist()]
    return sorted(rows, key=lambda row: (row["record_no"], row["section_no"])), reading


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, datetime.datetime):
        ours = ours.astimezone(datetime.UTC)
    if isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=1e-12)
    return bool(ours == theirs)


@pytest.mark.parametrize("seed", range(40))
def test_every_value_equals_the_slow_decode(tmp_path: Path, seed: int) -> None:
    made = by_hand.dump(seed)
    path = tmp_path / "cics.smf"
    path.write_bytes(made.content)
    expected, missing = slow_cics.tables(path)
    found, reading = decoded(path)
    assert [(row["record_no"], row["section_no"]) for row in found] == [
        (row["record_no"], row["section_no"]) for row in expected
    ]
    columns = {column for row in expected for column in row}
    for ours, theirs in zip(found, expected, strict=True):
        for column in columns:
            # What a record does not hold is null.
            assert same(ours[column], theirs.get(column)), (ours["record_no"], column, ours[column], theirs.get(column))
    assert sorted(one.record_no for one in reading.damage) == missing
    assert {one.reason for one in reading.damage} == {"cics_dictionary_missing"}
    assert all("CICSNONE" in one.detail and "DFHMNDUP" in one.remedy for one in reading.damage)
    notes = {(note["note"], note["field"] or note["section"]): note["count"] for note in reading.summary["notes"]}
    assert notes.get(("unknown_field", "SITE.A901 OWNCOUNT"), 0) == made.unknown
    assert notes.get(("compressed_expanded", "smf110"), 0) == made.compressed


def test_the_report_names_what_could_not_be_expanded(tmp_path: Path) -> None:
    dice = random.Random(1)
    fields = by_hand.FIELDS[:4]
    plain = [
        by_hand.dictionary("SYS1", "CICSA", fields, 1),
        by_hand.record("SYS1", "CICSA", 3, (1, 2, 3, 4), [b"".join(by_hand.field_value(dice, f) for f in fields)]),
    ]
    broken = bytearray(by_hand.packed(dice, plain[1]))
    broken[by_hand.HEADER + by_hand.PRODUCT] = 0x7F
    (tmp_path / "cics.smf").write_bytes(plain[0] + by_hand.packed(dice, plain[1]) + bytes(broken))
    pdb = Pdb.create(tmp_path / "plex.pdb")
    ingest([tmp_path / "cics.smf"], pdb)
    connection = pdb.connect()
    ((count,),) = connection.execute(f"select count(*) from {PERFORMANCE}").fetchall()
    assert count == 1
    section = build(Inputs(connection), readings_of(connection)).section("read")
    tables = {block.name: block for block in section.blocks if isinstance(block, Table)}
    ((reason, severity, times, remedy),) = tables["read_damage_reasons"].rows
    assert (reason, severity, times) == ("cics_compressed", "data loss", 1)
    assert "DFH$MOLS" in str(remedy) and "COMPRESS=NO" in str(remedy)
    ((*_, detail, _),) = tables["read_damage"].rows
    assert "does not begin with X'80'" in str(detail)
    noted = {str(row[0]): row[-1] for row in tables["read_notes"].rows}
    assert noted["compressed expanded"] == 1
