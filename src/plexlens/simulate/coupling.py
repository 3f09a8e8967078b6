"""SMF 74-4: each coupling facility and its structures as seen by each system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from plexlens.simulate.written import Interval
from plexlens.smf_rows import smf74_4
from plexlens.smf_rows.record import Record

#: Bytes of an entry of a lock table by the number of members (Db2 for z/OS documentation, lock
#: structure size: 2 bytes up to 7 members, 4 up to 23, 8 up to 32).
_LOCK_ENTRY = ((7, 2), (23, 4), (32, 8))

#: Seven subchannels to a link, as `defaults.rs` has it.
_SUBCHANNELS = 7

#: Seconds of a round trip per km of fibre, as the simulator has it (`building.rs`).
_ROUND_TRIP = 1e-5

#: R744FLVL, R744FMOD: level 25 is that of the machines of 2022.
_LEVEL, _MACHINE = 25, "003931"

#: Bytes of a directory entry of a group buffer pool, orders of magnitude; structures come in mebibytes, and facilities
#: in gibibytes.
_DIRECTORY_ENTRY, _MEBIBYTE, _GIBIBYTE = 400, 1 << 20, 1 << 30


def structure_name(group: str, pool: int | None = None) -> str:
    """Name of the lock structure of a group, or of the structure of one of its group buffer pools."""
    return f"{group}_LOCK1" if pool is None else f"{group}_GBP{pool}"


def _cache(interval: Interval, group: Mapping[str, Any], pool: int) -> smf74_4.Cache:
    """Counters of a group buffer pool, which the coupling facility keeps for all systems together."""
    members = [member for member in interval.truth["members"] if member["group"] == group["group"]]
    used = [entry for member in members for entry in member["pools"] if entry["number"] == pool]

    def of_all(*names: str) -> float:
        return float(sum(entry["member"].get(name, 0) for entry in used for name in names))

    shared = used[0]["group"]
    return smf74_4.Cache(
        hits=of_all("misses_with_data", "invalid_with_data"),
        misses=of_all("misses_without_data", "invalid_without_data"),
        writes=of_all("sync_writes", "async_writes"),
        castouts=float(shared.get("castout_pages", 0)),
        failed_writes=of_all("failed_writes"),
        directory_reclaims=float(shared.get("directory_reclaims", 0)),
        data_reclaims=float(shared.get("data_reclaims", 0)),
        invalidated_by_reclaim=float(shared.get("invalidated_by_reclaim", 0)),
        invalidated_by_write=float(shared.get("invalidated_by_write", 0)),
        changed=used[0]["changed_in_group"],
    )


def _size(interval: Interval, group: Mapping[str, Any], pool: Mapping[str, Any] | None) -> int:
    """Bytes of a structure: a lock table plus the same again for retained locks, or directory and data."""
    if pool is None:
        entry = next(size for most, size in _LOCK_ENTRY if len(group["member"]) <= most)
        size = 2 * group["lock"]["entries"] * entry
    else:
        size = _directory(pool) * _DIRECTORY_ENTRY + pool["group"]["data_entries"] * pool.get("page_bytes", 4096)
    return int(-(-size // _MEBIBYTE) * _MEBIBYTE)


def _directory(pool: Mapping[str, Any]) -> int:
    shared = pool["group"]
    return int(shared.get("directory_entries", 5 * shared["data_entries"]))


def _times(counted: Mapping[str, Any]) -> smf74_4.Times:
    return smf74_4.Times(counted["count"], counted["seconds"], counted["squares"])


def _structures(interval: Interval, system: str, facility: str) -> list[smf74_4.Structure]:
    """A facility's structures whose group has a member on the system.

    A structure is where it was at the end of the interval; the requests of an interval in which it moved are all there.
    """
    uses = {(used["name"], used["system"]): used for used in interval.truth["structures"]}
    structures: list[smf74_4.Structure] = []
    for group in interval.values.get("db2", []):
        if all(member["system"] != system for member in group["member"]):
            continue
        of_group = [None] if group.get("lock") else []
        for pool in [*of_group, *(pool for pool in group["pool"] if pool.get("group"))]:
            used = uses[structure_name(group["group"], pool and pool["number"]), system]
            second = used["facility"] != facility
            if second and used["second_facility"] != facility:
                continue
            structure = _second(used) if second else _first(used)
            size = _size(interval, group, pool)
            structure = replace(structure, size=size, least_size=size // 2)
            if pool is None:
                structure = replace(structure, lock_entries=group["lock"]["entries"])
            else:
                written, read = _moved(interval, group, pool, system)
                structure = replace(
                    structure,
                    cache=_cache(interval, group, pool["number"]),
                    directory_entries=_directory(pool),
                    data_entries=pool["group"]["data_entries"],
                    written=written,
                    # The second instance of a duplexed structure is written only.
                    read=0 if second else read,
                )
            structures.append(structure)
    return structures


def _moved(interval: Interval, group: Mapping[str, Any], pool: Mapping[str, Any], system: str) -> tuple[int, int]:
    """Bytes that members of a system wrote to a group buffer pool and read from it, castout among the reads."""
    used = [
        entry["member"]
        for member in interval.truth["members"]
        if member["group"] == group["group"] and member["system"] == system
        for entry in member["pools"]
        if entry["number"] == pool["number"]
    ]

    def pages(*names: str) -> int:
        return sum(int(entry.get(name, 0)) for entry in used for name in names)

    size = int(pool.get("page_bytes", 4096))
    read = pages("misses_with_data", "invalid_with_data", "prefetched_pages", "castout_pages")
    return pages("sync_writes", "async_writes") * size, read * size


def _first(used: Mapping[str, Any]) -> smf74_4.Structure:
    """Requests to a structure, or to the first instance of a duplexed structure, which detects contention."""
    return smf74_4.Structure(
        name=used["name"],
        type="lock" if used["lock"] else "cache",
        size=0,
        synchronous=_times(used["synchronous"]),
        state=smf74_4.FIRST if used["second_facility"] else smf74_4.ACTIVE,
        asynchronous=_times(used["asynchronous"]),
        waits=_times(used["subchannel_waits"]),
        deferred=used["contentions"],
        contentions=used["contentions"],
        false_contentions=used["false_contentions"],
    )


def _second(used: Mapping[str, Any]) -> smf74_4.Structure:
    """Requests to the second instance of a duplexed structure."""
    return smf74_4.Structure(
        name=used["name"],
        type="lock" if used["lock"] else "cache",
        size=0,
        synchronous=_times(used["second"]),
        state=smf74_4.SECOND,
        waits=_times(used["second_waits"]),
    )


def _storage(interval: Interval, facility: str) -> tuple[int, int]:
    """Storage of a facility, enough for twice its contents, and its free part."""
    taken = 0
    for group in interval.values.get("db2", []):
        for pool in [*([None] if group.get("lock") else []), *(pool for pool in group["pool"] if pool.get("group"))]:
            name = structure_name(group["group"], pool and pool["number"])
            used = next(structure for structure in interval.truth["structures"] if structure["name"] == name)
            taken += _size(interval, group, pool) * [used["facility"], used["second_facility"]].count(facility)
    defined = -(-2 * max(taken, 1) // _GIBIBYTE) * _GIBIBYTE
    return defined, defined - taken


def coupling_records(interval: Interval) -> Iterator[Record]:
    """A record for each coupling facility and system.

    Both instances of a duplexed structure have a request section. Busy time is the service that requests of the
    interval asked for.
    """
    systems = interval.values["system"]
    facilities = interval.values.get("coupling_facility", [])
    used = {
        (system["name"], facility["name"]): _structures(interval, system["name"], facility["name"])
        for system in systems
        for facility in facilities
    }
    for system in systems:
        for facility, did in zip(facilities, interval.truth["facilities"], strict=True):
            count = sum(
                structure.asked
                for (_, name), structures in used.items()
                if name == facility["name"]
                for structure in structures
            )
            storage, free = _storage(interval, facility["name"])
            text = smf74_4.Facility(
                name=facility["name"],
                paths=1,
                subchannels=facility.get("subchannels", _SUBCHANNELS),
                engines=did["engines"],
                busy=min(did["busy"] / did["engines"], interval.seconds),
                storage=storage,
                free=free,
                controlled=True,
                commands=round(count / did["engines"]),
                level=_LEVEL,
                machine=_MACHINE,
                dedicated=True,
                peers=[peer["name"] for peer in systems if peer is not system],
                round_trip=_ROUND_TRIP * facility.get("distance_km", 0.0),
            )
            structures = used[system["name"], facility["name"]]
            rows = smf74_4.sections(text, structures, system=system["name"], seconds=interval.seconds)
            yield interval.rmf(system, "smf74_4", rows)
