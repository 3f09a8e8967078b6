"""Data-sharing groups: group buffer pools, their use by members, and the data sets that they hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from plexlens.metrics.unit import COUNT, FRACTION, GIB, MIB, PAGES, PER_SECOND, RATIO, Unit
from plexlens.pools.members import full_name
from plexlens.pools.page.objects import storage_unit
from plexlens.pools.prediction import Activity, GroupPoolActivity, State
from plexlens.pools.structures import GroupPoolSettings
from plexlens.report.model import Figure, Section, Table
from plexlens.report.model.display import counted
from plexlens.report.model.fields import Definitions, Field, Subject

GROUP = Subject("group_whole", "The group", "the pools of all members together")
USE = Subject("member_pool", "Pools of members", "one buffer pool of one member, now and after the change")
STRUCTURE = Subject("group_pool", "Group buffer pools", "one group buffer pool, all members")
DEPENDENT = Subject("gbp_dependent", "GBP-dependent data sets", "one data set that several members use and one changes")

_CPU = Unit("s/h", "s/h", 1.0, 2)
_IN_TRACE = Unit("s", "s", 1.0, 2)

_SIMULATED = "The trace, simulated with all members and group buffer pools"

_STORAGE: Field[GroupChange] = Field(
    GROUP, "structure_storage", "Coupling facility", lambda row: row.after.configuration.structure_bytes, GIB,
    "Σ (data entries x page size + directory entries x 400 bytes)",
    "Db2 13 for z/OS, Group buffer pool sizes: about 400 bytes per directory entry",
)  # fmt: skip


@dataclass(frozen=True)
class GroupChange:
    """A group before and after a change; the same state twice if there is no change."""

    before: State
    after: State
    seconds: float

    @property
    def is_change(self) -> bool:
        """Whether the states differ."""
        return self.before.configuration != self.after.configuration

    def rate(self, amount: float, length: float = 1.0) -> float:
        """An amount of the trace per given number of seconds; the total if the trace has no times."""
        return amount * length / self.seconds if self.seconds > 0 else amount


def group_figures(change: GroupChange, definitions: Definitions) -> list[Figure]:
    """Key figures of the present group: requests, cross-invalidation, CPU, coupling facility storage."""
    rate, cpu = (PER_SECOND, _CPU) if change.seconds > 0 else (COUNT, _IN_TRACE)
    each = " / seconds of the trace" if change.seconds > 0 else ""
    hour = " x 3600 / seconds of the trace" if change.seconds > 0 else ""
    done = change.before.requests
    reclaimed = done.invalidated_by_reclaim
    results: list[tuple[Field[GroupChange], str]] = [
        (Field(GROUP, "group_requests", "Group buffer pool requests", lambda row: row.rate(done.requests), rate,
               f"(reads + writes + registration + castout){each}", _SIMULATED), "of all members"),
        (Field(GROUP, "invalidations", "Cross-invalidations",
               lambda row: row.rate(done.invalidated_by_write + reclaimed), rate,
               f"(XI by write + XI by directory reclaim){each}", _SIMULATED), "by changes and by directory reclaim"),
        (Field(GROUP, "cpu", "CPU", lambda row: row.rate(row.before.cpu_seconds, 3600), cpu,
               f"(I/Os and requests x their prices){hour}", _SIMULATED), "I/O and group buffer pools"),
    ]  # fmt: skip
    figures = [
        Figure(
            field.name, field.title, field.value(change), field.unit, definitions.add(field), detail,
            alarm=field.name == "invalidations" and reclaimed > 0,
        )
        for field, detail in results
    ]  # fmt: skip
    return [
        *figures,
        structure_figure(change.before, definitions, counted(len(change.before.structures), "group buffer pool")),
    ]


def structure_figure(state: State, definitions: Definitions, detail: str) -> Figure:
    """Storage of the group buffer pools."""
    size = state.configuration.structure_bytes
    return Figure(_STORAGE.name, _STORAGE.title, size, storage_unit(size), definitions.add(_STORAGE), detail)


def group_section(change: GroupChange, definitions: Definitions) -> Section | None:
    """Group buffer pools, their use by each member, and the GBP-dependent objects."""
    tables = [
        structure_table("group_pools", "Group buffer pools", change, definitions),
        use_table(change, definitions),
        dependent_table(change, definitions),
    ]
    results = tuple(table for table in tables if table is not None)
    lead = (
        "Group buffer pools keep the pools of the members coherent: a page that a member changes becomes invalid at "
        "the others (XI), and they read it again, from the group buffer pool if it still holds the page. Such a read "
        "is not a read I/O."
    )
    return Section("group_pools", "Group buffer pools", results, lead) if results else None


@dataclass(frozen=True)
class _UseRow:
    change: GroupChange
    pool: str

    def of(self, state: State) -> GroupPoolActivity:
        return state.uses.get(self.pool, GroupPoolActivity())


def _rate_of(state: State, value: Callable[[GroupPoolActivity], float], row: _UseRow) -> float:
    return row.change.rate(value(row.of(state)))


def use_table(change: GroupChange, definitions: Definitions) -> Table | None:
    """Reads of the members' pools from group buffer pools, before and after a change."""
    rate = PER_SECOND if change.seconds > 0 else COUNT
    each = " / seconds of the trace" if change.seconds > 0 else ""

    kinds: list[tuple[str, Callable[[GroupPoolActivity], float], str, str]] = [
        ("hits", lambda field: field.hits, "reads that the group buffer pool answered", "Reads from GBP"),
        ("invalid", lambda field: field.invalid_reads, "reads of pages in the local pool that were no longer valid",
         "Reads due to XI"),
        ("writes", lambda field: field.writes, "changed pages written to the group buffer pool", "Writes to GBP"),
    ]  # fmt: skip
    states = [("now", change.before), *([("after", change.after)] if change.is_change else [])]
    fields: list[Field[_UseRow]] = [Field(USE, "pool", "Pool", lambda row: row.pool, key=True)]
    for name, value, formula, group in kinds:
        for when, state in states:
            amount = partial(_rate_of, state, value)
            field = Field(USE, f"{name}_{when}", when.capitalize(), amount, rate, f"{formula}{each}", _SIMULATED)
            fields.append(field.within(group, field.title))
    rows = [_UseRow(change, name) for name in change.after.configuration.pools if name in change.after.uses]
    return definitions.table("member_pools", "Pools of the members and their group buffer pools", fields, rows, top=50)


