"""A source that is not SMF: a text that says which records it holds, so that every row of it is known beforehand.

A record is a number. All that a record gives (its day, its hash, its rows) follows from the number alone, by the
formulas in `Record`; the tests add up the same formulas in plain Python, without Arrow, Parquet or DuckDB.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from plexlens.ingest import kinds
from plexlens.ingest.source import COMMON_FIELDS, Damage, ReadOptions, Severity, SourceError
from plexlens.pdb import Pdb
from plexlens.pdb.engine import tables_of

HEAD = b"FAKE DUMP\n"
RECORDS_PER_DAY = 1000
EPOCH = datetime(2024, 3, 1, tzinfo=UTC)

RECORD_SCHEMA = pa.schema(
    [
        pa.field("record_type", pa.uint16()),
        pa.field("written_at", pa.timestamp("us")),
        pa.field("hash", pa.uint64()),
        pa.field("source_id", pa.string()),
        pa.field("record_no", pa.uint64()),
    ]
)


@cache
def _day(number: int) -> date:
    return (EPOCH + timedelta(days=number)).date()


@dataclass(frozen=True)
class Record:
    """What record `number` gives."""

    number: int

    @property
    def day(self) -> date:
        """Written at noon; the records of a day are `RECORDS_PER_DAY` consecutive numbers."""
        return _day(self.number // RECORDS_PER_DAY)

    @property
    def hash(self) -> int:
        """A number of 64 bits, different for each record (an odd factor is invertible modulo 2**64)."""
        return (self.number + 1) * 0x9E3779B97F4A7C15 % 2**64

    @property
    def requests(self) -> list[int]:
        """The values of its rows in ``smf74_4_request``, one to three of them."""
        return [self.number * 10 + row for row in range(1 + self.number % 3)]


def write(path: Path, records: Sequence[int], **options: Any) -> Path:
    """Write a dump with these records.

    Options: `batch` records a batch; `columns` of (name, type, unit, value) more in each request; `request_type`;
    `damage` rows of damage; `fail_after` that many records; `undated` requests without an interval; `padding` bytes.
    """
    padding = " " * options.pop("padding", 0)
    path.write_bytes(HEAD + json.dumps({"records": list(records), **options}).encode() + padding.encode())
    return path


def expected(*dumps: Sequence[int]) -> dict[str, int]:
    """Rows and sums after these dumps, each record kept once: the oracle."""
    records = [Record(number) for number in set().union(*dumps)]
    requests = [value for record in records for value in record.requests]
    return {
        "records": len(records),
        "requests": len(requests),
        "request_sum": sum(requests),
        "hash_xor": _xor(record.hash for record in records),
    }


def held(backend: Any) -> dict[str, int]:
    """The same figures as the PDB has them."""
    if "smf_record" not in tables_of(backend):
        return expected()
    records, xor = backend.execute("SELECT count(*), bit_xor(hash) FROM smf_record").fetchone()
    rows, total = backend.execute("SELECT count(*), sum(requests) FROM smf74_4_request").fetchone()
    return {"records": records, "requests": rows, "request_sum": int(total), "hash_xor": xor}


def held_in_files(pdb: Pdb) -> dict[str, int]:
    """The same figures, read from the Parquet files without DuckDB: quicker for a handful of files."""

    def column(table: str, name: str) -> list[int]:
        paths = [pdb.path / file.path for file in pdb.manifest.files.get(table, [])]
        return [value for path in paths for value in pq.ParquetFile(path).read([name]).column(name).to_pylist()]

    hashes, requests = column("smf_record", "hash"), column("smf74_4_request", "requests")
    return {
        "records": len(hashes),
        "requests": len(requests),
        "request_sum": sum(requests),
        "hash_xor": _xor(iter(hashes)),
    }


def _xor(values: Iterator[int]) -> int:
    result = 0
    for value in values:
        result ^= value
    return result


def sniff(head: bytes, name: str) -> bool:
    return head.startswith(HEAD)


class Reading:
    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._path = path
        self._content = json.loads(path.read_bytes()[len(HEAD) :])
        self._options = options
        self._duplicates = 0
        self._types: Counter[str] = Counter()
        self._seen: dict[date, set[int]] = {}
        self.damage: list[Damage] = []

    @property
    def summary(self) -> dict[str, Any]:
        numbers = self._content["records"]
        return {
            "records": dict(self._types),
            "span": [Record(min(numbers)).day.isoformat(), Record(max(numbers)).day.isoformat()] if numbers else None,
            "measurements": sum(self._types.values()),
            "duplicates": self._duplicates,
            "notes": [{"note": "section_longer", "section": "smf74_4_request", "count": len(numbers), "max_bytes": 8}],
        }

    def __iter__(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        numbers = self._content["records"]
        size = self._content.get("batch", 100)
        fail_after = self._content.get("fail_after")
        for place in range(self._content.get("damage", 0)):
            self.damage.append(
                Damage(
                    source_id=self._options.source_id,
                    file=str(self._path),
                    record_no=place + 1,
                    offset=place * 100,
                    reason="truncated record",
                    severity=Severity.DATA_LOSS,
                    detail="4 bytes of 100",
                    remedy="transfer it again",
                )
            )
        for start in range(0, len(numbers), size):
            if fail_after is not None and start >= fail_after:
                raise SourceError(
                    file=str(self._path), what="it ends here", remedy="transfer it again", record_no=start + 1
                )
            fresh = list(self._fresh(numbers[start : start + size], start + 1))
            if fresh:
                yield "smf_record", self._records(fresh)
                yield "smf74_4_request", self._requests(fresh)

    def _fresh(self, numbers: Sequence[int], first_no: int) -> Iterator[tuple[int, Record]]:
        for record_no, number in enumerate(numbers, first_no):
            record = Record(number)
            self._types["74.4"] += 1
            if record.day not in self._seen:
                self._seen[record.day] = set(self._options.seen(record.day).tolist())
            if record.hash in self._seen[record.day]:
                self._duplicates += 1
            else:
                self._seen[record.day].add(record.hash)
                yield record_no, record

    def _records(self, fresh: list[tuple[int, Record]]) -> pa.RecordBatch:
        noon = [datetime(one.day.year, one.day.month, one.day.day, 12) for _, one in fresh]
        return pa.RecordBatch.from_arrays(
            [
                pa.array([74] * len(fresh), pa.uint16()),
                pa.array(noon, pa.timestamp("us")),
                pa.array(np.array([one.hash for _, one in fresh], np.uint64)),
                pa.array([self._options.source_id] * len(fresh)),
                pa.array([record_no for record_no, _ in fresh], pa.uint64()),
            ],
            schema=RECORD_SCHEMA,
        )

    def _requests(self, fresh: list[tuple[int, Record]]) -> pa.RecordBatch:
        rows = [
            (record_no, place, record, value)
            for record_no, record in fresh
            for place, value in enumerate(record.requests, 1)
        ]
        count = len(rows)
        starts = [datetime(one.day.year, one.day.month, one.day.day, 11, tzinfo=UTC) for _, _, one, _ in rows]
        undated = self._content.get("undated", False)
        common = {
            "system": ["SYS1"] * count,
            "interval_start": None if undated else starts,
            "interval_end": None if undated else [start + timedelta(hours=1) for start in starts],
            "utc_offset": [0.0] * count,
            "source_id": [self._options.source_id] * count,
            "record_no": [record_no for record_no, _, _, _ in rows],
            "section_no": [place for _, place, _, _ in rows],
        }
        fields = list(COMMON_FIELDS)
        arrays = [pa.array(common.get(one.name) or [None] * count, one.type) for one in fields]
        kind = pa.type_for_alias(self._content.get("request_type", "uint32"))
        fields.append(pa.field("requests", kind, metadata={"unit": "", "description": "requests"}))
        arrays.append(pa.array([value for _, _, _, value in rows], kind))
        for name, alias, unit, value in self._content.get("columns", ()):
            fields.append(pa.field(name, pa.type_for_alias(alias), metadata={"unit": unit}))
            arrays.append(pa.array([value] * count, fields[-1].type))
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


KIND = kinds.SourceKind("fake", "a fake dump", sniff, Reading)
