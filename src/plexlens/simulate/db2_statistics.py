"""SMF 100: what each member counted since it started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from plexlens import _core
from plexlens.simulate.written import BEGINNING, Interval, Record, Row

#: QWHSRN of Db2 12, whose statistics have counters of 8 bytes.
RELEASE = 0xC1

#: Levels: in the record as they stand, not counted up. Text and numbers that identify a section, too.
_LEVELS = frozenset({"qbstvpl", "qbstpid", "qbglgn", "qwsaproc"})

#: High-water marks: of the interval, and zero at the beginning.
_MARKS = frozenset({"q3sthwct"})

#: Bytes of a log record with its header, as long as a row of some 200 bytes before and after, and of a log CI.
_LOG_RECORD, _LOG_INTERVAL = 400, 4096

_MEMBER_POOL = {
    "invalid_with_data": "qbglxd",
    "invalid_without_data": "qbglxr",
    "misses_with_data": "qbglmd",
    "misses_without_data": "qbglmr",
    "sync_writes": "qbglsw",
    "async_writes": "qbglaw",
    "failed_writes": "qbglwf",
    "register_lists": "qbglax",
    "prefetched_pages": "qbglay",
    "unregistered": "qbgldg",
    "castout_pages": "qbglrc",
    "castout_unlocks": "qbglun",
    "castout_classes": "qbglcc",
    "castout_statistics": "qbglcs",
    "class_threshold": "qbglct",
    "pool_threshold": "qbglgt",
    "deleted_names": "qbgldn",
}

_PAGE_LOCKS = {
    "requests": "qbglp1",
    "suspensions": "qbgls1",
    "negotiations": "qbgln1",
    "unlocks": "qbglu1",
}

Sections = dict[str, list[Row]]


class Statistics:
    """The members' counters from interval to interval: each record holds the sums since the run was measured."""

    def __init__(self) -> None:
        self._sums: dict[str, dict[tuple[str, int, str], Any]] = {}
        self._sequence = 0
        self._places = {name: place.lower() for name, place, _ in _core.PoolSimulation.fields() if place}

    def beginning(self, interval: Interval) -> Iterator[Record]:
        """Records of both kinds of each member when nothing was counted yet; the interval tells their names."""
        yield from self._at(interval, BEGINNING, {})

    def records(self, interval: Interval) -> Iterator[Record]:
        """Records of both kinds of each member at an interval's end."""
        changes = {member["name"]: self._sections(interval, member) for member in interval.truth["members"]}
        yield from self._at(interval, interval.end, changes)

    def _at(self, interval: Interval, end: datetime, changes: Mapping[str, dict[str, Sections]]) -> Iterator[Record]:
        self._sequence += 1
        for member in interval.truth["members"]:
            held = changes.get(member["name"])
            if held is None:
                held = {
                    name: {section: [_zero(row) for row in rows] for section, rows in sections.items()}
                    for name, sections in self._sections(interval, member).items()
                }
            header: Row = {
                "qwhsssid": member["name"],
                "qwhsstck": end,
                "qwhsiseq": self._sequence,
                "qwhsrn": RELEASE,
            }
            sharing: Row = {"qwhamemn": member["name"], "qwhadsgn": member["group"]}
            for name, sections in held.items():
                summed = {section: self._sum(member["name"], section, rows) for section, rows in sections.items()}
                filled = {section: rows for section, rows in summed.items() if rows}
                filled = {"smf100_qwhs": [header], "smf100_qwha": [sharing]} | filled
                yield Record(name, member["system"], member["name"], end, end, filled)

    def _sum(self, member: str, section: str, rows: list[Row]) -> list[Row]:
        sums = self._sums.setdefault(member, {})
        made = []
        for number, row in enumerate(rows):
            new = dict(row)
            for field, value in row.items():
                if field not in _LEVELS | _MARKS:
                    key = (section, number, field)
                    new[field] = sums[key] = sums.get(key, 0) + value
            made.append(new)
        return made

    def _sections(self, interval: Interval, member: Mapping[str, Any]) -> dict[str, Sections]:
        """What a member did in the interval, by record map and section."""
        group = next(one for one in interval.values["db2"] if one["group"] == member["group"])
        locking = member["locking"]
        pools: list[Row] = []
        shared: list[Row] = []
        for values, used in zip(group["pool"], member["pools"], strict=True):
            pools.append(self._pool(values, used))
            if values.get("group"):
                shared.append(_group_pool(used) | {"qbglgg": _dependent(interval, member, values["number"])})
        return {
            "smf100_ifcid1": {
                "smf100_ifcid1_qwsa": _spaces(interval, member),
                "smf100_ifcid1_q3st": [_services(interval, member)],
                "smf100_ifcid1_qjst": [_log(interval, member)],
            },
            "smf100_ifcid2": {
                "smf100_ifcid2_qbst": pools,
                "smf100_ifcid2_qtxa": [
                    {
                        "qtxalock": locking["locks"],
                        "qtxaunlk": locking["unlocks"],
                        "qtxasloc": locking["suspensions"]["count"],
                        "qtxadea": locking["deadlocks"],
                        "qtxatim": locking["timeouts"],
                    }
                ],
                "smf100_ifcid2_qbgl": shared,
                "smf100_ifcid2_qtgs": [_shared_locking(member)] if group.get("lock") else [],
            },
        }

    def _pool(self, values: Mapping[str, Any], used: Mapping[str, Any]) -> Row:
        counters = used["local"]
        row: Row = {place: counters.get(name, 0) for name, place in self._places.items()}
        # QBSTRIO counts all synchronous reads, QBSTSIO those of sequential access among them.
        row["qbstrio"] = counters["sync_reads_random"] + counters["sync_reads_sequential"]
        return row | {"qbstpid": values["number"], "qbstvpl": values["size"]}


