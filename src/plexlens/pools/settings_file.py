"""Pool settings in a TOML file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomli

from plexlens.errors import UnreadableInputError, UsageError
from plexlens.pools.members import ALONE
from plexlens.pools.settings import (
    FRAMES,
    Configuration,
    PoolSettings,
    check_db2,
    page_bytes_of,
    pool_page_bytes,
    refuse_pool,
)
from plexlens.pools.structures import ASSUMED_RATIO, GroupPoolSettings, check_structure, refuse_structure
from plexlens.storage_size import parse_size

_KEYS = {
    "size": "size",
    "steal": "steal",
    "vpseqt": "vpseqt",
    "dwqt": "dwqt",
    "vdwqt": "vdwqt",
    "vdwqt_pages": "vdwqt_pages",
    "pgfix": "pgfix",
    "frame": "frame_bytes",
}


_THRESHOLDS = {"classt": "class_threshold", "classt_pages": "class_pages", "gbpoolt": "pool_threshold"}
_STRUCTURE_KEYS = ("data_entries", "directory_entries", "size", "ratio", *_THRESHOLDS, "updates_a_commit")


def read_toml(path: Path, members: Sequence[str] = (ALONE,)) -> Configuration:
    """Settings from a file: a table for each pool, and ``[placement]`` with objects and their pools.

    ``[db2]`` holds ``checkpoint_minutes`` and ``pseudo_close_minutes``, 0 for never.

    For a group ``[BP2]`` is the pool at every member, ``[DB1A.BP2]`` what is otherwise at one; ``[GBP2]`` a group
    buffer pool by ``data_entries`` and ``directory_entries``, or ``size`` and ``ratio``, with ``classt``,
    ``classt_pages``, ``gbpoolt``, ``updates_a_commit`` (0: the commits of the trace); ``[group]`` holds its ``name``.

    Parameters
    ----------
    path
        The file.
    members
        Members of the trace; one without a name is a Db2 alone.

    Raises
    ------
    UnreadableInputError
        It cannot be read or is not valid TOML.
    UsageError
        Tables, keys or values that mean nothing.
    """
    contents = load(path)
    placement = placement_of(contents, path)
    try:
        times = _times(contents.pop("db2", {}))
        configuration = _of_one(contents) if list(members) == [ALONE] else _of_group(contents, members)
        for pool in placement.values():
            pool_page_bytes(pool)
    except UsageError as error:
        raise UsageError(file=str(path), what=error.what, remedy=error.remedy) from error
    pools = {name: replace(pool, **times) for name, pool in configuration.pools.items()}
    return replace(configuration, pools=pools, placement=placement)


def _times(table: Any) -> dict[str, Any]:
    """Settings of the whole Db2, in seconds."""
    keys = {"checkpoint_minutes": "checkpoint", "pseudo_close_minutes": "pseudo_close"}
    for key, value in table.items() if isinstance(table, dict) else [("db2", table)]:
        if key not in keys or isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise UsageError(
                file="",
                what=f"[db2]: {key} = {value!r} means nothing",
                remedy=f"give {' and '.join(keys)} in minutes, 0 for never",
            )
    return {keys[key]: 60.0 * value for key, value in table.items()}


def _of_one(content: Mapping[str, Any]) -> Configuration:
    pools = {name: pool_of(name, table) for name, table in content.items()}
    check_db2(pools.values())
    return Configuration(pools)


def load(path: Path) -> dict[str, Any]:
    """Contents of a TOML file.

    Raises
    ------
    UnreadableInputError
        It cannot be read or is not valid TOML.
    """
    try:
        return tomli.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableInputError(
            file=str(path), what=f"it cannot be read: {error}", remedy="check the path and your permissions"
        ) from error
    except tomli.TOMLDecodeError as error:
        raise UnreadableInputError(
            file=str(path), what=f"it is not valid TOML: {error}", remedy="correct it"
        ) from error


def placement_of(content: dict[str, Any], path: Path) -> dict[str, str]:
    """Objects and their pools, removed from the contents of a file.

    Raises
    ------
    UsageError
        It is not a table of names.
    """
    placement = content.pop("placement", {})
    if not isinstance(placement, dict) or not all(isinstance(pool, str) for pool in placement.values()):
        raise UsageError(
            file=str(path),
            what="values in [placement] must be pools",
            remedy='write it as "DB.TS" = "BP11" below [placement]',
        )
    return placement


#: Values by type, as a remedy names them.
_GIVEN: dict[type, str] = {
    str: "a text in quotes",
    bool: "true or false, without quotes",
    int: "a whole number, without quotes",
}


def pool_of(name: str, table: Any) -> PoolSettings:
    """A pool from its table in the file.

    Raises
    ------
    UsageError
        No such pool, no size, or keys and values that mean nothing.
    """
    pool_page_bytes(name)
    if not isinstance(table, dict) or "size" not in table:
        refuse_pool(name, "its size is missing", f"write [{name}] and below it size = 40000")
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KEYS:
            refuse_pool(name, f"there is no setting {key!r}", f"give one of {', '.join(_KEYS)}")
        wanted = str if key in ("steal", "frame") else bool if key == "pgfix" else int
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            refuse_pool(name, f"{key} = {value!r} means nothing", f"give {_GIVEN[wanted]}")
        values[_KEYS[key]] = value.upper() if isinstance(value, str) else value
    if "frame_bytes" in values:
        values["frame_bytes"] = FRAMES.get(values["frame_bytes"], 0)
    return PoolSettings.of(name, **values)


def _of_group(content: Mapping[str, Any], members: Sequence[str]) -> Configuration:
    every: dict[str, Any] = {}
    own: dict[str, dict[str, Any]] = {member: {} for member in members}
    structures: dict[str, GroupPoolSettings] = {}
    group = ""
    for name, table in content.items():
        if page_bytes_of(name) is not None:
            every[name] = table
        elif name[:1] == "G" and page_bytes_of(name[1:]) is not None:
            structures[name[1:]] = _structure(name, table)
        elif name == "group":
            group = _group_name(table)
        elif name in own and isinstance(table, dict):
            own[name] = table
        else:
            raise UsageError(
                file="",
                what=f"[{name}] is neither a pool, nor a group buffer pool, nor a member of the trace",
                remedy=f"write [BP2], [GBP2], or [{members[0]}.BP2] of one of {', '.join(members)}",
            )
    results = {}
    for member, tables in own.items():
        names = dict.fromkeys([*every, *tables])
        results[member] = {name: pool_of(name, _merged(every.get(name), tables.get(name))) for name in names}
        check_db2(results[member].values())
    return Configuration.of_members(results, structures=structures, group=group)


def _merged(every: Any, own: Any) -> Any:
    if isinstance(every, dict) and isinstance(own, dict):
        return every | own
    return every if own is None else own


def _group_name(table: Any) -> str:
    name = table.get("name") if isinstance(table, dict) else None
    if not isinstance(name, str) or not re.fullmatch(r"[A-Z@#$][A-Z0-9@#$]{0,7}", name):
        raise UsageError(
            file="",
            what="[group] does not name a data-sharing group",
            remedy='write [group] and below it name = "DSNDB0G"',
        )
    return name


def _structure(name: str, table: Any) -> GroupPoolSettings:
    if not isinstance(table, dict):
        refuse_structure(name, "it is not a table", f'write [{name}] and below it size = "128MiB"')
    for key, value in table.items():
        if key not in _STRUCTURE_KEYS:
            refuse_structure(name, f"there is no setting {key!r}", f"give one of {', '.join(_STRUCTURE_KEYS)}")
        wanted: tuple[type, ...] = {"size": (str, int), "ratio": (int, float)}.get(key, (int,))
        if isinstance(value, bool) or not isinstance(value, wanted):
            refuse_structure(name, f"{key} = {value!r} means nothing", 'give a number, or a size as in "128MiB"')
    others = {
        field: table[key]
        for key, field in (
            ("classt", "class_threshold"),
            ("classt_pages", "class_pages"),
            ("gbpoolt", "pool_threshold"),
        )
        if key in table
    }
    if "updates_a_commit" in table:
        others["updates_a_commit"] = table["updates_a_commit"] or None
    by_entries, by_size = {"data_entries", "directory_entries"} & table.keys(), {"size", "ratio"} & table.keys()
    if len(by_entries) == 2 and not by_size:
        group_pool_settings = GroupPoolSettings(name[1:], table["data_entries"], table["directory_entries"], **others)
    elif "size" in table and not by_entries:
        size = table["size"] if isinstance(table["size"], int) else parse_size(table["size"])
        group_pool_settings = GroupPoolSettings.of_bytes(
            name[1:], size, float(table.get("ratio", ASSUMED_RATIO)), **others
        )
    else:
        remedy = "give data_entries and directory_entries, or size (and ratio)"
        refuse_structure(name, "its size is missing or given twice", remedy)
    check_structure(group_pool_settings)
    return group_pool_settings


def to_toml(configuration: Configuration) -> str:
    """The configuration in the format that `read_toml` reads."""
    frames = {size: name for name, size in FRAMES.items()}
    lines: list[str] = []
    for name, pool in configuration.pools.items():
        lines += [
            f"[{name}]",
            f"size = {pool.size}",
            f'steal = "{pool.steal}"',
            *(f"{key} = {getattr(pool, key)}" for key in ("vpseqt", "dwqt", "vdwqt", "vdwqt_pages")),
            f"pgfix = {str(pool.pgfix).lower()}",
            f'frame = "{frames[pool.frame_bytes]}"',
            "",
        ]
    if configuration.placement:
        lines += ["[placement]"]
        lines += [f'"{_escaped(name)}" = "{pool}"' for name, pool in configuration.placement.items()]
    return "\n".join(lines).rstrip() + "\n"


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')
