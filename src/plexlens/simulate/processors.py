"""SMF 70-1: engines of each system and partitions of its machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plexlens.simulate.written import Interval, Record, Row

#: SMF70CNF: online for the whole interval and at its end.
_ONLINE = 0x09

#: SMF70CIN and SMF70TYP of general engines and zIIPs.
_KINDS = (("CP", 0), ("IIP", 2))

#: SMF70CPA, R723MADJ: 16,000,000 / 1000 = 16,000 service units a second of every engine.
ADJUSTMENT = 1000


#: Service units per second of an engine, and MSU: millions of service units per hour.
UNITS = 16e6 / ADJUSTMENT
_MSU = UNITS * 3600 / 1e6

#: Seconds over which SMF70LAC is a mean.
_ROLLING = 4 * 3600.0


def ziip_factor(cec: Mapping[str, Any]) -> float:
    """Speed of a zIIP against that of a general engine of the machine (R723NFFS, SMF70NRM)."""
    return float(cec.get("ziip_speed", 1.0)) / float(cec.get("speed", 1.0))


@dataclass(frozen=True)
class _Engine:
    """A logical engine: number and code of its kind, seconds busy, and of these those that PR/SM spent on it."""

    kind: int
    code: int
    busy: float
    management: float


def _engines(interval: Interval, system: Mapping[str, Any]) -> Iterator[_Engine]:
    """The logical engines of a system: all of one kind are equally busy."""
    used = next(used for used in interval.truth["systems"] if used["name"] == system["name"])
    for number, (_, code) in enumerate(_KINDS):
        count = interval.engines(system)[number]
        busy = (used["busy"], used["ziip_busy"])[number]
        for _ in range(count):
            share = min(busy / count, interval.seconds)
            yield _Engine(number, code, share, min(used["management"][number] / count, share))


class Consumption:
    """Processor time of the systems over the last four hours, interval by interval."""

    def __init__(self) -> None:
        self._past: deque[tuple[float, float, dict[str, float]]] = deque()

    def add(self, interval: Interval) -> None:
        """Take an interval in, and forget what is over for four hours."""
        truth = interval.truth
        self._past.append((truth["start"], truth["end"], {one["name"]: one["busy"] for one in truth["systems"]}))
        while self._past[0][1] <= truth["end"] - _ROLLING:
            self._past.popleft()

    def rolling(self, system: str) -> float:
        """Mean MSU of a system's general engines over the last four hours, or since the run was measured."""
        length = self._past[-1][1] - self._past[0][0]
        return sum(busy[system] for _, _, busy in self._past) / length * _MSU


def _cpus(interval: Interval, system: Mapping[str, Any]) -> list[Row]:
    used = next(used for used in interval.truth["systems"] if used["name"] == system["name"])
    requests = sum(volume["requests"] for volume in used["volumes"])
    general = interval.engines(system)[0]
    return [
        {
            "smf70wat": interval.seconds - engine.busy,
            "smf70cid": address,
            "smf70cnf": _ONLINE,
            "smf70typ": engine.code,
            # Each I/O ends with an interruption of a general engine.
            "smf70slh": requests // general + (address < requests % general) if engine.kind == 0 else 0,
            "smf70nio": requests // general + (address < requests % general) if engine.kind == 0 else 0,
        }
        for address, engine in enumerate(_engines(interval, system))
    ]


def _logical(interval: Interval, system: Mapping[str, Any]) -> list[Row]:
    return [
        {
            "smf70pdt": engine.busy,
            "smf70edt": engine.busy - engine.management,
            "smf70vpa": address,
            "smf70bps": round(system.get("weight", 100)),
            "smf70cix": engine.kind + 1,
            "smf70ont": interval.seconds,
            "smf70wst": interval.seconds - engine.busy,
        }
        for address, engine in enumerate(_engines(interval, system))
    ]


def processor_records(interval: Interval, consumption: Consumption) -> Iterator[Record]:
    """A record of each system.

    Busy seconds are spread evenly over the engines of a kind; what managing the partition costs is part of them, and
    of the dispatch time that SMF70PDT has and SMF70EDT has not.
    """
    consumption.add(interval)
    for system in interval.values["system"]:
        cec = interval.cec(system)
        partitions: list[Row] = []
        logical: list[Row] = []
        for number, image in enumerate(interval.images(cec), 1):
            rows = _logical(interval, image)
            partitions.append(
                {
                    "smf70lpm": image["name"],
                    "smf70lpn": number,
                    "smf70bdn": len(rows),
                    "smf70bds": len(logical),
                    "smf70bda": len(rows) * interval.samples,
                    "smf70stn": image["name"],
                }
            )
            logical += rows
        physical = (cec["engines"], cec.get("ziips", 0))
        control: Row = {
            "smf70bnp": sum(physical),
            "smf70mdl": "SIMULATED",
            "smf70dsa": interval.samples,
            "smf70cpa": ADJUSTMENT,
            "smf70adj": ADJUSTMENT,
            "smf70wla": round(interval.engines(system)[0] * _MSU),
            "smf70lac": round(consumption.rolling(system["name"])),
            "smf70mcr": round(cec["engines"] * _MSU),
            "smf70mpr": round(cec["engines"] * _MSU),
            "smf70ncr": round(cec["engines"] * _MSU),
            "smf70npr": round(cec["engines"] * _MSU),
            "smf70cai": 100,
            "smf70sup": interval.engines(system)[1],
            "smf70csc": cec["name"],
            "smf70nrm": ziip_factor(cec),
        }
        sections = {
            "smf70_1_cpu_control": [control],
            "smf70_1_cpu_data": _cpus(interval, system),
            "smf70_1_partition": partitions,
            "smf70_1_logical_processor": logical,
            "smf70_1_cpu_identification": [
                {"smf70cin": kind, "smf70ctn": count, "smf70can": count * interval.samples}
                for (kind, _), count in zip(_KINDS, physical, strict=True)
            ],
        }
        yield interval.record(system, "smf70_1", sections)
