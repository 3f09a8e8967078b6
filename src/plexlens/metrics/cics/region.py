"""A CICS region: transactions, the task limit, CPU of its address space, the QR TCB."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.cics.records import APPLID, INTERVAL, any_of, common, document, plus, statistics
from plexlens.metrics.cics.tcb import OPEN_MODES
from plexlens.metrics.definition import Attribute, Fact, Grain, Metric, Rollup
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import Field, columns_of, facts_of, names_of, per_event, per_second
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import FRACTION, MEAN_COUNT, MILLISECONDS, PERCENTAGE, PROCESSORS, SECONDS

_TRANSACTIONS = document("Transaction manager: Global statistics")
_DISPATCHER = document("Dispatcher domain: Global statistics")
_TCB = document("TCB statistics")

_MANAGER = (
    Field("transactions", "Transactions, user and system", "XMGNUM"),
    Field("user_transactions", "User transactions that became active", "XMGTAT"),
    Field("task_limit", "Limit of user tasks (MXT)", "XMGMXT", rollup=Rollup.SETTING),
    Field("active_tasks", "Active user tasks at the end", "XMGCAT", rollup=Rollup.LEVEL),
    Field("peak_tasks", "Most active user tasks", "XMGPAT", rollup=Rollup.PEAK),
    Field("queued_tasks", "User tasks queued for MXT at the end", "XMGCQT", rollup=Rollup.LEVEL),
    Field("peak_queued_tasks", "Most user tasks queued for MXT", "XMGPQT", rollup=Rollup.PEAK),
    Field("times_at_limit", "Times MXT was reached", "XMGTAMXT"),
    Field("delayed_tasks", "User tasks delayed by MXT", "XMGTDT"),
    Field("delay_seconds", "Time user tasks were queued for MXT", "XMGTQTME", SECONDS),
)

_ADDRESS_SPACE = (
    Field("tcb_seconds", "CPU time of all TCBs", "DSGEJST", SECONDS),
    Field("srb_seconds", "SRB time", "DSGSRBT", SECONDS),
    Field("peak_dispatcher_tasks", "Most tasks of the dispatcher", "DSGPNT", rollup=Rollup.PEAK),
)

_MODE_FACTS = (
    Fact("qr_cpu_seconds", "CPU time of the QR TCB", SECONDS, Rollup.COUNT, "SMF 110-2 DSGACT of QR"),
    Fact("qr_dispatch_seconds", "Dispatched time of the QR TCB", SECONDS, Rollup.COUNT, "SMF 110-2 DSGTDT of QR"),
    Fact("qr_wait_seconds", "Time of the QR TCB in MVS waits", SECONDS, Rollup.COUNT, "SMF 110-2 DSGTWT of QR"),
    Fact(
        "open_cpu_seconds",
        "CPU time of open TCBs",
        SECONDS,
        Rollup.COUNT,
        f"SMF 110-2 DSGACT of {', '.join(OPEN_MODES)}",
    ),
    Fact("other_cpu_seconds", "CPU time of other TCBs", SECONDS, Rollup.COUNT, "SMF 110-2 DSGACT of the other modes"),
)

#: Sections that tell of a region as a whole: any of them is enough for a row.
_SECTIONS = ("smf110_2_transaction_manager", "smf110_2_dispatcher", "smf110_2_dispatcher_tcb_mode")


def _manager(inputs: Inputs) -> Any:
    table = statistics(inputs, _SECTIONS[0], *names_of(_MANAGER))
    return table.select(**common(table), generic_applid=table.generic_applid, **columns_of(table, _MANAGER))


def _address_space(inputs: Inputs) -> Any:
    table = statistics(inputs, _SECTIONS[1], *names_of(_ADDRESS_SPACE))
    return table.select(**common(table), generic_applid=table.generic_applid, **columns_of(table, _ADDRESS_SPACE))


def _modes(inputs: Inputs) -> Any:
    table = statistics(inputs, _SECTIONS[2], "dsgact", "dsgtdt", "dsgtwt", text=("dsgtcbnm",))
    mode = table.dsgtcbnm.fill_null("")
    is_qr, is_open = mode == "QR", mode.isin(OPEN_MODES)

    def where(condition: Any, column: Any) -> Any:
        return ibis.ifelse(condition, column.cast("float64"), ibis.null("float64"))

    return table.select(
        **common(table),
        generic_applid=table.generic_applid,
        qr_cpu_seconds=where(is_qr, table.dsgact),
        qr_dispatch_seconds=where(is_qr, table.dsgtdt),
        qr_wait_seconds=where(is_qr, table.dsgtwt),
        open_cpu_seconds=where(is_open, table.dsgact),
        other_cpu_seconds=where(~(is_qr | is_open), table.dsgact),
    )


def _regions(inputs: Inputs) -> Any:
    parts = dict(zip(_SECTIONS, (_manager, _address_space, _modes), strict=True))
    return plus(*(part(inputs) for name, part in parts.items() if inputs.has(name)))


REGION = Grain(
    name="cics_region",
    title="CICS regions",
    row="one region in one statistics interval",
    keys=(APPLID,),
    attributes=(Attribute("generic_applid", "Generic applid"),),
    facts=(
        INTERVAL,
        *facts_of("SMF 110-2", _MANAGER),
        *facts_of("SMF 110-2", _ADDRESS_SPACE),
        *_MODE_FACTS,
    ),
    sources=any_of(_SECTIONS, _regions),
    metrics=(
        per_second(
            "transactions_per_second",
            "Transactions",
            "transactions",
            "XMGNUM",
            _TRANSACTIONS,
            caveat="System tasks count too. A transaction routed to another region counts in both.",
        ),
        per_second("user_transactions_per_second", "User transactions", "user_transactions", "XMGTAT", _TRANSACTIONS),
        Metric(
            "cpu_seconds",
            "CPU time of the region",
            SECONDS,
            "DSGEJST + DSGSRBT",
            _DISPATCHER,
            lambda f: total(f.tcb_seconds, f.srb_seconds),
            "Time on specialty engines is in it.",
        ),
        Metric(
            "processors",
            "Processors used by the region",
            PROCESSORS,
            "(DSGEJST + DSGSRBT) / interval",
            _DISPATCHER,
            lambda f: ratio(total(f.tcb_seconds, f.srb_seconds), f.interval_seconds),
        ),
        Metric(
            "cpu_per_transaction",
            "CPU time of the region per transaction",
            MILLISECONDS,
            "(DSGEJST + DSGSRBT) / XMGNUM",
            _DISPATCHER + "; " + _TRANSACTIONS,
            lambda f: ratio(total(f.tcb_seconds, f.srb_seconds), f.transactions),
            "Only the region's own address space: the network, Db2 and MQ cost more elsewhere (see the cost grains).",
        ),
        per_event(
            "qr_cpu_fraction",
            "QR TCB busy",
            FRACTION,
            ("qr_cpu_seconds", "DSGACT of QR"),
            ("interval_seconds", "interval"),
            source=_TCB,
            caveat="One TCB runs on one processor at a time: near 100 % the region can do no more. IBM sees a region "
            "near its capacity from 70 % on; uncaptured time is not in it.",
        ),
        per_event(
            "qr_dispatch_fraction",
            "QR TCB dispatched",
            FRACTION,
            ("qr_dispatch_seconds", "DSGTDT of QR"),
            ("interval_seconds", "interval"),
            source=_TCB,
        ),
        per_event(
            "qr_cpu_dispatch_ratio",
            "QR CPU to dispatch ratio",
            FRACTION,
            ("qr_cpu_seconds", "DSGACT of QR"),
            ("qr_dispatch_seconds", "DSGTDT of QR"),
            source=_TCB,
            caveat="Dispatched without CPU: waiting for a processor, a lock or a page. Of value when it stays low over "
            "several intervals with real load.",
        ),
        Metric(
            "qr_share_of_cpu",
            "Share of the QR TCB in CPU time of TCBs",
            FRACTION,
            "DSGACT of QR / Σ DSGACT",
            _TCB,
            lambda f: ratio(f.qr_cpu_seconds, total(f.qr_cpu_seconds, f.open_cpu_seconds, f.other_cpu_seconds)),
        ),
        per_event(
            "peak_task_fraction",
            "Most active tasks of the limit",
            PERCENTAGE,
            ("peak_tasks", "XMGPAT"),
            ("task_limit", "XMGMXT"),
            source=_TRANSACTIONS,
        ),
        per_event(
            "delay_time",
            "Time in the queue for MXT",
            MILLISECONDS,
            ("delay_seconds", "XMGTQTME"),
            ("delayed_tasks", "XMGTDT"),
            source=_TRANSACTIONS,
        ),
        per_event(
            "delayed_fraction",
            "User transactions delayed by MXT",
            FRACTION,
            ("delayed_tasks", "XMGTDT"),
            ("user_transactions", "XMGTAT"),
            source=_TRANSACTIONS,
        ),
        Metric(
            "tasks_in_system",
            "Active user tasks, mean of interval ends",
            MEAN_COUNT,
            "XMGCAT",
            _TRANSACTIONS,
            lambda f: f.active_tasks,
            "The state when statistics were collected, not a mean over the interval.",
        ),
    ),
)

__all__ = ["REGION"]
