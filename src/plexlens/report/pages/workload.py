"""Service and report classes: goals, response, CPU and zIIP."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, HeatSpec, Page, Pick, Shown, TableSpec
from plexlens.report.blocks.ways import WLMGL
from plexlens.report.model import Way
from plexlens.report.model.chart import ChartKind, Reference

_CLASS = ("workload", "class_name")
_PERIOD = (*_CLASS, "period")

_SERVICE = "class_kind = 'service class'"

_REPORT = "class_kind = 'report class'"

#: Service class periods in which anything happened.
_WORKED = "class_kind = 'service class' and ((transactions > 0) or (service_units > 0))"


_GOALS = (
    Shown("goal"),
    Shown("importance"),
    Shown("performance_index", bar=True),
    Shown("transactions_per_second"),
    Shown("response_time", "Mean", group="Response time"),
    Shown("response_deviation", "Deviation", group="Response time"),
    Shown("goal_seconds", "Goal", group="Response time"),
    Shown("queue_time"),
    Shown("velocity", "Reached", group="Velocity"),
    Shown("goal_velocity", "Goal", group="Velocity"),
    Shown("active_transactions"),
)

_CPU = (
    Shown("cp_processors", bar=True),
    Shown("ziip_processors", "Used", group="zIIP"),
    Shown("ziip_on_cp_processors", "Eligible, on general processors", group="zIIP"),
    Shown("ziip_eligible_fraction", "Eligible", group="zIIP"),
    Shown("ziip_redirected_fraction", "Share of eligible time on zIIP", group="zIIP"),
    Shown("ziip_overflow_fraction", "Overflow", group="zIIP"),
    Shown("cpu_seconds"),
    Shown("transactions_per_second"),
    Shown("cpu_per_transaction", "All engines", group="CPU per transaction"),
    Shown("cp_per_transaction", "General", group="CPU per transaction"),
)

PAGE = Page(
    order=600,
    id="workload",
    title="Service classes",
    lead="Goals and results of work; its CPU and zIIP time, in total and per transaction.",
    what="service and report classes",
    ways=(
        Way(
            "SMF 72-3",
            "Monitor I option WKLD of RMF or the z/OS Data Gatherer, and TYPE(72) in SMFPRMxx. Each system records "
            "only its own work: give the dumps of all systems for the sysplex.",
        ),
        *WLMGL,
        Way("SMF 99-2", "TYPE(99(2)) in SMFPRMxx: samples of WLM, a record for each class each ten seconds."),
        Way("SMF 99-6", "TYPE(99(6)) in SMFPRMxx: policy intervals of WLM, a record each ten seconds."),
    ),
    figures=(
        FigureSpec("transactions", "Transactions", "workload_period", "transactions_per_second", where=_SERVICE),
        FigureSpec(
            "worst_index",
            "Worst performance index",
            "workload_period",
            "performance_index",
            by=("class_name", "period"),
            pick=Pick.HIGHEST,
            where=_SERVICE,
        ),
        FigureSpec("cp_by_work", "General processors used by work", "workload_period", "cp_processors", where=_SERVICE),
        FigureSpec("ziip_by_work", "zIIPs used by work", "workload_period", "ziip_processors", where=_SERVICE),
        FigureSpec(
            "ziip_overflow",
            "zIIP overflow to general processors",
            "workload_period",
            "ziip_overflow_fraction",
            where=_SERVICE,
        ),
    ),
    charts=(
        ChartSpec(
            "transactions_by_class",
            "Transactions, by service class",
            "workload_period",
            ("transactions_per_second",),
            by=("class_name",),
            kind=ChartKind.STACK,
            where=_SERVICE,
            timeline=True,
        ),
        ChartSpec(
            "cp_by_class",
            "General processors used, by service class",
            "workload_period",
            ("cp_processors",),
            by=("class_name",),
            kind=ChartKind.STACK,
            where=_SERVICE,
            timeline=True,
        ),
        ChartSpec(
            "ziip_by_class",
            "zIIPs used, by service class",
            "workload_period",
            ("ziip_processors",),
            by=("class_name",),
            kind=ChartKind.STACK,
            where=_SERVICE,
        ),
        ChartSpec(
            "ziip_overflow_course",
            "zIIP-eligible work: on zIIPs and on general processors",
            "workload_period",
            ("ziip_processors", "ziip_on_cp_processors"),
            kind=ChartKind.STACK,
            where=_SERVICE,
            note="zIIP time is engine time, not normalized to the speed of general processors.",
        ),
        ChartSpec(
            "index_by_period",
            "Performance index, by service class period",
            "workload_period",
            ("performance_index",),
            by=("class_name", "period"),
            where=_SERVICE,
            references=(Reference("goal met at or below", 1.0),),
        ),
        ChartSpec(
            "response_by_class",
            "Response time, by service class",
            "workload_period",
            ("response_time",),
            by=("class_name",),
            where=_SERVICE,
        ),
    ),
    heat_maps=(
        HeatSpec("transaction_hours", "Transactions", "workload_period", "transactions_per_second", where=_SERVICE),
        HeatSpec("response_hours", "Response time", "workload_period", "response_time", where=_SERVICE),
    ),
    tables=(
        TableSpec(
            "workload_goals",
            "Goals and response, by service class period",
            "workload_period",
            _GOALS,
            by=_PERIOD,
            order="performance_index",
            where=_WORKED,
            top=15,
            profile=tuple(f"bucket_{n}" for n in range(1, 15)),
            profile_title="Response distribution",
            note=(
                "Over all systems. The distribution counts ended transactions in 14 buckets around the goal: up to "
                "50 %, 60 % ... 150 %, 200 %, 400 % of it, and above."
            ),
        ),
        TableSpec(
            "workload_cpu",
            "CPU and zIIP, by service class",
            "workload_period",
            _CPU,
            by=_CLASS,
            order="cp_processors",
            where=_WORKED,
            course="cp_processors",
            top=15,
        ),
        TableSpec(
            "workload_cpu_system",
            "CPU and zIIP, by system and service class",
            "workload_period",
            _CPU,
            by=("system", *_CLASS),
            across_systems=True,
            order="cp_processors",
            where=_WORKED,
            top=15,
        ),
        TableSpec(
            "workload_decisions",
            "Policy intervals of WLM, by system and service class period",
            "workload_decision",
            (
                Shown("importance"),
                Shown("local_performance_index", "Local", group="Performance index", bar=True),
                Shown("sysplex_performance_index", "Sysplex", group="Performance index"),
                Shown("highest_local_index", "Highest local", group="Performance index"),
                Shown("missed_fraction"),
                Shown("dispatching_priority", "Mean", group="Dispatching priority"),
                Shown("lowest_priority", "Lowest", group="Dispatching priority"),
                Shown("highest_priority", "Highest", group="Dispatching priority"),
                Shown("io_priority"),
                Shown("ready_address_spaces"),
                Shown("policy_intervals"),
            ),
            by=("system", "class_name", "period"),
            order="local_performance_index",
            top=15,
            note="From SMF 99-6, which WLM writes at the end of each policy interval of ten seconds: what it saw then, "
            "and the priorities for the next. In an RMF interval that meets its goal a class can be late for minutes.",
        ),
        TableSpec(
            "workload_samples",
            "Samples of WLM, by system and service class period",
            "workload_sample",
            (
                Shown("using_fraction", bar=True),
                Shown("processor_delay_fraction", "Processor", group="Delayed by"),
                Shown("capping_delay_fraction", "Cap", group="Delayed by"),
                Shown("ziip_delay_fraction", "zIIP", group="Delayed by"),
                Shown("io_delay_fraction", "DASD", group="Delayed by"),
                Shown("storage_delay_fraction", "Storage", group="Delayed by"),
                Shown("policy_intervals"),
            ),
            by=("system", "class_name", "period"),
            order="processor_delay_fraction",
            top=15,
            note="From SMF 99-2, which WLM writes for each class at the end of each policy interval of ten seconds: "
            "samples from which it decides. Those of neighbouring records overlap; shares are of using and delay.",
        ),
        TableSpec(
            "workload_delays",
            "Delays and DASD I/O, by service class period",
            "workload_period",
            (
                Shown("cpu_delay_fraction", "Processor", group="Delayed for"),
                Shown("ziip_delay_fraction", "zIIP", group="Delayed for"),
                Shown("capping_delay_fraction", "Capping", group="Delayed for"),
                Shown("velocity"),
                Shown("dasd_per_second", "Operations", group="DASD I/O"),
                Shown("dasd_response_time", "Response", group="DASD I/O"),
                Shown("service_units_per_second"),
            ),
            by=_PERIOD,
            order="cpu_delay_fraction",
            where=_WORKED,
            folded=True,
        ),
        TableSpec(
            "workload_report_goals",
            "Throughput and response, by report class period",
            "workload_period",
            _GOALS,
            by=_PERIOD,
            order="transactions_per_second",
            where=_REPORT,
            folded=True,
        ),
        TableSpec(
            "workload_report_cpu",
            "CPU and zIIP, by report class",
            "workload_period",
            _CPU,
            by=_CLASS,
            order="cp_processors",
            where=_REPORT,
            folded=True,
            note="Work in report classes is also counted in its service class.",
        ),
    ),
)
