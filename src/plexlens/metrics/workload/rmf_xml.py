"""Facts of class periods from the RMF workload activity report (WLMGL), in XML and as text.

A report gives a class's work for the class as a whole, and its goals and achievement period by period. A class with
one period is that period; of a class with more, the work stands in a row without a period, and its periods have rows
with goal and achievement only, so that nothing is counted twice.

Both kinds of report fill tables with the same columns; `reports` names the tables' kind.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.inputs import RECORD, Inputs, identity, named
from plexlens.metrics.workload.facts import BUCKETS

_CLASS = (*RECORD, "class_kind", "class_name")

#: Fact <- column of the report, additive ones first: they belong to the class as a whole.
_WORK = {
    "transactions": "ended_transactions",
    "executed_transactions": "executed_transactions",
    "active_seconds": "active_seconds",
    "resident_seconds": "resident_seconds",
    "service_units": "total_service",
    "service_units_cpu": "cpu_service",
    "service_units_srb": "srb_service",
    "service_units_io": "io_service",
    "service_units_mso": "storage_service",
    "tcb_seconds": "cpu_seconds",
    "srb_seconds": "srb_seconds",
    "rct_seconds": "rct_seconds",
    "iit_seconds": "io_interrupt_seconds",
    "hst_seconds": "hiperspace_seconds",
    "elapsed_seconds": "response_total_seconds",
    "elapsed_squares": "response_square_seconds",
    "execution_seconds": "execution_total_seconds",
    "queue_seconds": "queued_total_seconds",
    "ziip_seconds": "iip_seconds",
    "ziip_engine_seconds": "iip_engine_seconds",
    "ziip_on_cp_seconds": "iip_on_cp_seconds",
    "zaap_seconds": "aap_seconds",
    "zaap_engine_seconds": "aap_engine_seconds",
    "zaap_on_cp_seconds": "aap_on_cp_seconds",
    "dasd_requests": "io_operations",
    "dasd_connect_seconds": "io_connect_total_seconds",
    "dasd_disconnect_seconds": "io_disconnect_total_seconds",
    "dasd_wait_seconds": "io_queue_pending_total_seconds",
    "dasd_ios_queue_seconds": "io_ios_queue_total_seconds",
    "page_residency_seconds": "storage_frame_seconds",
}

#: Achievement and goals: they belong to a period.
_GOALS = {
    "importance": "importance",
    "goal_percentile": "goal_percentile",
    "goal_seconds": "goal_response_seconds",
}


def _buckets(inputs: Inputs, reports: str) -> Any:
    """Counts and bounds of each period's distribution, one row a period."""
    table = inputs.table(
        f"{reports}_workload_bucket",
        "period",
        "bucket_no",
        "bound_percent",
        "transactions",
        text=("class_kind", "class_name"),
    )
    number = table.bucket_no.cast("int64")

    def entry(n: int, column: str) -> Any:
        return ibis.ifelse(number == n, table[column].cast("float64"), ibis.null("float64")).max()

    return table.group_by([*_CLASS, "period"]).aggregate(
        **{f"bucket_{n}": entry(n, "transactions") for n in range(1, BUCKETS + 1)},
        **{f"bound_{n}": entry(n, "bound_percent") / 100.0 for n in range(1, BUCKETS)},
    )


def periods_of_rmf_xml(inputs: Inputs, reports: str = "rmf_xml") -> Any:
    """Facts of every class in a workload activity report."""
    table = inputs.table(
        f"{reports}_workload_period",
        *dict.fromkeys((*_WORK.values(), *_GOALS.values())),
        "period",
        "interval_seconds",
        "goal_velocity",
        "actual_velocity",
        text=("class_kind", "class_name", "workload", "description", "policy", "goal_type"),
    ).filter(lambda t: t.class_kind.isin(["service class", "report class"]) | t.class_kind.isnull())
    if inputs.has(f"{reports}_workload_bucket"):
        table = table.left_join(_buckets(inputs, reports), [*_CLASS, "period"], rname="bucket_{name}")
    bucket_names = [name for name in table.columns if name.startswith(("bucket_", "bound_")) and name[-1].isdigit()]

    by_class = ibis.window(group_by=[table[name] for name in _CLASS])
    of_period = table.period.notnull()
    periods = of_period.cast("int64").sum().over(by_class)
    # A report of periods tells the work with each period; then there is no row for the class as a whole.
    work = ibis.coalesce(table.cpu_service, table.ended_transactions, table.cpu_seconds).notnull()
    worked = (of_period & work).cast("int64").sum().over(by_class) > 0
    only_goal = of_period & ~worked

    def of_class(column: Any) -> Any:
        """For a class of one period, that period's value in the class's row."""
        own = ibis.ifelse(of_period, column, column.nullif(column))
        return ibis.ifelse(periods == 1, own.max().over(by_class), column)

    goals = {name: of_class(table[column]) for name, column in _GOALS.items()}
    # Samples are printed as whole percents of all samples and mostly vanish; the velocity made of them is printed to a
    # tenth. A hundred samples an interval, split by it, stand for them.
    velocity = of_class(table.actual_velocity).cast("float64")
    goals |= {"using_samples": velocity, "delay_samples": 100.0 - velocity}
    table = table.mutate(
        **{f"goal__{name}": value for name, value in goals.items()},
        goal__velocity=of_class(table.goal_velocity) / 100.0,
        goal__kind=of_class(table.goal_type),
        goal__period=of_class(table.period),
        **{f"goal__{name}": of_class(table[name]) for name in bucket_names},
        only_goal=only_goal,
        # The single period's own row has been folded into the class's.
        folded=only_goal & (periods == 1),
    ).filter(lambda t: ~t.folded)
    return table.select(
        **identity(table),
        class_kind=table.class_kind,
        workload=table.workload,
        # Excerpts of text reports leave their class unnamed, and nothing tells whether two are of one class.
        class_name=named(table, table.class_name, each_row=True),
        period=table.goal__period.cast("int64").cast("string"),
        description=table.description,
        policy=table.policy,
        goal=table.goal__kind,
        interval_seconds=table.interval_seconds,
        **{name: table[column] for name, column in _WORK.items()},
        **{name: table[f"goal__{name}"] for name in goals},
        goal_velocity=table.goal__velocity,
        **{name: table[f"goal__{name}"] for name in bucket_names},
    )
