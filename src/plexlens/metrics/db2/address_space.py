"""CPU of the address spaces of one Db2 (SMF 100 IFCID 1: QWSA)."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.db2.records import common, intervals
from plexlens.metrics.expressions import total
from plexlens.metrics.fields import Field, columns_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import SECONDS

# Times whose places are published: a fall of one means that Db2 started.
_WITNESSES = ("qwsaejst", "qwsasrbt")

FIELDS = (
    Field("tcb_seconds", "TCB time", "QWSAEJST", SECONDS),
    Field("srb_seconds", "SRB time on CPs", "QWSASRBT", SECONDS),
    Field("preemptable_srb_seconds", "Preemptable SRB time on CPs", "QWSAPSRB", SECONDS),
    Field("iip_srb_seconds", "SRB time on zIIPs", "QWSAPSRB_ZIIP", SECONDS),
    Field("interrupt_seconds", "I/O interrupt time", "QWSAIIPT", SECONDS),
)


def _spaces(inputs: Inputs) -> Any:
    table = intervals(inputs, "smf100_ifcid1_qwsa", FIELDS, "qwsaproc", witnesses=_WITNESSES, text=("qwsaproc",))
    # The name is the last letters of the procedure: MSTR, DBM1, IRLM (or its own name), DIST.
    return table.select(
        **common(table),
        **columns_of(table, FIELDS),
        address_space=table.qwsaproc,
        nonpreemptable_srb_seconds=table.qwsasrbt - table.qwsapsrb,
        cp_seconds=total(table.qwsaejst, table.qwsasrbt),
    )
