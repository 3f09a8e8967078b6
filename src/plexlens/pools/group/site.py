"""What is known of the site of a group: its pools, group buffer pools, prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from plexlens.errors import NothingUsableError
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.engine import Connection
from plexlens.pools.cost import fitted_cost
from plexlens.pools.group.cost import GroupCost, measured_request
from plexlens.pools.group.settings import GroupConfiguration, with_assumed_structures
from plexlens.pools.group.sources import of_group_database, read_group_toml
from plexlens.pools.group.work import GroupWork
from plexlens.pools.headroom import Headroom, headroom_of
from plexlens.pools.settings import Configuration
from plexlens.pools.site import connection_of


@dataclass(frozen=True)
class GroupSite:
    """The site of a trace of several members.

    Attributes
    ----------
    configuration
        Pools of the members now, as far as anything tells them.
    cost
        Prices, fitted or measured where its data can say them.
    headroom
        Free storage of the system that has least; None where nothing tells it.
    """

    configuration: GroupConfiguration
    cost: GroupCost = field(default_factory=GroupCost)
    headroom: Headroom | None = None


def group_site_of(
    sources: Sequence[Path], settings: Path | None, members: Sequence[str], *, layouts: Sequence[Path] = ()
) -> GroupSite:
    """What there is to know of the site of a group.

    Parameters
    ----------
    sources
        The trace; where it is a PDB, or dumps with statistics beside the references, these are looked into.
    settings
        A settings file (TOML), a PDB, or output of display commands; what it says of pools counts before the sources.
    members
        Members of the trace.
    layouts
        Folders with record layouts of the site, for dumps.

    Raises
    ------
    PlexlensError
        The settings cannot be read, or say nothing of the members.
    """
    nothing = GroupConfiguration({member: Configuration() for member in members})
    connection = connection_of(sources, layouts)
    site = GroupSite(nothing) if connection is None else _of_connection(connection, members)
    if settings is None:
        return site
    if settings.is_dir():
        return _required(_of_connection(Pdb.open(settings).connect(), members), settings)
    if settings.suffix.lower() == ".toml":
        return replace(site, configuration=read_group_toml(settings, members))
    with Pdb.temporary() as pdb:
        ingest([settings], pdb)
        found = replace(site, configuration=of_group_database(pdb.connect(), members))
        return _required(found, settings)


def _of_connection(connection: Connection, members: Sequence[str]) -> GroupSite:
    inputs = Inputs(connection)
    cost = GroupCost(fitted_cost(inputs), measured_request(inputs))
    return GroupSite(of_group_database(connection, members), cost, headroom_of(connection))


def _required(site: GroupSite, settings: Path) -> GroupSite:
    if not any(own.pools for own in site.configuration.members.values()):
        names = ", ".join(site.configuration.members)
        raise NothingUsableError(
            file=str(settings),
            what=f"it holds no sizes of buffer pools of {names}",
            remedy="give SMF 100 or displays of these members, or sizes with --pool or a settings file",
        )
    return site


def of_trace(configuration: GroupConfiguration, work: GroupWork) -> GroupConfiguration:
    """The settings of what the trace has: a site has other pools and objects too."""
    home = work.whole.home
    placement = {name: pool for name, pool in configuration.placement.items() if name in home}
    targets = set(placement.values())
    members = {}
    for name, own in configuration.members.items():
        used = {*work.members[name].pools, *targets}
        members[name] = replace(own, pools={pool: one for pool, one in own.pools.items() if pool in used})
    return replace(configuration, members=members, placement=placement)


def completed(configuration: GroupConfiguration, work: GroupWork, shared: Sequence[str]) -> GroupConfiguration:
    """The configuration with group buffer pools for what is shared, and without those that nothing goes through."""
    kept = {pool: one for pool, one in configuration.structures.items() if pool in configuration.pools}
    kept = {pool: replace(one, updates_a_commit=_commit(one.updates_a_commit, work)) for pool, one in kept.items()}
    known = replace(configuration, structures=kept)
    return with_assumed_structures(known, shared, updates_a_commit=work.updates_a_commit)


def _commit(stated: int | None, work: GroupWork) -> int | None:
    """Updates a commit: as stated, unless that is the default and the trace records commits."""
    return None if work.commits and stated == 1 else stated
