"""SMF 101: threads of each class and system, rolled up over an interval into one record (as ACCUMACC does)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from plexlens.simulate.db2_statistics import RELEASE
from plexlens.simulate.written import Interval, Record, Row

#: A record that is rolled up has no begin; its end holds elapsed time as a clock that started then.
_CLOCK_ZERO = datetime(1900, 1, 1, tzinfo=UTC)

#: QWHCATYP: CICS.
_CICS = 4


def _times(counts: Mapping[str, Any], name: str) -> Row:
    used = counts["used"]
    return {
        "qwacesc": _CLOCK_ZERO + timedelta(seconds=used["db2_elapsed"]),
        "qwacejst": used["db2_cpu"] - used["db2_ziip"],
        "qwaccls1_ziip": used["db2_ziip"],
        "qwacziip_eligible": used["db2_ziip_on_cp"],
        "qwacasc": used["db2_elapsed"],
        "qwacajst": used["db2_cpu"] - used["db2_ziip"],
        "qwaccls2_ziip": used["db2_ziip"],
        "qwacawti": used["wait_sync_read"],
        "qwacarne": round(used["sync_reads"]),
        "qwacawtr": used["wait_other_read"],
        "qwacarnr": round(used["prefetches"]),
        "qwacawlg": used["wait_log"],
        "qwacawtl": used["wait_lock"],
        "qwacawtj": used["wait_contention"],
        "qwaccomm": counts["response"]["count"],
        "qwacwlme": name,
    }


def accounting_records(interval: Interval) -> Iterator[Record]:
    """A record of each class that calls Db2, on each system where some of it ended.

    A thread's class 1 times are those in Db2: what the application does runs on another TCB. Waits for asynchronous
    coupling facility requests are in QWAX.
    """
    for values, used in zip(interval.values["class"], interval.truth["classes"], strict=True):
        group = _group(interval, values)
        if group is None:
            continue
        for counts in used["systems"]:
            member = next((one for one in group["member"] if one["system"] == counts["system"]), None)
            if member is None or counts["response"]["count"] == 0:
                continue
            name = used["name"]
            header: Row = {"qwhsssid": member["name"], "qwhsstck": interval.end, "qwhsrn": RELEASE}
            header["qwhsiseq"] = interval.number + 1
            correlation: Row = {
                "qwhcaid": "CICSUSER",
                "qwhcopid": "CICSUSER",
                "qwhccv": f"POOL{name[:4]:4}0001",
                "qwhccn": "CICS",
                "qwhcplan": name,
                "qwhcatyp": _CICS,
                "qwhceutx": name,
            }
            sections: dict[str, list[Row]] = {
                "smf101_qwhs": [header],
                "smf101_qwhc": [correlation],
                "smf101_ifcid3_qwac": [_times(counts, name)],
                "smf101_ifcid3_qtxa": [{"qtxalock": round(counts["used"]["locks"])}],
                "smf101_ifcid3_qwax": [{"qwaxixlt": counts["used"]["wait_coupling"]}],
            }
            pool = _only_pool(group, values)
            if pool is not None:
                sections["smf101_ifcid3_qbac"] = [
                    {
                        "qbacpid": pool,
                        "qbacget": round(counts["used"]["getpages"]),
                        "qbacrio": round(counts["used"]["sync_reads"]),
                        "qbacsws": round(counts["used"]["updates"]),
                    }
                ]
            yield Record("smf101_ifcid3", counts["system"], member["name"], interval.end, interval.end, sections)


def _group(interval: Interval, values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Data-sharing group that a class's regions are connected to, where the class calls Db2 at all."""
    if not values.get("references") and not values.get("db2_cpu"):
        return None
    regions = {region["name"]: region for region in interval.values.get("region", [])}
    name = next((regions[one].get("db2") for one in values["regions"] if regions[one].get("db2")), None)
    return next((group for group in interval.values.get("db2", []) if group["group"] == name), None)


def _only_pool(group: Mapping[str, Any], values: Mapping[str, Any]) -> int | None:
    """Pool of a class's page sets; None where there are several: the simulator counts a class's getpages together."""
    pools = {one["name"]: one["pool"] for one in group["page_set"]}
    found = {pools[one["page_set"]] for one in values.get("references", [])}
    return found.pop() if len(found) == 1 else None
