"""A day made row by row: two systems on a machine, a clock put back, an hour without records, an IPL, a limit.

A processor has 100 MSU: 16,000,000 / 576 service units per second x 3600 / 1,000,000.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from plexlens.smf_rows.dump import open_dump
from plexlens.smf_rows.rmf import RmfInterval
from plexlens.smf_rows.smf70_1 import Engine, Image, Machine, Partition, sections

START = datetime(2026, 10, 24, 20, 0, tzinfo=UTC)
ADJUSTMENT = 576

#: Start and length in minutes from `START`, MSU of SYA and of SYB. From minute 360 (02:00 UTC) an hour has no records.
INTERVALS = (
    (0, 60, 48.0, 96.0),
    (60, 60, 48.0, 96.0),
    (120, 60, 48.0, 96.0),
    (180, 60, 48.0, 96.0),
    (240, 60, 96.0, 96.0),
    (300, 60, 96.0, 96.0),
    (420, 30, 96.0, 0.0),
    (450, 30, 96.0, 120.0),
    (480, 60, 96.0, 120.0),
    (540, 60, 48.0, 120.0),
)

#: SYB was loaded at 03:30 UTC.
IPL = START + timedelta(minutes=450)

#: Defined capacity of SYB.
DEFINED = 60


def offset(start: datetime) -> timedelta:
    """The clock is put back from UTC+2 to UTC+1 at 01:00 UTC on 25 October."""
    return timedelta(hours=2 if start < datetime(2026, 10, 25, 1, 0, tzinfo=UTC) else 1)


def write_day(path: Path, intervals: Sequence[tuple[int, int, float, float]] = INTERVALS, *, ipl: bool = True) -> None:
    """Write the dump."""
    machine = Machine("Z", {"CP": 4}, serial="M1", adjustment=ADJUSTMENT, msu=400)
    with open_dump(path, "SYA", START.replace(tzinfo=None)) as dump:
        for minute, length, *msu in intervals:
            begin = START + timedelta(minutes=minute)
            seconds = length * 60.0
            partitions = [
                Partition(name, weight, [Engine("CP", rate / 200 * seconds)] * 2)
                for name, weight, rate in (("SYA", 100, msu[0]), ("SYB", 50, msu[1]))
            ]
            for place, name in enumerate(("SYA", "SYB")):
                interval = RmfInterval(
                    name, "PLEX", place + 1, begin, begin + timedelta(minutes=length), 100, 1.0, 0, offset(begin)
                )
                made = sections(machine, partitions, Image(place, 200), seconds=seconds, samples=100)
                for row in made["smf70_1_partition"]:
                    row["smf70msu"] = DEFINED if row["smf70lpm"] == "SYB" else 0
                if ipl and name == "SYB" and begin >= IPL:
                    made["smf70_1_cpu_control"][0]["smf70_ipl_time"] = IPL
                dump.write(interval.record("smf70_1", made))
        dump.finish("SYA", START.replace(tzinfo=None))