@dataclass(frozen=True)
class _StructureRow:
    change: GroupChange
    state: State
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
    """Active group buffer pools before and after; if requested, only those that change."""
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
              "Db2 13 for z/OS, Group buffer pool sizes: about 400 bytes per directory entry"),
        make("reads", "Reads", "reads of pages that are not in the local pool or not valid", lambda row: row.reads),
        Field(STRUCTURE, "hit_share", "XI hits", lambda row: row.activity.hit_share, FRACTION,
              "reads due to XI that brought the page / reads due to XI",
              "Db2 13 for z/OS, Determining whether a group buffer pool is too small"),
        make("writes", "Writes", "changed pages written to the group buffer pool", lambda row: row.writes),
        make("by_write", "Changes", "pages in local pools made invalid by another member's change",
             lambda row: row.invalidated_by_write, "XI by"),
        make("by_reclaim", "Reclaim", "pages in local pools made invalid because their directory entry was taken",
             lambda row: row.invalidated_by_reclaim, "XI by"),
        make("reclaims", "Reclaims", "directory entries taken from other pages", lambda row: row.directory_reclaims),
        make("castouts", "Castout", "pages cast out to disk", lambda row: row.castout_pages),
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
    """Data sets that are kept coherent, with the members that use and change them."""
    state = change.before
    rows = [
        _DependentRow(
            pool,
            name,
            {
                member: own
                for member in state.configuration.members
                for own in [state.data_sets.get((full_name(member, pool), name))]
                if own is not None
            },
            change.seconds,
        )
        for pool, names in state.dependent.items()
        for name in names
    ]
    rows.sort(key=lambda row: -sum(activity.updates for activity in row.activity.values()))
    rate = PER_SECOND if change.seconds > 0 else COUNT
    each = " / seconds of the trace" if change.seconds > 0 else ""
    fields: list[Field[_DependentRow]] = [
        Field(DEPENDENT, "pool", "Pool", lambda row: row.pool, key=True),
        Field(DEPENDENT, "data_set", "Data set", lambda row: row.name, key=True),
    ]
    for member in state.configuration.members:
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
