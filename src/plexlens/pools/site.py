"""The site of a trace: its pools, prices of its I/O, free storage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from plexlens.errors import NothingUsableError, UsageError
from plexlens.ingest.page_trace import pool_name
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.engine import Connection
from plexlens.pools.cost import IoCost, default_cost, fitted_cost, group_cost, measured_request
from plexlens.pools.dump_statistics import statistics_of
from plexlens.pools.headroom import Headroom, headroom_of
from plexlens.pools.members import ALONE, full_name, member_and_pool
from plexlens.pools.page_sample import Batches
from plexlens.pools.recorded import PoolInterval, intervals_of
from plexlens.pools.responses import Response, responses_of
from plexlens.pools.settings import MOST_BUFFERS, Configuration, PoolSettings
from plexlens.pools.settings_file import read_toml
from plexlens.pools.sources import of_database, of_members
from plexlens.pools.structures import ASSUMED_RATIO, ASSUMED_SHARE, GroupPoolSettings
from plexlens.pools.trace_sources import is_trace_file
from plexlens.pools.work import Work, dependents
from plexlens.progress import Progress


@dataclass(frozen=True)
class Site:
    """The site of a trace.

    Attributes
    ----------
    configuration
        Its pools now; none if unknown.
    cost
        Prices of I/O, fitted where its data can say them.
    headroom
        Free storage; None if unknown.
    responses
        Times of data sets and devices.
    intervals
        What Db2 counted of its pools, by statistics interval, as the sources of the trace say.
    """

    configuration: Configuration = field(default_factory=Configuration)
    cost: IoCost = field(default_factory=default_cost)
    headroom: Headroom | None = None
    responses: tuple[Response, ...] = ()
    intervals: tuple[PoolInterval, ...] = ()


def site_of(
    sources: Sequence[Path],
    settings: Path | None,
    *,
    members: Sequence[str] = (),
    subsystem: str = "",
    member: str = "",
    layouts: Sequence[Path] = (),
) -> Site:
    """Facts about a site from its sources.

    Parameters
    ----------
    sources
        The trace; where it is a PDB, or dumps that also hold statistics, these are used.
    settings
        A settings file (TOML), a PDB, or the output of display commands; it takes precedence over what a PDB
        among the sources says.
    members
        Members of the group that the trace is of; none of a Db2 alone.
    subsystem
        The Db2 whose records count; empty where there is one, and of a group.
    member
        The Db2 of the trace: the one whose records count where there are several and none is asked for.
    layouts
        Folders with record layouts of the site, for dumps.

    Raises
    ------
    PlexlensError
        The settings cannot be read, or say nothing about the pools.
    """
    who = _Who(tuple(members), subsystem, member)
    connection = connection_of(sources, layouts)
    site = Site(cost=who.default_cost()) if connection is None else _of_connection(connection, who, required="")
    if settings is None:
        return site
    if settings.is_dir():
        recorded = _of_connection(Pdb.open(settings).connect(), who, required=str(settings))
        return replace(recorded, intervals=site.intervals or recorded.intervals)
    if settings.suffix.lower() == ".toml":
        return replace(site, configuration=read_toml(settings, who.names))
    with Pdb.temporary() as pdb:
        ingest([settings], pdb)
        configuration = _configuration(pdb.connect(), who, required=str(settings))
    return replace(site, configuration=configuration)


@dataclass(frozen=True)
class _Who:
    """Owner of the pools to look for: the members of a group, or a single Db2."""

    members: tuple[str, ...]
    subsystem: str
    member: str

    @property
    def names(self) -> tuple[str, ...]:
        return self.members or (ALONE,)

    def default_cost(self) -> IoCost:
        return group_cost() if self.members else default_cost()


def connection_of(sources: Sequence[Path], layouts: Sequence[Path] = ()) -> Any:
    """Data other than references in the sources of a trace, behind a DuckDB connection; None for trace files.

    Raises
    ------
    UnreadableInputError
        A source cannot be read.
    """
    folders = [path for path in sources if path.is_dir()]
    if folders:
        return Pdb.open(folders[-1]).connect()
    dumps = [path for path in sources if not is_trace_file(path)]
    return statistics_of(dumps, layouts) if dumps else None


def _configuration(connection: Connection, who: _Who, *, required: str) -> Configuration:
    """Pools recorded in a database; an empty configuration if it has none and ``required`` names no file."""
    if who.members:
        configuration = of_members(connection, who.members)
        if required and not configuration.pools:
            raise NothingUsableError(
                file=required,
                what=f"it contains no buffer pool sizes of {', '.join(who.members)}",
                remedy="give SMF 100 or displays of these members, or sizes with --pool or a settings file",
            )
        return configuration
    try:
        return _of_one(connection, who)
    except NothingUsableError:
        if required:
            raise
        return Configuration()


def _of_one(connection: Connection, who: _Who) -> Configuration:
    try:
        return of_database(connection, subsystem=who.subsystem or None)
    except UsageError:
        if who.subsystem or not who.member:
            raise
        return of_database(connection, subsystem=who.member)


def _of_connection(connection: Connection, who: _Who, *, required: str) -> Site:
    inputs = Inputs(connection)
    cost = fitted_cost(inputs, subsystem=who.subsystem)
    return Site(
        _configuration(connection, who, required=required),
        group_cost(cost, measured_request(inputs)) if who.members else cost,
        headroom_of(connection),
        tuple(responses_of(inputs)),
        tuple(intervals_of(inputs)),
    )


def evenly(work: Work, budgets: Mapping[str, int], known: Configuration) -> Configuration:
    """Settings for pools of unknown size: equal parts of a member's budget minus the known pools.

    Parameters
    ----------
    work
        The pools of the trace.
    budgets
        Bytes for all pools of each member; of a Db2 alone by an empty name.
    known
        Settings that are known.

    Raises
    ------
    UsageError
        Nothing of a budget is left, or there is none for a member whose pools are not known.
    """
    every = [name for name in work.pool_names if name not in known.pools]
    pools = dict(known.pools)
    for member, used in work.used.items():
        missing = [full_name(member, pool) for pool in used if full_name(member, pool) in every]
        if missing and member not in budgets:
            raise UsageError(
                file="",
                what=f"nothing can be recommended for {member}: the pool sizes are not known",
                remedy=f"give them with --pool {missing[0]}=40000, or --settings (TOML, a database, display output)",
            )
        for name in missing:
            budget = budgets[member]
            part = (budget - known.of(member).bytes) // len(missing)
            settings = PoolSettings.of(member_and_pool(name)[1], 1)
            if part < settings.page_bytes:
                raise UsageError(
                    file="",
                    what=f"the budget of {budget:,} bytes leaves nothing for {name}",
                    remedy="give a larger budget, or the sizes of the pools with --settings",
                )
            pools[name] = replace(settings, size=min(part // settings.page_bytes, MOST_BUFFERS))
    if not every:
        return known
    note = f"The present size of {', '.join(every)} is not known: an equal share of the budget is assumed."
    return replace(known, pools=pools, notes=(*known.notes, note), assumed=known.assumed | set(every))


def of_trace(configuration: Configuration, work: Work) -> Configuration:
    """The settings of the pools and objects that occur in the trace; a site has others too."""
    home = work.home
    placement = {name: pool for name, pool in configuration.placement.items() if name in home}
    targets = set(placement.values())
    there = set(work.pool_names)
    pools = {name: pool for name, pool in configuration.pools.items() if name in there or pool.name in targets}
    return replace(configuration, pools=pools, placement=placement)


def with_catalog(configuration: Configuration, work: Work) -> Configuration:
    """The configuration with the objects where the catalog has them, if that is another pool than the trace's.

    An object whose pool in the catalog has no known size stays where the trace has it; a note says so.
    """
    placement = dict(configuration.placement)
    notes = list(configuration.notes)
    sized = {pool.name for pool in configuration.pools.values()}
    for number, use in work.objects.items():
        name, pool = work.object_name(number), work.names.catalog_pool(number)
        if not pool or pool == work.names.pool(use.home) or name in placement:
            continue
        place = f"{name} is in {pool} by the catalog, and in {work.names.pool(use.home)} in the trace"
        if pool in sized:
            placement[name] = pool
            notes.append(f"{place}: {pool} is taken as its present pool.")
        else:
            notes.append(f"{place}; the size of {pool} is not known, so the trace counts.")
    return replace(configuration, placement=placement, notes=tuple(notes))


def completed(
    configuration: Configuration, work: Work, trace: Batches, *, progress: Progress | None = None
) -> Configuration:
    """The configuration with group buffer pools for shared data, and without unused group buffer pools."""
    if not work.members:
        return configuration
    names = configuration.pool_names
    kept = {pool: structure for pool, structure in configuration.structures.items() if pool in names}
    kept = {
        pool: replace(settings, updates_a_commit=_commit(settings.updates_a_commit, work))
        for pool, settings in kept.items()
    }
    shared = work.dependent
    if configuration.placement:
        (shared,) = dependents(trace, work.names, [configuration.placement], progress=progress)
    return with_assumed_structures(
        replace(configuration, structures=kept),
        [pool_name(pool) for pool in shared],
        updates_a_commit=work.updates_a_commit,
    )


def _commit(stated: int | None, work: Work) -> int | None:
    """Updates per commit: the stated number, unless it is the default and the trace records commits."""
    return None if work.commits and stated == 1 else stated


def with_assumed_structures(
    configuration: Configuration, pools: Iterable[str], *, updates_a_commit: int | None
) -> Configuration:
    """Group buffer pools where none is known: 40 % of the members' buffers, with five directory entries per page.

    Parameters
    ----------
    configuration
        What is known; the pools of the members are complete.
    pools
        Pools with data sets that several members use and one changes.
    updates_a_commit
        As `GroupPoolSettings` has it.
    """
    structures: dict[str, GroupPoolSettings] = {}
    for pool in pools:
        if pool not in configuration.structures and configuration.buffers(pool):
            structures[pool] = GroupPoolSettings.assumed(pool, configuration.buffers(pool), updates_a_commit)
    if not structures:
        return configuration
    names = ", ".join(settings.structure for settings in structures.values())
    note = (
        f"The present size of {names} is not known: {ASSUMED_SHARE:.0%} of the storage of the members' pools is "
        f"assumed, with {ASSUMED_RATIO:g} directory entries per page (rule of thumb)"
    )
    return replace(
        configuration.with_structures(structures),
        assumed=configuration.assumed | {settings.structure for settings in structures.values()},
        notes=(*configuration.notes, note),
    )
