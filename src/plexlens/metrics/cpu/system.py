"""Processors of a system: busy as z/OS and as PR/SM see it, capture, interrupts (SMF 70-1, 72-3)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.cpu.partition import partitions
from plexlens.metrics.expressions import interval_seconds, total
from plexlens.metrics.inputs import RECORD, Inputs, identity

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
