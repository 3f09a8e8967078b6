"""What records of single transactions say of their service classes: SMF 110-1 (CICS monitoring), 101 (Db2 accounting).

SMF 72-3 charges the processor time of CICS transactions to their regions. These records have it by transaction, with
the service class that it ran in, and so tell how the time of the regions is divided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plexlens.metrics.inputs import Inputs

#: Clocks and counts of Db2 accounting: what ended less what had begun where a record is of one thread.
_DB2_CLOCKS = ("qwacejst", "qwacbjst", "qwaccls1_ziip", "qwacziip_eligible")
_DB2_WAITS = ("qwacarne", "qwacarnl", "qwacarnr", "qwacarnw", "qwacarns", "qwacarlg", "qwaccomm")


@dataclass(frozen=True)
class Account:
    """Processor time of a service class on a system, and how often it was interrupted, by what kind of record.

    Attributes
    ----------
    general, ziip, ziip_on_cp
        Seconds on general engines, on zIIPs, and of eligible work on general engines; None where it is not recorded.
    cpu
        Seconds on all engines.
    bursts
        Times that an engine was taken.
    """

    kind: str
    cpu: float
    general: float | None
    ziip: float | None
    ziip_on_cp: float | None
    bursts: float


def accounts(inputs: Inputs) -> dict[str, dict[tuple[str, str], Account]]:
    """Accounts by kind of record (``SMF 110-1``, ``SMF 101``), then by system and service class."""
    made = {"SMF 110-1": _monitoring(inputs), "SMF 101": _accounting(inputs)}
    return {kind: rows for kind, rows in made.items() if rows}


def _rows(table: Any, name: str, sums: dict[str, Any]) -> list[dict[str, Any]]:
    table = table.mutate(service_class=table[name].nullif(""))
    table = table.filter(table.service_class.notnull() & table.system.notnull())
    found = table.group_by(["system", "service_class"]).aggregate(**sums)
    return [{key: value or 0 for key, value in row.items()} for row in found.to_pyarrow().to_pylist()]


def _monitoring(inputs: Inputs) -> dict[tuple[str, str], Account]:
    if not inputs.has("smf110_1_performance"):
        return {}
    columns = ("usrcput_seconds", "usrdispt_count")
    table = inputs.selected("smf110_1_performance", *columns, text=("srvclsnm",))
    sums = {name: table[name].cast("float64").sum() for name in columns}
    return {
        (row["system"], row["service_class"]): Account(
            "SMF 110-1", row["usrcput_seconds"], None, None, None, row["usrdispt_count"]
        )
        for row in _rows(table, "srvclsnm", sums)
        if row["usrcput_seconds"] > 0
    }


def _accounting(inputs: Inputs) -> dict[tuple[str, str], Account]:
    if not inputs.has("smf101_ifcid3_qwac"):
        return {}
    table = inputs.selected("smf101_ifcid3_qwac", *_DB2_CLOCKS, *_DB2_WAITS, text=("qwacwlme",))
    sums = {name: table[name].cast("float64").sum() for name in (*_DB2_CLOCKS, *_DB2_WAITS)}
    made = {}
    for row in _rows(table, "qwacwlme", sums):
        general, ziip = max(0.0, row["qwacejst"] - row["qwacbjst"]), row["qwaccls1_ziip"]
        if general + ziip > 0:
            bursts = sum(row[name] for name in _DB2_WAITS)
            made[row["system"], row["service_class"]] = Account(
                "SMF 101", general + ziip, general, ziip, row["qwacziip_eligible"], bursts
            )
    return made
