"""Steps that ended (SMF 30 subtype 4)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Fact, Rollup
from plexlens.metrics.expressions import count_if
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.jobs.completion import completion, is_abend, is_cancelled, is_flushed
from plexlens.metrics.jobs.records import moment, records
from plexlens.metrics.jobs.usage import attribute_columns, usage_columns
from plexlens.metrics.unit import COUNT

_DAY = 86400.0

#: Facts of an end, of a step as of a job.
ENDED = (
    Fact("abends", "Abends", COUNT, Rollup.COUNT, "SMF 30 SMF30ABD, SMF30CDE"),
    Fact("flushed", "Not run", COUNT, Rollup.COUNT, "SMF 30 SMF30FLH"),
    Fact("cancelled", "Cancelled by SMFLIMxx or an exit", COUNT, Rollup.COUNT, "SMF 30 SMF30STI bits 0 to 4"),
)


def ended_columns(table: Any) -> dict[str, Any]:
    """Facts of `ENDED`, and the number of what ended."""
    return {
        "ended": count_if(ibis.literal(True)),
        "abends": count_if(is_abend(table)),
        "flushed": count_if(is_flushed(table)),
        "cancelled": count_if(is_cancelled(table)),
    }


def span_columns(table: Any) -> dict[str, Any]:
    """Identity of what ran from its initiation to the time its record was written."""
    offset = table.local_offset.fill_null(0.0)
    return {
        "system": table.system,
        "sysplex": table.sysplex,
        "interval_start": moment(table.initiated - offset),
        "interval_end": moment(table.written - offset),
        "utc_offset": table.local_offset,
        "local_time": table.local_offset.isnull(),
    }


def job_class(table: Any) -> Any:
    """Job class: the long name where there is one."""
    return ibis.coalesce(table.smf30cl8.nullif(""), table.smf30cls.nullif(""))


def _steps(inputs: Inputs) -> Any:
    table = records(inputs)
    table = table.filter(table.subtype == 4)
    # Both are times of day: a program that starts after midnight starts on the day after its allocation.
    allocation = table.smf30pps.cast("float64") - table.smf30ast.cast("float64")
    known = (table.smf30pps.cast("float64") > 0) & (table.smf30ast.cast("float64") > 0)
    allocation = ibis.ifelse(allocation < 0, allocation + _DAY, allocation)
    return table.select(
        **span_columns(table),
        job=table.smf30jbn,
        job_id=table.smf30jnm.nullif(""),
        step_number=table.smf30stn.cast("int64").cast("string"),
        step=table.smf30stm.nullif(""),
        procedure_step=table.smf30psn.nullif(""),
        program=table.smf30pgm.nullif(""),
        job_class=job_class(table),
        completion=completion(table),
        **attribute_columns(table),
        elapsed_seconds=table.written - table.initiated,
        allocation_seconds=ibis.ifelse(known, allocation, ibis.null("float64")),
        **ended_columns(table),
        **usage_columns(table),
    )
