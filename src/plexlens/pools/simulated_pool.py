"""Db2's own simulation of a larger pool (SPSIZE), as remarks before the commands that enlarge it.

Sources, all read: Db2 12 for z/OS Command reference, -ALTER BUFFERPOOL (SPSIZE, SPSEQT); Db2 13 for z/OS, *Performing
buffer pool simulation* (SPSIZE is the number of buffers that are added); Db2 13 for z/OS messages, DSNB614I (only pools
with PGSTEAL LRU); IBM Db2 12 for z/OS Performance Topics, SG24-8404 (2 % of the storage of 4 KB pages, 1 % CPU, Db2 11
with PI22091, avoidable I/Os in -DISPLAY BUFFERPOOL and IFCID 2). The form of the messages with these numbers was not
found in public, so none is quoted.
"""

from __future__ import annotations

from plexlens.pools.alter import Script, moved_objects
from plexlens.pools.members import member_and_pool
from plexlens.pools.settings import Configuration, Placement, PoolSettings

_HEAD = (
    "-- Before it, Db2 12 (or 11 with PI22091) can count what the larger pools would save under the live load, for 2 %",
    "-- of their added storage and about 1 % CPU:",
)

_TAIL = (
    "--   -DISPLAY BUFFERPOOL(ACTIVE) DETAIL(INTERVAL)   now and an hour later, or two intervals of SMF 100",
    "-- Compare the avoidable reads per second with what is predicted here; then SPSIZE(0) for each of these pools.",
)


def can_simulate(old: PoolSettings | None, new: PoolSettings) -> bool:
    """Whether Db2 can simulate a change of a pool: it grows, and steals by LRU before and after."""
    return old is not None and new.size > old.size and old.steal == new.steal == "LRU"


def with_trial(text: Script, before: Configuration, after: Configuration, home: Placement) -> Script:
    """The text of a change, with remarks at its head that name the commands to simulate the pools that grow.

    Pools from or to which objects move are left out: Db2 simulates the references that a pool has now. So are pools
    whose present settings are assumed. Without such a pool the text stays as it is.

    Parameters
    ----------
    text
        As `plexlens.pools.alter.script` writes it for these configurations.
    before, after
        The configurations.
    home
        The pool of each object in the trace.
    """
    moves = moved_objects(before.placement, after.placement, home)
    touched = {pool for _, *pools in moves for pool in pools}
    commands = []
    for full, new in after.pools.items():
        member, name = member_and_pool(full)
        old = before.pools.get(full)
        if old is not None and can_simulate(old, new) and name not in touched and full not in before.assumed:
            where = f"On member {member}: " if member else ""
            added = new.size - old.size
            commands.append(f"--   {where}-ALTER BUFFERPOOL({name}) SPSIZE({added}) SPSEQT({new.vpseqt})")
    return Script((*_HEAD, *commands, *_TAIL, *text.change), text.reverse) if commands else text
