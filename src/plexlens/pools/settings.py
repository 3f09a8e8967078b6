"""Settings of buffer pools: the attributes of ``-ALTER BUFFERPOOL``, and the values that Db2 allows.

Limits are those of the Db2 12 for z/OS documentation, -ALTER BUFFERPOOL command, and -671 (SQL codes) for moves between
page sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from plexlens.errors import UsageError
from plexlens.ingest.page_trace import POOL_NAMES, page_bytes, pool_id, pool_name
from plexlens.pools.members import full_name, member_and_pool, pool_order
from plexlens.pools.structures import GroupPoolSettings

#: Which pool a table space or index space (all its partitions) is in: ``DATABASE.PAGESET`` -> ``BP2``.
Placement = Mapping[str, str]

#: Page steal policies (PGSTEAL), those of `crates/bufferpool/src/policy/page_steal.rs`.
STEALS = ("LRU", "FIFO", "NONE")

#: Page frames (FRAMESIZE): name in the command, bytes.
FRAMES = {"4K": 4096, "1M": 1 << 20, "2G": 1 << 31}

#: The fewest buffers of the pools that the catalog and directory are in; others may have none.
LEAST = {"BP0": 2000, "BP8K0": 1000, "BP16K0": 500, "BP32K": 250}

#: Seconds between checkpoints, and from the last update of a data set to its pseudo close, unless others are known: the
#: defaults of Db2 13 (DSNTIPL1: Checkpoint parameters, fields MINUTES/CHECKPOINT and RO SWITCH TIME).
CHECKPOINT, PSEUDO_CLOSE = 180, 2700

#: Buffers of a pool that the simulation takes. Db2 takes four times as many (Db2 12 for z/OS, -ALTER BUFFERPOOL).
MOST_BUFFERS = 1_000_000_000

#: What all pools of a Db2 together may hold, in bytes.
MOST_BYTES = 16 << 40


def page_bytes_of(name: str) -> int | None:
    """Page size in bytes of the pool with this name; None if Db2 has no such pool.

    4 KB pools are BP0 to BP49, 8 KB BP8K0 to BP8K9, 16 KB BP16K0 to BP16K9, 32 KB BP32K and BP32K1 to BP32K9.
    """
    pool = pool_id(name)
    return page_bytes(pool) if pool is not None and pool_name(pool) == name else None


def pool_page_bytes(name: str) -> int:
    """Page size of a pool.

    Raises
    ------
    UsageError
        Db2 has no pool of that name.
    """
    size = page_bytes_of(name)
    if size is None:
        raise UsageError(
            file="",
            what=f"Db2 has no buffer pool {name!r}",
            remedy=f"name {POOL_NAMES}",
        )
    return size


@dataclass(frozen=True)
class PoolSettings:
    """A pool with the attributes of ``-ALTER BUFFERPOOL``.

    Attributes
    ----------
    name
        ``BP2``.
    size
        Buffers (VPSIZE).
    page_bytes
        Bytes of a page.
    steal
        PGSTEAL: one of `STEALS`.
    vpseqt
        Percentage of the buffers that sequentially read pages may hold.
    dwqt
        Percentage of unavailable buffers above which changed pages are written.
    vdwqt
        Percentage of the buffers that changed pages of one data set may hold.
    vdwqt_pages
        The same as a number of buffers; counts where the percentage is 0.
    pgfix
        Whether the buffers are fixed in real storage for long.
    frame_bytes
        Bytes of the real storage frames that are asked for (FRAMESIZE).
    checkpoint, pseudo_close
        Seconds between checkpoints of the Db2, and from the last update of a data set to its pseudo close; 0: never.

    Raises
    ------
    UsageError
        A value that no pool can have.
    """

    name: str
    size: int
    page_bytes: int = 4096
    steal: str = "LRU"
    vpseqt: int = 80
    dwqt: int = 30
    vdwqt: int = 5
    vdwqt_pages: int = 0
    pgfix: bool = False
    frame_bytes: int = 4096
    checkpoint: float = CHECKPOINT
    pseudo_close: float = PSEUDO_CLOSE

    def __post_init__(self) -> None:
        if pool_page_bytes(self.name) != self.page_bytes:
            have = pool_page_bytes(self.name)
            refuse_pool(self.name, f"its pages have {have} bytes, not {self.page_bytes}", "leave it")
        if self.size < 1:
            refuse_pool(self.name, f"VPSIZE {self.size} is not possible", "give at least 1 buffer")
        if self.steal not in STEALS:
            refuse_pool(self.name, f"PGSTEAL {self.steal} is not possible", f"give one of {', '.join(STEALS)}")
        for what, value, most in (
            ("VPSEQT", self.vpseqt, 100),
            ("DWQT", self.dwqt, 90),
            ("VDWQT", self.vdwqt, 90),
            ("VDWQT's number of buffers", self.vdwqt_pages, 9999),
        ):
            if not 0 <= value <= most:
                refuse_pool(self.name, f"{what} {value} is not possible", f"give 0 to {most}")
        for what, seconds in (("checkpoints", self.checkpoint), ("the pseudo close", self.pseudo_close)):
            if seconds < 0:
                refuse_pool(self.name, f"{what} after {seconds} s are not possible", "give 0 (never) or more")
        if self.frame_bytes not in FRAMES.values():
            refuse_pool(self.name, f"FRAMESIZE of {self.frame_bytes} bytes is not possible", "give 4K, 1M or 2G")
        if self.frame_bytes == FRAMES["2G"] and not self.pgfix:
            refuse_pool(
                self.name, "FRAMESIZE(2G) is valid only for page-fixed pools", "give pgfix too, or FRAMESIZE 1M"
            )
        if self.frame_bytes == FRAMES["2G"] and self.steal == "NONE":
            refuse_pool(self.name, "PGSTEAL(NONE) and FRAMESIZE(2G) cannot be combined", "give FRAMESIZE 1M or 4K")

    @classmethod
    def of(cls, name: str, size: int, **others: Any) -> PoolSettings:
        """Settings of a pool whose page size follows from its name.

        Raises
        ------
        UsageError
            Db2 has no such pool, or a value that no pool can have.
        """
        return cls(name, size, pool_page_bytes(name), **others)

    @property
    def bytes(self) -> int:
        """Storage of the buffers."""
        return self.size * self.page_bytes

    def engine(self) -> dict[str, Any]:
        """Arguments for the pool in `plexlens._core.PoolSimulation`.

        Raises
        ------
        UsageError
            More buffers than it takes.
        """
        if self.size > MOST_BUFFERS:
            refuse_pool(
                self.name, f"VPSIZE {self.size:,} cannot be simulated", f"give at most {MOST_BUFFERS:,} buffers"
            )
        names = ("size", "page_bytes", "steal", "vpseqt", "dwqt", "vdwqt", "vdwqt_pages")
        times = {name: round(1e6 * getattr(self, name)) or None for name in ("checkpoint", "pseudo_close")}
        return {name: getattr(self, name) for name in names} | times


def refuse_pool(name: str, what: str, remedy: str) -> NoReturn:
    """Refuse settings of a pool.

    Raises
    ------
    UsageError
        Always.
    """
    raise UsageError(file="", what=f"pool {name}: {what}", remedy=remedy)


def check_db2(settings: Iterable[PoolSettings]) -> None:
    """Check limits that Db2 enforces and the simulation ignores.

    Raises
    ------
    UsageError
        BP0, BP8K0, BP16K0 or BP32K smaller than the catalog needs, or more than 16 TB in all.
    """
    total = 0
    for pool in settings:
        least = LEAST.get(pool.name, 0)
        if pool.size < least:
            refuse_pool(
                pool.name,
                f"VPSIZE {pool.size} is not possible: the pool holds the catalog and directory",
                f"give at least {least} buffers",
            )
        total += pool.bytes
    if total > MOST_BYTES:
        raise UsageError(
            file="",
            what=f"the pools have {total / (1 << 40):.1f} TB in all, and the maximum of Db2 is 16 TB",
            remedy="make them smaller",
        )


@dataclass(frozen=True)
class Configuration:
    """Pools with their objects: of a single Db2, or of all members of a data-sharing group.

    Attributes
    ----------
    pools
        Settings by full name: ``BP2`` of a Db2 alone, ``DB1A.BP2`` of a member.
    placement
        Objects that are known to be elsewhere than the trace has them, at every member: the catalog says where.
    notes
        What was assumed, for the user.
    assumed
        Pools by full name, and group buffer pools (``GBP2``), whose size is an assumption: nothing can put it back.
    structures
        Group buffer pools by the name of their pool.
    group
        Name of the group; empty if unknown.
    """

    pools: Mapping[str, PoolSettings] = field(default_factory=dict)
    placement: Placement = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    assumed: frozenset[str] = frozenset()
    structures: Mapping[str, GroupPoolSettings] = field(default_factory=dict)
    group: str = ""

    @classmethod
    def of_members(cls, members: Mapping[str, Mapping[str, PoolSettings]], **others: Any) -> Configuration:
        """The configuration of a group, from the pools of each member by name."""
        return cls(
            {full_name(member, name): pool for member, own in members.items() for name, pool in own.items()}, **others
        )

    @property
    def bytes(self) -> int:
        """Storage of all buffers."""
        return sum(pool.bytes for pool in self.pools.values())

    @property
    def structure_bytes(self) -> int:
        """Storage of the group buffer pools in the coupling facility."""
        return sum(structure.bytes for structure in self.structures.values())

    @property
    def members(self) -> list[str]:
        """Members that have pools; a single Db2 is a member without a name."""
        return list(dict.fromkeys(member_and_pool(name)[0] for name in self.pools))

    @property
    def pool_names(self) -> list[str]:
        """Names of the pools that any member has, in the order of their numbers."""
        return sorted({pool.name for pool in self.pools.values()}, key=pool_order)

    def of(self, member: str) -> Configuration:
        """Pools of a member as those of a single Db2, with the objects that moved."""
        pools = {pool.name: pool for name, pool in self.pools.items() if member_and_pool(name)[0] == member}
        assumed = {pool for name in self.assumed for own, pool in [member_and_pool(name)] if own == member}
        return Configuration(pools, self.placement, self.notes, frozenset(assumed & pools.keys()))

    def buffers(self, pool: str) -> int:
        """Buffers of a pool, summed over all members."""
        return sum(candidate.size for candidate in self.pools.values() if candidate.name == pool)

    def with_structures(self, structures: Mapping[str, GroupPoolSettings]) -> Configuration:
        """The same configuration with these group buffer pools replacing those with the same names."""
        return replace(self, structures={**self.structures, **structures})
