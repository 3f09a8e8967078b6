"""Settings recorded in a database: pools of SMF 100 and of display output, group buffer pools of SMF 74-4 and displays.

Where a source tells only part of a pool (SMF 100 IFCID 2 tells its size alone), the rest has the defaults of Db2, and a
note says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from plexlens.errors import NothingUsableError, UsageError
from plexlens.ingest.page_trace import page_bytes
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available, facts, rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import Connection, rows_of
from plexlens.pools.members import full_name
from plexlens.pools.settings import STEALS, Configuration, PoolSettings, page_bytes_of
from plexlens.pools.structures import GroupPoolSettings, id_of

_STRUCTURE_NAME = re.compile(r"(?P<group>[A-Z@#$][A-Z0-9@#$]*)_G(?P<pool>BP\w+)")

#: Output of -DISPLAY GROUPBUFFERPOOL.
_DISPLAYS = "text_db2_group_buffer_pool"

#: Bytes of a data element of the structure.
_ELEMENT = 4096


def of_database(connection: Connection, *, subsystem: str | None = None) -> Configuration:
    """Settings recorded in a PDB: sizes from SMF 100 IFCID 2, and thresholds from ``-DISPLAY BUFFERPOOL`` output.

    The last interval counts.

    Parameters
    ----------
    connection
        What `Pdb.connect` gives.
    subsystem
        Whose pools; None where there is one Db2.

    Raises
    ------
    NothingUsableError
        No sizes of buffer pools in it.
    UsageError
        Several Db2s and no choice, or a choice that is not there.
    """
    inputs = Inputs(connection)
    nothing = NothingUsableError(
        file="",
        what="the database contains no buffer pool sizes" + (f" of {subsystem}" if subsystem else ""),
        remedy="ingest SMF 100 or the output of -DISPLAY BUFFERPOOL, or give sizes with --pool or --settings",
    )
    if not available(inputs, GRAINS["db2_pool"]):
        raise nothing
    rows = [
        row
        for row in rolled_up(inputs, GRAINS["db2_pool"])
        if row["buffers"] and page_bytes_of(row["pool"] or "") is not None
    ]
    owners = sorted({row["subsystem"] for row in rows if row["subsystem"]})
    if subsystem is not None:
        if owners and subsystem not in owners:
            raise UsageError(
                file="", what=f"the database contains no Db2 {subsystem}", remedy=f"give one of {', '.join(owners)}"
            )
        rows = [row for row in rows if row["subsystem"] == subsystem]
    elif len(owners) > 1:
        raise UsageError(
            file="",
            what=f"the database contains pools of several Db2 subsystems: {', '.join(owners)}",
            remedy="select one with --subsystem",
        )
    if not rows:
        raise nothing
    return _configuration(rows)


def _configuration(rows: list[dict[str, Any]]) -> Configuration:
    rows.sort(key=lambda row: (row["pool"], str(row["last_interval"] or "")))
    pools: dict[str, PoolSettings] = {}
    partial: list[str] = []
    for name in dict.fromkeys(row["pool"] for row in rows):
        # A later row tells more than an earlier one, but what it is silent about stands.
        last: dict[str, Any] = {}
        for row in rows:
            if row["pool"] == name:
                last |= {key: value for key, value in row.items() if value is not None}
        values: dict[str, Any] = {
            key: round(last[key] * 100) for key in ("vpseqt", "dwqt", "vdwqt") if last.get(key) is not None
        }
        if str(last.get("page_steal", "")).upper() in STEALS:
            values["steal"] = str(last["page_steal"]).upper()
        if last.get("page_fix"):
            values["pgfix"] = str(last["page_fix"]).upper().startswith("Y")
        if "vpseqt" not in values:
            partial.append(name)
        pools[name] = PoolSettings.of(name, round(last["buffers"]), **values)
    notes: tuple[str, ...] = ()
    if partial:
        notes = (
            f"for {', '.join(partial)} only the size is recorded: PGSTEAL(LRU), VPSEQT 80, DWQT 30, VDWQT 5 and "
            "PGFIX(NO) are assumed, the defaults of Db2",
        )
    return Configuration(pools, {}, notes)


def of_members(connection: Connection, members: Sequence[str]) -> Configuration:
    """Settings recorded in a database for the members of a trace; the last interval counts.

    Pools as `of_database` finds them; group buffer pools of ``-DISPLAY GROUPBUFFERPOOL`` output or of the structures in
    SMF 74-4. A member that the database says nothing about has no pools in the configuration.

    Parameters
    ----------
    connection
        What `Pdb.connect` gives.
    members
        Members of the trace.
    """
    pools: dict[str, PoolSettings] = {}
    notes: list[str] = []
    for member in members:
        try:
            own = of_database(connection, subsystem=member)
        except (NothingUsableError, UsageError):
            continue
        notes += [f"{member}: {note}" for note in own.notes]
        pools |= {full_name(member, name): pool for name, pool in own.pools.items()}
    group, structures = _structures(Inputs(connection), members)
    if structures:
        text = ", ".join(structure.structure for structure in structures.values())
        notes.append(
            f"for {text} only the entries are recorded: CLASST 5,0 and GBPOOLT 30 are assumed, the defaults of Db2"
        )
    return Configuration(pools, notes=tuple(notes), structures=structures, group=group)


def _structures(inputs: Inputs, members: Sequence[str]) -> tuple[str, dict[str, GroupPoolSettings]]:
    """Name of the group, and its group buffer pools by the name of their buffer pool."""
    name = _name_of(inputs, members)
    group_pool_settings: dict[str, GroupPoolSettings] = {}
    allocated = facts(inputs, GRAINS["coupling_structure"])
    if allocated is not None:
        columns = ("interval_end", "structure", "directory_entries", "data_elements")
        rows = allocated.select(*columns).ordered("interval_end").to_pylist()
        named = [(_STRUCTURE_NAME.fullmatch(row["structure"] or ""), row) for row in rows]
        groups = {match["group"] for match, _ in named if match}
        # Structures of other groups are ignored; without a name there must be a single group.
        name = name or (groups.pop() if len(groups) == 1 else "")
        for match, row in named:
            pool = match["pool"] if match and match["group"] == name else ""
            if page_bytes_of(pool) is not None and row["directory_entries"] and row["data_elements"]:
                data = int(row["data_elements"] * _ELEMENT) // page_bytes(id_of(pool))
                group_pool_settings[pool] = GroupPoolSettings(pool, max(data, 1), int(row["directory_entries"]))
    if inputs.has(_DISPLAYS):
        columns = ("directory_entries", "data_pages", "pool_name", "structure_name")
        for row in rows_of(inputs.connection, inputs.raw(_DISPLAYS, columns)):
            pool = (row["pool_name"] or "").removeprefix("G") if row["subsystem"] in (None, *members) else ""
            if page_bytes_of(pool) is not None and row["directory_entries"] and row["data_pages"]:
                group_pool_settings[pool] = GroupPoolSettings(
                    pool, int(row["data_pages"]), int(row["directory_entries"])
                )
                match = _STRUCTURE_NAME.fullmatch(row["structure_name"] or "")
                name = name or (match["group"] if match else "")
    return name, group_pool_settings


def _name_of(inputs: Inputs, members: Sequence[str]) -> str:
    query = facts(inputs, GRAINS["db2_pool"])
    rows = [] if query is None else query.select("subsystem", "group_name").distinct().rows()
    names = {row["group_name"] for row in rows if row["subsystem"] in members and row["group_name"]}
    return str(names.pop()) if len(names) == 1 else ""
