"""SMF 74-4: each coupling facility and its structures as each system saw them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plexlens.simulate.written import Interval, Record, Row

#: R744STYP.
_LOCK, _CACHE = 3, 4

#: Bytes of an entry of a lock table by the members that it has to tell apart (Db2 for z/OS documentation, lock
#: structure size: 2 bytes up to 7 members, 4 up to 23, 8 up to 32).
_LOCK_ENTRY = ((7, 2), (23, 4), (32, 8))

#: Seven subchannels to a link, as `defaults.rs` has it.
_SUBCHANNELS = 7

#: R744FLVL, R744FMOD: level 25 is that of the machines of 2022.
_LEVEL, _MACHINE = 25, "003931"

#: R744QFLG: active; of a duplexed structure the first instance is the old one of a rebuild that goes on, the second the
#: new one.
_ACTIVE, _FIRST, _SECOND = 0x80, 0x80 | 0x20 | 0x02 | 0x01, 0x80 | 0x40 | 0x02 | 0x01

#: Bytes of a directory entry of a group buffer pool, orders of magnitude; structures come in mebibytes, and facilities
#: in gibibytes.
_DIRECTORY_ENTRY, _MEBIBYTE, _GIBIBYTE = 400, 1 << 20, 1 << 30


def structure_name(group: str, pool: int | None = None) -> str:
    """Name of the lock structure of a group, or of the structure of one of its group buffer pools."""
    return f"{group}_LOCK1" if pool is None else f"{group}_GBP{pool}"


def _cache(interval: Interval, group: Mapping[str, Any], pool: int) -> Row:
    """Counters of a group buffer pool, which the coupling facility keeps for all systems together."""
    members = [member for member in interval.truth["members"] if member["group"] == group["group"]]
    used = [one for member in members for one in member["pools"] if one["number"] == pool]

    def of_all(*names: str) -> float:
        return float(sum(one["member"].get(name, 0) for one in used for name in names))

    shared = used[0]["group"]
    return {
        "r744crhc": of_all("misses_with_data", "invalid_with_data"),
        "r744crmn": of_all("misses_without_data", "invalid_without_data"),
        "r744cwh1": of_all("sync_writes", "async_writes"),
        "r744cwmt": of_all("failed_writes"),
        "r744ccoc": float(shared.get("castout_pages", 0)),
        "r744cder": float(shared.get("directory_reclaims", 0)),
        "r744cdtr": float(shared.get("data_reclaims", 0)),
        "r744cxdr": float(shared.get("invalidated_by_reclaim", 0)),
        "r744cxfw": float(shared.get("invalidated_by_write", 0)),
    }


def _size(interval: Interval, group: Mapping[str, Any], pool: Mapping[str, Any] | None) -> int:
    """Bytes of a structure: a lock table with as much again for the locks of lost members, or directory and data."""
    if pool is None:
        entry = next(size for most, size in _LOCK_ENTRY if len(group["member"]) <= most)
        size = 2 * group["lock"]["entries"] * entry
    else:
        size = _directory(pool) * _DIRECTORY_ENTRY + pool["group"]["data_entries"] * pool.get("page_bytes", 4096)
    return int(-(-size // _MEBIBYTE) * _MEBIBYTE)


def _directory(pool: Mapping[str, Any]) -> int:
    shared = pool["group"]
    return int(shared.get("directory_entries", 5 * shared["data_entries"]))


def _requests(used: Mapping[str, Any], *, second: bool) -> Row:
    """Requests to the first or the second instance of a structure; contention is found by the first."""
    if second:
        synchronous, waits = used["second"], used["second_waits"]
        return {
            "r744snam": used["name"],
            "r744styp": _LOCK if used["lock"] else _CACHE,
            "r744sflg": 0x80,
            "r744strc": float(synchronous["count"]),
            "r744ssrc": float(synchronous["count"]),
            "r744sstm": synchronous["seconds"],
            "r744sssq": synchronous["squares"],
            "r744sqrc": float(waits["count"]),
            "r744sqtm": waits["seconds"],
            "r744sqsq": waits["squares"],
        }
    synchronous, asynchronous, waits = used["synchronous"], used["asynchronous"], used["subchannel_waits"]
    return {
        "r744snam": used["name"],
        "r744styp": _LOCK if used["lock"] else _CACHE,
        "r744sflg": 0x80,
        "r744strc": float(synchronous["count"] + asynchronous["count"]),
        "r744stac": float(used["contentions"]),
        "r744ssrc": float(synchronous["count"]),
        "r744sstm": synchronous["seconds"],
        "r744sssq": synchronous["squares"],
        "r744sarc": float(asynchronous["count"]),
        "r744satm": asynchronous["seconds"],
        "r744sasq": asynchronous["squares"],
        "r744sqrc": float(waits["count"]),
        "r744sqtm": waits["seconds"],
        "r744sqsq": waits["squares"],
        "r744scn": float(used["contentions"]),
        "r744sfcn": float(used["false_contentions"]),
    }


def _structures(interval: Interval, system: str, facility: str) -> tuple[list[Row], list[Row], list[Row]]:
    """Policy, request and cache sections of a facility's structures whose group has a member on the system.

    A structure is where it was at the end of the interval; the requests of an interval in which it moved are all there.
    """
    uses = {(used["name"], used["system"]): used for used in interval.truth["structures"]}
    policy: list[Row] = []
    requests: list[Row] = []
    caches: list[Row] = []
    for group in interval.values.get("db2", []):
        if all(member["system"] != system for member in group["member"]):
            continue
        of_group = [None] if group.get("lock") else []
        for pool in [*of_group, *(pool for pool in group["pool"] if pool.get("group"))]:
            used = uses[structure_name(group["group"], pool and pool["number"]), system]
            second = used["facility"] != facility
            if second and used["second_facility"] != facility:
                continue
            size = _size(interval, group, pool)
            row = _requests(used, second=second) | {"r744ssiz": size, "r744smas": size, "r744smis": size // 2}
            if pool is None:
                row["r744sltl"] = group["lock"]["entries"]
            else:
                caches.append(_cache(interval, group, pool["number"]))
                row |= {
                    "r744cdsi": len(caches),
                    "r744cdne": 1,
                    "r744sdec": _directory(pool),
                    "r744sdel": pool["group"]["data_entries"],
                }
            requests.append(row)
            flags = _SECOND if second else _FIRST if used["second_facility"] else _ACTIVE
            policy.append({"r744qstr": used["name"], "r744qsiz": size, "r744qflg": flags})
    return policy, requests, caches


def _storage(interval: Interval, facility: str) -> Row:
    """Storage of a facility: enough for twice what is in it."""
    taken = 0
    for group in interval.values.get("db2", []):
        for pool in [*([None] if group.get("lock") else []), *(pool for pool in group["pool"] if pool.get("group"))]:
            name = structure_name(group["group"], pool and pool["number"])
            used = next(one for one in interval.truth["structures"] if one["name"] == name)
            taken += _size(interval, group, pool) * [used["facility"], used["second_facility"]].count(facility)
    defined = -(-2 * max(taken, 1) // _GIBIBYTE) * _GIBIBYTE
    return {"r744gcsd": defined, "r744gcsf": defined - taken, "r744gtsd": defined, "r744gtsf": defined - taken}


def coupling_records(interval: Interval) -> Iterator[Record]:
    """A record of each coupling facility and system.

    Both instances of a duplexed structure have a request section. Busy time is the service that requests of the
    interval asked for.
    """
    systems = interval.values["system"]
    facilities = interval.values.get("coupling_facility", [])
    asked = {facility["name"]: 0.0 for facility in facilities}
    sections_of: dict[tuple[str, str], tuple[list[Row], list[Row], list[Row]]] = {}
    for system in systems:
        for name in asked:
            held = sections_of[system["name"], name] = _structures(interval, system["name"], name)
            asked[name] += sum(row["r744strc"] for row in held[1])
    for system in systems:
        for facility, used in zip(facilities, interval.truth["facilities"], strict=True):
            policy, requests, caches = sections_of[system["name"], facility["name"]]
            subchannels = facility.get("subchannels", _SUBCHANNELS)
            engines = used["engines"]
            busy = min(used["busy"] / engines, interval.seconds)
            sections: dict[str, list[Row]] = {
                "smf74_4_local_cf": [
                    {
                        "r744fnam": facility["name"],
                        "r744fsys": system["name"],
                        "r744fflg": 0x80,
                        "r744fpam": 1,
                        "r744fscg": subchannels,
                        "r744fscu": subchannels,
                        "r744fscl": subchannels,
                        "r744ftor": sum(row["r744strc"] for row in requests),
                        "r744flvl": _LEVEL,
                        "r744fmod": _MACHINE,
                        "r744fpdn": engines,
                    }
                ],
                "smf74_4_connectivity": [{"r744xsys": peer["name"]} for peer in systems if peer is not system],
                "smf74_4_storage": [_storage(interval, facility["name"])],
                "smf74_4_structure": policy,
                "smf74_4_request": requests,
                "smf74_4_processor": [
                    {
                        "r744pnum": number,
                        "r744pbsy": busy,
                        "r744pwai": interval.seconds - busy,
                        "r744ptyp": 0x80,
                        "r744pcct": round(asked[facility["name"]] / engines),
                    }
                    for number in range(engines)
                ],
                "smf74_4_cache": caches,
            }
            yield interval.record(system, "smf74_4", sections)
