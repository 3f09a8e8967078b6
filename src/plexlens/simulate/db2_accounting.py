"""SMF 101: threads of each class and system, rolled up over an interval (like ACCUMACC), or a record per thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens import _core
from plexlens.simulate.logged import (
    NETWORK,
    Integers,
    Places,
    Stretch,
    bytes_of,
    floats,
    integers,
    names,
    origins,
    timestamps,
    unit_of_work_token,
)
from plexlens.simulate.written import Interval
from plexlens.smf_rows.db2 import CICS_ATTACH, DB2_12, QWHC, QWHS, header_row
from plexlens.smf_rows.record import Record, Row, Sections, named
from plexlens.smf_rows.smf101 import QBAC, QBGA, QTGA, QTXA, QWAC, QWAX, rolled_up

#: IFCID of accounting.
_ACCOUNTING = 3

#: Seconds and counts of an account that stand in records under the same names.
_SECONDS = (
    *("db2_elapsed", "wait_sync_read", "wait_other_read", "wait_log", "wait_lock", "wait_commit", "wait_contention"),
    *("wait_page_lock", "wait_coupling", "db2_ziip"),
)
_COUNTS = (
    *("waits_sync_read", "waits_other_read", "waits_log", "waits_lock", "waits_commit", "waits_contention"),
    *("waits_page_lock", "waits_coupling", "commits", "rollbacks", "locks", "unlocks"),
    *("coupling_unlocks", "false_contentions", "xes_contentions", "real_contentions"),
)

#: Counts of an account, which sums of many transactions have as floating point.
_WHOLE = frozenset((*_COUNTS, "coupling_locks"))


def _correlation(name: str) -> Row:
    """Identification of the threads of a class."""
    return {
        "user": "CICSUSER",
        "original_user": "CICSUSER",
        "correlation": f"POOL{name[:4]:4}0001",
        "connection": "CICS",
        "plan": name,
        "attach": CICS_ATTACH,
        "end_user_transaction": name,
    }


def _quantities(account: Mapping[str, Any], name: Any) -> Row:
    """Quantities of records from accounts, be these numbers or columns.

    The processor time of class 1 is that in Db2: what the application does runs on another TCB.
    """
    general = account["db2_cpu"] - account["db2_ziip"]
    return {
        **{text: account[text] for text in (*_SECONDS, *_COUNTS)},
        "cpu": general,
        "db2_cpu": general,
        "ziip": account["db2_ziip"],
        "ziip_on_cp": account["db2_ziip_on_cp"],
        "lock_structure_locks": account["coupling_locks"] - account["coupling_unlocks"],
        "service_class": name,
    }


def accounting_records(interval: Interval) -> Iterator[Record]:
    """A record for each class that calls Db2, on each system where any of its transactions ended.

    Class 1 is the time from a transaction's first thread to its end in Db2. Waits for asynchronous coupling facility
    requests are in QWAX.
    """
    for values, used in zip(interval.values["class"], interval.truth["classes"], strict=True):
        group = group_of(interval.values, values)
        if group is None:
            continue
        for counts in used["systems"]:
            member = next((member for member in group["member"] if member["system"] == counts["system"]), None)
            if member is None or counts["response"]["count"] == 0:
                continue
            yield _rolled_up(interval, group, member, used["name"], counts)


def _rolled_up(
    interval: Interval, group: Mapping[str, Any], member: Mapping[str, Any], name: str, counts: Mapping[str, Any]
) -> Record:
    account = {key: round(value) if key in _WHOLE else value for key, value in counts["used"].items()}
    quantities = _quantities(account, name) | {"end": rolled_up(account["thread_elapsed"])}
    pools = sorted(counts["pools"], key=lambda entry: int(entry["number"]))
    shared = shared_pools(group)
    sections: Sections = {
        "smf101_qwhs": [header_row(member["name"], interval.end, interval.number + 1)],
        "smf101_qwhc": [named(QWHC, _correlation(name))],
        "smf101_ifcid3_qwac": [named(QWAC, quantities)],
        "smf101_ifcid3_qbac": [named(QBAC, pool) for pool in pools],
        "smf101_ifcid3_qtxa": [named(QTXA, quantities)],
        "smf101_ifcid3_qwax": [named(QWAX, quantities)],
        "smf101_ifcid3_qbga": [named(QBGA, pool) for pool in pools if pool["number"] in shared],
        "smf101_ifcid3_qtga": [named(QTGA, quantities)] if group.get("lock") else [],
    }
    contents = {section: rows for section, rows in sections.items() if rows}
    return Record("smf101_ifcid3", member["system"], interval.end, contents, member["name"])


def shared_pools(group: Mapping[str, Any]) -> set[int]:
    """Numbers of a group's pools that have a group buffer pool."""
    return {pool["number"] for pool in group["pool"] if pool.get("group")}


