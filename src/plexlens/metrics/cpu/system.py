"""Processors of a system: busy as z/OS and as PR/SM see it, capture, interrupts (SMF 70-1, 72-3)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.cpu.partition import partitions
from plexlens.metrics.cpu.rmf_xml import systems_of_rmf_xml
from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import interval_seconds, ratio, total
from plexlens.metrics.inputs import RECORD, Inputs, identity
from plexlens.metrics.unit import COUNT, FRACTION, MEAN_COUNT, MSU, PER_SECOND, PERCENTAGE, PROCESSORS, SECONDS

_REPORT = "z/OS RMF Report Analysis, CPU Activity and Partition Data reports"

#: SMF70TYP (SMF 70-1 CPU data section).
_TYPES = {0: "CP", 1: "AAP", 2: "IIP"}


def _captured(inputs: Inputs) -> Any:
    """CPU time of all service classes of a system in an interval, by kind of engine."""
    from plexlens.metrics.workload.smf import periods_of_smf

    table = periods_of_smf(inputs).filter(lambda t: t.class_kind == "service class")
    every = total(table.tcb_seconds, table.srb_seconds, table.rct_seconds, table.iit_seconds, table.hst_seconds)
    table = table.mutate(
        general=every - total(table.ziip_seconds, table.zaap_seconds).fill_null(0.0),
        ziip=table.ziip_engine_seconds,
        zaap=table.zaap_engine_seconds,
    )
    sums = table.group_by(["system", "interval_start"]).aggregate(
        CP=table.general.sum(), IIP=table.ziip.sum(), AAP=table.zaap.sum()
    )
    return sums.pivot_longer(["CP", "IIP", "AAP"], names_to="processor_type", values_to="captured_seconds")


def _engines(inputs: Inputs) -> Any:
    """CPU data sections summed over the engines of one kind in each record."""
    table = inputs.table(
        "smf70_1_cpu_data", "smf70wat", "smf70pat", "smf70typ", "smf70cnf", "smf70nio", "smf70tpi", "smf70slh"
    )
    online = (table.smf70cnf.cast("int64") & 0x01) != 0
    table = table.mutate(
        processor_type=ibis.cases(*[(table.smf70typ == code, name) for code, name in _TYPES.items()], else_="other"),
        online=online,
    ).filter(lambda t: t.online)
    return table.group_by([*RECORD, "processor_type"]).aggregate(
        **{name: table[name].max() for name in ("system", "sysplex", "interval_start", "interval_end", "utc_offset")},
        engines=table.count().cast("float64"),
        wait_seconds=table.smf70wat.cast("float64").sum(),
        parked_seconds=table.smf70pat.cast("float64").sum(),
        io_interrupts=total(table.smf70slh, table.smf70tpi).sum(),
        io_interrupts_tpi=table.smf70tpi.cast("float64").sum(),
    )


def _own_partition(inputs: Inputs) -> Any:
    """The writer's own line of the partition table."""
    product = inputs.table("rmf_product_section", "smf7xptn").select(*RECORD, own_no=lambda t: t.smf7xptn.cast("int64"))
    table = partitions(inputs).inner_join(product, list(RECORD)).filter(lambda t: t.partition_no == t.own_no)
    return table.select(
        *RECORD,
        "processor_type",
        "partition",
        "machine",
        "dispatch_seconds",
        "effective_seconds",
        "online_seconds",
        "capacity_msu",
        "rolling_msu_recorded",
        "msu_per_processor",
    )


def _systems_of_smf(inputs: Inputs) -> Any:
    table = _engines(inputs).left_join(_own_partition(inputs), [*RECORD, "processor_type"], rname="own_{name}")
    general = table.processor_type == "CP"
    nothing = ibis.null("float64")
    captured: dict[str, Any] = {}
    if inputs.has("smf72_3_period", "smf72_3_wlm_control"):
        table = table.left_join(
            _captured(inputs), ["system", "interval_start", "processor_type"], rname="captured_{name}"
        )
        captured["captured_seconds"] = table.captured_seconds
    return table.select(
        **identity(table),
        processor_type=table.processor_type,
        machine=table.machine,
        partition=table.partition,
        interval_seconds=interval_seconds(table),
        engines=table.engines,
        engine_seconds=interval_seconds(table) * table.engines,
        wait_seconds=table.wait_seconds,
        parked_seconds=table.parked_seconds.fill_null(0.0),
        dispatch_seconds=table.dispatch_seconds,
        effective_seconds=table.effective_seconds,
        online_seconds=table.online_seconds,
        io_interrupts=table.io_interrupts,
        io_interrupts_tpi=table.io_interrupts_tpi,
        # Capacity is sold in general processors, and recorded once for the image.
        capacity_msu=ibis.ifelse(general, table.capacity_msu, nothing),
        rolling_msu_recorded=ibis.ifelse(general, table.rolling_msu_recorded, nothing),
        **captured,
    )


