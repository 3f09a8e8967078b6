"""Group buffer pool changes as Db2 and z/OS commands, with the exact reverse.

Syntax: -ALTER GROUPBUFFERPOOL (Db2 for z/OS Command reference), SETXCF START (z/OS MVS System
Commands). Lines that begin with ``--`` are remarks.
"""

from __future__ import annotations

from plexlens.pools.settings import Configuration
from plexlens.pools.structures import GroupPoolSettings

#: What is told wherever a structure changes its size.
SIZE_REMARK = "-- SIZE: in units of 1 KB, at most that of the CFRM policy; CFSizer shows what a CF level needs."
#: What is told wherever a ratio changes.
RATIO_REMARK = (
    "-- RATIO takes effect at the next allocation, here by the rebuild (if duplexed, switch to simplex first)."
)


def alter_structure(old: GroupPoolSettings, new: GroupPoolSettings, group: str) -> tuple[list[str], list[str]]:
    """Commands that change one group buffer pool into another, and the commands that reverse them.

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


def _attributes(settings: GroupPoolSettings) -> dict[str, str]:
    return {
        "RATIO": f"{settings.ratio:g}",
        "CLASST": f"{settings.class_threshold},{settings.class_pages}",
        "GBPOOLT": str(settings.pool_threshold),
    }


def _kilobytes(settings: GroupPoolSettings) -> int:
    return -(-settings.bytes // 1024)


def structures_script(
    before: Configuration, after: Configuration
) -> tuple[list[tuple[list[str], list[str]]], list[tuple[list[str], list[str]]]]:
    """Commands for group buffer pools that grow, and for those that shrink; each with its reverse.

    Raises
    ------
    UsageError
        A change that Db2 does not take.
    """
    growing: list[tuple[list[str], list[str]]] = []
    shrinking: list[tuple[list[str], list[str]]] = []
    for name, new in after.structures.items():
        old = before.structures.get(name)
        if old is None:
            if before.pools and name in after.pool_names:
                growing.append(([_defined(new, after.group)], []))
            continue
        forth, back = alter_structure(old, new, after.group)
        if not forth:
            continue
        if new.structure in before.assumed:
            back = [f"-- {new.structure}: its present settings are not known."]
        commands = ([*_remarks(forth), *forth], [*_remarks(back), *back])
        (growing if new.bytes >= old.bytes else shrinking).append(commands)
    return growing, shrinking


def _defined(settings: GroupPoolSettings, group: str) -> str:
    """Remark on what to define for a group buffer pool that does not exist yet."""
    structure = f"{group or '<group>'}_{settings.structure}"
    return (
        f"-- Define structure {structure} in the CFRM policy: SIZE({_kilobytes(settings)}), RATIO {settings.ratio:g}."
    )


def _remarks(lines: list[str]) -> list[str]:
    names: list[str] = []
    if any(",SIZE=" in line for line in lines):
        names.append(SIZE_REMARK)
    if any("RATIO(" in line for line in lines):
        names.append(RATIO_REMARK)
    return names


def once(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The lines, with each general remark only at its first occurrence."""
    general = {SIZE_REMARK, RATIO_REMARK}
    names: set[str] = set()
    kept = []
    for line in lines:
        if line not in names or line not in general:
            kept.append(line)
        names.add(line)
    return tuple(kept)
