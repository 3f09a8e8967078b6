"""Service and report class periods, from SMF 72-3 and the RMF workload activity report.

CPU seconds are service units divided by the service definition coefficient and by the rate of the processor:
seconds = units / coefficient / (16,000,000 / R723MADJ) (IBM SMF Explorer, ``cpu_service_coefficient_adjusted``).
R723CCPU holds the service of all engine kinds; zIIP and zAAP service, made equivalent to a general processor with
R723NFFS and R723NFFI, is taken out of it to get the time on general processors (RMF: APPL% CP).
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import interval_seconds, ratio, standard_deviation, total
from plexlens.metrics.inputs import RECORD, Inputs
from plexlens.metrics.unit import (
    COUNT,
    FRACTION,
    MEAN_COUNT,
    MILLISECONDS,
    PER_SECOND,
    PROCESSORS,
    RATIO,
    SECONDS,
    SERVICE_UNITS,
    SQUARE_SECONDS,
)

_OVERVIEW = "z/OS RMF User's Guide, overview conditions for SMF 72-3"
_REPORT = "z/OS RMF Report Analysis, Workload Activity report"
_EXPLORER = "IBM SMF Explorer, SMF 72-3"


#: Buckets of the response time distribution (r723tent in the RMF mapping).
BUCKETS = 14

#: Upper bounds of the buckets as a share of the goal when a record carries no map (z/OS MVS Planning: WLM).
_BOUNDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 2.0, 4.0)

#: R723CRGF, first bit that is on.
_GOALS = ((0x80, "percentile"), (0x40, "average"), (0x20, "velocity"), (0x10, "discretionary"), (0x08, "system"))

#: R723CRTF: unit of the goal value in seconds.
_GOAL_UNITS = ((0x80, 0.001), (0x40, 1.0), (0x20, 60.0), (0x10, 3600.0))

#: Fact <- field of the period section, where it is a plain copy.
_PERIOD_FACTS = (
    ("transactions", "Transactions ended", COUNT, Rollup.COUNT, "r723crcp"),
    ("abnormal_transactions", "Transactions ended abnormally", COUNT, Rollup.COUNT, "r723carc"),
    ("executed_transactions", "Transactions executed for others", COUNT, Rollup.COUNT, "r723cncp"),
    ("active_seconds", "Transaction active time", SECONDS, Rollup.COUNT, "r723ctat"),
    ("resident_seconds", "Transaction resident time", SECONDS, Rollup.COUNT, "r723ctrr"),
    ("service_units", "Service, total", SERVICE_UNITS, Rollup.COUNT, "r723csrv"),
    ("service_units_cpu", "Service, CPU", SERVICE_UNITS, Rollup.COUNT, "r723ccpu"),
    ("service_units_srb", "Service, SRB", SERVICE_UNITS, Rollup.COUNT, "r723csrb"),
    ("service_units_io", "Service, I/O", SERVICE_UNITS, Rollup.COUNT, "r723cioc"),
    ("service_units_mso", "Service, storage", SERVICE_UNITS, Rollup.COUNT, "r723cmso"),
    ("rct_seconds", "Region control task time", SECONDS, Rollup.COUNT, "r723crct"),
    ("iit_seconds", "I/O interrupt time", SECONDS, Rollup.COUNT, "r723ciit"),
    ("hst_seconds", "Hiperspace service time", SECONDS, Rollup.COUNT, "r723chst"),
    ("using_samples", "Using samples", COUNT, Rollup.COUNT, "r723ctou"),
    ("delay_samples", "Delay samples", COUNT, Rollup.COUNT, "r723ctot"),
    ("cpu_using_samples", "Using a processor", COUNT, Rollup.COUNT, "r723ccus"),
    ("cpu_delay_samples", "Delayed for a processor", COUNT, Rollup.COUNT, "r723ccde"),
    ("capping_delay_samples", "Delayed by capping", COUNT, Rollup.COUNT, "r723ccca"),
    ("ziip_using_samples", "Using a zIIP", COUNT, Rollup.COUNT, "r723supu"),
    ("ziip_on_cp_samples", "zIIP work using a general processor", COUNT, Rollup.COUNT, "r723sucu"),
    ("ziip_delay_samples", "Delayed for a zIIP", COUNT, Rollup.COUNT, "r723supd"),
    ("io_using_samples", "Using DASD", COUNT, Rollup.COUNT, "r723ciou"),
    ("io_delay_samples", "Delayed for DASD", COUNT, Rollup.COUNT, "r723ciod"),
    ("unknown_samples", "Unknown state", COUNT, Rollup.COUNT, "r723cunk"),
    ("idle_samples", "Idle", COUNT, Rollup.COUNT, "r723cidl"),
    ("execution_samples", "Samples in execution", COUNT, Rollup.COUNT, "r723ctsa"),
    ("dasd_requests", "DASD I/O operations", COUNT, Rollup.COUNT, "r723circ"),
    ("dasd_connect_seconds", "DASD connect time", SECONDS, Rollup.COUNT, "r723cict"),
    ("dasd_disconnect_seconds", "DASD disconnect time", SECONDS, Rollup.COUNT, "r723cidt"),
    ("dasd_wait_seconds", "DASD queue and pending time", SECONDS, Rollup.COUNT, "r723ciwt"),
    ("dasd_ios_queue_seconds", "DASD IOS queue time", SECONDS, Rollup.COUNT, "r723ciot"),
    ("page_residency_seconds", "Storage residency, pages x time", COUNT, Rollup.COUNT, "r723cprs"),
    ("importance", "Importance", COUNT, Rollup.CONSTANT, "r723cimp"),
    ("goal_percentile", "Goal percentile", COUNT, Rollup.CONSTANT, "r723cpct"),
    ("distribution_midpoint", "Midpoint of the response distribution", SECONDS, Rollup.CONSTANT, "r723rtdm"),
)

_BUCKET_FACTS = tuple(
    Fact(f"bucket_{n}", f"Ended in bucket {n}", COUNT, Rollup.COUNT, f"SMF 72-3 R723TRDB, entry {n} of the period")
    for n in range(1, BUCKETS + 1)
)
_BOUND_FACTS = tuple(
    Fact(
        f"bound_{n}",
        f"Bound of bucket {n}, share of the midpoint",
        FRACTION,
        Rollup.CONSTANT,
        f"SMF 72-3 R723TRDB, entry {n} of the map",
    )
    for n in range(1, BUCKETS)
)


def _first_bit(column: Any, choices: tuple[tuple[int, Any], ...], otherwise: Any) -> Any:
    bits = column.cast("int64")
    return ibis.cases(*[((bits & mask) != 0, value) for mask, value in choices], else_=otherwise)


def _distribution(inputs: Inputs) -> Any:
    """Buckets of each period, and the map of each record, one row a distribution entry."""
    fields = tuple(f"r723trdb_{n}" for n in range(1, BUCKETS + 1))
    return inputs.table("smf72_3_response_distribution", *fields)


def _with_distribution(inputs: Inputs, table: Any) -> Any:
    """The periods with their buckets and the map's bounds; nulls where the record holds none."""
    if not inputs.has("smf72_3_response_distribution"):
        return table
    entries = _distribution(inputs)
    bucket_map = entries.filter(entries.section_no == 1).select(
        *RECORD,
        **{f"bound_{n}": entries[f"r723trdb_{n}"].cast("float64") / 100.0 for n in range(1, BUCKETS)},
    )
    # Entry 0 of the distribution is the map, so the entry numbered R723CRTX is the section after it.
    counts = entries.select(
        *RECORD,
        entry=entries.section_no.cast("int64") - 1,
        **{f"bucket_{n}": entries[f"r723trdb_{n}"].cast("float64") for n in range(1, BUCKETS + 1)},
    ).filter(lambda t: t.entry > 0)
    table = table.mutate(entry=table.r723crtx.cast("int64"))
    table = table.left_join(counts, [*RECORD, "entry"], rname="count_{name}")
    return table.left_join(bucket_map, list(RECORD), rname="map_{name}")