def _zero(row: Row) -> Row:
    """The same section before anything was counted."""
    return {field: value if field in _LEVELS else 0 for field, value in row.items()}


def _accounts(interval: Interval, member: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What transactions that ended on a member did, by class."""
    regions = {one["name"]: one.get("db2") for one in interval.values.get("region", [])}
    for values, used in zip(interval.values["class"], interval.truth["classes"], strict=True):
        if any(regions[name] == member["group"] for name in values["regions"]):
            yield next(one for one in used["systems"] if one["system"] == member["system"])


def _dependent(interval: Interval, member: Mapping[str, Any], pool: int) -> int:
    """Getpages of pages that depended on a group buffer pool."""
    pools = [one for account in _accounts(interval, member) for one in account["pools"] if one["number"] == pool]
    return sum(int(one["dependent_getpages"]) for one in pools)


def _services(interval: Interval, member: Mapping[str, Any]) -> Row:
    """Threads of the regions that work with a member, each created for its unit of work."""
    regions = [one["name"] for one in interval.values.get("region", []) if one.get("db2") == member["group"]]
    used = [one for one in interval.truth["regions"] if one["name"] in regions and one["system"] == member["system"]]
    threads = sum(one["threads"] for one in used)
    return {
        "q3stcthd": threads,
        "q3stterm": threads,
        "q3stsign": threads,
        "q3stcthw": sum(one["thread_waits"]["count"] for one in used),
        "q3stcomm": member["commits"],
        "q3stabrt": member["rollbacks"],
        "q3sthwct": sum(one["most_threads"] for one in used),
    }


def _log(interval: Interval, member: Mapping[str, Any]) -> Row:
    """Log of a member, one copy: a record of each update, one where a unit of work begins and one where it ends.

    A write takes the intervals that were filled since the last, and the one begun.
    """
    accounts = [one["used"] for one in _accounts(interval, member)]
    updates, forces = (round(sum(one[name] for one in accounts)) for name in ("updates", "waits_log"))
    records = updates + 2 * forces
    filled = records * _LOG_RECORD // _LOG_INTERVAL
    return {
        "qjstwrnw": records,
        "qjstwrf": forces,
        "qjstbffl": filled,
        "qjstlogw": member["log_writes"],
        "qjstciwr": filled + member["log_writes"],
    }


def _group_pool(used: Mapping[str, Any]) -> Row:
    row: Row = {"qbglgn": used["number"]}
    row |= {field: used["page_locks"][name] for name, field in _PAGE_LOCKS.items()}
    return row | {field: used["member"].get(name, 0) for name, field in _MEMBER_POOL.items()}


def _shared_locking(member: Mapping[str, Any]) -> Row:
    locking = member["locking"]

    def pages(name: str) -> int:
        return sum(pool["page_locks"][name] for pool in member["pools"])

    physical = locking["page_set_locks"] + pages("requests")
    return {
        "qtgslplk": physical,
        "qtgsuplk": pages("unlocks"),
        # Physical locks go to the lock structure as any other.
        "qtgslslm": locking["global_locks"] + physical,
        "qtgsuslm": locking["global_unlocks"] + pages("unlocks"),
        "qtgspgpe": pages("negotiations"),
        "qtgsiglo": locking["real_contentions"],
        "qtgssglo": locking["xes_contentions"],
        "qtgsflse": locking["false_contentions"],
        "qtgsflmg": locking["false_contentions"],
    }


def _spaces(interval: Interval, member: Mapping[str, Any]) -> list[Row]:
    """Processor time of the member's address spaces, all of it SRBs; those of database services are preemptable."""
    system = next(used for used in interval.truth["systems"] if used["name"] == member["system"])
    used = {space["name"]: space for space in system["spaces"]}
    rows: list[Row] = []
    for name in ("MSTR", "DBM1", "IRLM"):
        space = used[member["name"] + name]
        row: Row = {"qwsaproc": name, "qwsasrbt": space["cpu"], "qwsapsrb_ziip": space["ziip"]}
        row["qwsapsrb"] = space["cpu"] if name == "DBM1" else 0.0
        rows.append(row)
    return rows
