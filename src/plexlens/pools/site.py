"""What is known of the site that a trace is from: its pools, prices of its I/O, free storage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from plexlens.errors import NothingUsableError, UsageError
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.engine import Connection
from plexlens.pools.cost import IoCost, default_cost, fitted_cost
from plexlens.pools.dump_statistics import statistics_of
from plexlens.pools.headroom import Headroom, headroom_of
from plexlens.pools.responses import Response, responses_of
from plexlens.pools.settings import Configuration, PoolSettings, of_database
from plexlens.pools.settings_file import read_toml
from plexlens.pools.trace import is_trace_file


@dataclass(frozen=True)
class Site:
    """The site of a trace.

    Attributes
    ----------
    configuration
        Its pools now; none where nothing tells them.
    cost
        Prices of I/O, fitted where its data can say them.
    headroom
        Free storage; None where nothing tells it.
    responses
        Times of data sets and devices.
    """

    configuration: Configuration = field(default_factory=Configuration)
    cost: IoCost = field(default_factory=default_cost)
    headroom: Headroom | None = None
    responses: tuple[Response, ...] = ()


def site_of(
    sources: Sequence[Path],
    settings: Path | None,
    *,
    subsystem: str = "",
    member: str = "",
    layouts: Sequence[Path] = (),
) -> Site:
    """What there is to know of a site.

    Parameters
    ----------
    sources
        The trace; where it is a PDB, or dumps with statistics beside the references, these are looked into.
    settings
        A settings file (TOML), a PDB, or the output of ``-DISPLAY BUFFERPOOL``; what it says of pools counts before
        what a PDB among the sources says.
    subsystem
        The Db2 whose records count; empty where there is one.
    member
        The Db2 of the trace: the one whose records count where there are several and none is asked for.
    layouts
        Folders with record layouts of the site, for dumps.

    Raises
    ------
    PlexlensError
        The settings cannot be read, or say nothing of pools.
    """
    connection = connection_of(sources, layouts)
    site = Site() if connection is None else _of_connection(connection, subsystem, member, required=False)
    if settings is None:
        return site
    if settings.is_dir():
        return _of_connection(Pdb.open(settings).connect(), subsystem, member, required=True)
    if settings.suffix.lower() == ".toml":
        return replace(site, configuration=read_toml(settings))
    with Pdb.temporary() as pdb:
        ingest([settings], pdb)
        found = _configuration(pdb.connect(), subsystem, member)
    return replace(site, configuration=found)


def connection_of(sources: Sequence[Path], layouts: Sequence[Path] = ()) -> Any:
    """What the sources of a trace hold beside references, behind a DuckDB connection; None where they are trace files.

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


def _configuration(connection: Connection, subsystem: str, member: str) -> Configuration:
    try:
        return of_database(connection, subsystem=subsystem or None)
    except UsageError:
        if subsystem or not member:
            raise
        return of_database(connection, subsystem=member)


def _of_connection(connection: Connection, subsystem: str, member: str, *, required: bool) -> Site:
    inputs = Inputs(connection)
    try:
        configuration = _configuration(connection, subsystem, member)
    except NothingUsableError:
        if required:
            raise
        configuration = Configuration()
    return Site(
        configuration,
        fitted_cost(inputs, subsystem=subsystem),
        headroom_of(connection),
        tuple(responses_of(inputs)),
    )


def evenly(pools: Sequence[str], budget: int, known: Configuration) -> Configuration:
    """Settings for pools whose sizes are not known: equal parts of a budget, less what is known.

    Parameters
    ----------
    pools
        The pools.
    budget
        Bytes for all of them.
    known
        Settings that are known.

    Raises
    ------
    UsageError
        Nothing of the budget is left.
    """
    missing = [name for name in pools if name not in known.pools]
    if not missing:
        return known
    part = (budget - known.bytes) // len(missing)
    made = dict(known.pools)
    for name in missing:
        one = PoolSettings.of(name, 1)
        if part < one.page_bytes:
            raise UsageError(
                file="",
                what=f"the budget of {budget:,} bytes leaves nothing for {name}",
                remedy="give a larger budget, or the sizes of the pools with --settings",
            )
        made[name] = replace(one, size=part // one.page_bytes)
    note = f"The present size of {', '.join(missing)} is not known: equal parts of the budget are taken for it."
    return replace(known, pools=made, notes=(*known.notes, note), assumed=known.assumed | set(missing))
