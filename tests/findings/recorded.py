"""What the raw tables hold of the settings that commands change, read without metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from plexlens.findings import Findings
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import columns_of, quoted, tables_of
from tests.oracle import slow_commands


def pool_name(number: int) -> str:
    """The name of a Db2 buffer pool by its number."""
    for first, prefix in ((120, "BP16K"), (100, "BP8K"), (80, "BP32K")):
        if number >= first:
            return prefix if (prefix, number) == ("BP32K", 80) else f"{prefix}{number - first}"
    return f"BP{number}"


@dataclass(frozen=True)
class Place:
    """Where records hold what a command sets.

    ``keys`` says of columns of the table which part of the finding's entity they are: ``object`` is the name that the
    command gives, ``=1`` the text 1, another word the entity's value of that name. ``value`` is the column, of which
    ``scale`` base units are one unit of the command; without it, the value is the number of rows of the last record.
    """

    table: str
    keys: Mapping[str, str]
    value: str = ""
    scale: float = 1.0


_APPLID = {"subsystem": "applid"}
_MANAGER = {"subsystem": "queue_manager"}
_SUBSYSTEM = {"subsystem": "subsystem"}
#: A page of an EDM pool has 4 KiB; the parameters are in KiB.
_PAGES = 0.25

#: By what stands in front of the object's name, and by the setting.
IN_FORCE = {
    ("BUFFERPOOL", "VPSIZE"): Place("smf100_ifcid2_qbst", _SUBSYSTEM | {"qbstpid": "object"}, "qbstvpl"),
    ("STRNAME", "SIZE"): Place("smf74_4_request", {"r744snam": "object"}, "r744ssiz", 1024.0),
    ("", "LTE"): Place("smf74_4_request", {"r744snam": "structure"}, "r744sltl", 1048576.0),
    ("CLASS", "MAXMSG"): Place(
        "smf74_2_system", {"system": "system", "r742snme": "other_system", "r742stcn": "object"}, "r742smxb", 1024.0
    ),
    ("STRNAME", "MAXMSG"): Place(
        "smf74_2_path", {"system": "system", "r742pona": "other_system", "r742pstr": "object"}, "r742pmxm", 1024.0
    ),
    ("BUFFPOOL", "BUFFERS"): Place("smf115_2_qpst", _MANAGER | {"qpstpool": "object"}, "qpstnbuf"),
    ("SMDS", "DSBUFS"): Place("smf115_2_qesd", _MANAGER | {"qesdstr": "structure"}, "qesdbfto"),
    ("", "ACTCHL"): Place("smf115_231_qcct", _MANAGER, "qcctmxac"),
    ("", "MAXCHL"): Place("smf115_231_qcct", _MANAGER, "qcctmxcc"),
    ("", "CHIDISPS"): Place("smf115_231_qct_dsp", _MANAGER),
    ("", "MAXTASKS"): Place("smf110_2_transaction_manager", _APPLID, "xmgmxt"),
    ("", "MAXOPENTCBS"): Place("smf110_2_dispatcher_tcb_pool", _APPLID | {"dsgtcbpn": "=1"}, "dsgmxtcb"),
    ("", "MAXSSLTCBS"): Place("smf110_2_dispatcher_tcb_pool", _APPLID | {"dsgtcbpn": "=3"}, "dsgmxtcb"),
    ("", "TCBLIMIT"): Place("smf110_2_db2_connection", _APPLID, "d2g_tcb_limit"),
    ("", "THREADLIMIT"): Place("smf110_2_db2_connection", _APPLID, "d2g_pool_thread_limit"),
    ("DB2ENTRY", "THREADLIMIT"): Place(
        "smf110_2_db2_entry", _APPLID | {"d2r_db2entry_name": "object"}, "d2r_thread_limit"
    ),
    ("", "MAXSOCKETS"): Place("smf110_2_tcpip", _APPLID, "sog_maxsockets_limit"),
    ("", "EDMDBDC"): Place("smf100_ifcid2_qise", _SUBSYSTEM, "qisedpge", _PAGES),
    ("", "EDM_SKELETON_POOL"): Place("smf100_ifcid2_qise", _SUBSYSTEM, "qisekpge", _PAGES),
    ("", "EDMSTMTC"): Place("smf100_ifcid2_qise", _SUBSYSTEM, "qisecpge", _PAGES),
}

#: Settings that no record holds: those of displays, as text, and one that is taken back to nothing.
NOT_RECORDED = {"VDWQT", "VPSEQT", "PGFIX", "SPSIZE"}


@dataclass
class Recorded:
    """What the raw tables hold."""

    inputs: Inputs

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        """Rows of these columns in the order of time."""
        if not self.inputs.has(table) or not set(columns) <= set(self.inputs.connection.table(table).columns):
            return []
        listed = ", ".join(f'"{column}"' for column in columns)
        there = set(self.inputs.connection.table(table).columns)
        order = " order by interval_end, record_no" if {"interval_end", "record_no"} <= there else ""
        found: list[tuple[Any, ...]] = self.inputs.connection.execute(
            f'select {listed} from "{table}"{order}'
        ).fetchall()
        return found

    @cached_property
    def names(self) -> set[str]:
        """Every text in any raw table, and the names that numbers stand for."""
        known: set[str] = set()
        for table in tables_of(self.inputs.connection):
            kinds = columns_of(self.inputs.connection, quoted(table))
            for column in (name for name, kind in kinds.items() if kind == "VARCHAR"):
                known.update(str(value) for (value,) in self.rows(table, column) if value)
        known.update(pool_name(int(n)) for (n,) in self.rows("smf100_ifcid2_qbst", "qbstpid"))
        known.update(pool_name(int(n)) for (n,) in self.rows("smf100_ifcid2_qbgl", "qbglgn"))
        known.update(f"{int(n):04X}" for (n,) in self.rows("smf74_1_device", "smf74num"))
        known.update(f"{int(n):02X}" for (n,) in self.rows("smf73_1_channel", "smf73pid"))
        known.update(str(int(n)) for (n,) in self.rows("smf115_2_qpst", "qpstpool"))
        known.update(str(int(n)) for (n,) in self.rows("smf115_201_qis1", "qis1psno"))
        return known

    def in_force(self, setting: slow_commands.Setting, entity: Mapping[str, str]) -> float | None:
        """The value at the end of the data; None where no record tells it."""
        kind, _, name = setting.of.partition(" ")
        place = IN_FORCE.get((kind, setting.name))
        if place is None:
            return None
        wanted = [
            part[1:] if part.startswith("=") else name if part == "object" else entity.get(part, "")
            for part in place.keys.values()
        ]
        columns = (*place.keys, *((place.value,) if place.value else ("record_no",)))
        values = []
        for *told, value in self.rows(place.table, *columns):
            mine = [
                pool_name(int(one)) if column == "qbstpid" else str(one)
                for column, one in zip(place.keys, told, strict=True)
            ]
            if mine == wanted and value is not None:
                values.append(value)
        if not values:
            return None
        return float(values[-1]) / place.scale if place.value else float(values.count(values[-1]))


@dataclass(frozen=True)
class Undone:
    """A setting that a finding's command changes and its undo puts back."""

    rule: str
    setting: slow_commands.Setting
    in_force: float


def undone(found: Findings, recorded: Recorded) -> list[Undone]:
    """Every setting of the findings' undo commands of which records hold the value."""
    result = []
    for finding in (one for lead in found.fired for one in lead.all):
        entity = {part.column: part.value or "" for part in finding.entity}
        for setting in slow_commands.settings(finding.undo):
            value = recorded.in_force(setting, entity)
            if value is not None:
                result.append(Undone(finding.rule.id, setting, value))
    return result
