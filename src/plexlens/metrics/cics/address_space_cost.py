"""CPU time of address spaces (SMF 30) beside the transactions of CICS of the same system and time."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.catalogue.current import GRAINS
from plexlens.metrics.cics.records import plus, statistics
from plexlens.metrics.cics.transaction import tasks
from plexlens.metrics.expressions import interval_seconds, total
from plexlens.metrics.facts import source_select
from plexlens.metrics.inputs import Inputs, identity
from plexlens.metrics.source_sql import with_parts

#: Programs that address spaces are known by, and what works in them.
_ROLES = {
    "DFHSIP": "CICS region",
    "DFHSIPZ": "CICS region",
    "ISTINM01": "VTAM",
    "EZBTCPIP": "TCP/IP",
    "IXCINJST": "XCF",
    "CSQYASCP": "MQ queue manager",
    "CSQXJST": "MQ channel initiator",
    "DSNYASCP": "Db2",
    "DSNX9WLM": "Db2 stored procedures",
    "DXRRLM00": "IRLM",
    "CTGBATCH": "CICS Transaction Gateway",
    "IGWSSI": "VSAM RLS",
    "IXGINLPA": "System logger",
}

#: CPU time on general processors.
_GENERAL = (
    *("tcb_seconds", "srb_seconds", "initiator_tcb_seconds", "initiator_srb_seconds", "io_interrupt_seconds"),
    *("region_control_seconds", "hiperspace_seconds"),
)


def _transactions(inputs: Inputs) -> Any:
    """Transactions of CICS by system and interval: of the statistics of a system that has them, else of monitoring."""
    parts = []
    if inputs.has("smf110_2_transaction_manager"):
        table = statistics(inputs, "smf110_2_transaction_manager", "xmgnum")
        parts.append(
            table.select(
                system=table.system,
                starts=table.interval_start,
                ends=table.interval_end,
                ended=table.xmgnum.cast("float64"),
            )
        )
    if inputs.has("smf110_1_performance"):
        table = tasks(inputs)
        minute = table.task_stop.truncate("minute").cast("timestamp('UTC')")
        table = table.filter(table.rtype.fill_null("").isin(["", "T"])).mutate(starts=minute)
        counted = table.group_by(["system", "starts"]).aggregate(ended=table.count().cast("float64"))
        counted = counted.mutate(ends=counted.starts + ibis.interval(minutes=1))
        counted = counted.select("system", "starts", "ends", "ended")
        if parts:
            held = parts[0].select("system").distinct()
            counted = counted.anti_join(held, "system")
        parts.append(counted)
    table = plus(*parts)
    return table.filter(table.starts.notnull() & (table.ends > table.starts))


def _costs(inputs: Inputs) -> Any:
    grain = GRAINS["address_space"]
    made = source_select(inputs, grain, grain.sources[0])
    spaces = inputs.backend.sql(with_parts(made.parts, made.select), dialect="duckdb")
    role = ibis.cases(*((spaces.program == name, text) for name, text in _ROLES.items()), else_="other")
    # Steps of a job can share an interval: each keeps its own number.
    spaces = spaces.select(
        **identity(spaces),
        job=spaces.job,
        role=role,
        interval_seconds=interval_seconds(spaces),
        cp_seconds=total(*(spaces[name] for name in _GENERAL)),
        specialty_seconds=spaces.ziip_seconds.fill_null(0.0),
        number=ibis.row_number(),
    )
    cics = _transactions(inputs).rename(cics_system="system")
    met = spaces.join(
        cics,
        [spaces.system == cics.cics_system, cics.starts < spaces.interval_end, cics.ends > spaces.interval_start],
    )
    overlap = ibis.least(met.ends, met.interval_end).delta(
        ibis.greatest(met.starts, met.interval_start), unit="microsecond"
    )
    length = met.ends.delta(met.starts, unit="microsecond")
    met = met.mutate(part=met.ended * overlap.cast("float64") / length.cast("float64"))
    return met.group_by(list(spaces.columns)).aggregate(cics_transactions=met.part.sum()).drop("number")
