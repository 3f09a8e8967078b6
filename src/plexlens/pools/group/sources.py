"""Where settings of a group come from: a file of TOML, or a database."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from plexlens.errors import NothingUsableError, UsageError
from plexlens.ingest.page_trace import page_bytes
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import facts
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import Connection, rows_of
from plexlens.pools.group.settings import (
    ASSUMED_RATIO,
    GroupConfiguration,
    GroupPoolSettings,
    check_structure,
    id_of,
    refuse_structure,
)
from plexlens.pools.settings import (
    Configuration,
    check_db2,
    of_database,
    page_bytes_of,
    parse_size,
    pool_page_bytes,
)
from plexlens.pools.settings_file import load, placement_of, pool_of

_STRUCTURE_NAME = re.compile(r"(?P<group>[A-Z@#$][A-Z0-9@#$]*)_G(?P<pool>BP\w+)")

#: Output of -DISPLAY GROUPBUFFERPOOL.
_DISPLAYS = "text_db2_group_buffer_pool"

#: Bytes of a data element of the structure.
_ELEMENT = 4096

_THRESHOLDS = {"classt": "class_threshold", "classt_pages": "class_pages", "gbpoolt": "pool_threshold"}
_KEYS = ("data_entries", "directory_entries", "size", "ratio", *_THRESHOLDS, "updates_a_commit")


def read_group_toml(path: Path, members: Sequence[str]) -> GroupConfiguration:
    """Settings of a group from a file.

    ``[BP2]`` is the pool at every member, ``[DB1A.BP2]`` what is otherwise at one; ``[GBP2]`` a group buffer pool by
    ``data_entries`` and ``directory_entries``, or ``size`` and ``ratio``, with ``classt``, ``classt_pages``,
    ``gbpoolt``, ``updates_a_commit`` (0: the commits of the trace); ``[group]`` holds its ``name``; ``[placement]``
    objects and their pools.

    Parameters
    ----------
    path
        The file.
    members
        Members of the trace.

    Raises
    ------
    UnreadableInputError
        It cannot be read or is no TOML.
    UsageError
        Tables, keys or values that mean nothing.
    """
    held = load(path)
    placement = placement_of(held, path)
    try:
        return replace(_of_tables(held, members), placement=_checked(placement))
    except UsageError as error:
        raise UsageError(file=str(path), what=error.what, remedy=error.remedy) from error


def _checked(placement: dict[str, str]) -> dict[str, str]:
    for pool in placement.values():
        pool_page_bytes(pool)
    return placement


def _of_tables(held: Mapping[str, Any], members: Sequence[str]) -> GroupConfiguration:
    every: dict[str, Any] = {}
    own: dict[str, dict[str, Any]] = {member: {} for member in members}
    structures: dict[str, GroupPoolSettings] = {}
    group = ""
    for name, table in held.items():
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
    configurations = {}
    for member, tables in own.items():
        names = dict.fromkeys([*every, *tables])
        pools = {name: pool_of(name, _merged(every.get(name), tables.get(name))) for name in names}
        check_db2(pools.values())
        configurations[member] = Configuration(pools)
    return GroupConfiguration(configurations, structures, name=group)


def _merged(every: Any, own: Any) -> Any:
    if isinstance(every, dict) and isinstance(own, dict):
        return every | own
    return every if own is None else own


def _group_name(table: Any) -> str:
    name = table.get("name") if isinstance(table, dict) else None
    if not isinstance(name, str) or not re.fullmatch(r"[A-Z@#$][A-Z0-9@#$]{0,7}", name):
        raise UsageError(
            file="",
            what="[group] holds no name of a data-sharing group",
            remedy='write [group] and below it name = "DSNDB0G"',
        )
    return name


def _structure(name: str, table: Any) -> GroupPoolSettings:
    if not isinstance(table, dict):
        refuse_structure(name, "it is no table", f'write [{name}] and below it size = "128MiB"')
    for key, value in table.items():
        if key not in _KEYS:
            refuse_structure(name, f"there is no setting {key!r}", f"give one of {', '.join(_KEYS)}")
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
        made = GroupPoolSettings(name[1:], table["data_entries"], table["directory_entries"], **others)
    elif "size" in table and not by_entries:
        size = table["size"] if isinstance(table["size"], int) else parse_size(table["size"])
        made = GroupPoolSettings.of_bytes(name[1:], size, float(table.get("ratio", ASSUMED_RATIO)), **others)
    else:
        remedy = "give data_entries and directory_entries, or size (and ratio)"
        refuse_structure(name, "its size is missing, or told twice", remedy)
    check_structure(made)
    return made


def of_group_database(connection: Connection, members: Sequence[str]) -> GroupConfiguration:
    """Settings that a database holds of the members of a trace; the last interval counts.

    Pools as `plexlens.pools.settings.of_database` finds them; group buffer pools of ``-DISPLAY GROUPBUFFERPOOL`` output
    or of the structures in SMF 74-4. A member that the database says nothing of has no pools in the configuration.

    Parameters
    ----------
    connection
        What `Pdb.connect` gives.
    members
        Members of the trace.
    """
    found: dict[str, Configuration] = {}
    notes: list[str] = []
    for member in members:
        try:
            own = of_database(connection, subsystem=member)
        except (NothingUsableError, UsageError):
            own = Configuration()
        notes += [f"{member}: {note}" for note in own.notes]
        found[member] = replace(own, notes=())
    inputs = Inputs(connection)
    name, structures = _structures(inputs, members)
    if structures:
        told = ", ".join(one.structure for one in structures.values())
        notes.append(
            f"of {told} only the entries are recorded: CLASST 5,0 and GBPOOLT 30 are assumed, the defaults of Db2"
        )
    return GroupConfiguration(found, structures, name=name, notes=tuple(notes))


def _structures(inputs: Inputs, members: Sequence[str]) -> tuple[str, dict[str, GroupPoolSettings]]:
    """Name of the group, and its group buffer pools by the name of their pool."""
    name = _name_of(inputs, members)
    found: dict[str, GroupPoolSettings] = {}
    allocated = facts(inputs, GRAINS["coupling_structure"])
    if allocated is not None:
        columns = ("interval_end", "structure", "directory_entries", "data_elements")
        rows = allocated.select(*columns).ordered("interval_end").to_pylist()
        named = [(_STRUCTURE_NAME.fullmatch(row["structure"] or ""), row) for row in rows]
        groups = {match["group"] for match, _ in named if match}
        # Structures of another group are none of ours; without a name there must be one group alone.
        name = name or (groups.pop() if len(groups) == 1 else "")
        for match, row in named:
            pool = match["pool"] if match and match["group"] == name else ""
            if page_bytes_of(pool) is not None and row["directory_entries"] and row["data_elements"]:
                data = int(row["data_elements"] * _ELEMENT) // page_bytes(id_of(pool))
                found[pool] = GroupPoolSettings(pool, max(data, 1), int(row["directory_entries"]))
    if inputs.has(_DISPLAYS):
        columns = ("directory_entries", "data_pages", "pool_name", "structure_name")
        for row in rows_of(inputs.connection, inputs.raw(_DISPLAYS, columns)):
            pool = (row["pool_name"] or "").removeprefix("G") if row["subsystem"] in (None, *members) else ""
            if page_bytes_of(pool) is not None and row["directory_entries"] and row["data_pages"]:
                found[pool] = GroupPoolSettings(pool, int(row["data_pages"]), int(row["directory_entries"]))
                match = _STRUCTURE_NAME.fullmatch(row["structure_name"] or "")
                name = name or (match["group"] if match else "")
    return name, found


def _name_of(inputs: Inputs, members: Sequence[str]) -> str:
    found = facts(inputs, GRAINS["db2_pool"])
    rows = [] if found is None else found.select("subsystem", "group_name").distinct().rows()
    names = {row["group_name"] for row in rows if row["subsystem"] in members and row["group_name"]}
    return str(names.pop()) if len(names) == 1 else ""