def periods_of_smf(inputs: Inputs) -> Any:
    """Facts of every class period in SMF 72-3."""
    copies = [field for *_, field in _PERIOD_FACTS]
    period = inputs.table(
        "smf72_3_period",
        *copies,
        "r723cper",
        "r723crtx",
        "r723cval",
        "r723crgf",
        "r723crtf",
        "r723ctet",
        "r723ctetx",
        "r723cets",
        "r723cetsx",
        "r723cxet",
        "r723cxetx",
        "r723cqdt",
        "r723cqdtx",
        "r723csup",
        "r723csuc",
        "r723cifa",
        "r723cifc",
    )
    control = inputs.table(
        "smf72_3_wlm_control",
        "r723mscf",
        "r723mcpu",
        "r723msrb",
        "r723madj",
        "r723nffi",
        "r723nffs",
        text=("r723mwnm", "r723mcnm", "r723mcde", "r723mnsp"),
    ).select(
        *RECORD,
        "r723mscf",
        "r723mcpu",
        "r723msrb",
        "r723madj",
        "r723nffi",
        "r723nffs",
        "r723mwnm",
        "r723mcnm",
        "r723mcde",
        "r723mnsp",
    )
    table = _with_distribution(inputs, period.inner_join(control, list(RECORD)))
    rate = 16e6 / table.r723madj.cast("float64").nullif(0.0)
    # A coefficient of zero (1.0 by default since z/OS 2.5) leaves no service to convert.
    per_cpu = rate * table.r723mcpu.cast("float64").nullif(0.0)
    per_srb = rate * table.r723msrb.cast("float64").nullif(0.0)
    goal = _first_bit(table.r723crgf, _GOALS, ibis.null("string"))
    value = table.r723cval.cast("float64")
    timed = goal.isin(["percentile", "average"])
    ziip_factor = ibis.coalesce(table.r723nffs.cast("float64").nullif(0.0), ibis.literal(1.0))
    zaap_factor = ibis.coalesce(table.r723nffi.cast("float64").nullif(0.0), ibis.literal(1.0))

    def finer(precise: str, coarse: str) -> Any:
        """The microsecond field where the record has it, else the older one."""
        return ibis.coalesce(table[precise].cast("float64").nullif(0.0), table[coarse].cast("float64"))

    there = set(table.columns)
    buckets = {f.name: table[f.name] for f in (*_BUCKET_FACTS, *_BOUND_FACTS) if f.name in there}
    return table.select(
        system=table.system,
        sysplex=table.sysplex,
        interval_start=table.interval_start,
        interval_end=table.interval_end,
        class_kind=ibis.ifelse((table.r723mscf.cast("int64") & 0x80) != 0, "report class", "service class"),
        workload=table.r723mwnm,
        class_name=table.r723mcnm,
        period=table.r723cper.cast("int64").cast("string"),
        description=table.r723mcde,
        policy=table.r723mnsp,
        goal=goal,
        interval_seconds=interval_seconds(table),
        **{name: table[field] for name, _, _, _, field in _PERIOD_FACTS},
        elapsed_seconds=finer("r723ctetx", "r723ctet"),
        elapsed_squares=finer("r723cetsx", "r723cets"),
        execution_seconds=finer("r723cxetx", "r723cxet"),
        queue_seconds=finer("r723cqdtx", "r723cqdt"),
        tcb_seconds=table.r723ccpu / per_cpu,
        srb_seconds=table.r723csrb / per_srb,
        ziip_seconds=table.r723csup / per_cpu * ziip_factor,
        ziip_engine_seconds=table.r723csup / per_cpu,
        ziip_on_cp_seconds=table.r723csuc / per_cpu,
        zaap_seconds=table.r723cifa / per_cpu * zaap_factor,
        zaap_engine_seconds=table.r723cifa / per_cpu,
        zaap_on_cp_seconds=table.r723cifc / per_cpu,
        goal_seconds=ibis.ifelse(
            timed, value * _first_bit(table.r723crtf, _GOAL_UNITS, ibis.literal(0.001)), ibis.null("float64")
        ),
        goal_velocity=ibis.ifelse(goal == "velocity", value / 100.0, ibis.null("float64")),
        **buckets,
    )