def group_of(scenario: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Data-sharing group of a class's regions, if the class calls Db2."""
    if not values.get("references") and not values.get("db2_cpu"):
        return None
    regions = {region["name"]: region for region in scenario.get("region", [])}
    name = next((regions[region].get("db2") for region in values["regions"] if regions[region].get("db2")), None)
    return next((group for group in scenario.get("db2", []) if group["group"] == name), None)


def thread_records(catalogue: _core.Catalogue, places: Places, logged: Mapping[str, pa.RecordBatch]) -> Stretch | None:
    """A record for each transaction that used Db2, written at its end, with the fields of `accounting_records`.

    Begin and end of class 1 are those of the thread. A transaction whose unit of work was rolled back and tried again
    has one record for all its units.
    """
    everyone = logged["transactions"]
    used = np.flatnonzero(floats(everyone, "thread_elapsed") > 0)
    if not len(used):
        return None
    rows = everyone.take(pa.array(used))
    region, origin = integers(rows, "region"), origins(rows)
    ended = places.micros(integers(rows, "ended"))
    numbers = pa.array(used.astype(np.uint64))
    member = names(places.members_of_regions, region)
    name = names(places.classes, integers(rows, "class"))
    group = places.groups_of_regions
    token = unit_of_work_token(rows)
    account = {text: integers(rows, text) for text in _WHOLE} | {
        text: floats(rows, text) for text in (*_SECONDS, "db2_cpu", "db2_ziip_on_cp")
    }
    quantities = _quantities(account, name) | {
        "begin": timestamps(places.micros(integers(rows, "thread_begin"))),
        "end": timestamps(places.micros(integers(rows, "thread_end"))),
        "entries": integers(rows, "db2_calls") + integers(rows, "commits"),
    }
    quantities = {key: pa.array(value) for key, value in quantities.items()}
    header = {
        "subsystem": member,
        "sequence": rows["number"],
        "release": _constant(DB2_12, rows),
        "ifcid": _constant(_ACCOUNTING, rows),
        "network": _constant(NETWORK, rows),
        "lu_name": names(places.regions, origin),
        "unit_of_work": bytes_of(token),
        "commit_number": _constant(1, rows),
    }
    correlation: dict[str, Any] = {
        key: names([_correlation(text)[key] for text in places.classes], integers(rows, "class"))
        if isinstance(value, str)
        else _constant(value, rows)
        for key, value in _correlation("").items()
    }
    correlation["token"] = bytes_of(np.hstack([_origin_bytes(places.regions, origin), token]))
    sections = {
        "smf101_qwhs": {
            "record_no": numbers,
            "system": names(places.systems_of_regions, region),
            "subsystem": member,
            "interval_end": timestamps(ended),
            **named(QWHS, header),
        },
        "smf101_qwhc": {"record_no": numbers, **named(QWHC, correlation)},
        **{
            section: {"record_no": numbers, **named(fields, quantities)}
            for section, fields in (
                ("smf101_ifcid3_qwac", QWAC),
                ("smf101_ifcid3_qtxa", QTXA),
                ("smf101_ifcid3_qwax", QWAX),
            )
        },
    }
    sections |= _pool_sections(places, everyone, logged["pools"])
    sharing = np.isin(group[region], [at for at, entry in enumerate(places.groups) if entry.get("lock")])
    if sharing.any():
        sections["smf101_ifcid3_qtga"] = _filtered({"record_no": numbers, **named(QTGA, quantities)}, sharing)
    batches = {section: pa.RecordBatch.from_pydict(columns) for section, columns in sections.items()}
    encoded = _core.encode_records(
        catalogue, "smf101_ifcid3", {section: rows for section, rows in batches.items() if rows.num_rows}
    )
    return Stretch(encoded, ended)


def _pool_sections(
    places: Places, transactions: pa.RecordBatch, pools: pa.RecordBatch
) -> dict[str, dict[str, pa.Array]]:
    """QBAC of each pool used by a transaction, QBGA of those with a group buffer pool."""
    at = integers(pools, "transaction")
    quantities = {name: pools[name] for name in pools.schema.names} | {"number": pools["pool"]}
    numbers = pa.array(at.astype(np.uint64))
    pool_sections = {"smf101_ifcid3_qbac": {"record_no": numbers, **named(QBAC, quantities)}}
    group = places.groups_of_regions[integers(transactions, "region")[at]]
    number = integers(pools, "pool")
    shared = np.zeros(len(at), np.bool_)
    for which, values in enumerate(places.groups):
        shared |= (group == which) & np.isin(number, list(shared_pools(values)))
    if shared.any():
        pool_sections["smf101_ifcid3_qbga"] = _filtered({"record_no": numbers, **named(QBGA, quantities)}, shared)
    return pool_sections


def _filtered(columns: dict[str, pa.Array], rows: npt.NDArray[np.bool_]) -> dict[str, pa.Array]:
    chosen = pa.array(rows)
    return {name: column.filter(chosen) for name, column in columns.items()}


def _constant(value: str | int, rows: pa.RecordBatch) -> pa.Array:
    return pa.repeat(pa.scalar(value), rows.num_rows)


def _origin_bytes(regions: Sequence[str], origin: Integers) -> npt.NDArray[np.uint8]:
    """Network and region in which a transaction arrived, 8 characters each in EBCDIC."""
    texts = [f"{NETWORK:8.8}{region:8.8}".encode("cp037") for region in regions]
    table = np.frombuffer(b"".join(texts), np.uint8).reshape(-1, 16)
    chosen: npt.NDArray[np.uint8] = table[origin]
    return chosen
