"""A CICS region: transactions, the task limit, CPU of its address space, the QR TCB."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.cics.records import common, plus, statistics
from plexlens.metrics.cics.tcb import OPEN_MODES
from plexlens.metrics.definition import Rollup
from plexlens.metrics.fields import Field, columns_of, names_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import SECONDS

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
