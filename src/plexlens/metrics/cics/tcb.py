"""TCB modes of the CICS dispatcher: how many, how long dispatched and waiting, their CPU; the pools of open TCBs."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.cics.records import APPLID, INTERVAL, common, document, statistics
from plexlens.metrics.definition import Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import interval_seconds, ratio, total
from plexlens.metrics.fields import Field, columns_of, facts_of, names_of, per_event
from plexlens.metrics.inputs import Inputs, identity, named
from plexlens.metrics.unit import FRACTION, MEAN_COUNT, MICROSECONDS, MILLISECONDS, PERCENTAGE, PROCESSORS, SECONDS

#: Modes whose TCBs belong to one task at a time.
OPEN_MODES = ("L8", "L9", "X8", "X9", "T8", "S8", "J8", "J9", "H8")

_MODES = document("Dispatcher domain: TCB Mode statistics")
_POOLS = document("Dispatcher domain: TCB Pool statistics")
_TCB = document("TCB statistics")

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


TCB = Grain(
    name="cics_tcb",
    title="CICS TCB modes",
    row="the TCBs of one mode of one region in one statistics interval",
    keys=(APPLID, Key("mode", "TCB mode")),
    facts=(INTERVAL, *facts_of("SMF 110-2", _FIELDS)),
    sources=(
        Source("SMF 110-2", ("smf110_2_dispatcher_tcb_mode",), _modes),
        Source("CICS statistics report", ("text_cics_statistics",), _printed),
    ),
    metrics=(
        per_event(
            "cpu_dispatch_ratio",
            "CPU to dispatch ratio",
            FRACTION,
            ("cpu_seconds", "DSGACT"),
            ("dispatch_seconds", "DSGTDT"),
            source=_MODES + " (TCB CPU/Disp Ratio)",
            caveat="Dispatched without CPU: waiting for a processor, a lock or a page. Of value when it stays low over "
            "several intervals with real load.",
        ),
        Metric(
            "busy_fraction",
            "CPU of the time of a TCB",
            FRACTION,
            "DSGACT / (DSGTWT + DSGTDT)",
            _TCB,
            lambda f: ratio(f.cpu_seconds, total(f.wait_seconds, f.dispatch_seconds)),
            "A single TCB (QR) above 70 % is near what it can do. Several TCBs of a mode: the mean over them.",
        ),
        per_event(
            "dispatched_fraction",
            "Dispatched of the interval",
            PERCENTAGE,
            ("dispatch_seconds", "DSGTDT"),
            ("interval_seconds", "interval"),
            source=_MODES,
            caveat="Above 100 % where the mode has several TCBs.",
        ),
        per_event(
            "processors",
            "Processors used",
            PROCESSORS,
            ("cpu_seconds", "DSGACT"),
            ("interval_seconds", "interval"),
            source=_MODES,
        ),
        Metric(
            "lost_seconds",
            "Dispatched without CPU",
            SECONDS,
            "DSGTDT - DSGACT",
            _MODES,
            lambda f: f.dispatch_seconds - f.cpu_seconds,
        ),
        per_event(
            "wait_time",
            "Time of an MVS wait",
            MILLISECONDS,
            ("wait_seconds", "DSGTWT"),
            ("waits", "DSGSYSW"),
            source=_MODES,
        ),
        per_event(
            "cpu_per_wait",
            "CPU time between two MVS waits",
            MICROSECONDS,
            ("cpu_seconds", "DSGACT"),
            ("waits", "DSGSYSW"),
            source=_MODES,
        ),
    ),
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


TCB_POOL = Grain(
    name="cics_tcb_pool",
    title="CICS TCB pools",
    row="one pool of open TCBs of one region in one statistics interval",
    keys=(APPLID, Key("pool", "TCB pool")),
    facts=(INTERVAL, *facts_of("SMF 110-2", _POOL_FIELDS)),
    sources=(Source("SMF 110-2", ("smf110_2_dispatcher_tcb_pool",), _pools),),
    metrics=(
        per_event(
            "peak_fraction",
            "Most TCBs of the limit",
            PERCENTAGE,
            ("peak_tcbs", "DSGPNUAT"),
            ("limit", "DSGMXTCB"),
            source=_POOLS,
        ),
        per_event(
            "limit_wait_time",
            "Time of a wait at the limit",
            MILLISECONDS,
            ("limit_wait_seconds", "DSGTOTWL"),
            ("limit_waits", "DSGTOTNW"),
            source=_POOLS,
        ),
    ),
)

__all__ = ["OPEN_MODES", "TCB", "TCB_POOL"]
