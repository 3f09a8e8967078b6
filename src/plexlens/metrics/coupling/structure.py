"""One structure as one system used it: requests, contention, cache traffic (SMF 74-4)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.coupling.rmf_xml import structures_of_rmf_xml
from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import interval_seconds, ratio, standard_deviation, total
from plexlens.metrics.inputs import RECORD, Inputs, identity
from plexlens.metrics.unit import (
    BYTES_PER_SECOND,
    COUNT,
    FRACTION,
    MIB,
    MICROSECONDS,
    PER_SECOND,
    PERCENTAGE,
    PROCESSORS,
    RATIO,
    SECONDS,
    SQUARE_SECONDS,
)

_OVERVIEW = "z/OS RMF User's Guide, overview conditions for SMF 74-4"
_REPORT = "z/OS RMF Report Analysis, Coupling Facility Activity report"

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


#: Whose the numbers are that the coupling facility counts and allocates for all systems together.
_STRUCTURE = ("sysplex", "facility", "structure")

_OF_THE_STRUCTURE = {
    *(name for name, _, _, rollup, _ in _REQUEST_FACTS if rollup is not Rollup.COUNT),
    *(name for name, *_ in _CACHE_FACTS),
}


def _facts(rows: tuple[tuple[str, str, Any, Rollup, str], ...], record: str) -> tuple[Fact, ...]:
    return tuple(
        Fact(n, t, u, r, f"{record} {f.upper()}", of=_STRUCTURE if n in _OF_THE_STRUCTURE else None)
        for n, t, u, r, f in rows
    )


def _requests(f: Any) -> Any:
    return total(f.sync_requests, f.async_requests, f.unsplit_requests)


def _reads(f: Any) -> Any:
    return total(
        f.read_hits, f.read_misses_directory, f.read_misses_suppressed, f.read_misses_assigned, f.read_misses_full
    )


def _cross_invalidations(f: Any) -> Any:
    return total(f.xi_directory_reclaim, f.xi_write, f.xi_name, f.xi_complement, f.xi_vector_index)


STRUCTURE = Grain(
    name="coupling_structure",
    title="Coupling facility structures",
    row="one structure as one system used it in one interval",
    keys=(Key("facility", "Coupling facility"), Key("structure", "Structure")),
    attributes=(Attribute("structure_type", "Type"),),
    facts=(
        Fact("interval_seconds", "Interval", SECONDS, Rollup.SPAN, "SMF 74-4 SMF74INT"),
        *_facts(_REQUEST_FACTS, "SMF 74-4"),
        Fact(
            "unsplit_requests",
            "Requests of either kind, where only their sum is told",
            COUNT,
            Rollup.COUNT,
            "RMF usage summary, # REQ, where there is no structure activity",
        ),
        *_facts(_CACHE_FACTS, "SMF 74-4"),
    ),
    sources=(
        Source("SMF 74-4", ("smf74_4_request", "smf74_4_local_cf"), _structures_of_smf),
        Source("RMF XML CF", ("rmf_xml_coupling_structure",), structures_of_rmf_xml),
        Source(
            "RMF text CF",
            ("text_rmf_coupling_structure",),
            lambda inputs: structures_of_rmf_xml(inputs, "text_rmf"),
        ),
    ),
    metrics=(
        Metric(
            "requests_per_second",
            "Requests",
            PER_SECOND,
            "(synchronous + asynchronous requests) / interval",
            _OVERVIEW + " (SYNCRT + ASYNCRT)",
            lambda f: ratio(_requests(f), f.interval_seconds),
        ),
        Metric(
            "sync_per_second",
            "Synchronous requests",
            PER_SECOND,
            "R744SSRC / interval",
            _OVERVIEW + " (SYNCRT)",
            lambda f: ratio(f.sync_requests, f.interval_seconds),
        ),
        Metric(
            "async_per_second",
            "Asynchronous requests",
            PER_SECOND,
            "R744SARC / interval",
            _OVERVIEW + " (ASYNCRT)",
            lambda f: ratio(f.async_requests, f.interval_seconds),
        ),
        Metric(
            "sync_fraction",
            "Synchronous share",
            FRACTION,
            "R744SSRC / (R744SSRC + R744SARC)",
            _REPORT + " (% OF ALL)",
            lambda f: ratio(f.sync_requests, _requests(f)),
        ),
        Metric(
            "async_fraction",
            "Asynchronous share",
            FRACTION,
            "R744SARC / (R744SSRC + R744SARC)",
            _REPORT + " (% OF ALL)",
            lambda f: ratio(f.async_requests, _requests(f)),
        ),
        Metric(
            "changed_fraction",
            "Changed to asynchronous",
            PERCENTAGE,
            "R744SSTA / (R744SSRC + R744SARC)",
            _OVERVIEW + " (CHNGDP)",
            lambda f: ratio(f.changed_requests, _requests(f)),
            "Changed requests are part of the asynchronous ones.",
        ),
        Metric(
            "sync_service_time",
            "Synchronous service time",
            MICROSECONDS,
            "R744SSTM / R744SSRC",
            _OVERVIEW + " (SYNCST)",
            lambda f: ratio(f.sync_seconds, f.sync_requests),
            "The requesting processor waits for it: this time is CPU time of the sender.",
        ),
        Metric(
            "sync_service_deviation",
            "Synchronous service time, standard deviation",
            MICROSECONDS,
            "√(R744SSSQ / R744SSRC - (R744SSTM / R744SSRC)²)",
            _REPORT + " (SERV TIME STD_DEV)",
            lambda f: standard_deviation(f.sync_squares, f.sync_seconds, f.sync_requests),
        ),
        Metric(
            "async_service_time",
            "Asynchronous service time",
            MICROSECONDS,
            "R744SATM / R744SARC",
            _OVERVIEW + " (ASYNCST)",
            lambda f: ratio(f.async_seconds, f.async_requests),
        ),
        Metric(
            "async_service_deviation",
            "Asynchronous service time, standard deviation",
            MICROSECONDS,
            "√(R744SASQ / R744SARC - (R744SATM / R744SARC)²)",
            _REPORT + " (SERV TIME STD_DEV)",
            lambda f: standard_deviation(f.async_squares, f.async_seconds, f.async_requests),
        ),
        Metric(
            "service_time_per_second",
            "Delay at the coupling facility",
            SECONDS,
            "(R744SSTM + R744SATM) / interval",
            "Sysplex/CICSplex/DB2 Data Sharing (1996), tables 12 and 14: requests/s x service time",
            lambda f: ratio(total(f.sync_seconds, f.async_seconds), f.interval_seconds),
            "Seconds of service time for each second of elapsed time.",
        ),
        Metric(
            "sync_processors",
            "Processors held by synchronous requests",
            PROCESSORS,
            "R744SSTM / interval",
            "z/OS RMF Report Analysis: the processor waits for a synchronous request",
            lambda f: ratio(f.sync_seconds, f.interval_seconds),
            "Without the path length before and after the request.",
        ),
        Metric(
            "delayed_fraction",
            "Delayed (no subchannel)",
            PERCENTAGE,
            "R744SQRC / (R744SSRC + R744SARC)",
            _REPORT + " (NO SCH % OF REQ)",
            lambda f: ratio(f.queued_requests, _requests(f)),
        ),
        Metric(
            "delay_of_delayed",
            "Delay of a delayed request",
            MICROSECONDS,
            "R744SQTM / R744SQRC",
            _REPORT + " (AVG TIME /DEL)",
            lambda f: ratio(f.queued_seconds, f.queued_requests),
        ),
        Metric(
            "delay_of_all",
            "Delay over all requests",
            MICROSECONDS,
            "R744SQTM / (R744SSRC + R744SARC)",
            _REPORT + " (AVG TIME /ALL)",
            lambda f: ratio(f.queued_seconds, _requests(f)),
        ),
        Metric(
            "external_per_second",
            "Lock requests of programs",
            PER_SECOND,
            "R744STRC / interval",
            _REPORT + " (EXTERNAL REQUEST CONTENTIONS, REQ TOTAL)",
            lambda f: ratio(f.external_requests, f.interval_seconds),
        ),
        Metric(
            "contention_fraction",
            "Lock contention",
            FRACTION,
            "R744SCN / R744STRC",
            _REPORT + " (-CONT)",
            lambda f: ratio(f.contention_requests, f.external_requests),
            "Real, XES and false contention together, as XES sees it.",
        ),
        Metric(
            "false_contention_fraction",
            "False contention",
            FRACTION,
            "R744SFCN / R744STRC",
            _REPORT + " (-FALSE CONT)",
            lambda f: ratio(f.false_contention_requests, f.external_requests),
            "Different resources that hash to the same lock table entry; more entries lower it.",
        ),
        Metric(
            "real_contention_fraction",
            "Contention other than false",
            FRACTION,
            "(R744SCN - R744SFCN) / R744STRC",
            _REPORT,
            lambda f: ratio(f.contention_requests - f.false_contention_requests, f.external_requests),
            "Real and XES contention; the lock manager's own records tell the two apart.",
        ),
        Metric(
            "deferred_fraction",
            "Deferred lock requests",
            PERCENTAGE,
            "R744STAC / R744STRC",
            _REPORT + " (REQ DEFERRED)",
            lambda f: ratio(f.deferred_requests, f.external_requests),
        ),
        Metric(
            "cf_execution_per_request",
            "Execution time in the facility",
            MICROSECONDS,
            "R744SETM / (R744SSRC + R744SARC)",
            "IBM z/OS Data Gatherer schema, R744SETM (CFLEVEL 15 and later)",
            lambda f: ratio(f.cf_execution_seconds, _requests(f)),
        ),
        Metric(
            "lock_entries_fraction",
            "Lock table in use",
            FRACTION,
            "R744SLTM / R744SLTL",
            _REPORT + " (LOCK ENTRIES)",
            lambda f: ratio(f.lock_entries_used, f.lock_entries),
        ),
        Metric(
            "list_entries_fraction",
            "List entries in use",
            FRACTION,
            "R744SLEM / R744SLEL",
            _REPORT + " (LIST ENTRIES)",
            lambda f: ratio(f.list_entries_used, f.list_entries),
        ),
        Metric(
            "reads_per_second",
            "Reads",
            PER_SECOND,
            "(R744CRHC + R744CRMD + R744CRMA + R744CRMN + R744CRMT) / interval",
            _REPORT + " (DATA ACCESS, READS)",
            lambda f: ratio(_reads(f), f.interval_seconds),
            "Counted for all systems together.",
        ),
        Metric(
            "read_hit_fraction",
            "Read hits",
            FRACTION,
            "R744CRHC / all reads",
            _REPORT + "; Db2 13 for z/OS: group buffer pool read hit",
            lambda f: ratio(f.read_hits, _reads(f)),
            "A read counts as a hit only if data came back.",
        ),
        Metric(
            "writes_per_second",
            "Writes",
            PER_SECOND,
            "(R744CWH0 + R744CWH1) / interval",
            _REPORT + " (DATA ACCESS, WRITES)",
            lambda f: ratio(total(f.writes_unchanged, f.writes_changed), f.interval_seconds),
        ),
        Metric(
            "castouts_per_second",
            "Castouts",
            PER_SECOND,
            "R744CCOC / interval",
            _REPORT + " (DATA ACCESS, CASTOUTS)",
            lambda f: ratio(f.castouts, f.interval_seconds),
        ),
        Metric(
            "cross_invalidations_per_second",
            "Cross-invalidations",
            PER_SECOND,
            "(R744CXDR + R744CXFW + R744CXNI + R744CXCI + R744CXRL) / interval",
            _REPORT + " (DATA ACCESS, XI'S)",
            lambda f: ratio(_cross_invalidations(f), f.interval_seconds),
        ),
        Metric(
            "reclaim_invalidations_per_second",
            "Cross-invalidations by directory reclaim",
            PER_SECOND,
            "R744CXDR / interval",
            "Db2 13 for z/OS: too few directory entries in a group buffer pool",
            lambda f: ratio(f.xi_directory_reclaim, f.interval_seconds),
            "Each may cost a later read from DASD; the aim is none.",
        ),
        Metric(
            "directory_reclaims_per_second",
            "Directory reclaims",
            PER_SECOND,
            "R744CDER / interval",
            _REPORT,
            lambda f: ratio(f.directory_reclaims, f.interval_seconds),
        ),
        Metric(
            "directory_to_data_ratio",
            "Directory entries per data element",
            RATIO,
            "R744SDEC / R744SDEL",
            "Db2 13 for z/OS: group buffer pool RATIO",
            lambda f: ratio(f.directory_entries, f.data_elements),
        ),
        Metric(
            "data_rate",
            "Data moved",
            BYTES_PER_SECOND,
            "(R744SWED + R744SRED) x 256 bytes / interval",
            "IBM z/OS Data Gatherer schema, R744SWED, R744SRED",
            lambda f: ratio(total(f.bytes_written, f.bytes_read), f.interval_seconds),
        ),
    ),
)
