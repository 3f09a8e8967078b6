"""Real MQ dumps through the decoder, every value against the slow decode of tests/oracle."""

from __future__ import annotations

import csv
import datetime
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens import _core
from tests.oracle import slow_mq
from tests.oracle.slow_mq_structures import PARTS

LAYOUTS = Path(__file__).parent.parent.parent / "layouts"
DUMPS = ["TEST115.dat", "TEST116.dat", "TESTCHL.dat"]
SOURCE_ID = "slow-decode-test"
ORDER = ("record_no", "section_no")


def decoded(path: Path) -> dict[str, pa.Table]:
    """All tables of a dump as the decoder fills them."""
    reader = _core.SmfReader(path, _core.Catalogue([LAYOUTS]), source_id=SOURCE_ID, codepage="037")
    batches: dict[str, list[pa.RecordBatch]] = {}
    for batch in reader:
        for table, rows in batch.tables.items():
            batches.setdefault(table, []).append(rows)
    return {table: pa.Table.from_batches(rows) for table, rows in batches.items()}


def plain(value: Any) -> Any:
    """Arrow's Python value in the form that the slow decode has."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC)
    return value


def same(ours: Any, theirs: Any) -> bool:
    """Equal; seconds to the last bits of a double, as a unit may be applied in one step or in two."""
    if isinstance(theirs, float) and isinstance(ours, float):
        return math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=0.0)
    return type(ours) is type(theirs) and bool(ours == theirs)


@pytest.mark.parametrize("dump", DUMPS)
def test_every_value_equals_the_slow_decode(shared_data: Path, dump: str) -> None:
    path = shared_data / "mq" / dump
    expected = slow_mq.tables(path)
    tables = decoded(path)
    tables.pop("smf_record")
    found = {name: table.num_rows for name, table in tables.items() if table.num_rows}
    assert found == {name: len(rows) for name, rows in expected.items()}
    differences = []
    for name, rows in expected.items():
        ours = sorted(tables[name].to_pylist(), key=lambda row: [row[key] for key in ORDER])
        theirs = sorted(rows, key=lambda row: [row[key] for key in ORDER])
        assert set(ours[0]) == set(theirs[0]) | {"source_id"}, name
        for our_row, their_row in zip(ours, theirs, strict=True):
            assert our_row["source_id"] == SOURCE_ID
            differences += [
                f"{name}.{column} record {their_row['record_no']} section {their_row['section_no']}: "
                f"{plain(our_row[column])!r}, slow decode {value!r}"
                for column, value in their_row.items()
                if not same(plain(our_row[column]), value)
            ]
    assert not differences, "\n".join(differences[:20])


@pytest.mark.parametrize("dump", DUMPS)
def test_the_inventory_equals_the_records_read_by_hand(shared_data: Path, dump: str) -> None:
    path = shared_data / "mq" / dump
    ours = sorted(decoded(path)["smf_record"].to_pylist(), key=lambda row: row["record_no"])
    records = list(slow_mq.read_records(path))
    assert [row["record_no"] for row in ours] == [record.number for record in records]
    for row, record in zip(ours, records, strict=True):
        record_type, subtype = record.kind
        assert (row["record_type"], row["subtype"]) == (record_type, subtype)
        assert (row["offset"], row["length"]) == (record.offset, len(record.data))
        assert row["spanned_segments"] == (record.segments if record.segments > 1 else 0)
        assert row["system"] == slow_mq.text(record.data[14:18])
        assert row["written_at"] == record.local_time()
        assert row["decoded"] == ((record_type, subtype) in PARTS)
    hashes = Counter(row["hash"] for row in ours)
    contents = Counter(record.data for record in records)
    assert sorted(hashes.values()) == sorted(contents.values())


@pytest.mark.parametrize("dump", DUMPS)
def test_every_byte_of_the_records_lies_in_a_field_or_is_zero(shared_data: Path, dump: str) -> None:
    """Nothing stays undecoded: what the layouts leave out of these records is binary zeros."""
    left: Counter[str] = Counter()
    for record in slow_mq.read_records(shared_data / "mq" / dump):
        record_type, subtype = record.kind
        if (record_type, subtype) in PARTS:
            covered = coverage(record, f"smf{record_type}_{subtype}")
            for at, byte in enumerate(record.data):
                if byte and not covered[at]:
                    left[f"smf{record_type}_{subtype} byte {at}"] += 1
    assert not left


def fields(layout: str) -> list[tuple[str, int, int]]:
    with (LAYOUTS / f"{layout}.csv").open(newline="") as file:
        return [(row["field"], int(row["offset"]), int(row["length"])) for row in csv.DictReader(file)]


def coverage(record: slow_mq.Record, name: str) -> bytearray:
    """Marks the bytes of a record that a field of its record map's layouts names."""
    lines = (LAYOUTS / "records" / f"{name}.csv").read_text().splitlines()
    entries = list(csv.DictReader(lines[1:]))
    covered = bytearray(len(record.data))

    def mark(layout: str, start: int, length: int) -> None:
        for _, offset, size in fields(layout):
            if offset + size <= length:
                covered[start + offset : start + offset + size] = b"\1" * size

    headers = [entry["layout"] for entry in entries if entry["rule"] == "header"]
    place = {field: offset for layout in headers for field, offset, _ in fields(layout)}
    first_section = min(offset for offset, _, _ in record.triplets().values())
    for layout in headers:
        mark(layout, 0, first_section)
    for entry in entries:
        if entry["rule"] == "header":
            continue
        number = (place[entry["triplet"]] - 28) // 8
        start, length, count = record.triplets().get(number, (0, 0, 0))
        rule, *numbers = entry["rule"].split(":")
        if rule in ("product", "chain") and count:
            wanted = int(numbers[0]) if numbers else 1
            at = start
            while at < start + length:
                size = slow_mq.whole(record.data[at : at + 2])
                if record.data[at + 2] == wanted:
                    mark(entry["layout"], at, size)
                at += size
        for at in range(start, start + length * count, length or 1):
            if rule == "entries":
                mark(entry["layout"], at, length)
            elif rule == "array":
                first, size, *limit = (int(part) for part in numbers)
                elements = limit[0] if limit else (length - first) // size
                for element in range(elements):
                    mark(entry["layout"], at + first + element * size, size)
    return covered
