"""Changes of a group's pools as text for Db2 and z/OS, with the exact reverse.

Syntax: -ALTER BUFFERPOOL, -ALTER GROUPBUFFERPOOL (Db2 for z/OS Command reference), SETXCF START (z/OS MVS System
Commands). Lines that begin with ``--`` are remarks.
"""

from __future__ import annotations

from collections.abc import Mapping

from plexlens.pools.alter import MovedObject, Script, script
from plexlens.pools.group.settings import GroupConfiguration, GroupPoolSettings
from plexlens.pools.settings import Configuration, Placement

#: What is told wherever a structure changes its size.
SIZE_REMARK = "-- SIZE: in units of 1 KB, at most that of the CFRM policy; CFSizer tells what a CF level needs."
#: What is told wherever a ratio changes.
RATIO_REMARK = "-- RATIO: takes effect at the next allocation, so by the rebuild (if duplexed, to simplex first)."


def alter_structure(old: GroupPoolSettings, new: GroupPoolSettings, group: str) -> tuple[list[str], list[str]]:
    """Commands that make one group buffer pool of another, and back.

    Parameters
    ----------
    old, new
        Before and after.
    group
        Name of the data-sharing group; where it is empty, the text names in angle brackets what has to be filled in.
    """
    return _commands(old, new, group), _commands(new, old, group)


def _commands(old: GroupPoolSettings, new: GroupPoolSettings, group: str) -> list[str]:
    attributes = {}
    for name, value in _attributes(new).items():
        if _attributes(old)[name] != value:
            attributes[name] = value
    lines = []
    if attributes:
        named = " ".join(f"{name}({value})" for name, value in attributes.items())
        lines.append(f"-ALTER GROUPBUFFERPOOL({new.structure}) {named}")
    structure = f"{group or '<group>'}_{new.structure}"
    if _kilobytes(new) != _kilobytes(old):
        lines.append(f"SETXCF START,ALTER,STRNAME={structure},SIZE={_kilobytes(new)}")
    if "RATIO" in attributes:
        lines.append(f"SETXCF START,REBUILD,STRNAME={structure}")
    return lines


def _attributes(one: GroupPoolSettings) -> dict[str, str]:
    return {
        "RATIO": f"{one.ratio:g}",
        "CLASST": f"{one.class_threshold},{one.class_pages}",
        "GBPOOLT": str(one.pool_threshold),
    }


def _kilobytes(one: GroupPoolSettings) -> int:
    return -(-one.bytes // 1024)


def group_script(
    before: GroupConfiguration, after: GroupConfiguration, objects: Mapping[str, MovedObject], home: Placement
) -> Script:
    """Text that makes one configuration of a group of another.

    Group buffer pools that grow come first and those that shrink last, so that the pools between always find the
    directory entries that they need; objects move when all pools have their buffers.

    Parameters
    ----------
    before, after
        The configurations, with the same members.
    objects
        Names and kinds of objects that move.
    home
        The pool of each object in the trace.

    Raises
    ------
    UsageError
        A change that Db2 does not take.
    """
    parts: list[Script] = []
    shrinking: list[Script] = []
    for name, new in after.structures.items():
        old = before.structures.get(name, new)
        forth, back = alter_structure(old, new, after.name)
        if not forth:
            continue
        remarks = _remarks(forth)
        if name in before.assumed:
            back = [f"-- {new.structure}: its present settings are not known."]
        one = Script((*remarks, *forth), (*_remarks(back), *back))
        (parts if new.bytes >= old.bytes else shrinking).append(one)
    for member in after.members:
        own = script(Configuration(before.members[member].pools, assumed=before.members[member].assumed),
                     Configuration(after.members[member].pools), {}, {})  # fmt: skip
        if own.change:
            head = f"-- On member {member}:"
            parts.append(Script((head, *own.change), (head, *own.reverse)))
    moved = script(Configuration(placement=before.placement), Configuration(placement=after.placement), objects, home)
    parts += [moved] if moved.change else []
    parts += shrinking
    change = tuple(line for part in parts for line in part.change)
    reverse = tuple(line for part in reversed(parts) for line in part.reverse)
    return Script(_once(change), _once(reverse))


def _remarks(lines: list[str]) -> list[str]:
    told: list[str] = []
    if any(",SIZE=" in line for line in lines):
        told.append(SIZE_REMARK)
    if any("RATIO(" in line for line in lines):
        told.append(RATIO_REMARK)
    return told


def _once(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The lines, general remarks only where they come first."""
    general = {SIZE_REMARK, RATIO_REMARK}
    told: set[str] = set()
    kept = []
    for line in lines:
        if line not in told or line not in general:
            kept.append(line)
        told.add(line)
    return tuple(kept)
