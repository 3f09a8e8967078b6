"""One coupling facility as one system saw it: processors, storage, subchannels (SMF 74-4)."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.expressions import interval_seconds, total
from plexlens.metrics.inputs import RECORD, Inputs, identity


def _sum_by_record(inputs: Inputs, table: str, **facts: Any) -> Any:
    """Sums over all entries of one section in each record; ``facts`` maps fact to field."""
    rows = inputs.table(table, *facts.values())
    return rows.group_by(list(RECORD)).aggregate(
        **{name: rows[field].cast("float64").sum() for name, field in facts.items()}
    )


def _facilities_of_smf(inputs: Inputs) -> Any:
    fields = ("r744ftor", "r744fpbc", "r744fscc", "r744fscg", "r744fscu", "r744fscl", "r744fail", "r744ftim")
    local = inputs.table("smf74_4_local_cf", *fields, "r744fctm", "r744flvl", "r744fpam", text=("r744fnam", "r744fmod"))
    parts = []
    if inputs.has("smf74_4_processor"):
        processor = inputs.table("smf74_4_processor", "r744pbsy", "r744pwai", "r744pcct")
        parts.append(
            processor.group_by(list(RECORD)).aggregate(
                busy_seconds=processor.r744pbsy.cast("float64").sum(),
                wait_seconds=processor.r744pwai.cast("float64").sum(),
                effective_seconds=total(processor.r744pbsy, processor.r744pwai).sum(),
                commands=processor.r744pcct.cast("float64").sum(),
                logical_processors=processor.count().cast("float64"),
            )
        )
    if inputs.has("smf74_4_storage"):
        parts.append(
            _sum_by_record(
                inputs,
                "smf74_4_storage",
                storage_bytes="r744gtsd",
                storage_free_bytes="r744gtsf",
                control_bytes="r744gcsd",
                control_free_bytes="r744gcsf",
                dump_bytes="r744gdsa",
            )
        )
    if inputs.has("smf74_4_request"):
        parts.append(
            _sum_by_record(
                inputs,
                "smf74_4_request",
                sync_requests="r744ssrc",
                sync_seconds="r744sstm",
                async_requests="r744sarc",
                async_seconds="r744satm",
                changed_requests="r744ssta",
                queued_requests="r744sqrc",
                queued_seconds="r744sqtm",
                structure_bytes="r744ssiz",
            )
        )
    table = local
    for part in parts:
        table = table.left_join(part, list(RECORD)).drop("source_id_right", "record_no_right")
    there = set(table.columns)
    return table.select(
        **identity(table),
        facility=table.r744fnam,
        model=table.r744fmod.strip(),
        interval_seconds=interval_seconds(table),
        requests=table.r744ftor,
        path_busy_requests=table.r744fpbc,
        subchannel_busy_requests=table.r744fscc,
        subchannels=table.r744fscl,
        paths=table.r744fpam,
        failed_requests=table.r744fail,
        failed_seconds=table.r744ftim,
        immediate_wait_seconds=table.r744fctm,
        cf_level=table.r744flvl,
        **{name: table[name] for name in _SUMMED if name in there},
    )


#: Facts that are sums over sections of a record.
_SUMMED = (
    "busy_seconds",
    "wait_seconds",
    "effective_seconds",
    "commands",
    "logical_processors",
    "storage_bytes",
    "storage_free_bytes",
    "control_bytes",
    "control_free_bytes",
    "dump_bytes",
    "structure_bytes",
    "sync_requests",
    "sync_seconds",
    "async_requests",
    "async_seconds",
    "changed_requests",
    "queued_requests",
    "queued_seconds",
)
