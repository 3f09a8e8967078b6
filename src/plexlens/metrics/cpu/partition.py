"""Partitions of a machine: dispatch time, weights, capacity used (SMF 70-1).

Every system writes the whole partition table of its machine, so a machine with four systems in the dump tells each
figure four times: the table is taken from one reporting system for each machine and interval.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Fact, Rollup
from plexlens.metrics.expressions import interval_seconds
from plexlens.metrics.inputs import RECORD, Inputs
from plexlens.metrics.unit import COUNT, GIB, MSU, SECONDS

#: SMF70BPS of a dedicated processor.
_DEDICATED = 0xFFFF

#: Length of the rolling average that software charges are based on.
_ROLLING_SECONDS = 4 * 3600


def _machine(table: Any) -> Any:
    """Name of the machine: type and serial number, or its model where the record is older than either."""
    kind, serial = table.smf70cpc_type.nullif(""), table.smf70csc.nullif("")
    return ibis.coalesce(kind + "-" + serial, serial, table.smf70mdl.nullif(""), kind)


def _control(inputs: Inputs) -> Any:
    """One row a record: machine, capacity rating, conversion from time to MSU."""
    table = inputs.table(
        "smf70_1_cpu_control",
        "smf70cpa",
        "smf70cpa_actual",
        "smf70cpa_scaling_factor",
        "smf70wla",
        "smf70lac",
        "smf70mcr",
        "smf70dsa",
        "smf70nrm",
        "smf70gau",
        "smf70ifa",
        "smf70sup",
        text=("smf70csc", "smf70mdl", "smf70hwm", "smf70cpc_type"),
    )
    scaled = table.smf70cpa_actual.cast("float64") / table.smf70cpa_scaling_factor.cast("float64").nullif(0.0)
    adjustment = ibis.coalesce(scaled.nullif(0.0), table.smf70cpa.cast("float64").nullif(0.0))
    return table.select(
        *RECORD,
        control_system=table.system,
        machine=_machine(table),
        model=table.smf70mdl,
        # SU per second of one processor = 16,000,000 / adjustment; a million SU an hour is one MSU.
        msu_per_processor=16e6 / adjustment * 3600 / 1e6,
        capacity_msu=table.smf70wla.cast("float64"),
        rolling_msu_recorded=table.smf70lac.cast("float64"),
        machine_msu=table.smf70mcr.cast("float64"),
        group_unused_msu=table.smf70gau.cast("float64"),
        ziip_factor=table.smf70nrm.cast("float64").nullif(0.0),
        diagnose_samples=table.smf70dsa.cast("float64").nullif(0.0),
    )


def _logical_processors(inputs: Inputs) -> Any:
    """Logical processors with the partition that owns them and the kind of engine they are."""
    partition = inputs.table(
        "smf70_1_partition",
        "smf70lpn",
        "smf70bdn",
        "smf70bds",
        "smf70csf",
        "smf70msu",
        "smf70gmu",
        text=("smf70lpm", "smf70stn", "smf70spn", "smf70gnm"),
    )
    partition = partition.select(
        *RECORD,
        partition=partition.smf70lpm,
        partition_no=partition.smf70lpn.cast("int64"),
        partition_system=partition.smf70stn.nullif(""),
        cluster=partition.smf70spn.nullif(""),
        capacity_group=partition.smf70gnm.nullif(""),
        first=partition.smf70bds.cast("int64") + 1,
        last=partition.smf70bds.cast("int64") + partition.smf70bdn.cast("int64"),
        storage_bytes=partition.smf70csf.cast("float64"),
        defined_msu=partition.smf70msu.cast("float64").nullif(0.0),
        group_msu=partition.smf70gmu.cast("float64").nullif(0.0),
    )
    logical = inputs.table(
        "smf70_1_logical_processor",
        "smf70pdt",
        "smf70edt",
        "smf70ont",
        "smf70wst",
        "smf70bps",
        "smf70cix",
        "smf70nsw",
        "smf70nca",
    ).rename(owner_source="source_id", owner_record="record_no")
    joined = logical.inner_join(
        partition,
        [
            logical.owner_source == partition.source_id,
            logical.owner_record == partition.record_no,
            logical.section_no.cast("int64") >= partition.first,
            logical.section_no.cast("int64") <= partition.last,
        ],
    )
    kinds = inputs.table("smf70_1_cpu_identification", "smf70ctn", text=("smf70cin",))
    kinds = kinds.select(
        *RECORD,
        kind_no=kinds.section_no.cast("int64"),
        processor_type=kinds.smf70cin,
        physical=kinds.smf70ctn.cast("float64"),
    )
    joined = joined.mutate(kind_no=joined.smf70cix.cast("int64"))
    return joined.left_join(kinds, [*RECORD, "kind_no"], rname="kind_{name}")


def partitions(inputs: Inputs) -> Any:
    """One row a partition and engine kind in each record, whoever wrote it."""
    logical = _logical_processors(inputs)
    online = (logical.smf70ont.cast("float64") > 0) | logical.smf70ont.isnull()
    shared_weight = ibis.ifelse(
        online & (logical.smf70bps.cast("int64") != _DEDICATED), logical.smf70bps.cast("float64"), ibis.literal(0.0)
    )
    keys = ["partition", "partition_no", "processor_type", "cluster", "capacity_group", "partition_system"]
    table = logical.group_by([*RECORD, *keys]).aggregate(
        system=logical.system.max(),
        sysplex=logical.sysplex.max(),
        interval_start=logical.interval_start.max(),
        interval_end=logical.interval_end.max(),
        utc_offset=logical.utc_offset.max(),
        physical_processors=logical.physical.max(),
        logical_processors=online.cast("float64").sum(),
        dispatch_seconds=logical.smf70pdt.cast("float64").sum(),
        effective_seconds=logical.smf70edt.cast("float64").sum(),
        online_seconds=logical.smf70ont.cast("float64").sum(),
        partition_wait_seconds=logical.smf70wst.cast("float64").sum(),
        weight=shared_weight.sum(),
        capped_samples=logical.smf70nsw.cast("float64").max(),
        limited_samples=logical.smf70nca.cast("float64").max(),
        storage_bytes=logical.storage_bytes.max(),
        defined_msu=logical.defined_msu.max(),
        group_msu=logical.group_msu.max(),
    )
    return table.left_join(_control(inputs), list(RECORD))


def _rolling(table: Any) -> Any:
    """Mean of the MSU rate over the four hours up to the end of each interval, as far as intervals are held."""
    window = ibis.trailing_range_window(
        # An interval that ended exactly four hours ago lies outside.
        ibis.interval(seconds=_ROLLING_SECONDS - 1),
        group_by=[table.machine, table.partition, table.processor_type],
        order_by=table.interval_end,
    )
    length = ibis.ifelse(table.msu.isnull(), 0.0, table.interval_seconds)
    consumed = (table.msu * table.interval_seconds).sum().over(window)
    # Intervals follow each other, so only the earliest one can begin before the four hours do.
    start = table.interval_end.epoch_seconds().cast("float64") - table.interval_seconds
    since = table.interval_end.epoch_seconds().cast("float64") - _ROLLING_SECONDS
    before = ibis.greatest(since - start.first(include_null=True).over(window), 0.0)
    msu_before = table.msu.fill_null(0.0).first(include_null=True).over(window)
    known = table.msu.notnull().cast("float64")
    covered = length.sum().over(window) - before * known.first(include_null=True).over(window)
    return table.mutate(rolling_msu=(consumed - before * msu_before) / covered.nullif(0.0))


def _partitions_of_smf(inputs: Inputs) -> Any:
    table = partitions(inputs)
    seconds = interval_seconds(table)
    # The hypervisor's own line is no consumer that capacity is charged to.
    charged = (table.processor_type == "CP") & (table.partition != "PHYSICAL")
    used = table.dispatch_seconds / seconds.nullif(0.0) * table.msu_per_processor
    table = table.mutate(interval_seconds=seconds, msu=ibis.ifelse(charged, used, ibis.null("float64")))
    first = table.system.min().over(ibis.window(group_by=[table.machine, table.interval_start]))
    table = table.mutate(reporter=first).filter(lambda t: t.system == t.reporter)
    table = _rolling(table)
    weights = table.weight.sum().over(ibis.window(group_by=[table.machine, table.interval_start, table.processor_type]))
    return table.select(
        system=table.partition_system,
        sysplex=table.sysplex,
        interval_start=table.interval_start,
        interval_end=table.interval_end,
        utc_offset=table.utc_offset,
        machine=table.machine,
        partition=table.partition,
        processor_type=table.processor_type,
        model=table.model,
        cluster=table.cluster,
        capacity_group=table.capacity_group,
        **{name: table[name] for name in _PARTITION_NAMES},
        machine_weight=weights,
    )


#: Whose the numbers of one kind of processor of a machine are, which every partition of it shows.
_KIND = ("machine", "processor_type")

_PARTITION_FACTS = (
    Fact("interval_seconds", "Interval", SECONDS, Rollup.SPAN, "SMF 70-1 SMF70INT"),
    Fact(
        "physical_processors", "Physical processors of this kind", COUNT, Rollup.AMOUNT, "SMF 70-1 SMF70CTN", of=_KIND
    ),
    Fact("logical_processors", "Logical processors online", COUNT, Rollup.LEVEL, "SMF 70-1 SMF70ONT"),
    Fact("dispatch_seconds", "Dispatched, with LPAR management", SECONDS, Rollup.COUNT, "SMF 70-1 SMF70PDT"),
    Fact("effective_seconds", "Dispatched, effective", SECONDS, Rollup.COUNT, "SMF 70-1 SMF70EDT"),
    Fact("online_seconds", "Logical processors online, time", SECONDS, Rollup.COUNT, "SMF 70-1 SMF70ONT"),
    Fact("weight", "Weight", COUNT, Rollup.AMOUNT, "SMF 70-1 SMF70BPS, shared processors"),
    Fact("capped_samples", "Samples with capping in force", COUNT, Rollup.COUNT, "SMF 70-1 SMF70NSW"),
    Fact("limited_samples", "Samples in which capping limited use", COUNT, Rollup.COUNT, "SMF 70-1 SMF70NCA"),
    Fact("diagnose_samples", "Samples of the partition", COUNT, Rollup.COUNT, "SMF 70-1 SMF70DSA"),
    Fact("msu", "Capacity used", MSU, Rollup.LEVEL, "SMF 70-1 SMF70PDT, SMF70CPA"),
    Fact("rolling_msu", "Capacity used, four-hour mean", MSU, Rollup.LEVEL, "SMF 70-1 SMF70PDT, SMF70CPA"),
    Fact("defined_msu", "Defined capacity", MSU, Rollup.AMOUNT, "SMF 70-1 SMF70MSU"),
    Fact(
        "group_msu", "Capacity group limit", MSU, Rollup.AMOUNT, "SMF 70-1 SMF70GMU", of=("machine", "capacity_group")
    ),
    Fact("machine_msu", "Capacity rating of the machine", MSU, Rollup.AMOUNT, "SMF 70-1 SMF70MCR", of=("machine",)),
    Fact(
        "storage_bytes", "Central storage online", GIB, Rollup.AMOUNT, "SMF 70-1 SMF70CSF", of=("machine", "partition")
    ),
)

_PARTITION_NAMES = tuple(fact.name for fact in _PARTITION_FACTS)
