"""The data shared by all parts of the search: the trace, the pools, prices, limits; and its results, groups with
sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from plexlens.errors import UsageError
from plexlens.metrics.display import storage_size
from plexlens.pools.cost import IoCost, default_cost
from plexlens.pools.headroom import Headroom
from plexlens.pools.members import full_name
from plexlens.pools.settings import LEAST, Configuration, page_bytes_of
from plexlens.pools.work import Work

#: Objects of each pool, by the pool's name.
Groups = Mapping[str, frozenset[int]]

#: Buffers of 4 KB that a pool has at least where nothing else is asked for: with fewer, prefetch reads less at once.
LEAST_BUFFERS = 1000

#: Objects up to which each moved one has to save the least gain; of more, each a part of it.
FEW_OBJECTS = 50

#: Databases of the catalog and directory, whose objects stay in their pools.
_CATALOG = ("DSNDB01", "DSNDB06")
_CATALOG_IDS = (1, 6)


@dataclass(frozen=True)
class Limits:
    """Limits of a recommendation.

    Attributes
    ----------
    budgets
        Bytes that the pools of each member may have together, by its name; of a Db2 alone by an empty name. A member
        without keeps its pools; a Db2 alone without may have what it has.
    structures
        Bytes of the coupling facility for all group buffer pools; None: they stay as they are.
    new_pools
        Pools that may be made.
    least_buffers
        Buffers of 4 KB that a pool has at least; in bytes also for larger pages.
    pinned
        Pools, by full name, whose sizes stay.
    pinned_structures
        Group buffer pools, by their pool, that stay.
    stay
        Objects that stay where they are.
    moves
        Whether objects may move at all.
    most_moves
        Objects that move at most; None: any number.
    least_gain
        Share of the present cost that a new pool or any other step must save, and a moved object where there are few.
    delay_weight
        CPU seconds that a second of delay is worth.
    settings
        Whether thresholds, page steal and page fix are looked at too.
    """

    budgets: Mapping[str, int] = field(default_factory=dict)
    structures: int | None = None
    new_pools: int = 4
    least_buffers: int = LEAST_BUFFERS
    pinned: frozenset[str] = frozenset()
    pinned_structures: frozenset[str] = frozenset()
    stay: frozenset[str] = frozenset()
    moves: bool = True
    most_moves: int | None = None
    least_gain: float = 0.001
    delay_weight: float = 0.0
    settings: bool = True


@dataclass(frozen=True)
class Case:
    """All inputs of a search.

    Attributes
    ----------
    work
        What the trace is, and what each member does.
    home
        Objects by pool, as they are now, at all members: all pools that there are, also those without objects.
    page_bytes
        Bytes of a page, by pool.
    budgets
        Bytes that the pools of each member may have together.
    least
        Buffers that each pool has at least, by full name.
    before
        Settings and placement now.
    cost
        Prices of I/O and of requests to group buffer pools.
    limits
        What may be done.
    headroom
        Free storage of the system; None if unknown.
    free
        Names of pools that may be made, of page sizes that there are.
    fixed
        Objects that cannot move.
    pinned
        Pools, by full name, whose size is not to change; their least size is it.
    notes
        What was assumed, for the user.
    """

    work: Work
    home: Groups
    page_bytes: Mapping[str, int]
    budgets: Mapping[str, int]
    least: Mapping[str, int]
    before: Configuration = field(default_factory=Configuration)
    cost: IoCost = field(default_factory=default_cost)
    limits: Limits = field(default_factory=Limits)
    headroom: Headroom | None = None
    free: Sequence[str] = ()
    fixed: frozenset[int] = frozenset()
    pinned: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the existing pools, and of those that may be created."""
        return [*self.home, *self.free]

    @property
    def members(self) -> list[str]:
        """Members of the group; a single Db2 is a group of one without a name."""
        return list(self.budgets)

    @property
    def kept_members(self) -> frozenset[str]:
        """Members without a budget: their pools stay as they are."""
        return frozenset(self.work.members.keys() - self.limits.budgets.keys())

    @property
    def budget(self) -> int:
        """Total bytes allowed for the pools of all members."""
        return sum(self.budgets.values())

    @property
    def least_of_move(self) -> float:
        """Share of the present cost that a moved object must save: of many objects hardly one saves much alone."""
        return self.limits.least_gain * min(1.0, FEW_OBJECTS / max(len(self.work.objects), 1))

    def home_of(self) -> dict[int, str]:
        """The present pool of each object."""
        return {number: name for name, objects in self.home.items() for number in objects}

    def pools_of(self, member: str, groups: Groups) -> list[str]:
        """Pools that a member needs: its existing pools, and those with objects that it uses."""
        kept = self.kept(groups)
        if not self.work.members:
            return list(kept)
        used = {number for number, _ in self.work.members[member].data_sets}
        return [name for name in kept if full_name(member, name) in self.before.pools or kept[name] & used]

    def least_bytes(self, groups: Groups) -> dict[str, int]:
        """Minimum bytes for the pools of these groups, by member."""
        return {
            member: sum(
                self.least[full_name(member, name)] * self.page_bytes[name] for name in self.pools_of(member, groups)
            )
            for member in self.members
        }

    def fits(self, groups: Groups, budgets: Mapping[str, int]) -> bool:
        """Whether the minimum sizes of the pools of these groups fit the budgets."""
        return all(least <= budgets[member] for member, least in self.least_bytes(groups).items())

    def moved(self, groups: Groups) -> int:
        """Number of objects that change pools."""
        return sum(len(objects - self.home.get(name, frozenset())) for name, objects in groups.items())

    def new_pools(self, groups: Groups) -> int:
        """Number of pools to be created."""
        return sum(name not in self.home and bool(objects) for name, objects in groups.items())

    def kept(self, groups: Groups) -> dict[str, frozenset[int]]:
        """The groups without empty new pools, in the order of the pools."""
        return {name: groups.get(name, frozenset()) for name in self.names if name in self.home or groups.get(name)}


