"""SMF 70-1: engines of each system and partitions of its machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plexlens.simulate.written import Interval, Record, Row

#: SMF70CNF: online for the whole interval and at its end.
_ONLINE = 0x09

#: SMF70CIN and SMF70TYP of general engines and zIIPs.
_KINDS = (("CP", 0), ("IIP", 2))

#: SMF70CPA, R723MADJ: 16,000,000 / 1000 = 16,000 service units a second of every engine.
ADJUSTMENT = 1000


def ziip_factor(cec: Mapping[str, Any]) -> float:
    """Speed of a zIIP against that of a general engine of the machine (R723NFFS, SMF70NRM)."""
    return float(cec.get("ziip_speed", 1.0)) / float(cec.get("speed", 1.0))


def _busy(interval: Interval, name: str) -> tuple[float, float]:
    """Busy seconds of general engines and zIIPs of a system."""
    used = next(used for used in interval.truth["systems"] if used["name"] == name)
    return used["busy"], used["ziip_busy"]


def _shares(interval: Interval, system: Mapping[str, Any]) -> Iterator[tuple[int, int, float]]:
    """For each logical engine its kind's number and code, and busy seconds: all of one kind are equally busy."""
    for number, (_, code) in enumerate(_KINDS):
        count = interval.engines(system)[number]
        for _ in range(count):
            yield number, code, min(_busy(interval, system["name"])[number] / count, interval.seconds)


def _cpus(interval: Interval, system: Mapping[str, Any]) -> list[Row]:
    return [
        {"smf70wat": interval.seconds - busy, "smf70cid": address, "smf70cnf": _ONLINE, "smf70typ": code}
        for address, (_, code, busy) in enumerate(_shares(interval, system))
    ]


def _logical(interval: Interval, system: Mapping[str, Any]) -> list[Row]:
    return [
        {
            "smf70pdt": busy,
            "smf70edt": busy,
            "smf70vpa": address,
            "smf70bps": round(system.get("weight", 100)),
            "smf70cix": number + 1,
            "smf70ont": interval.seconds,
            "smf70wst": interval.seconds - busy,
        }
        for address, (number, _, busy) in enumerate(_shares(interval, system))
    ]


def processor_records(interval: Interval) -> Iterator[Record]:
    """A record of each system.

    Busy seconds are spread evenly over the engines of a kind; what managing the partition costs is part of them.
    """
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
