"""Input of zPCR that its user types: machine, partitions with processors and weights, LSPR workload of each system.

zPCR (IBM's Processor Capacity Reference) reads a study that its user made from these; the form of its study file is not
public. LSPR data is not part of Plexlens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plexlens.cost.use import Use
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available, rolled_up
from plexlens.metrics.inputs import Inputs


@dataclass(frozen=True)
class PartitionSetting:
    """A partition and a kind of processor.

    Attributes
    ----------
    machine, model, partition, kind
        Machine, its model, partition, kind of processor (``CP``, ``IIP``, ...).
    physical
        Physical processors of the kind in the machine; None where they are not recorded.
    logical
        Logical processors online, mean over the data.
    weight
        Weight of its shared processors; None for dedicated ones.
    capped
        Share of the samples with capping in force; None where it is not recorded.
    busy
        Share of its logical processors' time that was used; None where it is not recorded.
    l1mp, rni, workload
        Level-1 misses per 100 instructions, relative nest intensity and the LSPR workload of the system's counters
        (SMF 113); empty without them.
    """

    machine: str
    model: str
    partition: str
    kind: str
    physical: float | None
    logical: float | None
    weight: float | None
    capped: float | None
    busy: float | None
    l1mp: float | None
    rni: float | None
    workload: str


#: Names of the values of ``cpu_counters.lspr_match``.
_WORKLOADS = {1: "low", 2: "average", 3: "high"}


def configuration(inputs: Inputs, use: Use) -> tuple[PartitionSetting, ...]:
    """The partitions of the data, by machine, partition and kind of processor."""
    partitions, counters = GRAINS["cpu_partition"], GRAINS["cpu_counters"]
    rows = rolled_up(
        inputs, partitions, by=("machine", "partition", "processor_type"), time="all",
        where="partition <> 'PHYSICAL'",
        shown=("model", "physical_processors", "logical_processors", "weight", "capped_samples", "diagnose_samples",
               "dispatch_seconds", "online_seconds"),
    )  # fmt: skip
    of_counters: dict[str, dict[str, Any]] = {}
    if available(inputs, counters):
        for row in rolled_up(
            inputs,
            counters,
            by=("system",),
            time="all",
            shown=("l1mp", "rni", "lspr_match"),
            where="processor_type = 'CP'",
        ):
            of_counters[row["system"] or ""] = row
    systems = {(partition.machine, partition.name): partition.system for partition in use.partitions}
    return tuple(
        _setting(row, of_counters.get(systems.get((row["machine"] or "", row["partition"])) or "", {})) for row in rows
    )


def _setting(row: dict[str, Any], counters: dict[str, Any]) -> PartitionSetting:
    samples, online = row.get("diagnose_samples"), row.get("online_seconds")
    return PartitionSetting(
        row["machine"] or "",
        row.get("model") or "",
        row["partition"],
        row["processor_type"] or "",
        row["physical_processors"],
        row["logical_processors"],
        row["weight"] or None,
        row["capped_samples"] / samples if samples and row["capped_samples"] is not None else None,
        row["dispatch_seconds"] / online if online and row["dispatch_seconds"] is not None else None,
        counters.get("l1mp"),
        counters.get("rni"),
        _WORKLOADS.get(round(counters.get("lspr_match") or 0), ""),
    )
