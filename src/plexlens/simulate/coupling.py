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


def _requests(used: Mapping[str, Any]) -> Row:
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
        "r744ssta": float(used["converted"]),
        "r744sqrc": float(waits["count"]),
        "r744sqtm": waits["seconds"],
        "r744sqsq": waits["squares"],
        "r744scn": float(used["contentions"]),
        "r744sfcn": float(used["false_contentions"]),
    }


def _structures(interval: Interval, system: str, facility: str) -> tuple[list[Row], list[Row]]:
    """Request and cache sections of a facility's structures whose group has a member on the system.

    A structure is where it was at the end of the interval; the requests of an interval in which it moved are all there.
    """
    uses = {(used["name"], used["system"]): used for used in interval.truth["structures"]}
    requests: list[Row] = []
    caches: list[Row] = []
    for group in interval.values.get("db2", []):
        if all(member["system"] != system for member in group["member"]):
            continue
        lock = group.get("lock")
        name = structure_name(group["group"])
        if lock and uses[name, system]["facility"] == facility:
            size = next(size for most, size in _LOCK_ENTRY if len(group["member"]) <= most)
            requests.append(
                _requests(uses[name, system]) | {"r744sltl": lock["entries"], "r744ssiz": lock["entries"] * size}
            )
        for pool in group["pool"]:
            shared = pool.get("group")
            name = structure_name(group["group"], pool["number"])
            if not shared or uses[name, system]["facility"] != facility:
                continue
            caches.append(_cache(interval, group, pool["number"]))
            requests.append(
                _requests(uses[name, system])
                | {
                    "r744cdsi": len(caches),
                    "r744cdne": 1,
                    "r744sdec": shared.get("directory_entries", 5 * shared["data_entries"]),
                    "r744sdel": shared["data_entries"],
                    "r744ssiz": shared["data_entries"] * pool.get("page_bytes", 4096),
                }
            )
    return requests, caches


def coupling_records(interval: Interval) -> Iterator[Record]:
    """A record of each coupling facility and system.

    Of a duplexed structure the first instance has a request section; the work of the second is in its facility's
    busy time. Busy time is the service that requests of the interval asked for.
    """
    systems = interval.values["system"]
    for system in systems:
        for facility, used in zip(
            interval.values.get("coupling_facility", []), interval.truth["facilities"], strict=True
        ):
            requests, caches = _structures(interval, system["name"], facility["name"])
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
                    }
                ],
                "smf74_4_connectivity": [{"r744xsys": peer["name"]} for peer in systems if peer is not system],
                "smf74_4_structure": [
                    {"r744qstr": row["r744snam"], "r744qsiz": row["r744ssiz"], "r744qflg": 0x80} for row in requests
                ],
                "smf74_4_request": requests,
                "smf74_4_processor": [
                    {"r744pnum": number, "r744pbsy": busy, "r744pwai": interval.seconds - busy}
                    for number in range(engines)
                ],
                "smf74_4_cache": caches,
            }
            yield interval.record(system, "smf74_4", sections)
