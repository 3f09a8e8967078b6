"""SMF 101: threads of each class and system, rolled up over an interval into one record (as ACCUMACC does)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from plexlens.simulate.db2_statistics import RELEASE
from plexlens.simulate.written import Interval, Record, Row

#: A record that is rolled up has no begin; its end holds elapsed time as a clock that started then.
CLOCK_ZERO = datetime(1900, 1, 1, tzinfo=UTC)

#: QWHCATYP: CICS.
CICS = 4

#: Times of the thread: field of QWAC, and the account's seconds.
TIMES = {
    "qwacasc": "db2_elapsed",
    "qwaccls1_ziip": "db2_ziip",
    "qwaccls2_ziip": "db2_ziip",
    "qwacziip_eligible": "db2_ziip_on_cp",
    "qwacawti": "wait_sync_read",
    "qwacawtr": "wait_other_read",
    "qwacawlg": "wait_log",
    "qwacawtl": "wait_lock",
    "qwacawtj": "wait_contention",
}

#: Counts of the thread: field of QWAC, and the account's count.
COUNTS = {
    "qwacarne": "waits_sync_read",
    "qwacarnr": "waits_other_read",
    "qwacarlg": "waits_log",
    "qwacarnl": "waits_lock",
    "qwacarnj": "waits_contention",
}

#: QTXA, and QTGA of a data-sharing group.
LOCKS = {"qtxalock": "locks", "qtxaunlk": "unlocks", "qtxasloc": "waits_lock"}
SHARED_LOCKS = {
    "qtgauslm": "coupling_unlocks",
    "qtgaflse": "false_contentions",
    "qtgasglo": "xes_contentions",
    "qtgaiglo": "real_contentions",
}

#: QBAC and QBGA: field, and the count of the pool.
POOL = {
    "qbacget": "getpages",
    "qbacrio": "sync_reads",
    "qbacsws": "updates",
    "qbacseq": "sequential_requests",
    "qbacdpf": "dynamic_requests",
    "qbacsio": "prefetch_pages",
}
GROUP_POOL = {
    "qbgagg": "dependent_getpages",
    "qbgaxd": "invalid_with_data",
    "qbgaxr": "invalid_without_data",
    "qbgamd": "misses_with_data",
    "qbgamr": "misses_without_data",
    "qbgasw": "sync_writes",
    "qbgaaw": "async_writes",
}


def correlation(name: str) -> Row:
    """Correlation header of a class's threads."""
    return {
        "qwhcaid": "CICSUSER",
        "qwhcopid": "CICSUSER",
        "qwhccv": f"POOL{name[:4]:4}0001",
        "qwhccn": "CICS",
        "qwhcplan": name,
        "qwhcatyp": CICS,
        "qwhceutx": name,
    }


def _times(counts: Mapping[str, Any], name: str) -> Row:
    used = counts["used"]
    return {
        "qwacesc": CLOCK_ZERO + timedelta(seconds=used["thread_elapsed"]),
        "qwacejst": used["db2_cpu"] - used["db2_ziip"],
        "qwacajst": used["db2_cpu"] - used["db2_ziip"],
        **{field: used[seconds] for field, seconds in TIMES.items()},
        **{field: round(used[count]) for field, count in COUNTS.items()},
        "qwaccomm": counts["response"]["count"],
        "qwacwlme": name,
    }


def accounting_records(interval: Interval) -> Iterator[Record]:
    """A record of each class that calls Db2, on each system where some of it ended.

    Class 1 is the time from a transaction's first thread to its end in Db2; its processor time is that in Db2: what the
    application does runs on another TCB. Waits for asynchronous coupling facility requests are in QWAX.
    """
    for values, used in zip(interval.values["class"], interval.truth["classes"], strict=True):
        group = group_of(interval.values, values)
        if group is None:
            continue
        for counts in used["systems"]:
            member = next((one for one in group["member"] if one["system"] == counts["system"]), None)
            if member is None or counts["response"]["count"] == 0:
                continue
            name, account = used["name"], counts["used"]
            header: Row = {"qwhsssid": member["name"], "qwhsstck": interval.end, "qwhsrn": RELEASE}
            header["qwhsiseq"] = interval.number + 1
            pools = sorted(counts["pools"], key=lambda one: int(one["number"]))
            sections: dict[str, list[Row]] = {
                "smf101_qwhs": [header],
                "smf101_qwhc": [correlation(name)],
                "smf101_ifcid3_qwac": [_times(counts, name)],
                "smf101_ifcid3_qbac": [
                    {"qbacpid": one["number"], **{field: one[count] for field, count in POOL.items()}} for one in pools
                ],
                "smf101_ifcid3_qtxa": [{field: round(account[count]) for field, count in LOCKS.items()}],
                "smf101_ifcid3_qwax": [
                    {"qwaxixlt": account["wait_coupling"], "qwaxixle": round(account["waits_coupling"])}
                ],
            }
            shared = shared_pools(group)
            if shared:
                sections["smf101_ifcid3_qbga"] = [
                    {"qbgagn": one["number"], **{field: one[count] for field, count in GROUP_POOL.items()}}
                    for one in pools
                    if one["number"] in shared
                ]
            if group.get("lock"):
                row: Row = {field: round(account[count]) for field, count in SHARED_LOCKS.items()}
                row["qtgalslm"] = round(account["coupling_locks"] - account["coupling_unlocks"])
                sections["smf101_ifcid3_qtga"] = [row]
            held = {section: rows for section, rows in sections.items() if rows}
            yield Record("smf101_ifcid3", counts["system"], member["name"], interval.end, interval.end, held)


def shared_pools(group: Mapping[str, Any]) -> set[int]:
    """Numbers of a group's pools that have a group buffer pool."""
    return {pool["number"] for pool in group["pool"] if pool.get("group")}


def group_of(scenario: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Data-sharing group that a class's regions are connected to, where the class calls Db2 at all."""
    if not values.get("references") and not values.get("db2_cpu"):
        return None
    regions = {region["name"]: region for region in scenario.get("region", [])}
    name = next((regions[one].get("db2") for one in values["regions"] if regions[one].get("db2")), None)
    return next((group for group in scenario.get("db2", []) if group["group"] == name), None)
