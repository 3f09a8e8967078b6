"""A measured data-sharing group, in rates: the basis and the reference of a twin."""

from __future__ import annotations

from dataclasses import dataclass, field

from plexlens.ingest.page_trace import pool_id, pool_name


@dataclass(frozen=True)
class SystemUse:
    """Engines of a system and the mean number busy; speed of its zIIPs relative to its general engines."""

    name: str
    engines: float
    ziips: float
    busy: float
    ziip_busy: float
    ziip_speed: float


@dataclass(frozen=True)
class FacilityUse:
    """A coupling facility: engines, mean number busy, requests per second of all systems, subchannels per system."""

    name: str
    engines: float
    busy: float
    requests: float
    subchannels: float


@dataclass(frozen=True)
class StructureUse:
    """Use of a structure by a system: rates per second, service times in seconds per request."""

    facility: str
    structure: str
    system: str
    kind: str
    sync: float
    sync_service: float
    asynchronous: float
    async_service: float
    changed: float
    programs: float
    contentions: float
    false_contentions: float
    queued: float
    seconds: float

    @property
    def requests(self) -> float:
        """Requests per second of both kinds."""
        return self.sync + self.asynchronous


@dataclass(frozen=True)
class Allocated:
    """A structure as allocated in the coupling facility: sizes, and counters per second summed over systems."""

    facility: str
    structure: str
    kind: str
    lock_entries: float
    directory_entries: float
    data_elements: float
    size: float
    directory_reclaims: float
    data_reclaims: float
    xi_reclaim: float
    xi_write: float

    @property
    def kept(self) -> float | None:
        """Mean number of members that still had a page whose directory entry was reclaimed; None without reclaims."""
        return self.xi_reclaim / self.directory_reclaims if self.directory_reclaims > 0 else None


@dataclass(frozen=True)
class PoolUse:
    """A local pool of a member: rates per second, its size in buffers, bytes per page."""

    pool: str
    size: float
    page_bytes: int
    random: float
    sequential: float
    sync_reads: float
    prefetch_pages: float
    updates: float
    pages_written: float


@dataclass(frozen=True)
class GroupPoolUse:
    """Use of a group buffer pool by a member: rates per second. ``dependent`` is None if Db2 did not count it.

    ``page_locks`` are requests for page P-locks, ``page_lock_waits`` those that waited for another member.
    """

    dependent: float | None
    absent_data: float
    absent_no_data: float
    invalid_data: float
    invalid_no_data: float
    writes: float
    castouts: float
    page_locks: float = 0.0
    page_lock_waits: float = 0.0

    @property
    def absent(self) -> float:
        """Reads of pages that were not in the local pool."""
        return self.absent_data + self.absent_no_data

    @property
    def invalid(self) -> float:
        """Reads of pages that had been cross-invalidated."""
        return self.invalid_data + self.invalid_no_data


@dataclass(frozen=True)
class Work:
    """A class of work on a member: transactions (commits) per second; CPU, waits and counts per transaction."""

    name: str
    kind: str
    rate: float
    db2_cpu: float
    ziip_share: float
    other_cpu: float
    db2_elapsed: float
    response: float | None
    locks: float
    sync_read_wait: float
    log_wait: float
    getpages: dict[str, float] = field(default_factory=dict)
    updates: dict[str, float] = field(default_factory=dict)
    prefetches: float = 0.0
    dependent: dict[str, float] = field(default_factory=dict)

    def dependent_share(self, pool: str) -> float | None:
        """GBP-dependent share of its getpages of a pool; None if Db2 did not count them."""
        getpages = self.getpages.get(pool, 0.0)
        return min(self.dependent[pool] / getpages, 1.0) if pool in self.dependent and getpages else None


@dataclass(frozen=True)
class MemberUse:
    """A member of a group: rates per second."""

    name: str
    system: str
    seconds: float
    commits: float
    locks: float
    xes_locks: float
    xes_requests: float
    irlm_suspensions: float
    log_writes: float
    dbm1_cpu: float
    mstr_cpu: float
    irlm_cpu: float
    pools: dict[str, PoolUse]
    group_pools: dict[str, GroupPoolUse]
    work: tuple[Work, ...]
    accounted: float
    """Share of the commits that accounting records cover."""


@dataclass(frozen=True)
class Group:
    """A data-sharing group."""

    name: str
    members: tuple[MemberUse, ...]

    @property
    def pools(self) -> tuple[str, ...]:
        """Names of the local pools used by any member, ordered by getpages."""
        used: dict[str, float] = {}
        for member in self.members:
            for name, pool in member.pools.items():
                used[name] = used.get(name, 0.0) + pool.random + pool.sequential
        return tuple(name for name in sorted(used, key=lambda name: (-used[name], name)) if used[name] > 0)


@dataclass(frozen=True)
class SharingMeasured:
    """All inputs of a twin."""

    name: str
    seconds: float
    systems: dict[str, SystemUse]
    facilities: dict[str, FacilityUse]
    uses: tuple[StructureUse, ...]
    allocated: dict[str, Allocated]
    groups: tuple[Group, ...]
    notes: tuple[str, ...] = ()

    def of_structure(self, structure: str) -> tuple[StructureUse, ...]:
        """Uses of a structure by the systems."""
        return tuple(use for use in self.uses if use.structure == structure)


def lock_structure(group: str) -> str:
    """Name of a group's lock structure, as Db2 requires it."""
    return f"{group}_LOCK1"


def pool_structure(group: str, pool: str) -> str:
    """Name of the structure of a pool's group buffer pool, as Db2 requires it: BP8K1 of DSNDB0G is DSNDB0G_GBP8K1."""
    return f"{group}_G{pool}"


def pool_number(pool: str) -> int:
    """Number of a pool by its name, as in SMF records: BP0 is 0, BP32K 80, BP8K0 100, BP16K0 120."""
    number = pool_id(pool)
    if number is None:
        raise ValueError(f"{pool} is not a buffer pool")
    return number


def standard_structure(name: str) -> str:
    """A structure's name in Db2's form, where the simulator uses the pool's number: GBP100 is GBP8K0."""
    group, sign, number = name.rpartition("_GBP")
    return pool_structure(group, pool_name(int(number))) if sign and number.isdigit() else name
