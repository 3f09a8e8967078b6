"""SMF dumps of any size for benchmarks: a sysplex that writes RMF records, and queue managers that write accounting.

What a benchmark adds up is noted while it is written, so that a decoded dump is checked against its source.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from plexlens import _core
from plexlens.layouts_path import layout_folders

START = datetime(2026, 3, 2, tzinfo=UTC)
INTERVAL = timedelta(minutes=15)
SEED = 20260302

SYSTEMS = 8
DEVICES = 1500
CLASSES = 60
PERIODS = 2
PARTITIONS = 12
LOGICAL = 4
STRUCTURES = 50


def catalogue() -> Any:
    """The shipped layouts."""
    return _core.Catalogue([str(folder) for folder in layout_folders()])


def _table(rows: int, record_no: np.ndarray | int, **columns: Any) -> pa.Table:
    arrays = {"record_no": np.broadcast_to(np.asarray(record_no, np.uint64), rows)}
    for name, values in columns.items():
        arrays[name] = np.broadcast_to(values, rows) if np.ndim(values) == 0 else values
    return pa.table(arrays)


def _names(stem: str, count: int) -> np.ndarray:
    return np.array([f"{stem}{number:04d}" for number in range(count)])


class Known:
    """Facts about a dump, gathered while writing it: rows by table, and sums of columns by (table, column).

    Parameters
    ----------
    layouts
        The catalogue to encode by.
    seed
        Of the random numbers.
    """

    def __init__(self, layouts: Any, seed: int) -> None:
        self.layouts = layouts
        self.random = np.random.default_rng(seed)
        self.sums: dict[tuple[str, str], float] = {}
        self.rows: dict[str, int] = {}

    def note(self, table: str, rows: pa.Table, *columns: str) -> None:
        """Add up the rows of a table and some of its columns."""
        self.rows[table] = self.rows.get(table, 0) + rows.num_rows
        for column in columns:
            key = (table, column)
            self.sums[key] = self.sums.get(key, 0.0) + float(np.sum(rows[column].to_numpy()))


class Sysplex(Known):
    """Intervals of RMF records of a sysplex, system by system and interval by interval."""

    def interval(self, number: int, system: int) -> list[Any]:
        """The records that a system writes at the end of an interval."""
        start = START + number * INTERVAL
        identity = {
            "system": f"SY{system:02d}",
            "sysplex": "BENCHPLX",
            "interval_start": start,
            "interval_end": start + INTERVAL,
            "utc_offset": 3600.0,
        }
        return [
            self._processors(identity, system),
            self._workload(identity),
            self._devices(identity),
            *(self._coupling(identity, facility) for facility in ("CF01", "CF02")),
        ]

    def _encode(self, record: str, identity: dict[str, Any], sections: dict[str, pa.Table]) -> Any:
        return _core.encode_records(self.layouts, record, sections, identity=identity, oversize="spread")

    def _processors(self, identity: dict[str, Any], system: int) -> Any:
        logical = PARTITIONS * LOGICAL
        order = np.arange(logical)
        sections = {
            "rmf_product_section": _table(1, 1, smf7xptn=system % PARTITIONS + 1, smf7xsam=900),
            "smf70_1_cpu_control": _table(
                1,
                1,
                smf70cpa=400,
                smf70csc="0000012345",
                smf70cpc_type="8561",
                smf70dsa=900,
                smf70wla=2000,
                smf70lac=900,
            ),
            "smf70_1_cpu_data": _table(
                LOGICAL, 1, smf70wat=self.random.integers(100, 800, LOGICAL).astype(float), smf70typ=0, smf70cnf=1
            ),
            "smf70_1_partition": _table(
                PARTITIONS,
                1,
                smf70lpm=_names("LP", PARTITIONS),
                smf70lpn=np.arange(1, PARTITIONS + 1),
                smf70bdn=LOGICAL,
                smf70bds=np.arange(PARTITIONS) * LOGICAL,
                smf70stn=np.array([f"SY{number:02d}" for number in range(PARTITIONS)]),
            ),
            "smf70_1_logical_processor": _table(
                logical,
                1,
                smf70pdt=self.random.integers(50, 500, logical).astype(float),
                smf70edt=self.random.integers(50, 480, logical).astype(float),
                smf70ont=900.0,
                smf70bps=100,
                smf70cix=np.where(order % LOGICAL == LOGICAL - 1, 2, 1),
            ),
            "smf70_1_cpu_identification": _table(2, 1, smf70cin=np.array(["CP", "IIP"]), smf70ctn=np.array([16, 4])),
        }
        self.note("smf70_1_logical_processor", sections["smf70_1_logical_processor"], "smf70pdt")
        return self._encode("smf70_1", identity, sections)

    def _workload(self, identity: dict[str, Any]) -> Any:
        periods = CLASSES * PERIODS
        of_class = np.repeat(np.arange(1, CLASSES + 1), PERIODS)
        ended = self.random.integers(1, 5000, periods)
        cpu = self.random.integers(1_000, 5_000_000, periods)
        period = _table(
            periods,
            of_class,
            r723cper=np.tile(np.arange(1, PERIODS + 1), CLASSES),
            r723cadf=0xE0,
            r723crtx=np.tile(np.arange(1, PERIODS + 1), CLASSES),
            r723crgf=0x80,
            r723crtf=0x80,
            r723cval=200,
            r723cpct=90,
            r723cimp=2,
            r723crcp=ended,
            r723ctet=ended * 0.125,
            r723cets=ended * 0.03125,
            r723ccpu=cpu.astype(float),
            r723csrb=(cpu // 10).astype(float),
            r723csup=(cpu // 4).astype(float),
            r723csuc=(cpu // 50).astype(float),
            r723ctou=self.random.integers(1, 500, periods),
            r723ctot=self.random.integers(1, 500, periods),
        )
        control = _table(
            CLASSES,
            np.arange(1, CLASSES + 1),
            r723mwnm="ONLINE",
            r723mcnm=_names("CLS", CLASSES),
            r723mcpu=1.0,
            r723msrb=1.0,
            r723madj=800,
            r723nffs=1.0,
            r723nffi=1.0,
            r723mcpg=PERIODS,
        )
        entries = CLASSES * (PERIODS + 1)
        bounds = (50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 200, 400, 0)
        first = np.arange(entries) % (PERIODS + 1) == 0
        distribution = _table(
            entries,
            np.repeat(np.arange(1, CLASSES + 1), PERIODS + 1),
            **{
                f"r723trdb_{n}": np.where(first, bound, self.random.integers(0, 100, entries))
                for n, bound in enumerate(bounds, 1)
            },
        )
        self.note("smf72_3_period", period, "r723ccpu", "r723crcp")
        self.note("smf72_3_response_distribution", distribution)
        return self._encode(
            "smf72_3",
            identity,
            {
                "smf72_3_wlm_control": control,
                "smf72_3_period": period,
                "smf72_3_response_distribution": distribution,
            },
        )

    def _devices(self, identity: dict[str, Any]) -> Any:
        # A record holds about a hundred devices.
        of_record = np.arange(DEVICES) // 100 + 1
        records = int(of_record[-1])
        ios = self.random.integers(0, 200_000, DEVICES)
        device = _table(
            DEVICES,
            of_record,
            smf74num=np.arange(DEVICES),
            smf74lcu=np.arange(DEVICES) // 256,
            smf74cnf=0x01,
            smf74ser=_names("V", DEVICES),
            smf74ssc=ios,
            smf74mec=ios,
            # Whole multiples of 128 µs, as the field counts.
            smf74cnn=ios * 128e-6,
            smf74pen=ios * 128e-6,
            smf74dis=(ios // 4) * 128e-6,
            smf74utl=self.random.integers(0, 900, DEVICES),
        )
        control = _table(records, np.arange(1, records + 1), smf74sub=0x20)
        self.note("smf74_1_device", device, "smf74ssc", "smf74cnn")
        return self._encode("smf74_1", identity, {"smf74_1_device_control": control, "smf74_1_device": device})

    def _coupling(self, identity: dict[str, Any], facility: str) -> Any:
        sync = self.random.integers(1, 3_000_000, STRUCTURES)
        request = _table(
            STRUCTURES,
            1,
            r744snam=_names("STR_", STRUCTURES),
            r744styp=np.where(np.arange(STRUCTURES) % 3 == 0, 3, 4),
            r744ssrc=sync.astype(float),
            r744sstm=sync * 12e-6,
            r744sssq=sync * 200e-12,
            r744sarc=(sync // 10).astype(float),
            r744satm=(sync // 10) * 90e-6,
            r744strc=sync.astype(float),
            r744scn=(sync // 500).astype(float),
            r744sfcn=(sync // 2000).astype(float),
            r744ssiz=262_144_000,
            r744cdsi=np.arange(1, STRUCTURES + 1),
            r744cdne=1,
        )
        cache = _table(STRUCTURES, 1, r744crhc=(sync // 2).astype(float), r744crmn=(sync // 20).astype(float))
        processor = _table(4, 1, r744pnum=np.arange(4), r744pbsy=200.0, r744pwai=700.0)
        self.note("smf74_4_request", request, "r744ssrc", "r744sstm")
        return self._encode(
            "smf74_4",
            identity,
            {
                "smf74_4_local_cf": _table(1, 1, r744fnam=facility, r744ftor=float(sync.sum()), r744fscl=14),
                "smf74_4_request": request,
                "smf74_4_cache": cache,
                "smf74_4_processor": processor,
                "smf74_4_storage": _table(1, 1, r744gtsd=68_719_476_736, r744gtsf=17_179_869_184),
            },
        )


def write_rmf(path: Path, size: int) -> Sysplex:
    """Write RMF records until the dump holds about ``size`` bytes; return the facts about them."""
    plex = Sysplex(catalogue(), SEED)
    written = 0
    with _core.DumpWriter(path) as dump:
        number = 0
        while written < size:
            for system in range(SYSTEMS):
                for records in plex.interval(number, system):
                    dump.write_all(records)
                    written += sum(len(records[i]) for i in range(len(records)))
            number += 1
    return plex


def write_mq(path: Path, size: int) -> dict[str, int]:
    """Write MQ class 3 accounting (SMF 116-1) of about ``size`` bytes; return rows by table."""
    layouts = catalogue()
    random = np.random.default_rng(SEED)
    tasks, queues = 400, 3
    rows = {"smf116_1_wtas": 0, "smf116_1_wq": 0}
    written, number = 0, 0
    with _core.DumpWriter(path) as dump:
        while written < size:
            of_task = np.repeat(np.arange(1, tasks + 1), queues)
            end = START + timedelta(seconds=number)
            sections = {
                "smf116_1_wtid": _table(tasks, np.arange(1, tasks + 1), wtidccn=_names("JOB", tasks), wtidatyp=2),
                "smf116_1_wtas": _table(
                    tasks,
                    np.arange(1, tasks + 1),
                    wtascmn=random.integers(1, 1000, tasks),
                    wtascmct=random.integers(1, 1000, tasks) / 4096.0,
                ),
                "smf116_1_wq": _table(
                    tasks * queues,
                    of_task,
                    objname=_names("QUEUE", tasks * queues),
                    putn=random.integers(0, 1000, tasks * queues),
                    getn=random.integers(0, 1000, tasks * queues),
                ),
            }
            identity = {"system": "MQ01", "subsystem": "QM01", "interval_end": end, "utc_offset": 0.0}
            records = _core.encode_records(layouts, "smf116_1", sections, identity=identity)
            dump.write_all(records)
            written += sum(len(records[i]) for i in range(len(records)))
            rows["smf116_1_wtas"] += tasks
            rows["smf116_1_wq"] += tasks * queues
            number += 1
    return rows