def case_of(
    work: Work, before: Configuration, *, cost: IoCost, limits: Limits, headroom: Headroom | None = None
) -> Case:
    """The case for a trace and its pools.

    Parameters
    ----------
    work
        What the trace is.
    before
        Settings and placement now, of all pools of the trace.
    cost
        Prices of I/O and of requests to group buffer pools.
    limits
        What may be done.
    headroom
        Free storage of the system.

    Raises
    ------
    UsageError
        The size of a pool is not known, or a budget is for a member that is not there.
    """
    missing = [name for name in work.pool_names if name not in before.pools]
    if missing:
        raise UsageError(
            file="",
            what=f"the size of {', '.join(missing)} is not known",
            remedy="give it with --pool NAME=SIZE, or all settings with --settings",
        )
    unknown = sorted(limits.budgets.keys() - set(work.parts))
    if unknown:
        raise UsageError(
            file="",
            what=f"--budget names {unknown[0]}, which is not a member of the trace",
            remedy=f"give one of {', '.join(work.parts)}",
        )
    notes = list(before.notes)
    budgets = _budgets(work, before, limits, headroom, notes)
    # Where an object is, the catalog says for all members: objects move where the storage of every member is in hand.
    moves = limits.moves and (not work.members or limits.budgets.keys() == work.members.keys())
    home: dict[str, set[int]] = {pool.name: set() for pool in before.pools.values()}
    current = work.numbers_of(before.placement)
    placed = {pair: target for (pair, _), target in current.items()}
    for number, use in work.objects.items():
        pool = placed.get(number, use.home)
        home[work.names.pool(pool)].add(number)
    page_bytes = {name: page_bytes_of(name) or 4096 for name in home}
    free = [
        name for size in sorted(set(page_bytes.values())) for name in _free_names(size, set(home))[: limits.new_pools]
    ]
    page_bytes |= {name: page_bytes_of(name) or 4096 for name in free}
    pinned = limits.pinned
    if work.members:
        pinned |= {
            full_name(member, name)
            for member in work.members.keys() - limits.budgets.keys()
            for name in before.of(member).pools
        }
    return Case(
        work=work,
        home={name: frozenset(objects) for name, objects in home.items()},
        page_bytes=page_bytes,
        budgets=budgets,
        least=_least(work, before, limits, page_bytes) | {name: before.pools[name].size for name in pinned},
        before=before,
        cost=cost,
        limits=limits,
        headroom=headroom,
        free=free if moves else [],
        fixed=_fixed(work, limits) if moves else frozenset(work.objects),
        pinned=pinned,
        notes=tuple(notes),
    )


