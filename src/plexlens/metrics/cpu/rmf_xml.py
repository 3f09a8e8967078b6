"""Facts of partitions and engines from the RMF CPU activity report, in XML and as text.

Both kinds of report fill tables with the same columns; `reports` names the tables' kind.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.inputs import RECORD, Inputs, identity, named

#: Kinds of processor, and the column of the report's control block that counts the machine's.
_PHYSICAL = {
    "CP": "physical_cp",
    "AAP": "physical_aap",
    "IIP": "physical_iip",
    "ICF": "physical_icf",
    "IFL": "physical_ifl",
}


def _control(inputs: Inputs, reports: str) -> Any:
    table = inputs.table(
        f"{reports}_cpu_control",
        *_PHYSICAL.values(),
        "group_limit_msu",
        "cpc_capacity_msu",
        "image_capacity_msu",
        text=("machine_type", "sequence_code", "capacity_model", "partition_name"),
    )
    serial = table.sequence_code.fill_null("")
    return table.select(
        *RECORD,
        machine=named(
            table, ibis.ifelse(table.machine_type.fill_null("") == "", serial, table.machine_type + "-" + serial)
        ),
        model=table.capacity_model,
        own_partition=table.partition_name,
        group_limit=table.group_limit_msu,
        machine_capacity=table.cpc_capacity_msu,
        image_capacity=table.image_capacity_msu,
        **{column: table[column] for column in _PHYSICAL.values()},
    )


def partitions_of_rmf_xml(inputs: Inputs, reports: str = "rmf_xml") -> Any:
    """Facts of every partition of the machine, as the report of one system lists them."""
    table = inputs.table(
        f"{reports}_cpu_partition",
        "interval_seconds",
        "weight",
        "defined_msu",
        "actual_msu",
        "logical_processors",
        "effective_dispatch_seconds",
        "dispatch_seconds",
        "is_dedicated",
        text=("partition_name", "processor_type"),
    ).left_join(_control(inputs, reports), list(RECORD))
    kind = table.processor_type
    first = table.system.min().over(ibis.window(group_by=[table.machine, table.interval_start]))
    table = table.mutate(
        physical=ibis.cases(*[(kind == name, table[column]) for name, column in _PHYSICAL.items()]),
        reporter=first,
        shared_weight=ibis.ifelse(table.is_dedicated.cast("boolean"), 0.0, table.weight),
    ).filter(lambda t: t.system.isnull() | (t.system == t.reporter))
    weights = table.shared_weight.sum().over(
        ibis.window(group_by=[table.machine, table.interval_start, table.processor_type])
    )
    charged = (table.processor_type == "CP") & (table.partition_name != "PHYSICAL")
    return table.select(
        # Only the reporting system's own partition is known to run it.
        system=ibis.ifelse(table.partition_name == table.own_partition, table.system, ibis.null("string")),
        sysplex=table.sysplex,
        interval_start=table.interval_start,
        interval_end=table.interval_end,
        utc_offset=table.utc_offset,
        machine=table.machine,
        partition=table.partition_name,
        processor_type=table.processor_type,
        model=table.model,
        interval_seconds=table.interval_seconds,
        physical_processors=table.physical,
        logical_processors=table.logical_processors,
        dispatch_seconds=table.dispatch_seconds,
        effective_seconds=table.effective_dispatch_seconds,
        online_seconds=table.logical_processors * table.interval_seconds,
        weight=table.shared_weight,
        machine_weight=weights,
        msu=ibis.ifelse(charged, table.actual_msu, ibis.null("float64")),
        defined_msu=table.defined_msu.nullif(0.0),
        group_msu=table.group_limit,
        machine_msu=table.machine_capacity,
    )


def systems_of_rmf_xml(inputs: Inputs, reports: str = "rmf_xml") -> Any:
    """Facts of the reporting system's processors, by kind."""
    table = inputs.table(
        f"{reports}_cpu_processor",
        "interval_seconds",
        "online_seconds",
        "dispatch_seconds",
        "parked_seconds",
        "wait_seconds",
        "io_interrupts",
        "tpi_interrupts",
        text=("cpu_type",),
    )
    sums = table.group_by([*RECORD, "cpu_type"]).aggregate(
        **{name: table[name].max() for name in ("system", "sysplex", "interval_start", "interval_end", "utc_offset")},
        interval_seconds=table.interval_seconds.max(),
        engine_seconds=table.online_seconds.sum(),
        wait_seconds=table.wait_seconds.sum(),
        parked_seconds=table.parked_seconds.sum(),
        dispatch_seconds=table.dispatch_seconds.sum(),
        io_interrupts=table.io_interrupts.sum(),
        io_interrupts_tpi=table.tpi_interrupts.sum(),
    )
    sums = sums.left_join(_control(inputs, reports), list(RECORD))
    general = sums.cpu_type == "CP"
    return sums.select(
        **identity(sums),
        processor_type=sums.cpu_type,
        machine=sums.machine,
        partition=sums.own_partition,
        interval_seconds=sums.interval_seconds,
        engines=sums.engine_seconds / sums.interval_seconds.nullif(0.0),
        engine_seconds=sums.engine_seconds,
        online_seconds=sums.engine_seconds,
        wait_seconds=sums.wait_seconds,
        parked_seconds=sums.parked_seconds,
        dispatch_seconds=sums.dispatch_seconds,
        io_interrupts=sums.io_interrupts,
        io_interrupts_tpi=sums.io_interrupts_tpi,
        capacity_msu=ibis.ifelse(general, sums.image_capacity, ibis.null("float64")),
    )