def _all_engines(f: Any) -> Any:
    """CPU seconds on all kinds of engine, specialty engines as general processors."""
    return total(f.tcb_seconds, f.srb_seconds, f.rct_seconds, f.iit_seconds, f.hst_seconds)


def _general(f: Any) -> Any:
    """CPU seconds on general processors."""
    return _all_engines(f) - total(f.ziip_seconds, f.zaap_seconds).fill_null(0.0)


def _specialty(f: Any) -> Any:
    return total(f.ziip_seconds, f.zaap_seconds)


def _cumulative(f: Any, last: int) -> Any:
    return total(*(f[f"bucket_{n}"] for n in range(1, last + 1)))


def _bound(f: Any, n: int) -> Any:
    return ibis.coalesce(f[f"bound_{n}"].nullif(0.0), ibis.literal(_BOUNDS[n - 1]))


def percentile_index(f: Any) -> Any:
    """Performance index of a percentile goal from the 14 buckets.

    The bound of the first bucket at which the share of ended transactions reaches the goal's percentile, as a share of
    the goal; 4.0 when only the open last bucket reaches it (the report shows it so as well).
    """
    ended = _cumulative(f, BUCKETS)
    share = f.goal_percentile / 100.0
    cases = [(ratio(_cumulative(f, n), ended) >= share, _bound(f, n)) for n in range(1, BUCKETS)]
    return ibis.cases((ended.isnull() | (ended == 0), ibis.null("float64")), *cases, else_=ibis.literal(4.0))


