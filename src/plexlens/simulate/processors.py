"""SMF 70-1: engines of each system and partitions of its machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from plexlens.simulate.written import Interval
from plexlens.smf_rows.record import Record
from plexlens.smf_rows.smf70_1 import Engine, Image, Machine, Partition, sections
from plexlens.smf_rows.smf72_3 import units_per_second

#: SMF70CPA, R723MADJ: 16,000,000 / 1000 = 16,000 service units a second of every engine.
ADJUSTMENT = 1000


#: Service units per second of an engine, and MSU: millions of service units per hour.
UNITS = units_per_second(ADJUSTMENT)
_MSU = UNITS * 3600 / 1e6

#: Seconds over which SMF70LAC is a mean.
_ROLLING = 4 * 3600.0


def ziip_factor(cec: Mapping[str, Any]) -> float:
    """Speed of a zIIP relative to a general engine of the machine (R723NFFS, SMF70NRM)."""
    return float(cec.get("ziip_speed", 1.0)) / float(cec.get("speed", 1.0))


def _engines(interval: Interval, system: Mapping[str, Any]) -> list[Engine]:
    """The logical engines of a system; those of the same kind are equally busy."""
    used = interval.used(system["name"])
    engines: list[Engine] = []
    kinds = zip(
        ("CP", "IIP"), interval.engines(system), (used["busy"], used["ziip_busy"]), used["management"], strict=True
    )
    for kind, count, busy, management in kinds:
        for _ in range(count):
            share = min(busy / count, interval.seconds)
            engines.append(Engine(kind, share, min(management / count, share)))
    return engines


class Consumption:
    """Processor time of the systems over the last four hours, interval by interval."""

    def __init__(self) -> None:
        self._past: deque[tuple[float, float, dict[str, float]]] = deque()

    def add(self, interval: Interval) -> None:
        """Add an interval, and drop intervals older than four hours."""
        truth = interval.truth
        self._past.append(
            (truth["start"], truth["end"], {system["name"]: system["busy"] for system in truth["systems"]})
        )
        while self._past[0][1] <= truth["end"] - _ROLLING:
            self._past.popleft()

    def rolling(self, system: str) -> float:
        """Mean MSU of a system's general engines over the last four hours, or since measurement began."""
        length = self._past[-1][1] - self._past[0][0]
        return sum(busy[system] for _, _, busy in self._past) / length * _MSU


def processor_records(interval: Interval, consumption: Consumption) -> Iterator[Record]:
    """A record for each system.

    Busy seconds are spread evenly over the engines of a kind; what managing the partition costs is part of them, and
    of the dispatch time that SMF70PDT has and SMF70EDT has not.
    """
    consumption.add(interval)
    for system in interval.values["system"]:
        cec = interval.cec(system)
        partitions = [
            Partition(image["name"], round(image.get("weight", 100)), _engines(interval, image))
            for image in interval.images(cec)
        ]
        machine = Machine(
            "SIMULATED",
            {"CP": cec["engines"], "IIP": cec.get("ziips", 0)},
            serial=cec["name"],
            adjustment=ADJUSTMENT,
            ziip_factor=ziip_factor(cec),
            msu=round(cec["engines"] * _MSU),
        )
        image = Image(
            interval.images(cec).index(system),
            msu=round(interval.engines(system)[0] * _MSU),
            rolling_msu=round(consumption.rolling(system["name"])),
            # Each I/O ends with an interruption of a general engine.
            interruptions=sum(volume["requests"] for volume in interval.used(system["name"])["volumes"]),
        )
        rows = sections(machine, partitions, image, seconds=interval.seconds, samples=interval.samples)
        yield interval.rmf(system, "smf70_1", rows)
