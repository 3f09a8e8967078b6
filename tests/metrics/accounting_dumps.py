"""Dumps of random CICS tasks and Db2 threads over some days, and what they add up to, by plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.dumps import catalogue
from plexlens import _core

FIRST = datetime(2026, 3, 2, tzinfo=UTC)
_CLOCK = pa.timestamp("us", "UTC")
_QUARTER = 900


@dataclass(frozen=True)
class Task:
    """A CICS task: its region, when it ran, and its CPU time in units of 16 microseconds."""

    system: str
    region: str
    offset: float
    transaction: str
    start: datetime
    stop: datetime
    cpu: int
    requests: int
    abended: bool

    @property
    def quarter(self) -> datetime:
        """The quarter of an hour in which it ended."""
        seconds = int((self.stop - FIRST).total_seconds() // _QUARTER) * _QUARTER
        return FIRST + timedelta(seconds=seconds)


@dataclass(frozen=True)
class Thread:
    """A Db2 thread; one without getpages has no section of a buffer pool."""

    system: str
    db2: str
    offset: float
    plan: str
    start: datetime
    stop: datetime
    commits: int
    getpages: int


#: System, offset from UTC in seconds, region, the hours of the day in which it works.
REGIONS = (
    ("SYSA", 3600.0, "CICSA1", (0, 24)),
    ("SYSA", 3600.0, "CICSA2", (7, 19)),
    ("SYSB", 3600.0, "CICSB1", (10, 13)),
)
#: The same with a system that is half an hour off.
UNEVEN = (*REGIONS[:2], ("SYSI", 19_800.0, "CICSI1", (4, 16)))


def tasks(
    random: Random, days: Iterable[int], count: int, regions: Sequence[Any] = REGIONS, *, most_cpu: int = 400
) -> list[Task]:
    """Random tasks, some of them across midnight, and an idle region now and then.

    The shortest take 1,250 units of CPU time at most: more than that in one of them cannot be.
    """
    made = []
    for day in days:
        for system, offset, region, (first, last) in regions:
            for _ in range(count):
                second = random.uniform(first * 3600, last * 3600 - 1)
                stop = FIRST + timedelta(days=day, microseconds=int(second * 1e6))
                length = timedelta(microseconds=random.choice([20_000, 300_000, 5_000_000, 4_000_000_000]))
                cpu, requests = random.randint(1, most_cpu), random.randint(0, 40)
                name = f"T{random.randint(0, 5):03d}"
                made.append(
                    Task(system, region, offset, name, stop - length, stop, cpu, requests, random.random() < 0.1)
                )
    return made


def threads(random: Random, days: Iterable[int], count: int) -> list[Thread]:
    """Random threads of two Db2 subsystems."""
    made = []
    for day in days:
        for system, db2 in (("SYSA", "DB1A"), ("SYSB", "DB1B")):
            for _ in range(count):
                stop = FIRST + timedelta(days=day, microseconds=random.randint(0, 86_399_999_999))
                start = stop - timedelta(microseconds=random.randint(1, 90_000_000))
                getpages = random.choice([0, 0, random.randint(1, 900)])
                plan = f"PLAN{random.randint(0, 3)}"
                made.append(Thread(system, db2, 3600.0, plan, start, stop, random.randint(0, 4), getpages))
    return made


def write_dump(path: Path, work: Sequence[Task], accounted: Sequence[Thread] = ()) -> Path:
    """Write a dump of records with up to ten tasks, one quarter of an hour of a region in each."""
    layouts = catalogue()
    with _core.DumpWriter(path) as dump:
        for (system, region, offset), _ in groupby(sorted((t.system, t.region, t.offset) for t in work)):
            identity = {"system": system, "subsystem": region, "interval_end": FIRST, "utc_offset": offset}
            sections = {"smf110_1_dictionary": _core.standard_dictionary(layouts)}
            dump.write(_core.encode_record(layouts, "smf110_1_class1", identity, sections))
        order = sorted(work, key=lambda t: (t.system, t.region, t.quarter, t.stop, t.transaction, t.cpu))
        for (system, region, _), group in groupby(order, key=lambda t: (t.system, t.region, t.quarter)):
            listed = list(group)
            table = pa.table(
                {
                    "record_no": np.arange(len(listed), dtype=np.uint64) // 10 + 1,
                    "tran": [task.transaction for task in listed],
                    "start": pa.array([task.start for task in listed], _CLOCK),
                    "stop": pa.array([task.stop for task in listed], _CLOCK),
                    "usrcput_seconds": [task.cpu * 16e-6 for task in listed],
                    "usrdispt_seconds": [task.cpu * 32e-6 for task in listed],
                    "db2reqct": np.array([task.requests for task in listed], np.uint32),
                    "abcodec": ["ASRA" if task.abended else "" for task in listed],
                    "rptclsnm": [f"R{task.transaction}" for task in listed],
                }
            )
            end = max(task.stop for task in listed)
            identity = {"system": system, "subsystem": region, "interval_end": end, "utc_offset": listed[0].offset}
            sections = {"smf110_1_performance": table}
            dump.write_all(_core.encode_records(layouts, "smf110_1_class3", sections, identity=identity))
        for number, thread in enumerate(sorted(accounted, key=lambda t: (t.stop, t.db2, t.plan))):
            dump.write_all(_thread(layouts, thread, number))
    return path


def _thread(layouts: Any, thread: Thread, number: int) -> Any:
    record = np.ones(1, np.uint64)
    sections = {
        "smf101_qwhc": pa.table(
            {
                "record_no": record,
                "qwhcplan": [thread.plan],
                "qwhccv": [f"CORR{number % 3}"],
                "qwhccn": ["BATCH"],
                "qwhcaid": [f"USER{number % 4}"],
                "qwhcatyp": np.ones(1, np.uint32),
            }
        ),
        "smf101_ifcid3_qwac": pa.table(
            {
                "record_no": record,
                "qwacbsc": pa.array([thread.start], _CLOCK),
                "qwacesc": pa.array([thread.stop], _CLOCK),
                "qwacejst": [0.25],
                "qwaccomm": np.array([thread.commits], np.uint32),
            }
        ),
    }
    if thread.getpages:
        sections["smf101_ifcid3_qbac"] = pa.table(
            {
                "record_no": record,
                "qbacpid": np.zeros(1, np.uint32),
                "qbacget": np.array([thread.getpages], np.uint64),
                "qbacrio": np.array([thread.getpages // 7], np.uint64),
            }
        )
    identity = {
        "system": thread.system,
        "subsystem": thread.db2,
        "interval_end": thread.stop,
        "utc_offset": thread.offset,
    }
    return _core.encode_records(layouts, "smf101_ifcid3", sections, identity=identity)


def covered(work: Iterable[Task], region: str) -> float:
    """Seconds that a region's records cover: quarters with records, cut where its records of the day begin and end.

    Of the day and the day before for the beginning, of the day and the day after for the end.
    """
    own = [task for task in work if task.region == region]
    total = 0.0
    for quarter in {task.quarter for task in own}:
        day = quarter.date()
        starts = [task.start for task in own if task.stop.date() in (day, day - timedelta(days=1))]
        stops = [task.stop for task in own if task.stop.date() in (day, day + timedelta(days=1))]
        begin = max(quarter, min(starts))
        end = min(quarter + timedelta(seconds=_QUARTER), max(stops))
        total += (end - begin).total_seconds()
    return total
