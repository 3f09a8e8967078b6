"""SMF 101: threads of each class and system, rolled up over an interval (as ACCUMACC does), or each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens import _core
from plexlens.simulate.db2_statistics import RELEASE
from plexlens.simulate.logged import (
    NETWORK,
    Integers,
    Places,
    Stretch,
    bytes_of,
    floats,
    integers,
    micros,
    names,
    origins,
    timestamps,
    unit_of_work_token,
)
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
    "qwacawte": "wait_commit",
    "qwacawtj": "wait_contention",
}

#: Counts of the thread: field of QWAC, and the account's count.
COUNTS = {
    "qwacarne": "waits_sync_read",
    "qwacarnr": "waits_other_read",
    "qwacarlg": "waits_log",
    "qwacarnl": "waits_lock",
    "qwacarns": "waits_commit",
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
        "qwaccomm": round(used["commits"]),
        "qwacabrt": round(used["rollbacks"]),
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


def thread_records(catalogue: _core.Catalogue, places: Places, logged: Mapping[str, pa.RecordBatch]) -> Stretch | None:
    """A record of each transaction that used Db2, written when it ended, with the fields of `accounting_records`.

    Begin and end of class 1 are those of the thread. A transaction whose unit of work was rolled back and tried again
    has one record for all its units.
    """
    everyone = logged["transactions"]
    used = np.flatnonzero(floats(everyone, "thread_elapsed") > 0)
    if not len(used):
        return None
    rows = everyone.take(pa.array(used))
    region, origin = integers(rows, "region"), origins(rows)
    ended = micros(integers(rows, "ended"))
    numbers = pa.array(used.astype(np.uint64))
    member = names(places.members_of_regions, region)
    name = names(places.classes, integers(rows, "class"))
    group = places.groups_of_regions
    token = unit_of_work_token(rows)
    seconds = {field: pa.array(floats(rows, account)) for field, account in TIMES.items()}
    counts = {field: pa.array(integers(rows, account)) for field, account in COUNTS.items()}
    cpu = pa.array(floats(rows, "db2_cpu") - floats(rows, "db2_ziip"))
    sections = {
        "smf101_qwhs": {
            "record_no": numbers,
            "system": names(places.systems_of_regions, region),
            "subsystem": member,
            "interval_end": timestamps(ended),
            "qwhsssid": member,
            "qwhsrn": _constant(RELEASE, rows),
            "qwhsiid": _constant(3, rows),
            "qwhsiseq": rows["number"],
            "qwhsnid": _constant(NETWORK, rows),
            "qwhslunm": names(places.regions, origin),
            "qwhsluuv": bytes_of(token),
            "qwhslucc": _constant(1, rows),
        },
        "smf101_qwhc": {
            "record_no": numbers,
            **{
                field: names([correlation(one)[field] for one in places.classes], integers(rows, "class"))
                if isinstance(value, str)
                else _constant(value, rows)
                for field, value in correlation("").items()
            },
            "qwhctokn": bytes_of(np.hstack([_origin_bytes(places.regions, origin), token])),
        },
        "smf101_ifcid3_qwac": {
            "record_no": numbers,
            "qwacbsc": timestamps(micros(integers(rows, "thread_begin"))),
            "qwacesc": timestamps(micros(integers(rows, "thread_end"))),
            "qwacejst": cpu,
            "qwacajst": cpu,
            **seconds,
            **counts,
            "qwacarna": pa.array(integers(rows, "db2_calls") + integers(rows, "commits")),
            "qwaccomm": pa.array(integers(rows, "commits")),
            "qwacabrt": pa.array(integers(rows, "rollbacks")),
            "qwacwlme": name,
        },
        "smf101_ifcid3_qtxa": {
            "record_no": numbers,
            **{field: pa.array(integers(rows, account)) for field, account in LOCKS.items()},
        },
        "smf101_ifcid3_qwax": {
            "record_no": numbers,
            "qwaxixlt": rows["wait_coupling"],
            "qwaxixle": pa.array(integers(rows, "waits_coupling")),
        },
    }
    sections |= _pool_sections(places, everyone, logged["pools"])
    sharing = np.isin(group[region], [at for at, one in enumerate(places.groups) if one.get("lock")])
    if sharing.any():
        sections["smf101_ifcid3_qtga"] = _filtered(
            {
                "record_no": numbers,
                "qtgalslm": pa.array(integers(rows, "coupling_locks") - integers(rows, "coupling_unlocks")),
                **{field: pa.array(integers(rows, account)) for field, account in SHARED_LOCKS.items()},
            },
            sharing,
        )
    batches = {section: pa.RecordBatch.from_pydict(columns) for section, columns in sections.items()}
    encoded = _core.encode_records(
        catalogue, "smf101_ifcid3", {section: rows for section, rows in batches.items() if rows.num_rows}
    )
    return Stretch(encoded, ended)


def _pool_sections(
    places: Places, transactions: pa.RecordBatch, pools: pa.RecordBatch
) -> dict[str, dict[str, pa.Array]]:
    """QBAC of each pool that a transaction used, QBGA of those with a group buffer pool."""
    at = integers(pools, "transaction")
    columns = {"record_no": pa.array(at.astype(np.uint64)), "qbacpid": pools["pool"]}
    local = columns | {field: pools[count] for field, count in POOL.items()}
    made = {"smf101_ifcid3_qbac": local}
    group = places.groups_of_regions[integers(transactions, "region")[at]]
    number = integers(pools, "pool")
    shared = np.zeros(len(at), np.bool_)
    for which, values in enumerate(places.groups):
        shared |= (group == which) & np.isin(number, list(shared_pools(values)))
    if shared.any():
        columns = {"record_no": columns["record_no"], "qbgagn": pools["pool"]}
        made["smf101_ifcid3_qbga"] = _filtered(
            columns | {field: pools[count] for field, count in GROUP_POOL.items()}, shared
        )
    return made


def _filtered(columns: dict[str, pa.Array], rows: npt.NDArray[np.bool_]) -> dict[str, pa.Array]:
    chosen = pa.array(rows)
    return {name: column.filter(chosen) for name, column in columns.items()}


def _constant(value: str | int, rows: pa.RecordBatch) -> pa.Array:
    return pa.repeat(pa.scalar(value), rows.num_rows)


def _origin_bytes(regions: Sequence[str], origin: Integers) -> npt.NDArray[np.uint8]:
    """Network and region in which a transaction came in, 8 characters each in EBCDIC."""
    texts = [f"{NETWORK:8.8}{region:8.8}".encode("cp037") for region in regions]
    table = np.frombuffer(b"".join(texts), np.uint8).reshape(-1, 16)
    chosen: npt.NDArray[np.uint8] = table[origin]
    return chosen