def performance_index(f: Any) -> Any:
    """Performance index by kind of goal; null for periods without one."""
    velocity = ratio(f.using_samples, f.using_samples + f.delay_samples)
    return ibis.coalesce(
        ibis.ifelse(f.goal_velocity.notnull(), ratio(f.goal_velocity, velocity), ibis.null("float64")),
        ibis.ifelse(
            f.goal_seconds.notnull() & (f.goal_percentile.fill_null(0.0) > 0),
            percentile_index(f),
            ibis.null("float64"),
        ),
        ibis.ifelse(
            f.goal_seconds.notnull() & (f.goal_percentile.fill_null(0.0) == 0),
            ratio(ratio(f.elapsed_seconds, f.transactions), f.goal_seconds),
            ibis.null("float64"),
        ),
    )


_FACTS = (
    Fact("interval_seconds", "Interval", SECONDS, Rollup.SPAN, "SMF 72-3 SMF72INT"),
    *(Fact(n, t, u, r, f"SMF 72-3 {f.upper()}") for n, t, u, r, f in _PERIOD_FACTS),
    Fact(
        "elapsed_seconds", "Elapsed time of ended transactions", SECONDS, Rollup.COUNT, "SMF 72-3 R723CTETX, R723CTET"
    ),
    Fact("elapsed_squares", "Squared elapsed time", SQUARE_SECONDS, Rollup.COUNT, "SMF 72-3 R723CETSX, R723CETS"),
    Fact("execution_seconds", "Execution time", SECONDS, Rollup.COUNT, "SMF 72-3 R723CXETX, R723CXET"),
    Fact("queue_seconds", "Queue delay", SECONDS, Rollup.COUNT, "SMF 72-3 R723CQDTX, R723CQDT"),
    Fact("tcb_seconds", "TCB time, all engines", SECONDS, Rollup.COUNT, "SMF 72-3 R723CCPU, R723MCPU, R723MADJ"),
    Fact("srb_seconds", "SRB time", SECONDS, Rollup.COUNT, "SMF 72-3 R723CSRB, R723MSRB, R723MADJ"),
    Fact("ziip_seconds", "zIIP time, as general processor", SECONDS, Rollup.COUNT, "SMF 72-3 R723CSUP, R723NFFS"),
    Fact("ziip_engine_seconds", "zIIP time, as run", SECONDS, Rollup.COUNT, "SMF 72-3 R723CSUP"),
    Fact("ziip_on_cp_seconds", "zIIP-eligible time on general processors", SECONDS, Rollup.COUNT, "SMF 72-3 R723CSUC"),
    Fact("zaap_seconds", "zAAP time, as general processor", SECONDS, Rollup.COUNT, "SMF 72-3 R723CIFA, R723NFFI"),
    Fact("zaap_engine_seconds", "zAAP time, as run", SECONDS, Rollup.COUNT, "SMF 72-3 R723CIFA"),
    Fact("zaap_on_cp_seconds", "zAAP-eligible time on general processors", SECONDS, Rollup.COUNT, "SMF 72-3 R723CIFC"),
    Fact("goal_seconds", "Response goal", SECONDS, Rollup.CONSTANT, "SMF 72-3 R723CVAL, R723CRTF"),
    Fact("goal_velocity", "Velocity goal", FRACTION, Rollup.CONSTANT, "SMF 72-3 R723CVAL"),
    *_BUCKET_FACTS,
    *_BOUND_FACTS,
)

