"""One structure as one system used it: requests, contention, cache traffic (SMF 74-4)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Rollup
from plexlens.metrics.expressions import interval_seconds
from plexlens.metrics.inputs import RECORD, Inputs, identity
from plexlens.metrics.unit import (
    COUNT,
    MIB,
    SECONDS,
    SQUARE_SECONDS,
)

#: R744STYP (SMF 74-4 request section).
_STRUCTURE_TYPES = {1: "list", 2: "serialized list", 3: "lock", 4: "cache"}


def _facility_names(inputs: Inputs) -> Any:
    table = inputs.table("smf74_4_local_cf", text=("r744fnam",))
    return table.group_by(list(RECORD)).aggregate(facility=table.r744fnam.max())


# --- structures -------------------------------------------------------------------------------------------------

#: Fact <- field of the request section, where it is a plain copy: (name, title, unit, rollup, field).
_REQUEST_FACTS = (
    ("sync_requests", "Synchronous requests", COUNT, Rollup.COUNT, "r744ssrc"),
    ("sync_seconds", "Service time of synchronous requests", SECONDS, Rollup.COUNT, "r744sstm"),
    ("sync_squares", "Squared service time, synchronous", SQUARE_SECONDS, Rollup.COUNT, "r744sssq"),
    ("async_requests", "Asynchronous requests", COUNT, Rollup.COUNT, "r744sarc"),
    ("async_seconds", "Service time of asynchronous requests", SECONDS, Rollup.COUNT, "r744satm"),
    ("async_squares", "Squared service time, asynchronous", SQUARE_SECONDS, Rollup.COUNT, "r744sasq"),
    ("changed_requests", "Requests changed from synchronous to asynchronous", COUNT, Rollup.COUNT, "r744ssta"),
    ("external_requests", "Requests that programs made (IXL services)", COUNT, Rollup.COUNT, "r744strc"),
    ("deferred_requests", "Lock requests not granted at once", COUNT, Rollup.COUNT, "r744stac"),
    ("contention_requests", "Lock requests that met contention", COUNT, Rollup.COUNT, "r744scn"),
    ("false_contention_requests", "Lock requests that met false contention", COUNT, Rollup.COUNT, "r744sfcn"),
    ("queued_requests", "Requests delayed for want of a subchannel", COUNT, Rollup.COUNT, "r744sqrc"),
    ("queued_seconds", "Delay of those requests", SECONDS, Rollup.COUNT, "r744sqtm"),
    ("queued_squares", "Squared delay of those requests", SQUARE_SECONDS, Rollup.COUNT, "r744sqsq"),
    ("dump_delayed_requests", "Requests delayed by dump serialization", COUNT, Rollup.COUNT, "r744sdrc"),
    ("dump_delayed_seconds", "Delay by dump serialization", SECONDS, Rollup.COUNT, "r744sdtm"),
    ("peer_wait_requests", "Duplexed requests that waited for a peer subchannel", COUNT, Rollup.COUNT, "r744sptc"),
    ("peer_wait_seconds", "Wait for a peer subchannel", SECONDS, Rollup.COUNT, "r744spst"),
    ("peer_completion_requests", "Duplexed requests that waited for the peer", COUNT, Rollup.COUNT, "r744sctc"),
    ("peer_completion_seconds", "Wait for the peer's completion", SECONDS, Rollup.COUNT, "r744scst"),
    ("cf_execution_seconds", "Execution time in the coupling facility", SECONDS, Rollup.COUNT, "r744setm"),
    ("structure_bytes", "Allocated size", MIB, Rollup.AMOUNT, "r744ssiz"),
    ("structure_bytes_maximum", "Maximum size", MIB, Rollup.AMOUNT, "r744smas"),
    ("lock_entries", "Lock table entries", COUNT, Rollup.AMOUNT, "r744sltl"),
    ("lock_entries_used", "Lock table entries in use", COUNT, Rollup.LEVEL, "r744sltm"),
    ("list_entries", "List entries, or record data elements of a lock structure", COUNT, Rollup.AMOUNT, "r744slel"),
    ("list_entries_used", "Of these in use", COUNT, Rollup.LEVEL, "r744slem"),
    ("directory_entries", "Directory entries", COUNT, Rollup.AMOUNT, "r744sdec"),
    ("data_elements", "Data elements", COUNT, Rollup.AMOUNT, "r744sdel"),
    ("bytes_written", "Data written", MIB, Rollup.COUNT, "r744swed"),
    ("bytes_read", "Data read", MIB, Rollup.COUNT, "r744sred"),
)

#: Counted by the coupling facility for the structure as a whole, whichever system's record tells it.
_CACHE_FACTS = (
    ("read_hits", "Reads that found the data", COUNT, Rollup.COUNT, "r744crhc"),
    ("read_misses_directory", "Reads that found a directory entry without data", COUNT, Rollup.COUNT, "r744crmd"),
    ("read_misses_suppressed", "Reads not found, no entry assigned", COUNT, Rollup.COUNT, "r744crma"),
    ("read_misses_assigned", "Reads not found, entry assigned", COUNT, Rollup.COUNT, "r744crmn"),
    ("read_misses_full", "Reads not found, storage class full", COUNT, Rollup.COUNT, "r744crmt"),
    ("writes_unchanged", "Writes of unchanged data", COUNT, Rollup.COUNT, "r744cwh0"),
    ("writes_changed", "Writes of changed data", COUNT, Rollup.COUNT, "r744cwh1"),
    ("write_misses_not_registered", "Writes refused, not registered", COUNT, Rollup.COUNT, "r744cwmn"),
    ("write_misses_invalid", "Writes refused, invalid state", COUNT, Rollup.COUNT, "r744cwmi"),
    ("write_misses_full", "Writes refused, storage class full", COUNT, Rollup.COUNT, "r744cwmt"),
    ("directory_reclaims", "Directory entries reclaimed", COUNT, Rollup.COUNT, "r744cder"),
    ("data_reclaims", "Data entries reclaimed", COUNT, Rollup.COUNT, "r744cdtr"),
    ("xi_directory_reclaim", "Cross-invalidations by directory reclaim", COUNT, Rollup.COUNT, "r744cxdr"),
    ("xi_write", "Cross-invalidations by writes", COUNT, Rollup.COUNT, "r744cxfw"),
    ("xi_name", "Cross-invalidations by name", COUNT, Rollup.COUNT, "r744cxni"),
    ("xi_complement", "Cross-invalidations by complement", COUNT, Rollup.COUNT, "r744cxci"),
    ("xi_vector_index", "Cross-invalidations, vector index replaced", COUNT, Rollup.COUNT, "r744cxrl"),
    ("castouts", "Castouts", COUNT, Rollup.COUNT, "r744ccoc"),
    ("changed_entries", "Changed entries (snapshot)", COUNT, Rollup.LEVEL, "r744ctcc"),
)


def _structure_type(column: Any) -> Any:
    cases = [(column == code, text) for code, text in _STRUCTURE_TYPES.items()]
    return ibis.cases(*cases, else_=ibis.null("string"))


def _cache_of_structures(inputs: Inputs) -> Any:
    """Cache sections summed over the entries that a request section points at."""
    fields = [field for *_, field in _CACHE_FACTS]
    request = inputs.table("smf74_4_request", "r744cdsi", "r744cdne")
    request = request.select(
        *RECORD,
        structure_no=request.section_no,
        first=request.r744cdsi.cast("int64"),
        count=request.r744cdne.cast("int64"),
    ).filter(lambda t: t["count"] > 0)
    cache = inputs.table("smf74_4_cache", *fields).rename(cache_source="source_id", cache_record="record_no")
    joined = request.join(
        cache,
        [
            request.source_id == cache.cache_source,
            request.record_no == cache.cache_record,
            cache.section_no.cast("int64") >= request.first,
            cache.section_no.cast("int64") < request.first + request["count"],
        ],
    )
    return joined.group_by([*RECORD, "structure_no"]).aggregate(
        **{name: joined[field].cast("float64").sum() for name, _, _, _, field in _CACHE_FACTS}
    )


def _structures_of_smf(inputs: Inputs) -> Any:
    fields = [field for *_, field in _REQUEST_FACTS]
    request = inputs.table("smf74_4_request", *fields, "r744styp", text=("r744snam",))
    names = _facility_names(inputs)
    table = request.left_join(names, list(RECORD))
    if inputs.has("smf74_4_cache"):
        cache = _cache_of_structures(inputs)
        table = table.left_join(
            cache,
            [
                table.source_id == cache.source_id,
                table.record_no == cache.record_no,
                table.section_no == cache.structure_no,
            ],
            rname="cache_{name}",
        )
    cached = {name: table[name] for name, *_ in _CACHE_FACTS if name in table.columns}
    return table.select(
        **identity(table),
        facility=table.facility,
        structure=table.r744snam,
        structure_type=_structure_type(table.r744styp),
        interval_seconds=interval_seconds(table),
        **{name: table[field] for name, _, _, _, field in _REQUEST_FACTS},
        **cached,
    )
