"""Pool settings changed by command-line options."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from plexlens.errors import UsageError
from plexlens.pools.members import ALONE, full_name, member_and_pool
from plexlens.pools.settings import (
    STEALS,
    Configuration,
    PoolSettings,
    check_db2,
    page_bytes_of,
    pool_page_bytes,
)
from plexlens.pools.structures import ASSUMED_RATIO, GroupPoolSettings, check_structure
from plexlens.storage_size import parse_size

#: Pools that each member refers to; of a Db2 alone, which has no name, they need not be told.
Used = Mapping[str, Collection[str]]

_ONE_DB2: Used = {ALONE: ()}


def with_options(
    configuration: Configuration,
    used: Used = _ONE_DB2,
    *,
    pools: Sequence[str] = (),
    structures: Sequence[str] = (),
    moves: Sequence[str] = (),
    policies: Sequence[str] = (),
    page_fix: Sequence[str] = (),
) -> Configuration:
    """A configuration changed by command-line options.

    Parameters
    ----------
    configuration
        The present configuration.
    used
        Pools that each member refers to in the trace.
    pools
        ``BP2=80000`` (buffers) or ``BP2=80000,vpseqt=40,dwqt=50,vdwqt=10`` (or ``vdwqt=0:128``, a number of buffers),
        for every member that has or uses the pool; ``DB1A.BP2=80000`` for one.
    structures
        ``GBP2=20000:100000``, data and directory entries, or ``GBP2=128MiB`` or ``GBP2=128MiB:7.5`` with a ratio.
    moves
        ``DB.TS=BP11``, at every member.
    policies
        ``fifo:BP6``, ``none:DB1A.BP7``, ``lru:BP8``.
    page_fix
        ``BP1``, ``DB1A.BP1``.

    Raises
    ------
    UsageError
        An option that means nothing, a member that is not there, or a value that Db2 does not take.
    """
    pool_settings = dict(configuration.pools)
    _check_once("--pool", [option.partition("=")[0] for option in pools])
    _check_once("--gbp", [option.partition("=")[0] for option in structures])
    _check_once("--policy", [option.partition(":")[2] for option in policies])
    _check_once("--move", [option.rpartition("=")[0] for option in moves])
    for option in pools:
        given, size, others = _pool_option(option)
        for name in _meant(given, pool_settings, used, option):
            pool = member_and_pool(name)[1]
            pool_settings[name] = (
                replace(pool_settings[name], size=size, **others)
                if name in pool_settings
                else PoolSettings.of(pool, size, **others)
            )
            check_db2([pool_settings[name]])
    for option in policies:
        steal, _, given = option.partition(":")
        if steal.upper() not in STEALS or not given:
            raise UsageError(
                file="",
                what=f"--policy {option} is not valid",
                remedy=f"give one of {', '.join(STEALS).lower()}, then a colon and the pool, as in fifo:BP6",
            )
        for name in _meant(given, pool_settings, used, option):
            pool_settings[name] = replace(_known(pool_settings, name, f"--policy {option}"), steal=steal.upper())
    for option in page_fix:
        for name in _meant(option, pool_settings, used, option):
            pool_settings[name] = replace(_known(pool_settings, name, f"--pgfix {option}"), pgfix=True)
    placement = dict(configuration.placement)
    for option in moves:
        moved, equals, target = option.rpartition("=")
        if not equals or not moved.strip():
            raise UsageError(
                file="",
                what=f"--move {option} is not valid",
                remedy="give the object, an equals sign and the pool, as in DB.TS=BP11",
            )
        pool_page_bytes(target.strip().upper())
        placement[moved.strip()] = target.strip().upper()
    known = dict(configuration.structures)
    for option in structures:
        structure = _structure(option, known)
        known[structure.name] = structure
    return replace(configuration, pools=pool_settings, placement=placement, structures=known)


def _check_once(option: str, names: Sequence[str]) -> None:
    """Refuse an option that is given twice for one name: the second would replace the first in silence."""
    known = [name.strip().upper() for name in names]
    twice = next((name for number, name in enumerate(known) if name in known[:number]), None)
    if twice is not None:
        raise UsageError(file="", what=f"{option} is given twice for {twice}", remedy="give it once")


def named_pools(configuration: Configuration, used: Used, options: Sequence[str]) -> frozenset[str]:
    """Full names of the pools named by options such as ``BP2=80000`` and ``DB1A.BP2=80000``."""
    return frozenset(
        name for option in options for name in _meant(option.partition("=")[0], configuration.pools, used, option)
    )


def _meant(given: str, pools: Mapping[str, PoolSettings], used: Used, option: str) -> list[str]:
    """Full names of the pools that an option applies to.

    Without a member these are the pools of all members that have or use one of that name; of all members, where none
    has: something moves there.
    """
    member, pool = member_and_pool(given.strip().upper())
    if member and member not in used:
        remedy = "leave the member name out" if list(used) == [ALONE] else f"give one of {', '.join(used)}"
        raise UsageError(file="", what=f"{option}: the trace has no member {member}", remedy=remedy)
    pool_page_bytes(pool)
    if member:
        return [full_name(member, pool)]
    users = [user for user in used if full_name(user, pool) in pools or pool in used[user]]
    return [full_name(user, pool) for user in users or used]


def _known(pools: Mapping[str, PoolSettings], name: str, option: str) -> PoolSettings:
    if name not in pools:
        raise UsageError(
            file="",
            what=f"{option}: the size of {name} is not known",
            remedy=f"give it with --pool {name}=SIZE, or settings with --settings",
        )
    return pools[name]


def _pool_option(option: str) -> tuple[str, int, dict[str, Any]]:
    first, *rest = option.split(",")
    name, _, size = first.partition("=")
    pool_page_bytes(member_and_pool(name.strip().upper())[1])
    others: dict[str, Any] = {}
    remedy = "give it as BP2=80000, or BP2=80000,vpseqt=40,dwqt=50,vdwqt=10 (vdwqt=0:128 for a number of buffers)"
    try:
        buffers = int(size.replace("_", ""))
        for setting in rest:
            key, _, value = setting.partition("=")
            key = key.strip().lower()
            if key == "vdwqt":
                percent, _, pages = value.partition(":")
                others |= {"vdwqt": int(percent), "vdwqt_pages": int(pages or 0)}
            elif key in ("vpseqt", "dwqt"):
                others[key] = int(value)
            else:
                raise UsageError(file="", what=f"--pool {option}: there is no setting {key!r}", remedy=remedy)
    except ValueError as error:
        raise UsageError(file="", what=f"--pool {option}: a value is not a number", remedy=remedy) from error
    return name, buffers, others


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
            group_pool_settings = GroupPoolSettings(pool, *entries)
        else:
            ratio = float(second) if second else known[pool].ratio if pool in known else ASSUMED_RATIO
            group_pool_settings = GroupPoolSettings.of_bytes(pool, parse_size(first), ratio)
    except ValueError as error:
        raise UsageError(file="", what=f"--gbp {option}: a value is not a number", remedy=remedy) from error
    check_structure(group_pool_settings)
    if pool in known:
        group_pool_settings = replace(
            known[pool],
            data_entries=group_pool_settings.data_entries,
            directory_entries=group_pool_settings.directory_entries,
        )
    return group_pool_settings
