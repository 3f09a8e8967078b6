"""A dump of transactions: Db2 accounting (SMF 101) and CICS performance records (SMF 110-1), by the encoder.

What a benchmark adds up is noted while it is written, as in `benchmarks.dumps`.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.dumps import START, Known, catalogue
from plexlens import _core

SEED = 20260303

#: Threads, and records of tasks, that one block of records holds.
THREADS = 5000
TASKS_A_RECORD = 10
TASK_RECORDS = 500

SUBSYSTEMS = 4
REGIONS = 8
PLANS = 40
CORRELATIONS = 3000
TRANSACTIONS = 120

#: Seconds of the clock that a block covers.
BLOCK_SECONDS = 60


class Transactions(Known):
    """Blocks of accounting and performance records."""

    def threads(self, number: int) -> Any:
        """Accounting records of a Db2 in a minute."""
        random = self.random
        end = START + timedelta(seconds=BLOCK_SECONDS * (number + 1))
        subsystem = number % SUBSYSTEMS
        record = np.arange(1, THREADS + 1, dtype=np.uint64)
        # Whole units of the clock, 1/4096 of a microsecond, so that what is read is what was written.
        unit = 4096e6
        cpu = random.integers(1_000_000, 400_000_000, THREADS) / unit
        elapsed = cpu * 4 + random.integers(1_000_000, 4_000_000_000, THREADS) / unit
        begins = np.array(
            [np.datetime64(end.replace(tzinfo=None)) - np.timedelta64(int(e * 1e6), "us") for e in elapsed]
        )
        clock = pa.timestamp("us", "UTC")
        qwac = pa.table(
            {
                "record_no": record,
                "qwacbsc": pa.array(begins, clock),
                "qwacesc": pa.array(np.full(THREADS, np.datetime64(end.replace(tzinfo=None), "us")), clock),
                "qwacejst": cpu * 1.25,
                "qwaccomm": random.integers(1, 10, THREADS).astype(np.uint32),
                "qwacasc": elapsed * 0.75,
                "qwacajst": cpu,
                "qwacawti": elapsed * 0.25,
                "qwacawtl": elapsed * 0.0625,
                "qwacarne": random.integers(0, 200, THREADS).astype(np.uint32),
                "qwacarnl": random.integers(0, 5, THREADS).astype(np.uint32),
            }
        )
        qwhc = pa.table(
            {
                "record_no": record,
                "qwhcplan": np.array([f"PLAN{n:04d}" for n in random.integers(0, PLANS, THREADS)]),
                "qwhccv": np.array([f"CORR{n:06d}" for n in random.integers(0, CORRELATIONS, THREADS)]),
                "qwhccn": np.array([f"CICS{n:04d}" for n in random.integers(0, REGIONS, THREADS)]),
                "qwhcatyp": np.full(THREADS, 4, np.uint32),
            }
        )
        qxst = pa.table(
            {
                "record_no": record,
                "qxselect": random.integers(0, 50, THREADS).astype(np.uint64),
                "qxfetch": random.integers(0, 500, THREADS).astype(np.uint64),
            }
        )
        pools = 3
        qbac = pa.table(
            {
                "record_no": np.repeat(record, pools),
                "qbacpid": np.tile(np.arange(pools, dtype=np.uint32), THREADS),
                "qbacget": random.integers(0, 5000, THREADS * pools).astype(np.uint64),
                "qbacrio": random.integers(0, 200, THREADS * pools).astype(np.uint64),
            }
        )
        qtxa = pa.table({"record_no": record, "qtxalock": random.integers(0, 900, THREADS).astype(np.uint32)})
        self.note("smf101_ifcid3_qwac", qwac, "qwacajst", "qwaccomm")
        self.note("smf101_ifcid3_qbac", qbac, "qbacget")
        return _core.encode_records(
            self.layouts,
            "smf101_ifcid3",
            {
                "smf101_qwhc": qwhc,
                "smf101_ifcid3_qwac": qwac,
                "smf101_ifcid3_qxst": qxst,
                "smf101_ifcid3_qbac": qbac,
                "smf101_ifcid3_qtxa": qtxa,
            },
            identity={
                "system": f"SY{subsystem:02d}",
                "subsystem": f"DB{subsystem:02d}",
                "interval_end": end,
                "utc_offset": 3600.0,
            },
        )

    def dictionary(self, region: int) -> bytes:
        """The dictionary record of a region."""
        return _core.encode_record(
            self.layouts,
            "smf110_1_class1",
            self._region(region, 0),
            {"smf110_1_dictionary": _core.standard_dictionary(self.layouts)},
        )

    def _region(self, region: int, number: int) -> dict[str, Any]:
        end = START + timedelta(seconds=BLOCK_SECONDS * (number + 1))
        system = region % SUBSYSTEMS
        return {
            "system": f"SY{system:02d}",
            "subsystem": f"CICS{region:04d}",
            "interval_end": end,
            "utc_offset": 3600.0,
        }

    def tasks(self, number: int) -> Any:
        """Performance records of a region in a minute."""
        random = self.random
        region = number % REGIONS
        identity = self._region(region, number)
        count = TASKS_A_RECORD * TASK_RECORDS
        end = np.datetime64(identity["interval_end"].replace(tzinfo=None), "us")
        cpu = random.integers(10, 4000, count)
        response = cpu * 3 + random.integers(10, 90_000, count)
        stop = end - np.sort(random.integers(0, BLOCK_SECONDS * 1_000_000, count)).astype("timedelta64[us]")[::-1]
        clock = pa.timestamp("us", "UTC")
        task = pa.table(
            {
                "record_no": np.repeat(np.arange(1, TASK_RECORDS + 1, dtype=np.uint64), TASKS_A_RECORD),
                "tran": np.array([f"T{n:03d}" for n in random.integers(0, TRANSACTIONS, count)]),
                "start": pa.array(stop - response.astype("timedelta64[us]"), clock),
                "stop": pa.array(stop, clock),
                # Whole units of 16 microseconds, as the clock counts.
                "usrdispt_seconds": (cpu + cpu // 2) * 16e-6,
                "usrcput_seconds": cpu * 16e-6,
                "qrcput_seconds": (cpu // 2) * 16e-6,
                "qrdispt_seconds": (cpu // 2 + cpu // 4) * 16e-6,
                "db2reqct": random.integers(0, 60, count).astype(np.uint32),
            }
        )
        self.note("smf110_1_performance", task, "usrcput_seconds", "db2reqct")
        return _core.encode_records(self.layouts, "smf110_1_class3", {"smf110_1_performance": task}, identity=identity)


def write_transactions(path: Path, size: int) -> Transactions:
    """Write threads and tasks, half of each, until the dump holds about ``size`` bytes; return the facts about it."""
    work = Transactions(catalogue(), SEED)
    with _core.DumpWriter(path) as dump:
        written = 0
        for region in range(REGIONS):
            dump.write(work.dictionary(region))
        number = {"threads": 0, "tasks": 0}
        of = {"threads": 0, "tasks": 0}
        while written < size:
            kind = min(of, key=lambda name: of[name])
            records = getattr(work, kind)(number[kind])
            dump.write_all(records)
            length = sum(len(records[i]) for i in range(len(records)))
            of[kind] += length
            written += length
            number[kind] += 1
    return work
