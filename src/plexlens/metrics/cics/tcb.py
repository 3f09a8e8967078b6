"""TCB modes of the CICS dispatcher: how many, how long dispatched and waiting, their CPU; the pools of open TCBs."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.cics.records import common, statistics
from plexlens.metrics.definition import Rollup
from plexlens.metrics.expressions import interval_seconds
from plexlens.metrics.fields import Field, columns_of, names_of
from plexlens.metrics.inputs import Inputs, identity, named
from plexlens.metrics.unit import MEAN_COUNT, SECONDS

#: Modes whose TCBs belong to one task at a time.
OPEN_MODES = ("L8", "L9", "X8", "X9", "T8", "S8", "J8", "J9", "H8")


_FIELDS = (
    Field("tcbs", "TCBs at the end", "DSGTCBCA", rollup=Rollup.LEVEL),
    Field("peak_tcbs", "Most TCBs", "DSGTCBPA", rollup=Rollup.PEAK),
    Field("used_tcbs", "TCBs in use at the end", "DSGTCBCU", rollup=Rollup.LEVEL),
    Field("peak_used_tcbs", "Most TCBs in use", "DSGTCBPU", rollup=Rollup.PEAK),
    Field("attaches", "TCBs attached", "DSGNTCBA"),
    Field("attach_failures", "Attaches that failed", "DSGTCBAF"),
    Field("allocations", "TCBs allocated to a task", "DSGTCBAL"),
    Field("steals", "TCBs stolen from other modes", "DSGTCBST"),
    Field("mismatches", "TCB mismatches", "DSGTCBMM"),
    Field("waits", "MVS waits", "DSGSYSW"),
    Field("wait_seconds", "Time in MVS waits", "DSGTWT", SECONDS),
    Field("dispatch_seconds", "Dispatched time", "DSGTDT", SECONDS),
    Field("cpu_seconds", "CPU time", "DSGACT", SECONDS),
    Field("dispatcher_cpu_seconds", "CPU time of the dispatcher task", "DSGTCT", SECONDS),
    Field("peak_queue", "Most dispatchable tasks waiting", "DSGTMPDQ", rollup=Rollup.PEAK),
    Field("mean_queue", "Dispatchable tasks waiting, mean", "DSGTMADQ", MEAN_COUNT, Rollup.LEVEL),
)

#: Fact <- statistic of the printed table of TCB modes.
_PRINTED = {
    "tcbs": "tcbs_attached",
    "peak_tcbs": "tcbs_attached_peak",
    "attaches": "tcb_attaches",
    "attach_failures": "tcb_attach_failures",
    "waits": "mvs_waits",
    "wait_seconds": "mvs_wait_seconds",
    "dispatch_seconds": "dispatched_seconds",
    "cpu_seconds": "cpu_seconds",
    "dispatcher_cpu_seconds": "dispatcher_cpu_seconds",
}


def _modes(inputs: Inputs) -> Any:
    table = statistics(inputs, "smf110_2_dispatcher_tcb_mode", *names_of(_FIELDS), text=("dsgtcbnm",))
    return table.select(**common(table), mode=table.dsgtcbnm, **columns_of(table, _FIELDS))


def _printed(inputs: Inputs) -> Any:
    """Modes as a printed report tells them: a row of the table of TCB modes each."""
    table = inputs.table("text_cics_statistics", "number", text=("statistic", "resource"))
    table = table.filter(table.statistic.isin(list(_PRINTED.values())))
    keys = [*identity(table), "subsystem", "resource", "record_no", "source_id"]
    wide = table.group_by(keys).aggregate(
        **{
            fact: ibis.ifelse(table.statistic == printed, table.number, ibis.null("float64")).max()
            for fact, printed in _PRINTED.items()
        }
    )
    # Dispatcher times tell that a table of TCB modes was printed, and not some other thing with the same heading.
    wide = wide.filter(wide.dispatch_seconds.notnull() | wide.cpu_seconds.notnull())
    return wide.select(
        **identity(wide),
        applid=named(wide, wide.subsystem),
        mode=wide.resource,
        interval_seconds=interval_seconds(wide),
        **{fact: wide[fact] for fact in _PRINTED},
    )


_POOL_NAMES = {1: "OPEN", 2: "XP", 3: "SSL", 4: "THRD"}

_POOL_FIELDS = (
    Field("limit", "Limit of TCBs", "DSGMXTCB", rollup=Rollup.SETTING),
    Field("tcbs", "TCBs at the end", "DSGCNUAT", rollup=Rollup.LEVEL),
    Field("peak_tcbs", "Most TCBs", "DSGPNUAT", rollup=Rollup.PEAK),
    Field("used_tcbs", "TCBs in use at the end", "DSGCNUUS", rollup=Rollup.LEVEL),
    Field("peak_used_tcbs", "Most TCBs in use", "DSGPNUUS", rollup=Rollup.PEAK),
    Field("times_at_limit", "Times the limit was reached", "DSGNTCBL"),
    Field("limit_waits", "Waits at the limit", "DSGTOTNW"),
    Field("limit_wait_seconds", "Time of waits at the limit", "DSGTOTWL", SECONDS),
    Field("peak_waiting", "Most tasks waiting for a TCB", "DSGPEANW", rollup=Rollup.PEAK),
    Field("mismatch_waits", "Waits for a TCB mismatch", "DSGMMWTS"),
    Field("mismatch_wait_seconds", "Time of waits for a TCB mismatch", "DSGMMWTM", SECONDS),
    Field("storage_waits", "Requests delayed by MVS storage", "DSGTOTMW"),
    Field("storage_wait_seconds", "Time of delays by MVS storage", "DSGTOTMT", SECONDS),
)


def _pools(inputs: Inputs) -> Any:
    table = statistics(inputs, "smf110_2_dispatcher_tcb_pool", *names_of(_POOL_FIELDS), "dsgtcbpn")
    number = table.dsgtcbpn.cast("int64")
    name = ibis.cases(*((number == n, text) for n, text in _POOL_NAMES.items()), else_=number.cast("string"))
    return table.select(**common(table), pool=name, **columns_of(table, _POOL_FIELDS))
