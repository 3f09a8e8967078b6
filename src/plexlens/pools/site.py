"""What is known of the site that a trace is from: its pools, prices of its I/O, free storage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from plexlens.errors import NothingUsableError, UsageError
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.pools.cost import IoCost, default_cost, fitted_cost
from plexlens.pools.headroom import Headroom, headroom_of
from plexlens.pools.responses import Response, responses_of
from plexlens.pools.settings import Configuration, PoolSettings, of_database
from plexlens.pools.settings_file import read_toml


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


def site_of(sources: Sequence[Path], settings: Path | None, *, subsystem: str = "") -> Site:
    """What there is to know of a site.

    Parameters
    ----------
    sources
        The trace; where it is a PDB, that is looked into.
    settings
        A settings file (TOML), a PDB, or the output of ``-DISPLAY BUFFERPOOL``; what it says of pools counts before
        what a PDB among the sources says.
    subsystem
        The Db2 whose records count; empty where there is one.

    Raises
    ------
    PlexlensError
        The settings cannot be read, or say nothing of pools.
    """
    site = Site()
    for path in sources:
        if path.is_dir():
            site = _of_pdb(Pdb.open(path), subsystem, required=False)
    if settings is None:
        return site
    if settings.is_dir():
        return _of_pdb(Pdb.open(settings), subsystem, required=True)
    if settings.suffix.lower() == ".toml":
        return replace(site, configuration=read_toml(settings))
    with Pdb.temporary() as pdb:
        ingest([settings], pdb)
        found = of_database(pdb.connect(), subsystem=subsystem or None)
    return replace(site, configuration=found)


def _of_pdb(pdb: Pdb, subsystem: str, *, required: bool) -> Site:
    backend = pdb.connect()
    inputs = Inputs(backend)
    try:
        configuration = of_database(backend, subsystem=subsystem or None)
    except NothingUsableError:
        if required:
            raise
        configuration = Configuration()
    return Site(
        configuration,
        fitted_cost(inputs, subsystem=subsystem),
        headroom_of(backend),
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
