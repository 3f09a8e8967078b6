"""A performance database of 100 million accounting rows: CICS tasks (SMF 110-1) and Db2 threads (SMF 101).

Days of a made-up sysplex go in through `plexlens.pdb.ingest`, as dumps do, but as Arrow batches: to encode and decode
the records would take hours and show nothing about questions. What is made is checked by its sums.

A site leaves out fields that it does not look at (DFHMCT TYPE=RECORD,EXCLUDE), so that a task has 36 columns here and
not 396. Clocks of CICS have units of 16 microseconds and those of Db2 1/4096; values are random, so that they compress
no better than real ones. One day is drawn; the others have its numbers, and other transactions and plans for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plexlens.ingest import kinds
from plexlens.ingest.source import Damage, ReadOptions
from plexlens.metrics.raw_tables import declared
from plexlens.pdb import Pdb, ingest

HEAD = b"PLEXLENS BENCHMARK DAY\n"

#: The first day, and the share of rows that are tasks of CICS.
FIRST, OF_CICS = date(2026, 3, 2), 0.84

SYSTEMS, REGIONS, TRANSACTIONS, OF_A_REGION = 4, 64, 300, 40
SUBSYSTEMS, PLANS, CORRELATIONS = 4, 60, 300
TASKS_A_RECORD = 10
UTC_OFFSET = 3600.0

_BATCH = 400_000
_DAY = 86_400_000_000
_UTC = pa.timestamp("us", "UTC")

#: Counters of a task with their means.
COUNTS = {"eictotct": 25, "db2reqct": 12, "fctotct": 4, "scusrhwma": 90_000}


@dataclass(frozen=True)
class Day:
    """A day, as a file of the benchmark describes it."""

    number: int
    rows: int

    @property
    def start(self) -> int:
        """Its first moment, in microseconds since 1970."""
        return ((FIRST - date(1970, 1, 1)).days + self.number) * _DAY

    @property
    def date(self) -> date:
        """The day."""
        return FIRST + timedelta(days=self.number)


class DayReading:
    """A day of accounting as a source that is read."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.day = Day(**json.loads(path.read_bytes().removeprefix(HEAD)))
        self.source_id = options.source_id
        self.random = np.random.default_rng(20260302 + self.day.number)
        self.records = 0

    @property
    def damage(self) -> list[Damage]:
        """None."""
        return []

    @property
    def summary(self) -> dict[str, Any]:
        """Counts, as every reading gives them."""
        return {
            "measurements": self.records,
            "records": {"110.1": self.records},
            "duplicates": 0,
            "span": (f"{self.day.date}T00:00:00", f"{self.day.date}T23:59:59"),
        }

    def __iter__(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        tasks = int(self.day.rows * OF_CICS)
        threads = self.day.rows - tasks
        steps = max(1, -(-self.day.rows // _BATCH))
        done_tasks = done_threads = 0
        for step in range(steps):
            # The busiest hours are at 11 and 15: a curve of the day, cut into equal numbers of rows.
            low, high = step / steps, (step + 1) / steps
            now_tasks, now_threads = int(tasks * high), int(threads * high)
            yield from self._moved((step, "tasks"), partial(self._tasks, now_tasks - done_tasks, low, high))
            yield from self._moved((step, "threads"), partial(self._threads, now_threads - done_threads, low, high))
            done_tasks, done_threads = now_tasks, now_threads

    def _moved(
        self, part: tuple[int, str], draw: Callable[[], Iterator[tuple[str, pa.RecordBatch]]]
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Batches of a part of the day: those that were drawn first, moved to this day."""
        key = (*part, self.day.rows)
        if key not in _DRAWN:
            first = self.records
            _DRAWN[key] = (self.day.number, first, list(draw()))
        else:
            _, first, _ = _DRAWN[key]
            self.records = first + sum(len(rows) for table, rows in _DRAWN[key][2] if table == "smf_record")
        drawn, _, batches = _DRAWN[key]
        for table, batch in batches:
            yield table, self._of_this_day(table, batch, self.day.number - drawn)

    def _of_this_day(self, table: str, batch: pa.RecordBatch, days: int) -> pa.RecordBatch:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for name, column in columns.items():
            if days and pa.types.is_timestamp(column.type) and column.null_count == 0:
                columns[name] = pc.add(column, pa.scalar(days * _DAY, pa.duration("us")))
        if "hash" in columns:
            columns["hash"] = pa.array(self.random.integers(0, 2**63, len(batch)).astype(np.uint64))
        columns["source_id"] = _of_one(self.source_id, len(batch))
        for name, stem, every in (("tran", "T", TRANSACTIONS), ("qwhcplan", "PLAN", PLANS)):
            if name in columns:
                numbers = columns[name]
                names = [f"{stem}{(number + days) % every:04d}" for number in range(every)]
                columns[name] = pa.DictionaryArray.from_arrays(numbers, names).cast(pa.string())
        return pa.RecordBatch.from_pydict(columns)

    def _ends(self, count: int, low: float, high: float) -> np.ndarray:
        shares = np.sort(self.random.uniform(low, high, count))
        ends: np.ndarray = self.day.start + (np.interp(shares, _SHARES, _TIMES) * _DAY).astype(np.int64)
        return ends

    def _identity(self, ends: np.ndarray, owners: np.ndarray, names: list[str], records: np.ndarray) -> dict[str, Any]:
        count = len(ends)
        systems = [f"SYS{number + 1}" for number in range(SYSTEMS)]
        return {
            "system": pa.DictionaryArray.from_arrays(owners % SYSTEMS, systems).cast(pa.string()),
            "sysplex": pa.nulls(count, pa.string()),
            "subsystem": pa.DictionaryArray.from_arrays(owners, names).cast(pa.string()),
            "interval_start": pa.nulls(count, _UTC),
            "interval_end": pa.array(ends, _UTC),
            "utc_offset": np.full(count, UTC_OFFSET),
            "source_id": _of_one(self.source_id, count),
            "record_no": records.astype(np.uint64),
        }

    def _inventory(self, kind: int, written: np.ndarray, owners: np.ndarray, numbers: np.ndarray) -> pa.RecordBatch:
        count = len(numbers)
        self.records += count
        systems = [f"SYS{number + 1}" for number in range(SYSTEMS)]
        return pa.RecordBatch.from_pydict(
            {
                "record_type": np.full(count, kind, np.uint16),
                "subtype": np.full(count, 1 if kind == 110 else 0, np.uint16),
                "system": pa.DictionaryArray.from_arrays(owners % SYSTEMS, systems).cast(pa.string()),
                "ssid": _of_one("CICS" if kind == 110 else "DB2", count),
                "written_at": pa.array(written + int(UTC_OFFSET * 1e6), pa.timestamp("us")),
                "offset": numbers.astype(np.uint64) * 4096,
                "length": np.full(count, 4096, np.uint32),
                "spanned_segments": np.zeros(count, np.uint16),
                "joined_parts": np.zeros(count, np.uint16),
                "decoded": np.ones(count, bool),
                "hash": self.random.integers(0, 2**63, count).astype(np.uint64),
                "source_id": _of_one(self.source_id, count),
                "record_no": numbers.astype(np.uint64),
            }
        )

    def _tasks(self, count: int, low: float, high: float) -> Iterator[tuple[str, pa.RecordBatch]]:
        if not count:
            return
        random = self.random
        ends = self._ends(count, low, high)
        # A record holds tasks of one region: the region changes every ten tasks.
        of_records = np.minimum(
            (random.random(-(-count // TASKS_A_RECORD)) ** 1.5 * REGIONS).astype(np.int32), REGIONS - 1
        )
        regions = np.repeat(of_records, TASKS_A_RECORD)[:count]
        ranks = np.minimum((random.random(count) ** 2.2 * OF_A_REGION).astype(np.int32), OF_A_REGION - 1)
        transactions = (regions * 7 + ranks * 3) % TRANSACTIONS
        first = self.records + 1
        numbers = first + np.arange(count) // TASKS_A_RECORD
        yield (
            "smf_record",
            self._inventory(110, ends[::TASKS_A_RECORD], of_records, np.arange(first, first + len(of_records))),
        )
        # Some milliseconds to some seconds, by transaction; worse where much is going on.
        response = np.exp(random.standard_normal(count) * 0.8) * (0.02 + 0.004 * (transactions % 37))
        response *= 1 + 0.5 * np.sin((ends % _DAY) / _DAY * np.pi) ** 4
        units = np.maximum(1, (response / 16e-6)).astype(np.int64)
        columns = self._identity(ends, regions, [f"CICS{number:04d}" for number in range(REGIONS)], numbers)
        columns["section_no"] = (np.arange(count) % TASKS_A_RECORD + 1).astype(np.uint32)
        columns["tran"] = pa.array(transactions)
        columns["userid"] = _named("U", (transactions * 13 + ranks) % 500, 500)
        columns["start"] = pa.array(ends - units * 16, _UTC)
        columns["stop"] = pa.array(ends, _UTC)
        columns["pgmname"] = _named("PG", transactions, TRANSACTIONS)
        columns["rtype"] = _named("", np.zeros(count, np.int32), 1, ("T",))
        columns["srvclsnm"] = _named("", transactions % 4, 4, ("ONLHIGH", "ONLMED", "ONLLOW", "INQUIRY"))
        columns["rptclsnm"] = _named("RCICS", regions % 8, 8)
        columns["abcodec"] = _named("", (random.random(count) < 0.0005).astype(np.int32), 2, ("", "ASRA"))
        columns["abcodeo"] = columns["abcodec"]
        for name, clock in _clocks(units, random).items():
            columns[f"{name}_seconds"] = clock * 16e-6
            columns[f"{name}_count"] = (units % 20).astype(np.uint32)
        for name, mean in COUNTS.items():
            columns[name] = random.integers(0, 2 * mean, count).astype(np.uint32)
        yield "smf110_1_performance", _typed("smf110_1_performance", columns)

    def _threads(self, count: int, low: float, high: float) -> Iterator[tuple[str, pa.RecordBatch]]:
        if not count:
            return
        random = self.random
        ends = self._ends(count, low, high)
        subsystems = random.integers(0, SUBSYSTEMS, count).astype(np.int32)
        first = self.records + 1
        numbers = np.arange(first, first + count)
        yield "smf_record", self._inventory(101, ends, subsystems, numbers)
        names = [f"DB{number + 1:02d}" for number in range(SUBSYSTEMS)]

        def identity() -> dict[str, Any]:
            made = self._identity(ends, subsystems, names, numbers)
            made["section_no"] = np.ones(count, np.uint32)
            return made

        plans = np.minimum((random.random(count) ** 2 * PLANS).astype(np.int32), PLANS - 1)
        elapsed = np.exp(random.standard_normal(count)) * (0.01 + 0.002 * plans)
        qwac = identity()
        qwac["qwacbsc"] = pa.array(ends - (elapsed * 1e6).astype(np.int64), _UTC)
        qwac["qwacesc"] = pa.array(ends, _UTC)
        for name, share in _WAITS.items():
            shares = np.minimum(1.0, random.random(count) * (2 * share))
            qwac[name] = np.floor(elapsed * shares * 4096e6) / 4096e6
        qwac["qwacbjst"] = np.zeros(count)
        for name, mean in _EVENTS.items():
            qwac[name] = random.integers(0, 2 * mean, count).astype(np.uint32)
        yield "smf101_ifcid3_qwac", _typed("smf101_ifcid3_qwac", qwac)
        qwhc = identity()
        qwhc["qwhcaid"] = _named("U", plans * 7 % 200, 200)
        qwhc["qwhccv"] = _named("CORR", (plans * 5 + subsystems) % CORRELATIONS, CORRELATIONS)
        qwhc["qwhccn"] = _named("CICS", plans % 16, 16)
        qwhc["qwhcplan"] = pa.array(plans)
        qwhc["qwhcatyp"] = np.full(count, 4, np.uint32)
        qwhc["qwhceuid"] = _named("", np.zeros(count, np.int32), 1, ("",))
        yield "smf101_qwhc", _typed("smf101_qwhc", qwhc)
        qbac = identity()
        qbac["qbacpid"] = (plans % 6).astype(np.uint32)
        qbac["qbacget"] = random.integers(1, 4000, count).astype(np.uint64)
        qbac["qbacrio"] = random.integers(0, 60, count).astype(np.uint64)
        qbac["qbacsws"] = random.integers(0, 40, count).astype(np.uint64)
        yield "smf101_ifcid3_qbac", _typed("smf101_ifcid3_qbac", qbac)


def _clocks(response: np.ndarray, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Clocks of tasks in units, as a task can have them: Plexlens takes no part of a number from impossible ones.

    A task is dispatched or suspended, on the average a third and two thirds of its response time. It has CPU time only
    while it is dispatched, on QR in part; and it waits only while it is suspended.
    """

    def part(of: np.ndarray, most: float = 1.0) -> np.ndarray:
        units: np.ndarray = (of * (random.random(len(of)) * most)).astype(np.int64)
        return units

    dispatched = part(response, 0.66)
    suspended = response - dispatched
    on_qr = random.random(len(response))
    cpu = part(dispatched)
    qr_cpu = (cpu * on_qr).astype(np.int64)
    return {
        "usrdispt": dispatched,
        "usrcput": cpu,
        "qrdispt": (dispatched * on_qr).astype(np.int64),
        "qrcput": qr_cpu,
        "ky8cput": cpu - qr_cpu,
        "susptime": suspended,
        "dispwtt": part(suspended, 0.15),
        "rmidb2": part(suspended, 0.65),
        "fciowtt": part(suspended, 0.2),
    }


_WAITS = {"qwacejst": 0.3, "qwacasc": 0.8, "qwacajst": 0.25, "qwacawti": 0.15, "qwacawtl": 0.03, "qwacawlg": 0.05}
_EVENTS = {"qwaccomm": 2, "qwacarne": 10, "qwacarnl": 2}


def _curve() -> tuple[np.ndarray, np.ndarray]:
    """Shares of the rows of a day, and the shares of the day by which they have ended."""
    hours = np.arange(0, 24.01, 0.25)
    rate = 0.15 + np.exp(-((hours - 11) ** 2) / 8) + 0.9 * np.exp(-((hours - 15.5) ** 2) / 6)
    sums = np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2)])
    return sums / sums[-1], hours / hours[-1] * (1 - 1e-9)


_SHARES, _TIMES = _curve()


#: What was drawn for a part of a day: the day, the records before it, and its batches.
_DRAWN: dict[tuple[int, str, int], tuple[int, int, list[tuple[str, pa.RecordBatch]]]] = {}


def _of_one(text: str, count: int) -> pa.Array:
    return pa.array([text]).take(pa.array(np.zeros(count, np.int32)))


def _named(stem: str, numbers: np.ndarray, count: int, names: tuple[str, ...] = ()) -> pa.Array:
    listed = list(names) or [f"{stem}{number:04d}" for number in range(count)]
    return pa.DictionaryArray.from_arrays(numbers.astype(np.int32), listed).cast(pa.string())


def _typed(table: str, columns: dict[str, Any]) -> pa.RecordBatch:
    for name in columns:
        if name not in declared(table) and name not in _IDENTITY:
            raise SystemExit(f"{table} has no field {name}")
    return pa.RecordBatch.from_pydict(columns)


_IDENTITY = {
    *("system", "sysplex", "subsystem", "interval_start", "interval_end", "utc_offset"),
    *("source_id", "record_no", "section_no"),
}

KIND = kinds.SourceKind("benchmark", "day of a benchmark", lambda head, _: head.startswith(HEAD), DayReading)


def write_day(folder: Path, number: int, rows: int) -> Path:
    """Write the file that stands for a day."""
    path = folder / f"day{number:03d}.benchmark"
    path.write_bytes(HEAD + json.dumps({"number": number, "rows": rows}).encode())
    return path


def ingest_day(pdb: Pdb, path: Path) -> None:
    """Ingest such a file as any source is ingested."""
    known = kinds.SOURCES
    kinds.SOURCES = (KIND, *known)
    try:
        ingest([path], pdb)
    finally:
        kinds.SOURCES = known
