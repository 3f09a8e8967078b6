"""Dumps read in parts against the same dumps read whole: rows of every table, damage and counts."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from plexlens import _core
from plexlens.errors import UnknownSourceError
from plexlens.ingest import smf
from plexlens.ingest.smf_splits import SplitPlan
from plexlens.layouts_path import layout_folders
from tests import records
from tests.draws import draws
from tests.example_file import write_example

FORMS: dict[str, dict[str, Any]] = {
    "rdw": {},
    "spanned": {"segment": 700},
    "bdw": {"form": "bdw", "block": 4096},
}


@cache
def example_records(folder: Path) -> list[bytes]:
    """The records of the example dump, in its order."""
    write_example(folder / "example.smf")
    data, found, at = (folder / "example.smf").read_bytes(), [], 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 2], "big")
        found.append(data[at : at + length])
        at += length
    return found


@cache
def rmf_parts() -> list[bytes]:
    """A record 72.3 that RMF had to split, as its parts."""
    end = datetime(2026, 3, 2, 10, 15, tzinfo=UTC)
    identity = {"system": "SYS9", "interval_start": end - timedelta(minutes=15), "interval_end": end, "utc_offset": 0.0}
    count = 1000
    names = [f"STR_{number:04d}" for number in range(count)]
    request = pa.table({"record_no": np.ones(count, np.uint64), "r744snam": names, "r744strc": np.arange(count) * 1.0})
    sections = {"smf74_4_request": request}
    catalogue = _core.Catalogue([str(folder) for folder in layout_folders()])
    made = _core.encode_records(catalogue, "smf74_4", sections, identity=identity, oversize="rmf_parts")
    return [bytes(made[number]) for number in range(len(made))]


def is_monitoring(record: bytes, *classes: int) -> bool:
    """Whether a record is CICS monitoring data (110-1) of one of these classes: a word of the product section."""
    product = int.from_bytes(record[28:32], "big")
    kind = int.from_bytes(record[product + 22 : product + 24], "big")
    return record[5] == 110 and record[22:24] == b"\0\1" and (not classes or kind in classes)


def write(path: Path, content: Sequence[bytes], form: str) -> None:
    with _core.DumpWriter(path, **FORMS[form]) as dump:
        for record in content:
            dump.write(record)


def read(path: Path, tables: Sequence[str] | None, split: dict[str, Any] | None = None) -> smf.SmfReading:
    return smf.read(path, source_id="s", tables=tables, threads=1, split=split)


def rows(batches: dict[str, list[pa.RecordBatch]]) -> dict[str, list[Any]]:
    """By table its rows as text, in an order that does not depend on batches."""
    found = {}
    for table, of_table in batches.items():
        # Text, since a value that is not a number equals nothing.
        found[table] = sorted(map(repr, pa.Table.from_batches(of_table).to_pylist()))
    return found


def result(readings: Sequence[smf.SmfReading]) -> tuple[dict[str, list[Any]], list[str], dict[str, Any]]:
    """Rows, damage and counts of readings together."""
    batches: dict[str, list[pa.RecordBatch]] = {}
    damage: list[str] = []
    counts: dict[str, Any] = {"records": Counter(), "damage": Counter(), "duplicates": 0, "bytes": 0}
    for reading in readings:
        for table, batch in reading:
            batches.setdefault(table, []).append(batch)
        damage += map(repr, reading.damage)
        summary = reading.summary
        counts["records"].update(summary["records"])
        counts["damage"].update(summary["damage"])
        counts["duplicates"] += summary["duplicates"]
        counts["bytes"] += summary["bytes"]
    return rows(batches), sorted(damage), counts


def parts_are_the_whole(path: Path, split_bytes: int, tables: Sequence[str] | None = None) -> int:
    """Compare both ways to read a dump; the number of parts."""
    splits = SplitPlan(tables, split_bytes=split_bytes).parts_of(path)
    # They travel to other processes.
    splits = pickle.loads(pickle.dumps(splits))
    whole = result([read(path, tables)])
    parts = result([read(path, tables, split) for split in splits])
    for number, what in enumerate(("rows", "damage", "counts")):
        assert parts[number] == whole[number], f"{what}; {len(splits)} parts of {split_bytes} bytes"
    return len(splits)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    return example_records(tmp_path_factory.mktemp("example"))


@pytest.mark.parametrize(("form", "split_bytes"), [("rdw", 300), ("spanned", 5000), ("bdw", 5000), ("rdw", 100_000)])
def test_example(example: list[bytes], tmp_path: Path, form: str, split_bytes: int) -> None:
    """The example with its CICS dictionary, two of its records twice, and parts that RMF split around it."""
    first, *others = rmf_parts()
    assert len(others) > 1
    content = [first, *example[:90], example[5], *others[:-1], *example[90:], example[100], others[-1]]
    path = tmp_path / "dump.smf"
    write(path, content, form)
    parts = parts_are_the_whole(path, split_bytes)
    assert parts > 1
    if split_bytes == 300:
        assert parts > len(content) // 3


def test_dictionary_is_handed_on(example: list[bytes], tmp_path: Path) -> None:
    """Parts without the dictionary of a region have its rows of CICS tasks; if it is withheld, they have none."""
    path = tmp_path / "cics.smf"
    content = [record for record in example if is_monitoring(record)]
    write(path, content * 2, "rdw")
    table = "smf110_1_performance"
    splits = SplitPlan([table], split_bytes=100).parts_of(path)
    assert len(splits) > 3
    assert all(split["dictionaries"] for split in splits[1:])
    last = splits[-1]
    # The repeats are left out: hashes are handed on too.
    assert len(last["came_before"]) >= 8
    without = {**splits[2], "dictionaries": []}
    assert sum(batch.num_rows for _, batch in read(path, [table], splits[2])) > 0
    assert sum(batch.num_rows for _, batch in read(path, [table], without)) == 0
    parts_are_the_whole(path, 100, [table])


def test_records_that_wait_for_a_dictionary_are_not_cut_off(example: list[bytes], tmp_path: Path) -> None:
    """Dictionaries at the end: until they come, CICS tables have no place to cut, and others have."""
    path = tmp_path / "late.smf"
    late = [record for record in example if is_monitoring(record, 1)]
    assert late
    write(path, [*(record for record in example if record not in late), *late], "rdw")
    assert parts_are_the_whole(path, 5000, ["smf74_4_request"]) > 20
    assert parts_are_the_whole(path, 1000, ["smf110_1_performance"]) > 10
    parts_are_the_whole(path, 20_000)


def test_whole_files(example: list[bytes], tmp_path: Path) -> None:
    """Compressed dumps and records without descriptor words are one part."""
    import gzip

    path = tmp_path / "dump.smf"
    write(path, example, "rdw")
    (tmp_path / "dump.smf.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert parts_are_the_whole(tmp_path / "dump.smf.gz", 1000) == 1
    with _core.DumpWriter(tmp_path / "bare.smf", form="no_descriptors") as dump:
        for record in example:
            if record[5] in (2, 3, 70, 72, 74):
                dump.write(record)
    assert parts_are_the_whole(tmp_path / "bare.smf", 1000) == 1
    assert parts_are_the_whole(path, path.stat().st_size) == 1


def test_dumps_that_overlap(example: list[bytes], tmp_path: Path) -> None:
    """Each record belongs to the first dump that contains it, whatever the parts."""
    paths = [tmp_path / "a.smf", tmp_path / "b.smf", tmp_path / "c.smf"]
    write(paths[0], example[:120], "rdw")
    write(paths[1], example[60:], "bdw")
    write(paths[2], example, "rdw")
    table = "smf_record"
    plan = SplitPlan([table], split_bytes=8000)
    hashes: list[int] = []
    for path in paths:
        splits = plan.parts_of(path)
        assert len(splits) > 5
        for split in splits:
            for _, batch in read(path, [table], split):
                hashes += [row["hash"] for row in batch.to_pylist() if row["record_type"] not in (2, 3)]
    distinct = {record[4:] for record in example if record[5] not in (2, 3)}
    assert len(hashes) == len(set(hashes)) == len(distinct)


def overwritten(data: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(data))
    length = draw.choice([1, 1, 2, 4, 40, 3000])
    data[at : at + length] = draw.choice([draw.randbytes(length), bytes(length)])[: len(data) - at]


def removed(data: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(data))
    del data[at : at + draw.choice([1, 2, 4, 100, 5000])]


def inserted(data: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(data))
    length = draw.choice([1, 4, 100, 5000])
    data[at:at] = draw.choice([draw.randbytes(length), bytes(length)])


def repeated(data: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(data))
    data[at:at] = data[at : at + draw.choice([100, 5000])]


DAMAGE: tuple[Callable[[bytearray, random.Random], None], ...] = (overwritten, removed, inserted, repeated)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(draws(16, 2000)))
def test_damaged_dumps(example: list[bytes], tmp_path: Path, seed: int) -> None:
    """Some records in some order, in any form, damaged at random places and cut, in parts of any size."""
    draw = random.Random(seed)
    content = draw.sample(example, draw.randrange(5, 60))
    content += draw.sample(rmf_parts(), draw.randrange(len(rmf_parts()) + 1))
    content += draw.choices(content, k=draw.randrange(10))
    content += [records.record(30, "SYS1", draw.randbytes(20)) for _ in range(draw.randrange(30))]
    if draw.random() < 0.5:
        draw.shuffle(content)
    path = tmp_path / "dump.smf"
    write(path, content, draw.choice(list(FORMS)))
    data = bytearray(path.read_bytes())
    for _ in range(draw.randrange(6)):
        draw.choice(DAMAGE)(data, draw)
    if draw.random() < 0.3:
        del data[draw.randrange(len(data) // 2, len(data)) :]
    if draw.random() < 0.2:
        data += bytes(draw.randrange(4000))
    path.write_bytes(data)
    try:
        read(path, None)
    except UnknownSourceError:
        with pytest.raises(UnknownSourceError):
            SplitPlan(None, split_bytes=1000).parts_of(path)
        return
    parts_are_the_whole(path, draw.choice([1, 200, 1000, 10_000]))
