"""CPU of the address spaces of one Db2 (SMF 100 IFCID 1: QWSA)."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.db2 import text_reports
from plexlens.metrics.db2.records import ATTRIBUTES, INTERVAL, SUBSYSTEM, common, intervals, report
from plexlens.metrics.definition import Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import Field, columns_of, facts_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import FRACTION, PROCESSORS, SECONDS

_BLOCK = report("CPU times")

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


ADDRESS_SPACE = Grain(
    name="db2_address_space",
    title="Db2 address spaces",
    row="one address space of one Db2 in one interval",
    keys=(SUBSYSTEM, Key("address_space", "Address space")),
    attributes=ATTRIBUTES,
    facts=(
        INTERVAL,
        *facts_of("SMF 100 IFCID 1", FIELDS),
        Fact(
            "nonpreemptable_srb_seconds",
            "Nonpreemptable SRB time",
            SECONDS,
            Rollup.COUNT,
            "SMF 100 IFCID 1 QWSASRBT - QWSAPSRB",
        ),
        Fact("cp_seconds", "CPU time on CPs", SECONDS, Rollup.COUNT, "SMF 100 IFCID 1 QWSAEJST + QWSASRBT"),
    ),
    sources=(
        Source("SMF 100", ("smf100_ifcid1_qwsa",), _spaces),
        Source(text_reports.STATISTICS, ("text_db2_address_space_cpu",), text_reports.address_spaces),
    ),
    metrics=(
        Metric(
            "cp_processors",
            "CPs used",
            PROCESSORS,
            "(QWSAEJST + QWSASRBT) / interval",
            f"{_BLOCK} (CP CPU TIME)",
            lambda f: ratio(f.cp_seconds, f.interval_seconds),
            "Db2's own work; that of SQL is on the threads' accounting.",
        ),
        Metric(
            "iip_processors",
            "zIIPs used",
            PROCESSORS,
            "QWSAPSRB_ZIIP / interval",
            f"{_BLOCK} (PREEMPT IIP SRB)",
            lambda f: ratio(f.iip_srb_seconds, f.interval_seconds),
            "Prefetch and deferred writes run there from Db2 10 on.",
        ),
        Metric(
            "tcb_processors",
            "CPs used by TCBs",
            PROCESSORS,
            "QWSAEJST / interval",
            f"{_BLOCK} (TCB TIME)",
            lambda f: ratio(f.tcb_seconds, f.interval_seconds),
        ),
        Metric(
            "srb_processors",
            "CPs used by SRBs",
            PROCESSORS,
            "QWSASRBT / interval",
            f"{_BLOCK} (PREEMPT SRB, NONPREEMPT SRB)",
            lambda f: ratio(f.srb_seconds, f.interval_seconds),
        ),
        Metric(
            "iip_fraction",
            "Share of CPU time on zIIPs",
            FRACTION,
            "QWSAPSRB_ZIIP / (QWSAEJST + QWSASRBT + QWSAPSRB_ZIIP)",
            _BLOCK,
            lambda f: ratio(f.iip_srb_seconds, total(f.cp_seconds, f.iip_srb_seconds)),
        ),
        Metric(
            "tcb_fraction",
            "Share of CP time in TCBs",
            FRACTION,
            "QWSAEJST / (QWSAEJST + QWSASRBT)",
            _BLOCK,
            lambda f: ratio(f.tcb_seconds, f.cp_seconds),
        ),
    ),
)
