"""Settings of a group: the pools of each member, and the group buffer pools between them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NoReturn

from plexlens.errors import UsageError
from plexlens.ingest.page_trace import page_bytes, pool_id
from plexlens.pools.settings import Configuration, Placement, PoolSettings, page_bytes_of, parse_size, with_options

#: Bytes of a directory entry: about 400, by page size and level of the coupling facility (Db2 13 for z/OS, Group buffer
#: pool sizes).
DIRECTORY_ENTRY = 400

#: What RATIO may be (-ALTER GROUPBUFFERPOOL; up to 1024 with APAR PH13045).
LEAST_RATIO, MOST_RATIO = 1.0, 255.0

#: A group buffer pool of unknown size: so much of the members' buffers together, at so many directory entries a page.
ASSUMED_SHARE, ASSUMED_RATIO = 0.4, 5.0


@dataclass(frozen=True)
class GroupPoolSettings:
    """A group buffer pool.

    Attributes
    ----------
    name
        The buffer pool it belongs to: ``BP2`` for GBP2.
    data_entries, directory_entries
        Pages and directory entries of the structure.
    class_threshold, class_pages
        CLASST in per cent; in pages, where the per cent are 0.
    pool_threshold
        GBPOOLT in per cent.
    updates_a_commit
        Updates after which a member commits; None where the trace records commits.
    """

    name: str
    data_entries: int = 4000
    directory_entries: int = 20000
    class_threshold: int = 5
    class_pages: int = 0
    pool_threshold: int = 30
    updates_a_commit: int | None = 1

    @property
    def structure(self) -> str:
        """``GBP2``."""
        return f"G{self.name}"

    @property
    def page_bytes(self) -> int:
        """Bytes of a page."""
        return page_bytes(id_of(self.name))

    @property
    def bytes(self) -> int:
        """Storage in the coupling facility: pages, and directory entries of `DIRECTORY_ENTRY` bytes."""
        return self.data_entries * self.page_bytes + self.directory_entries * DIRECTORY_ENTRY

    @property
    def ratio(self) -> float:
        """Directory entries for each page, with the one decimal that Db2 takes."""
        return math.floor(10 * self.directory_entries / max(self.data_entries, 1) + 0.5) / 10

    def at_ratio(self) -> GroupPoolSettings:
        """The same with as many directory entries as a RATIO of one decimal gives: not fewer, where Db2 takes it."""
        ratio = math.ceil(10 * self.directory_entries / max(self.data_entries, 1) - 1e-9) / 10
        ratio = min(max(ratio, LEAST_RATIO), MOST_RATIO)
        return replace(self, directory_entries=max(int(round(self.data_entries * ratio, 6)), self.data_entries))

    @classmethod
    def of_bytes(cls, name: str, size: int, ratio: float = ASSUMED_RATIO, **others: Any) -> GroupPoolSettings:
        """The group buffer pool that a structure of so many bytes is, at a ratio.

        Raises
        ------
        UsageError
            Too small for a page, or a ratio that Db2 does not take.
        """
        if not LEAST_RATIO <= ratio <= MOST_RATIO:
            refuse_structure(f"G{name}", f"RATIO {ratio:g} is not possible", f"give {LEAST_RATIO:g} to {MOST_RATIO:g}")
        data = int(size / (page_bytes(id_of(name)) + ratio * DIRECTORY_ENTRY))
        if data < 1:
            refuse_structure(f"G{name}", f"{size:,} bytes hold no page", "give more, as in 64MiB")
        return cls(name, data, max(int(data * ratio), data), **others)

    def engine(self) -> dict[str, Any]:
        """What `plexlens._core.GroupSimulation` takes for the structure."""
        settings = asdict(self)
        settings.pop("name")
        return settings | {"page_bytes": self.page_bytes}


def id_of(name: str) -> int:
    """Number of a pool.

    Raises
    ------
    UsageError
        Db2 has no such pool.
    """
    number = pool_id(name)
    if number is None:
        raise UsageError(
            file="", what=f"{name!r} names no buffer pool", remedy="name pools as BP0, BP8K0, BP16K0, BP32K"
        )
    return number


def refuse_structure(name: str, what: str, remedy: str) -> NoReturn:
    """Refuse settings of a group buffer pool.

    Raises
    ------
    UsageError
        Always.
    """
    raise UsageError(file="", what=f"group buffer pool {name}: {what}", remedy=remedy)


@dataclass(frozen=True)
class GroupConfiguration:
    """The pools of a group.

    Attributes
    ----------
    members
        Pools of each member, by its name; their placements are empty.
    structures
        Group buffer pools by the name of their pool.
    placement
        Objects that are known to be elsewhere than the trace has them, at every member: the catalog says where.
    name
        The group; empty where nothing tells it.
    assumed
        Group buffer pools, by the name of their pool, whose size is an assumption: nothing can put it back.
    notes
        What was assumed, for the user.
    """

    members: Mapping[str, Configuration] = field(default_factory=dict)
    structures: Mapping[str, GroupPoolSettings] = field(default_factory=dict)
    placement: Placement = field(default_factory=dict)
    name: str = ""
    assumed: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    @property
    def pools(self) -> list[str]:
        """Names of the pools of any member."""
        found = {name for member in self.members.values() for name in member.pools}
        return sorted(found, key=id_of)

    @property
    def bytes(self) -> int:
        """Storage of all buffers of all members."""
        return sum(member.bytes for member in self.members.values())

    @property
    def structure_bytes(self) -> int:
        """Storage of the group buffer pools in the coupling facility."""
        return sum(one.bytes for one in self.structures.values())

    def of(self, member: str) -> Configuration:
        """Pools of a member, with the objects that moved."""
        return replace(self.members[member], placement=self.placement)

    def buffers(self, pool: str) -> int:
        """Buffers of a pool at all members together."""
        return sum(one.pools[pool].size for one in self.members.values() if pool in one.pools)

    def with_pool(self, member: str, pool: PoolSettings) -> GroupConfiguration:
        """The same with other settings of one pool of one member."""
        own = self.members[member]
        changed = replace(own, pools={**own.pools, pool.name: pool})
        return replace(self, members={**self.members, member: changed})

    def with_structures(self, structures: Mapping[str, GroupPoolSettings]) -> GroupConfiguration:
        """The same with these group buffer pools in place of those of their names."""
        return replace(self, structures={**self.structures, **structures})


def with_assumed_structures(
    configuration: GroupConfiguration, pools: Iterable[str], *, updates_a_commit: int | None
) -> GroupConfiguration:
    """Group buffer pools where none is known: 40 % of the members' buffers, at five directory entries a page.

    Parameters
    ----------
    configuration
        What is known; the pools of the members are complete.
    pools
        Pools with data sets that several members use and one changes.
    updates_a_commit
        As `GroupPoolSettings` has it.
    """
    made: dict[str, GroupPoolSettings] = {}
    for pool in pools:
        if pool not in configuration.structures and configuration.buffers(pool):
            size = int(ASSUMED_SHARE * configuration.buffers(pool) * page_bytes(id_of(pool)))
            least = page_bytes(id_of(pool)) + int(ASSUMED_RATIO) * DIRECTORY_ENTRY
            made[pool] = GroupPoolSettings.of_bytes(
                pool, max(size, least), ASSUMED_RATIO, updates_a_commit=updates_a_commit
            )
    if not made:
        return configuration
    names = ", ".join(one.structure for one in made.values())
    note = (
        f"The present size of {names} is not known: {ASSUMED_SHARE:.0%} of the storage of the members' pools is taken, "
        f"at {ASSUMED_RATIO:g} directory entries a page, a rule of thumb"
    )
    return replace(
        configuration.with_structures(made),
        assumed=configuration.assumed | set(made),
        notes=(*configuration.notes, note),
    )


def with_group_options(
    configuration: GroupConfiguration,
    used: Mapping[str, Collection[str]],
    *,
    pools: Sequence[str] = (),
    structures: Sequence[str] = (),
    moves: Sequence[str] = (),
    policies: Sequence[str] = (),
    page_fix: Sequence[str] = (),
) -> GroupConfiguration:
    """The configuration that options of the command line make of another.

    Parameters
    ----------
    configuration
        What there is, with every member of the trace.
    used
        Pools that each member refers to in the trace.
    pools, policies, page_fix
        As `plexlens.pools.settings.with_options` has them, for every member that has or uses the pool; for one as
        ``DB1A.BP2=80000``, ``fifo:DB1A.BP6``, ``DB1A.BP1``.
    structures
        ``GBP2=20000:100000``, data and directory entries, or ``GBP2=128MiB`` or ``GBP2=128MiB:7.5`` with a ratio.
    moves
        ``DB.TS=BP11``, at every member.

    Raises
    ------
    UsageError
        An option that means nothing, a member that is not there, or a value that Db2 does not take.
    """
    given: dict[str, dict[str, list[str]]] = {
        name: {"pools": [], "policies": [], "page_fix": []} for name in configuration.members
    }
    for kind, options in (("pools", pools), ("policies", policies), ("page_fix", page_fix)):
        for option in options:
            own, members_of = _owners(configuration, used, option, kind)
            for name in members_of:
                given[name][kind].append(own)
    members = {name: with_options(own, **given[name]) for name, own in configuration.members.items()}
    placement = with_options(Configuration(placement=configuration.placement), moves=moves).placement
    made = dict(configuration.structures)
    for option in structures:
        one = _structure(option, made)
        made[one.name] = one
    return replace(configuration, members=members, placement=placement, structures=made)


def named_pools(
    configuration: GroupConfiguration, used: Mapping[str, Collection[str]], options: Sequence[str]
) -> frozenset[tuple[str, str]]:
    """Pools of members that ``DB1A.BP2=80000`` and the like name."""
    found: set[tuple[str, str]] = set()
    for option in options:
        own, members = _owners(configuration, used, option, "pools")
        found |= {(member, own.partition("=")[0].strip().upper()) for member in members}
    return frozenset(found)


def _owners(
    configuration: GroupConfiguration, used: Mapping[str, Collection[str]], option: str, kind: str
) -> tuple[str, list[str]]:
    """An option without its member, and the members that it is for."""
    member, own = _of_member(option, kind)
    if member and member not in configuration.members:
        raise UsageError(
            file="",
            what=f"{option}: the trace has no member {member}",
            remedy=f"give one of {', '.join(configuration.members)}",
        )
    return own, [member] if member else _users(configuration, used, own, kind)


def _of_member(option: str, kind: str) -> tuple[str, str]:
    """Member and option without it; no member where it is for all."""
    before, colon, rest = option.partition(":") if kind == "policies" else ("", "", option)
    head, equals, tail = rest.partition("=")
    member, dot, pool = head.strip().upper().rpartition(".")
    return member if dot else "", f"{before}{colon}{pool}{equals}{tail}"


def _users(configuration: GroupConfiguration, used: Mapping[str, Collection[str]], option: str, kind: str) -> list[str]:
    """Members that an option without a member is for; all, where none has or uses the pool: something moves there."""
    name = (option.partition(":")[2] if kind == "policies" else option.partition("=")[0]).strip().upper()
    have = [
        member for member, own in configuration.members.items() if name in own.pools or name in used.get(member, ())
    ]
    return have or list(configuration.members)


def _structure(option: str, known: Mapping[str, GroupPoolSettings]) -> GroupPoolSettings:
    name, equals, given = option.partition("=")
    name = name.strip().upper()
    remedy = "give it as GBP2=20000:100000 (data and directory entries), GBP2=128MiB or GBP2=128MiB:7.5 (with a ratio)"
    if not name.startswith("G") or page_bytes_of(name[1:]) is None or not equals:
        raise UsageError(file="", what=f"--gbp {option} names no group buffer pool", remedy=remedy)
    first, _, second = given.partition(":")
    pool = name[1:]
    try:
        if first.replace("_", "").strip().isdigit() and second:
            entries = int(first.replace("_", "")), int(second.replace("_", ""))
            made = GroupPoolSettings(pool, *entries)
        else:
            ratio = float(second) if second else known[pool].ratio if pool in known else ASSUMED_RATIO
            made = GroupPoolSettings.of_bytes(pool, parse_size(first), ratio)
    except ValueError as error:
        raise UsageError(file="", what=f"--gbp {option} holds what is no number", remedy=remedy) from error
    check_structure(made)
    if pool in known:
        made = replace(known[pool], data_entries=made.data_entries, directory_entries=made.directory_entries)
    return made


def check_structure(one: GroupPoolSettings) -> None:
    """Check that Db2 takes a group buffer pool.

    Raises
    ------
    UsageError
        No data entry, fewer directory entries than data entries or more than RATIO may be, impossible thresholds.
    """
    if one.data_entries < 1:
        refuse_structure(one.structure, f"{one.data_entries} data entries", "give 1 at least")
    if one.directory_entries < one.data_entries:
        what = f"{one.directory_entries:,} directory entries for {one.data_entries:,} data entries"
        refuse_structure(one.structure, what, "give as many directory entries as data entries, or more")
    if one.directory_entries / one.data_entries > MOST_RATIO:
        what = f"a ratio of {one.directory_entries / one.data_entries:,.1f} directory entries a page"
        refuse_structure(one.structure, what, f"give {MOST_RATIO:g} at most")
    for what, value, most in (
        ("CLASST", one.class_threshold, 90),
        ("GBPOOLT", one.pool_threshold, 90),
    ):
        if not 0 <= value <= most:
            refuse_structure(one.structure, f"{what} {value} is not possible", f"give 0 to {most}")