SYSTEM = Grain(
    name="cpu_system",
    title="Processors of a system",
    row="one system and kind of processor in one interval",
    keys=(Key("processor_type", "Processor"),),
    attributes=(Attribute("machine", "Machine"), Attribute("partition", "Partition")),
    facts=(
        Fact("interval_seconds", "Interval", SECONDS, Rollup.SPAN, "SMF 70-1 SMF70INT"),
        Fact("engines", "Processors online", MEAN_COUNT, Rollup.LEVEL, "SMF 70-1 SMF70CNF"),
        Fact("engine_seconds", "Processors online, time", SECONDS, Rollup.COUNT, "SMF 70-1 SMF70CNF, SMF70INT"),
        Fact("wait_seconds", "Wait time seen by z/OS", SECONDS, Rollup.COUNT, "SMF 70-1 SMF70WAT"),
        Fact("parked_seconds", "Parked", SECONDS, Rollup.COUNT, "SMF 70-1 SMF70PAT"),
        Fact(
            "dispatch_seconds", "Dispatched by PR/SM", SECONDS, Rollup.COUNT, "SMF 70-1 SMF70PDT of the own partition"
        ),
        Fact(
            "effective_seconds",
            "Dispatched, effective",
            SECONDS,
            Rollup.COUNT,
            "SMF 70-1 SMF70EDT of the own partition",
        ),
        Fact("online_seconds", "Logical processors online, time", SECONDS, Rollup.COUNT, "SMF 70-1 SMF70ONT"),
        Fact("captured_seconds", "CPU time of service classes", SECONDS, Rollup.COUNT, "SMF 72-3, all service classes"),
        Fact("io_interrupts", "I/O interrupts", COUNT, Rollup.COUNT, "SMF 70-1 SMF70SLH, SMF70TPI"),
        Fact("io_interrupts_tpi", "I/O interrupts found by TPI", COUNT, Rollup.COUNT, "SMF 70-1 SMF70TPI"),
        Fact("capacity_msu", "Capacity of the image", MSU, Rollup.AMOUNT, "SMF 70-1 SMF70WLA"),
        Fact("rolling_msu_recorded", "Four-hour mean as recorded", MSU, Rollup.LEVEL, "SMF 70-1 SMF70LAC"),
    ),
    sources=(
        Source(
            "SMF 70-1",
            (
                "smf70_1_cpu_data",
                "smf70_1_cpu_control",
                "smf70_1_partition",
                "smf70_1_logical_processor",
                "smf70_1_cpu_identification",
                "rmf_product_section",
            ),
            _systems_of_smf,
        ),
        Source("RMF XML CPU", ("rmf_xml_cpu_processor", "rmf_xml_cpu_control"), systems_of_rmf_xml),
        Source(
            "RMF text CPU",
            ("text_rmf_cpu_processor", "text_rmf_cpu_control"),
            lambda inputs: systems_of_rmf_xml(inputs, "text_rmf"),
        ),
    ),
    metrics=(
        Metric(
            "mvs_busy",
            "Busy as z/OS sees it",
            FRACTION,
            "(online - SMF70WAT - SMF70PAT) / (online - SMF70PAT)",
            _REPORT + " (MVS BUSY)",
            lambda f: ratio(f.engine_seconds - f.wait_seconds - f.parked_seconds, f.engine_seconds - f.parked_seconds),
            "Above the busy time of PR/SM when logical processors wait for a physical one.",
        ),
        Metric(
            "lpar_busy",
            "Busy as PR/SM sees it",
            FRACTION,
            "SMF70PDT / SMF70ONT of the own partition",
            _REPORT + " (LPAR BUSY)",
            lambda f: ratio(f.dispatch_seconds, f.online_seconds),
        ),
        Metric(
            "processors_used",
            "Processors used",
            PROCESSORS,
            "SMF70PDT / interval",
            _REPORT,
            lambda f: ratio(f.dispatch_seconds, f.interval_seconds),
        ),
        Metric(
            "capture_ratio",
            "Capture ratio",
            PERCENTAGE,
            "CPU time of all service classes / SMF70EDT of the own partition",
            "z/OS RMF Report Analysis: captured and uncaptured time",
            lambda f: ratio(f.captured_seconds, f.effective_seconds),
            "Needs SMF 72-3 of the same interval; what is missing to 100 % is time no work is charged for.",
        ),
        Metric(
            "uncaptured_seconds",
            "Uncaptured time",
            SECONDS,
            "SMF70EDT - CPU time of all service classes",
            "z/OS RMF Report Analysis: captured and uncaptured time",
            lambda f: f.effective_seconds - f.captured_seconds,
        ),
        Metric(
            "parked_fraction",
            "Parked",
            FRACTION,
            "SMF70PAT / online",
            _REPORT + " (PARKED)",
            lambda f: ratio(f.parked_seconds, f.engine_seconds),
        ),
        Metric(
            "io_interrupts_per_second",
            "I/O interrupts",
            PER_SECOND,
            "(SMF70SLH + SMF70TPI) / interval",
            _REPORT + " (I/O INTERRUPTS RATE)",
            lambda f: ratio(f.io_interrupts, f.interval_seconds),
        ),
        Metric(
            "tpi_fraction",
            "Interrupts found by TPI",
            FRACTION,
            "SMF70TPI / (SMF70SLH + SMF70TPI)",
            _REPORT + " (% VIA TPI)",
            lambda f: ratio(f.io_interrupts_tpi, f.io_interrupts),
        ),
        Metric(
            "rolling_msu_fraction",
            "Four-hour mean of capacity",
            PERCENTAGE,
            "SMF70LAC / SMF70WLA",
            _REPORT,
            lambda f: ratio(f.rolling_msu_recorded, f.capacity_msu),
        ),
    ),
)