def _budgets(
    work: Work, before: Configuration, limits: Limits, headroom: Headroom | None, notes: list[str]
) -> dict[str, int]:
    """Bytes of each member, limited to the free storage of its system."""
    budgets: dict[str, int] = {}
    unknown = False
    for member in work.parts:
        have = before.of(member).bytes
        wanted = limits.budgets.get(member, have)
        most = wanted if headroom is None else have + headroom.growth
        unknown |= headroom is None and wanted > have
        if wanted > most:
            head = f"{member}: the" if member else "The"
            notes.append(f"{head} budget is cut to {storage_size(most)}: {headroom}.")
        budgets[member] = min(wanted, most)
    if unknown:
        systems = "systems have" if work.members else "system has"
        notes.append(
            f"Whether the {systems} the storage is not known, because there is no SMF 71 with the trace. Check free "
            "frames and paging before you enlarge pools."
        )
    return budgets


def _least(work: Work, before: Configuration, limits: Limits, page_bytes: Mapping[str, int]) -> dict[str, int]:
    """Minimum number of buffers of each pool of each member."""
    floor = limits.least_buffers * 4096
    counts: dict[str, int] = {}
    for member in work.parts:
        for name, size in page_bytes.items():
            full, catalog = full_name(member, name), LEAST.get(name, 0)
            counts[full] = max(floor // size, catalog, 1)
            if full in before.pools:
                # A pool that is smaller now may stay so.
                counts[full] = min(counts[full], max(before.pools[full].size, catalog))
    return counts


def _fixed(work: Work, limits: Limits) -> frozenset[int]:
    """Objects that cannot move."""
    objects = work.objects
    return frozenset(
        number
        for number in objects
        if number >> 16 in _CATALOG_IDS
        or work.object_name(number).partition(".")[0] in _CATALOG
        or work.object_name(number) in limits.stay
    )


def _free_names(page_bytes: int, taken: set[str]) -> list[str]:
    """Names of unused pools of a page size, except those of the catalog."""
    kind, last = {4096: ("", 49), 8192: ("8K", 9), 16384: ("16K", 9)}.get(page_bytes, ("32K", 9))
    names = [f"BP{kind}{number}" for number in range(1, last + 1)]
    return [name for name in names if name not in taken]


@dataclass(frozen=True)
class Grouping:
    """Groups of objects and the sizes of their pools.

    Attributes
    ----------
    groups
        Objects by pool.
    sizes
        Buffers of each pool of each member, by full name.
    cost
        What the pools of all members cost with these sizes.
    bound
        What no sizes within the budgets can cost less than.
    """

    groups: Groups
    sizes: Mapping[str, int]
    cost: float
    bound: float

    @property
    def gap(self) -> float:
        """Upper bound on the improvement still possible by better sizes, as a fraction of the cost."""
        return 0.0 if self.cost <= 0 else max(self.cost - self.bound, 0.0) / self.cost


@dataclass(frozen=True)
class Beginning:
    """Result of a starting point of the search.

    Attributes
    ----------
    name
        Where it began.
    cost
        By simulation, after improvement by guesses.
    moved, pools
        Objects elsewhere than now, and pools.
    """

    name: str
    cost: float
    moved: int
    pools: int


@dataclass(frozen=True)
class Search:
    """Result of a search.

    Attributes
    ----------
    home
        The objects where they are, with the best sizes.
    best
        The best groups.
    beginnings
        What became of each beginning, the cheapest first.
    """

    home: Grouping
    best: Grouping
    beginnings: tuple[Beginning, ...] = field(default=())
