"""A day made row by row: a clock put forward, recorded capping, a capacity group, an IPL, an hour without records.

A processor has 100 MSU: 16,000,000 / 576 service units per second x 3600 / 1,000,000.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from plexlens.smf_rows.dump import open_dump
from plexlens.smf_rows.rmf import RmfInterval
from plexlens.smf_rows.smf70_1 import Engine, Image, Machine, Partition, sections

START = datetime(2026, 3, 28, 20, 0, tzinfo=UTC)
ADJUSTMENT = 576

#: Start and length in minutes from `START`; MSU of SYA, SYB and SYC; samples in which capping was in force for SYA and
#: SYC, of 50 in half an hour and 100 in an hour. From minute 420 (03:00 UTC) an hour has no records.
INTERVALS = (
    (0, 60, (60, 30, 20), (0, 0)),
    (60, 60, (60, 30, 20), (0, 0)),
    (120, 60, (60, 30, 20), (0, 0)),
    (180, 60, (60, 90, 80), (0, 0)),
    (240, 60, (120, 90, 80), (0, 0)),
    (300, 30, (120, 0, 80), (25, 0)),
    (330, 30, (120, 60, 80), (50, 0)),
    (360, 60, (120, 60, 40), (0, 100)),
    (480, 60, (60, 60, 40), (0, 50)),
    (540, 60, (60, 60, 40), (0, 0)),
)

#: SYB was loaded at 01:30 UTC.
IPL_MINUTE = 330

#: Limit of the group of SYA and SYB, and defined capacity of SYC.
GROUP, DEFINED = 120, 40


def offset(start: datetime) -> timedelta:
    """The clock is put forward from UTC+1 to UTC+2 at 01:00 UTC on 29 March."""
    return timedelta(hours=1 if start < datetime(2026, 3, 29, 1, 0, tzinfo=UTC) else 2)


def write_capped_day(path: Path) -> None:
    """Write the dump."""
    machine = Machine("Z", {"CP": 4}, serial="M1", adjustment=ADJUSTMENT, msu=400)
    names = ("SYA", "SYB", "SYC")
    with open_dump(path, "SYA", START.replace(tzinfo=None)) as dump:
        for minute, length, msu, capped in INTERVALS:
            begin = START + timedelta(minutes=minute)
            seconds, samples = length * 60.0, length * 100 // 60
            partitions = [
                Partition(name, weight, [Engine("CP", rate / 200 * seconds)] * 2)
                for name, weight, rate in zip(names, (100, 50, 50), msu, strict=True)
            ]
            for place, name in enumerate(names):
                interval = RmfInterval(
                    name, "PLEX", place + 1, begin, begin + timedelta(minutes=length), samples, 1.0, 0, offset(begin)
                )
                made = sections(machine, partitions, Image(place, 200), seconds=seconds, samples=samples)
                for row in made["smf70_1_partition"]:
                    row["smf70msu"] = DEFINED if row["smf70lpm"] == "SYC" else 0
                    if row["smf70lpm"] != "SYC":
                        row |= {"smf70gnm": "GRP", "smf70gmu": GROUP}
                # Two engines each, in the order of the partitions.
                for number, row in enumerate(made["smf70_1_logical_processor"]):
                    of_partition = {0: capped[0], 2: capped[1]}.get(number // 2, 0)
                    row |= {"smf70nsw": of_partition, "smf70nca": of_partition // 5}
                if name == "SYB" and minute >= IPL_MINUTE:
                    made["smf70_1_cpu_control"][0]["smf70_ipl_time"] = START + timedelta(minutes=IPL_MINUTE)
                dump.write(interval.record("smf70_1", made))
        dump.finish("SYA", START.replace(tzinfo=None))
