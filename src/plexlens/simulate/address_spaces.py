"""SMF 30: what the address spaces of CICS regions and Db2 members used in an interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plexlens.simulate.processors import ADJUSTMENT, ziip_factor
from plexlens.simulate.workload import WORKLOAD, service_of, spaces_by_class
from plexlens.simulate.written import Interval
from plexlens.smf_rows.record import Record
from plexlens.smf_rows.smf30 import AddressSpace, Cpu, Io, record

#: Address space id of a system's first space.
_FIRST = 0x30

#: Programs by service class.
_PROGRAMS = {"CICSRGN": "DFHSIP", "STCDB2": "DSNYASCP", "STCIRLM": "DXRRLM00"}

#: Counters of a pool, and of a member's use of a group buffer pool, that are I/Os.
_IOS = (
    *("sync_reads_random", "sync_reads_sequential", "sequential_reads", "list_reads", "dynamic_reads"),
    *("async_writes", "sync_writes"),
)


def address_space_records(interval: Interval) -> Iterator[Record]:
    """An interval record of each address space."""
    regions = {region["name"]: region for region in interval.truth["regions"]}
    members = {member["name"] + "DBM1": member for member in interval.truth["members"]}
    for system in interval.values["system"]:
        factor = ziip_factor(interval.cec(system))
        number = _FIRST
        for service_class, spaces in spaces_by_class(interval, system["name"]).items():
            for space in spaces:
                name = space["name"]
                member = members.get(name)
                # A member that is restarted elsewhere only gives its locks back.
                here = member if member is not None and member["system"] == system["name"] else None
                yield record(
                    AddressSpace(
                        name=name,
                        program=_PROGRAMS[service_class],
                        number=number,
                        workload=WORKLOAD,
                        service_class=service_class,
                        report_class=name,
                        started=interval.beginning,
                        cpu=_cpu(interval, space, regions.get(name), factor),
                        service=service_of(interval, [space], factor).cpu,
                        adjustment=ADJUSTMENT,
                        io=_io(interval, here) if here is not None else None,
                        above_bar=_pools(interval, here) if here is not None else None,
                    ),
                    system=system["name"],
                    sysplex=interval.sysplex,
                    start=interval.start,
                    end=interval.end,
                )
                number += 1


def _cpu(interval: Interval, space: Mapping[str, Any], region: Mapping[str, Any] | None, factor: float) -> Cpu:
    """Regions work on TCBs, the QR TCB most of all; Db2 and IRLM on SRBs, those of database services preemptable."""
    preemptable = space["name"].endswith("DBM1")
    on_tcbs = region is not None or preemptable
    return Cpu(
        tcb=space["cpu"] if on_tcbs else 0.0,
        preemptable_srb=space["cpu"] if preemptable else 0.0,
        srb=0.0 if on_tcbs else space["cpu"],
        ziip=space["ziip"],
        ziip_on_cp=space["ziip_on_cp"],
        ziip_factor=factor,
        busiest=None if region is None else min(region["qr_cpu"] / interval.seconds, 1.0) * 100,
    )


def ios_of(member: Mapping[str, Any]) -> int:
    """I/Os of a member's pools, including castout."""
    return sum(
        sum(pool["local"].get(name, 0) for name in _IOS) + int(pool["member"].get("castout_unlocks", 0))
        for pool in member["pools"]
    )


def _io(interval: Interval, member: Mapping[str, Any]) -> Io:
    """I/Os of a member; members of one system share the times of its volumes by the number of their I/Os."""
    volumes = interval.used(member["system"])["volumes"]
    requests = ios_of(member)
    of_system = sum(ios_of(entry) for entry in interval.truth["members"] if entry["system"] == member["system"])

    def share(name: str) -> float:
        return float(sum(volume[name] for volume in volumes)) * requests / of_system if of_system else 0.0

    pending, disconnected = share("pending"), share("disconnected")
    return Io(requests, max(share("service") - pending - disconnected, 0.0), pending, disconnected)


def _pools(interval: Interval, member: Mapping[str, Any]) -> int:
    """Bytes of a member's pools, the only known part of its storage."""
    group = next(value for value in interval.values["db2"] if value["group"] == member["group"])
    return sum(int(pool["size"]) * int(pool.get("page_bytes", 4096)) for pool in group["pool"])
