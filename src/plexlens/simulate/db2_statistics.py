"""SMF 100: cumulative counters of each member since its start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from plexlens.simulate.written import Interval
from plexlens.smf_rows import smf100
from plexlens.smf_rows.record import Record, Row, Sections

#: Bytes of a log record with its header, as long as a row of some 200 bytes before and after, and of a log CI.
_LOG_RECORD, _LOG_INTERVAL = 400, 4096

#: Copies of the log, which are written at the same time.
_COPIES = 2


class Statistics:
    """The members' counters from interval to interval: each record holds the sums since measurement began."""

    def __init__(self) -> None:
        self._sums: dict[str, dict[tuple[str, int, str], Any]] = {}
        self._sequence = 0

    def beginning(self, interval: Interval) -> Iterator[Record]:
        """Records of both kinds for each member with zero counters; the interval supplies their names."""
        yield from self._at(interval, interval.beginning, {})

    def records(self, interval: Interval) -> Iterator[Record]:
        """Records of both kinds for each member at an interval's end."""
        changes = {member["name"]: _sections(interval, member) for member in interval.truth["members"]}
        yield from self._at(interval, interval.end, changes)

    def _at(self, interval: Interval, end: datetime, changes: Mapping[str, dict[str, Sections]]) -> Iterator[Record]:
        self._sequence += 1
        for member in interval.truth["members"]:
            change = changes.get(member["name"])
            if change is None:
                change = {
                    name: {section: [smf100.before(row) for row in rows] for section, rows in sections.items()}
                    for name, sections in _sections(interval, member).items()
                }
            for name, sections in change.items():
                yield smf100.record(
                    name,
                    {section: self._sum(member["name"], section, rows) for section, rows in sections.items()},
                    system=member["system"],
                    subsystem=member["name"],
                    group=member["group"],
                    at=end,
                    sequence=self._sequence,
                )

    def _sum(self, member: str, section: str, rows: list[Row]) -> list[Row]:
        sums = self._sums.setdefault(member, {})
        results = []
        for number, row in enumerate(rows):
            new = dict(row)
            for field, value in row.items():
                if smf100.is_counter(field):
                    key = (section, number, field)
                    new[field] = sums[key] = sums.get(key, 0) + value
            results.append(new)
        return results


def _sections(interval: Interval, member: Mapping[str, Any]) -> dict[str, Sections]:
    """Activity of a member in the interval, by record map and section."""
    group = next(value for value in interval.values["db2"] if value["group"] == member["group"])
    locking = member["locking"]
    pools: list[Row] = []
    shared: list[Row] = []
    for values, used in zip(group["pool"], member["pools"], strict=True):
        castout = {
            "castout_pages": used["member"].get("castout_pages", 0),
            "castout_ios": used["member"].get("castout_unlocks", 0),
        }
        pools.append(smf100.pool_row(values["number"], values["size"], {**used["local"], **castout}))
        if values.get("group"):
            counters = {
                **used["member"],
                **{f"page_lock_{name}": count for name, count in used["page_locks"].items()},
                "dependent_getpages": used["page_locks"]["dependent_getpages"],
            }
            shared.append(smf100.group_pool_row(values["number"], counters))
    return smf100.statistics(
        pools=pools,
        group_pools=shared,
        spaces=_spaces(interval, member),
        services=_services(interval, member),
        log=_log(interval, member),
        locking=smf100.locking_row(
            locks=locking["locks"],
            unlocks=locking["unlocks"],
            suspensions=locking["suspensions"]["count"],
            deadlocks=locking["deadlocks"],
            timeouts=locking["timeouts"],
        ),
        group_locking=_shared_locking(member) if group.get("lock") else None,
    )


def _accounts(interval: Interval, member: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Activity of the transactions that ended on a member, by class."""
    regions = {entry["name"]: entry.get("db2") for entry in interval.values.get("region", [])}
    for values, used in zip(interval.values["class"], interval.truth["classes"], strict=True):
        if any(regions[name] == member["group"] for name in values["regions"]):
            yield next(system for system in used["systems"] if system["system"] == member["system"])


def _services(interval: Interval, member: Mapping[str, Any]) -> Row:
    """Threads of the regions connected to a member, each created for its unit of work."""
    regions = [entry["name"] for entry in interval.values.get("region", []) if entry.get("db2") == member["group"]]
    used = [
        region
        for region in interval.truth["regions"]
        if region["name"] in regions and region["system"] == member["system"]
    ]
    return smf100.services_row(
        threads=sum(entry["threads"] for entry in used),
        thread_waits=sum(entry["thread_waits"]["count"] for entry in used),
        commits=member["commits"],
        rollbacks=member["rollbacks"],
        most_threads=sum(entry["most_threads"] for entry in used),
    )


def _log(interval: Interval, member: Mapping[str, Any]) -> Row:
    """Log of a member: a record per update, and a record at the beginning and at the end of a unit of work.

    A write takes the intervals that were filled since the last, and the one begun.
    """
    accounts = [account["used"] for account in _accounts(interval, member)]
    updates, forces = (round(sum(account[name] for account in accounts)) for name in ("updates", "waits_log"))
    records = updates + 2 * forces
    filled = records * _LOG_RECORD // _LOG_INTERVAL
    return smf100.log_row(
        records=records,
        forces=forces,
        filled=filled,
        writes=_COPIES * member["log_writes"],
        written=_COPIES * (filled + member["log_writes"]),
    )


def _shared_locking(member: Mapping[str, Any]) -> Row:
    locking = member["locking"]

    def pages(name: str) -> int:
        return sum(pool["page_locks"][name] for pool in member["pools"])

    physical = locking["page_set_locks"] + pages("requests")
    return smf100.group_locking_row(
        physical_locks=physical,
        physical_unlocks=pages("unlocks"),
        # Physical locks go to the lock structure as any other.
        lock_structure_locks=locking["global_locks"] + physical,
        lock_structure_unlocks=locking["global_unlocks"] + pages("unlocks"),
        negotiations=pages("negotiations"),
        real_contentions=locking["real_contentions"],
        xes_contentions=locking["xes_contentions"],
        false_contentions=locking["false_contentions"],
    )


def _spaces(interval: Interval, member: Mapping[str, Any]) -> list[Row]:
    """Processor time of the member's address spaces, all under SRBs; those of database services are preemptable."""
    used = {space["name"]: space for space in interval.used(member["system"])["spaces"]}
    return [
        smf100.address_space_row(
            name,
            srb=space["cpu"],
            ziip=space["ziip"],
            preemptable=space["cpu"] if name == "DBM1" else 0.0,
        )
        for name in ("MSTR", "DBM1", "IRLM")
        for space in [used[member["name"] + name]]
    ]
