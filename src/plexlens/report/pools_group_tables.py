"""Tables of a data-sharing group: pools of its members, group buffer pools, data sets that go through them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from plexlens.metrics.unit import COUNT, FRACTION, GIB, MIB, PAGES, PER_SECOND, RATIO, Unit
from plexlens.pools.group.prediction import hit_share
from plexlens.pools.group.settings import GroupPoolSettings
from plexlens.pools.group.states import GroupPoolActivity, GroupState
from plexlens.pools.prediction import Activity
from plexlens.report.model import Cell, Table
from plexlens.report.pools_fields import Definitions, Field, Subject

GROUP = Subject("group_whole", "The group", "the pools of all members together")
POOL = Subject("member_pool", "Pools of members", "one buffer pool of one member, now and after the change")
STRUCTURE = Subject("group_pool", "Group buffer pools", "one group buffer pool, as all members use it")
DEPENDENT = Subject("gbp_dependent", "GBP-dependent data sets", "one data set that several members use and one changes")
DATA_SET = Subject("member_data_set", "Data sets of members", "one data set in a pool of one member")

CPU = Unit("s/h", "s/h", 1.0, 2)
_IN_TRACE = Unit("s", "s", 1.0, 2)

_SIMULATED = "The trace, simulated with all members and group buffer pools"


@dataclass(frozen=True)
class GroupChange:
    """A group before and after a change; the same twice where there is none."""

    before: GroupState
    after: GroupState
    seconds: float

    @property
    def is_change(self) -> bool:
        """Whether there is one."""
        return self.before.configuration != self.after.configuration

    def rate(self, amount: float, length: float = 1.0) -> float:
        """An amount of the trace in so many seconds; in the trace where it tells no times."""
        return amount * length / self.seconds if self.seconds > 0 else amount


def whole_fields(seconds: float) -> dict[str, Field[GroupChange]]:
    """Numbers of the whole group before the change, by name."""
    timed = seconds > 0
    rate, cpu = (PER_SECOND, CPU) if timed else (COUNT, _IN_TRACE)
    each = " / seconds of the trace" if timed else ""

    def make(
        name: str, title: str, unit: Unit, formula: str, value: Callable[[GroupChange], float]
    ) -> Field[GroupChange]:
        return Field(GROUP, name, title, value, unit, formula, _SIMULATED)

    made = [
        make("read_ios", "Read I/O", rate, f"Σ read I/Os of the members{each}",
             lambda one: one.rate(one.before.total.read_ios)),
        make("getpages", "Getpages", rate, f"Σ getpages of the members{each}",
             lambda one: one.rate(one.before.total.getpages)),
        make("group_requests", "Group buffer pool requests", rate,
             f"(reads + changed pages written + pages cast out){each}",
             lambda one: one.rate(one.before.requests.requests)),
        make("invalidations", "Cross-invalidations", rate, f"(XI by write + XI by directory reclaim){each}",
             lambda one: one.rate(
                 one.before.requests.invalidated_by_write + one.before.requests.invalidated_by_reclaim)),
        make("cpu", "CPU", cpu, f"I/Os and requests x their prices{' x 3600 / seconds of the trace' * timed}",
             lambda one: one.rate(one.before.cpu_seconds, 3600)),
        make("storage", "Storage of the pools", GIB, "Σ buffers x page size, of all members",
             lambda one: one.before.configuration.bytes),
        make("structure_storage", "Coupling facility", GIB,
             "Σ data entries x page size + directory entries x 400 bytes",
             lambda one: one.before.configuration.structure_bytes),
    ]  # fmt: skip
    return {one.name: one for one in made}


@dataclass(frozen=True)
class _PoolRow:
    change: GroupChange
    member: str
    pool: str

    def size(self, state: GroupState) -> int | None:
        own = state.configuration.members.get(self.member)
        return own.pools[self.pool].size if own is not None and self.pool in own.pools else None

    def of(self, state: GroupState) -> Activity:
        own = state.members.get(self.member)
        return own.pools.get(self.pool, Activity()) if own is not None else Activity()

    def use(self, state: GroupState) -> GroupPoolActivity:
        return state.uses.get((self.member, self.pool), GroupPoolActivity())

    @property
    def is_change(self) -> bool:
        before, after = self.change.before, self.change.after
        return self.size(before) != self.size(after) or self.of(before) != self.of(after)


def pool_table(
    name: str, title: str, change: GroupChange, definitions: Definitions, *, changed: bool = False
) -> Table | None:
    """Pools of the members; those that change alone, if so asked."""
    rows = [
        _PoolRow(change, member, pool)
        for member, own in change.after.configuration.members.items()
        for pool in own.pools
    ]
    timed = change.seconds > 0
    rate = PER_SECOND if timed else COUNT
    each = " / seconds of the trace" if timed else ""

    def per(value: Callable[[_PoolRow], float]) -> Callable[[_PoolRow], Cell]:
        return lambda row: row.change.rate(value(row))

    fields: list[Field[_PoolRow]] = [
        Field(POOL, "member", "Member", lambda row: row.member, key=True),
        Field(POOL, "pool", "Pool", lambda row: row.pool, key=True),
        Field(POOL, "getpages", "Getpages", per(lambda row: row.of(row.change.after).getpages), rate, f"getpages{each}",
              "The trace"),
        Field(POOL, "buffers_now", "Now", lambda row: row.size(row.change.before), PAGES, "", "Settings",
              group="Buffers"),
        Field(POOL, "reads_now", "Now", per(lambda row: row.of(row.change.before).read_ios), rate, f"read I/Os{each}",
              _SIMULATED, group="Read I/O"),
        Field(POOL, "hits_now", "Now", per(lambda row: row.use(row.change.before).hits), rate,
              f"reads that the group buffer pool answered{each}", _SIMULATED, group="Reads from GBP"),
        Field(POOL, "invalid_now", "Now", per(lambda row: row.use(row.change.before).invalid_reads), rate,
              f"reads of pages in the pool that were not valid any more{each}", _SIMULATED, group="Reads due to XI"),
    ]  # fmt: skip
    if change.is_change:
        after: list[Field[_PoolRow]] = [
            Field(POOL, "buffers_after", "After", lambda row: row.size(row.change.after), PAGES, "", "The change",
                  group="Buffers"),
            Field(POOL, "reads_after", "After", per(lambda row: row.of(row.change.after).read_ios), rate,
                  f"read I/Os{each}", _SIMULATED, group="Read I/O"),
            Field(POOL, "hits_after", "After", per(lambda row: row.use(row.change.after).hits), rate,
                  f"reads that the group buffer pool answered{each}", _SIMULATED, group="Reads from GBP"),
            Field(POOL, "invalid_after", "After", per(lambda row: row.use(row.change.after).invalid_reads), rate,
                  f"reads of pages in the pool that were not valid any more{each}", _SIMULATED,
                  group="Reads due to XI"),
        ]  # fmt: skip
        for one in after:
            at = max(index for index, field in enumerate(fields) if field.group == one.group)
            fields.insert(at + 1, one)
    chosen = [row for row in rows if row.is_change] if changed else rows
    return definitions.table(name, title, fields, chosen, top=50)


@dataclass(frozen=True)
class _StructureRow:
    change: GroupChange
    state: GroupState
    pool: str
    when: str

    @property
    def settings(self) -> GroupPoolSettings:
        return self.state.configuration.structures[self.pool]

    @property
    def activity(self) -> GroupPoolActivity:
        return self.state.structures[self.pool]


def structure_table(
    name: str, title: str, change: GroupChange, definitions: Definitions, *, changed: bool = False
) -> Table | None:
    """Group buffer pools that something goes through, now and after; those that change alone, if so asked."""
    rows = []
    for pool in change.after.structures:
        states = [(change.before, "now"), (change.after, "after")] if change.is_change else [(change.after, "")]
        own = [
            _StructureRow(change, state, pool, when)
            for state, when in states
            if pool in state.structures and pool in state.configuration.structures and state.dependent.get(pool)
        ]
        same = len({(row.settings, row.activity) for row in own}) < 2
        rows += [] if changed and same else own
    timed = change.seconds > 0
    rate = PER_SECOND if timed else COUNT
    each = " / seconds of the trace" if timed else ""

    def make(
        column: str, head: str, formula: str, value: Callable[[GroupPoolActivity], float], group: str = ""
    ) -> Field[_StructureRow]:
        return Field(
            STRUCTURE, column, head, lambda row: row.change.rate(value(row.activity)), rate, f"{formula}{each}",
            _SIMULATED, group=group,
        )  # fmt: skip

    fields: list[Field[_StructureRow]] = [
        Field(STRUCTURE, "group_pool", "Pool", lambda row: f"G{row.pool}", key=True),
        *([Field[_StructureRow](STRUCTURE, "when", "", lambda row: row.when, key=True)] if change.is_change else []),
        Field(STRUCTURE, "data_entries", "Data", lambda row: row.settings.data_entries, PAGES, "", "Settings",
              group="Entries"),
        Field(STRUCTURE, "directory_entries", "Directory", lambda row: row.settings.directory_entries, COUNT, "",
              "Settings", group="Entries"),
        Field(STRUCTURE, "ratio", "Ratio", lambda row: row.settings.ratio, RATIO, "directory entries / data entries",
              "Settings", group="Entries"),
        Field(STRUCTURE, "bytes", "Size", lambda row: row.settings.bytes, MIB,
              "data entries x page size + directory entries x 400 bytes",
              "Db2 13 for z/OS, Group buffer pool sizes: about 400 bytes a directory entry"),
        make("reads", "Reads", "reads of pages that are not in the local pool or not valid", lambda one: one.reads),
        Field(STRUCTURE, "hit_share", "XI hits", lambda row: hit_share(row.activity), FRACTION,
              "reads due to XI that brought the page / reads due to XI",
              "Db2 13 for z/OS, Determining whether a group buffer pool is too small"),
        make("writes", "Writes", "changed pages written to the group buffer pool", lambda one: one.writes),
        make("by_write", "Changes", "pages in local pools made invalid by another member's change",
             lambda one: one.invalidated_by_write, "XI by"),
        make("by_reclaim", "Reclaim", "pages in local pools made invalid because their directory entry was taken",
             lambda one: one.invalidated_by_reclaim, "XI by"),
        make("reclaims", "Reclaims", "directory entries taken from other pages", lambda one: one.directory_reclaims),
        make("castouts", "Castout", "pages cast out to disk", lambda one: one.castout_pages),
        Field(STRUCTURE, "failed", "Failed writes", lambda row: row.activity.failed_writes or None, COUNT, "",
              "Writes that found no data entry (QBGLWF)"),
    ]  # fmt: skip
    return definitions.table(name, title, fields, rows, top=50)


@dataclass(frozen=True)
class _DependentRow:
    pool: str
    name: str
    activity: dict[str, Activity]
    seconds: float

    def rate(self, amount: float) -> float:
        return amount / self.seconds if self.seconds > 0 else amount


def dependent_table(change: GroupChange, definitions: Definitions) -> Table | None:
    """Data sets that are kept coherent: who uses them, and who changes them."""
    state = change.before
    rows = [
        _DependentRow(
            pool,
            name,
            {
                member: own.data_sets[pool, name]
                for member, own in state.members.items()
                if (pool, name) in own.data_sets
            },
            change.seconds,
        )
        for pool, names in state.dependent.items()
        for name in names
    ]
    rows.sort(key=lambda row: -sum(one.updates for one in row.activity.values()))
    rate = PER_SECOND if change.seconds > 0 else COUNT
    each = " / seconds of the trace" if change.seconds > 0 else ""
    fields: list[Field[_DependentRow]] = [
        Field(DEPENDENT, "pool", "Pool", lambda row: row.pool, key=True),
        Field(DEPENDENT, "data_set", "Data set", lambda row: row.name, key=True),
    ]
    for member in state.members:
        fields += [_member_getpages(member, rate, each), _member_updates(member, rate, each)]
    return definitions.table("gbp_dependent", "GBP-dependent data sets", fields, rows, top=20)


def _member_getpages(member: str, rate: Unit, each: str) -> Field[_DependentRow]:
    return Field(
        DEPENDENT, f"getpages_{member}", "Getpages",
        lambda row: row.rate(row.activity[member].getpages) if member in row.activity else None,
        rate, f"getpages of the member{each}", "The trace", group=member,
    )  # fmt: skip


def _member_updates(member: str, rate: Unit, each: str) -> Field[_DependentRow]:
    return Field(
        DEPENDENT, f"updates_{member}", "Updates",
        lambda row: row.rate(row.activity[member].updates) if member in row.activity else None,
        rate, f"pages marked for writing by the member{each}", "The trace", group=member,
    )  # fmt: skip


@dataclass(frozen=True)
class _DataSetRow:
    member: str
    pool: str
    name: str
    before: Activity
    after: Activity | None
    dependent: bool
    seconds: float

    def rate(self, amount: float) -> float:
        return amount / self.seconds if self.seconds > 0 else amount


def data_set_table(change: GroupChange, definitions: Definitions) -> Table | None:
    """Data sets by member, that with most read I/O first."""
    after = {
        (member, name): activity
        for member, own in change.after.members.items()
        for (_, name), activity in own.data_sets.items()
    }
    rows = [
        _DataSetRow(
            member,
            pool,
            name,
            activity,
            after.get((member, name)) if change.is_change else None,
            name in change.before.dependent.get(pool, ()),
            change.seconds,
        )
        for member, own in change.before.members.items()
        for (pool, name), activity in own.data_sets.items()
    ]
    rows.sort(key=lambda row: (-row.before.read_ios, row.member, row.name))
    rate = PER_SECOND if change.seconds > 0 else COUNT
    each = " / seconds of the trace" if change.seconds > 0 else ""
    fields: list[Field[_DataSetRow]] = [
        Field(DATA_SET, "member", "Member", lambda row: row.member, key=True),
        Field(DATA_SET, "pool", "Pool", lambda row: row.pool, key=True),
        Field(DATA_SET, "data_set", "Data set", lambda row: row.name, key=True),
        Field(DATA_SET, "dependent", "GBP-dependent", lambda row: "yes" if row.dependent else None),
        Field(DATA_SET, "pages", "Pages referenced", lambda row: row.before.distinct_pages, PAGES, "",
              "The trace; estimated where it is sampled"),
        Field(DATA_SET, "getpages", "Getpages", lambda row: row.rate(row.before.getpages), rate, f"getpages{each}",
              "The trace"),
        Field(DATA_SET, "reads_now", "Now", lambda row: row.rate(row.before.read_ios), rate, f"read I/Os{each}",
              _SIMULATED, group="Read I/O", bar=True),
        Field(DATA_SET, "reads_after", "After",
              lambda row: None if row.after is None else row.rate(row.after.read_ios), rate, f"read I/Os{each}",
              _SIMULATED, group="Read I/O"),
    ]  # fmt: skip
    return definitions.table("member_data_sets", "Data sets by member", fields, rows, sorted_by=("reads_now", True))