_METRICS = (
    Metric(
        "transactions_per_second",
        "Transactions",
        PER_SECOND,
        "R723CRCP / interval",
        _OVERVIEW + " (TRANS)",
        lambda f: ratio(f.transactions, f.interval_seconds),
    ),
    Metric(
        "response_time",
        "Response time",
        MILLISECONDS,
        "R723CTET / R723CRCP",
        _REPORT + " (TRANS-TIME ACTUAL)",
        lambda f: ratio(f.elapsed_seconds, f.transactions),
    ),
    Metric(
        "response_deviation",
        "Response time, standard deviation",
        MILLISECONDS,
        "√(R723CETS / R723CRCP - (R723CTET / R723CRCP)²)",
        _REPORT + " (TRANS-TIME STD DEV)",
        lambda f: standard_deviation(f.elapsed_squares, f.elapsed_seconds, f.transactions),
    ),
    Metric(
        "execution_time",
        "Execution time",
        MILLISECONDS,
        "R723CXET / R723CRCP",
        _OVERVIEW + " (RTIME)",
        lambda f: ratio(f.execution_seconds, f.transactions),
    ),
    Metric(
        "queue_time",
        "Queue time",
        MILLISECONDS,
        "R723CQDT / R723CRCP",
        _REPORT + " (TRANS-TIME QUEUED)",
        lambda f: ratio(f.queue_seconds, f.transactions),
    ),
    Metric(
        "active_transactions",
        "Active transactions",
        MEAN_COUNT,
        "R723CTAT / interval",
        _REPORT + " (TRANSACTIONS AVG)",
        lambda f: ratio(f.active_seconds, f.interval_seconds),
    ),
    Metric(
        "multiprogramming_level",
        "Multiprogramming level",
        MEAN_COUNT,
        "R723CTRR / interval",
        _REPORT + " (TRANSACTIONS MPL)",
        lambda f: ratio(f.resident_seconds, f.interval_seconds),
    ),
    Metric(
        "cpu_seconds",
        "CPU time, all engines",
        SECONDS,
        "TCB + SRB + RCT + IIT + HST",
        _REPORT + " (SERVICE TIME)",
        _all_engines,
        "zIIP and zAAP time counts as time on a general processor.",
    ),
    Metric(
        "cp_seconds",
        "CPU time on general processors",
        SECONDS,
        "TCB + SRB + RCT + IIT + HST - zIIP - zAAP",
        _EXPLORER + ", utilization_cp",
        _general,
    ),
    Metric(
        "cp_processors",
        "General processors used",
        PROCESSORS,
        "general processor time / interval",
        _REPORT + " (APPL% CP)",
        lambda f: ratio(_general(f), f.interval_seconds),
        "APPL% of the report is this times 100.",
    ),
    Metric(
        "ziip_processors",
        "zIIPs used",
        PROCESSORS,
        "zIIP time as run / interval",
        _REPORT + " (APPL% IIP)",
        lambda f: ratio(f.ziip_engine_seconds, f.interval_seconds),
        "Engine time; multiply by the normalization factor to compare with general processors.",
    ),
    Metric(
        "ziip_on_cp_processors",
        "General processors used by zIIP-eligible work",
        PROCESSORS,
        "zIIP-eligible time on general processors / interval",
        _REPORT + " (APPL% IIPCP)",
        lambda f: ratio(f.ziip_on_cp_seconds, f.interval_seconds),
    ),
    Metric(
        "ziip_eligible_fraction",
        "zIIP-eligible",
        FRACTION,
        "(zIIP + zIIP-eligible on CP) / CPU time of all engines",
        "DB2 9 for z/OS XML and zIIP (2008); Db2 for z/OS: zIIP eligibility",
        lambda f: ratio(total(f.ziip_seconds, f.ziip_on_cp_seconds), _all_engines(f)),
    ),
    Metric(
        "ziip_redirected_fraction",
        "Redirected to zIIP",
        FRACTION,
        "zIIP / (zIIP + zIIP-eligible on CP)",
        "DB2 9 for z/OS XML and zIIP (2008)",
        lambda f: ratio(f.ziip_seconds, total(f.ziip_seconds, f.ziip_on_cp_seconds)),
    ),
    Metric(
        "ziip_overflow_fraction",
        "zIIP overflow to general processors",
        FRACTION,
        "zIIP-eligible on CP / (zIIP + zIIP-eligible on CP)",
        "Db2 13 for z/OS: zIIP needs help",
        lambda f: ratio(f.ziip_on_cp_seconds, total(f.ziip_seconds, f.ziip_on_cp_seconds)),
        "Below 1 % is good; above 5 % general processors pay for want of zIIPs.",
    ),
    Metric(
        "ziip_share",
        "Share of CPU on zIIP",
        FRACTION,
        "zIIP / CPU time of all engines",
        "DB2 9 for z/OS XML and zIIP (2008)",
        lambda f: ratio(f.ziip_seconds, _all_engines(f)),
    ),
    Metric(
        "cpu_per_transaction",
        "CPU per transaction, all engines",
        MILLISECONDS,
        "CPU time of all engines / transactions ended",
        "z/OS RMF Report Analysis; Large Systems Performance Reference: CPU per transaction",
        lambda f: ratio(_all_engines(f), f.transactions),
    ),
    Metric(
        "cp_per_transaction",
        "General processor time per transaction",
        MILLISECONDS,
        "general processor time / transactions ended",
        "z/OS RMF Report Analysis; Large Systems Performance Reference: CPU per transaction",
        lambda f: ratio(_general(f), f.transactions),
    ),
    Metric(
        "specialty_per_transaction",
        "Specialty engine time per transaction",
        MILLISECONDS,
        "(zIIP + zAAP) / transactions ended",
        "DB2 9 for z/OS XML and zIIP (2008)",
        lambda f: ratio(_specialty(f), f.transactions),
    ),
    Metric(
        "velocity",
        "Execution velocity",
        FRACTION,
        "R723CTOU / (R723CTOU + R723CTOT)",
        _OVERVIEW + " (EXVEL)",
        lambda f: ratio(f.using_samples, f.using_samples + f.delay_samples),
    ),
    Metric(
        "performance_index",
        "Performance index",
        RATIO,
        "response / goal, goal velocity / velocity, or the bucket bound at the goal's percentile / goal",
        "z/OS MVS Planning: Workload Management, performance index",
        performance_index,
        "Above 1 the goal was missed. For a percentile goal it moves in steps of the 14 buckets and ends at 4.",
    ),
    Metric(
        "cpu_delay_fraction",
        "Delayed for a processor",
        FRACTION,
        "R723CCDE / R723CTSA",
        _REPORT + " (EXECUTION DELAYS %)",
        lambda f: ratio(f.cpu_delay_samples, f.execution_samples),
    ),
    Metric(
        "ziip_delay_fraction",
        "Delayed for a zIIP",
        FRACTION,
        "R723SUPD / R723CTSA",
        _REPORT + " (EXECUTION DELAYS %)",
        lambda f: ratio(f.ziip_delay_samples, f.execution_samples),
    ),
    Metric(
        "capping_delay_fraction",
        "Delayed by capping",
        FRACTION,
        "R723CCCA / R723CTSA",
        _REPORT + " (EXECUTION DELAYS %)",
        lambda f: ratio(f.capping_delay_samples, f.execution_samples),
    ),
    Metric(
        "dasd_response_time",
        "DASD response time",
        MILLISECONDS,
        "(R723CICT + R723CIDT + R723CIWT + R723CIOT) / R723CIRC",
        _REPORT + " (DASD I/O RESP)",
        lambda f: ratio(
            total(f.dasd_connect_seconds, f.dasd_disconnect_seconds, f.dasd_wait_seconds, f.dasd_ios_queue_seconds),
            f.dasd_requests,
        ),
    ),
    Metric(
        "dasd_per_second",
        "DASD I/O",
        PER_SECOND,
        "R723CIRC / interval",
        _REPORT + " (DASD I/O SSCHRT)",
        lambda f: ratio(f.dasd_requests, f.interval_seconds),
    ),
    Metric(
        "service_units_per_second",
        "Service",
        PER_SECOND,
        "R723CSRV / interval",
        _OVERVIEW + " (TOTSRV)",
        lambda f: ratio(f.service_units, f.interval_seconds),
    ),
)

PERIOD = Grain(
    name="workload_period",
    title="Service and report class periods",
    row="one period of a service or report class on one system in one interval",
    keys=(
        Key("class_kind", "Kind"),
        Key("workload", "Workload"),
        Key("class_name", "Class"),
        Key("period", "Period"),
    ),
    attributes=(Attribute("goal", "Goal"), Attribute("description", "Description"), Attribute("policy", "Policy")),
    facts=_FACTS,
    metrics=_METRICS,
    sources=(Source("SMF 72-3", ("smf72_3_period", "smf72_3_wlm_control"), periods_of_smf),),
)

GRAINS = (PERIOD,)
