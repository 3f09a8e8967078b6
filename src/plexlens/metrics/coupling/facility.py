"""One coupling facility as one system saw it: processors, storage, subchannels (SMF 74-4)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.coupling.rmf_xml import facilities_of_rmf_xml
from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import interval_seconds, ratio, total
from plexlens.metrics.inputs import RECORD, Inputs, identity
from plexlens.metrics.unit import (
    COUNT,
    FRACTION,
    MEAN_COUNT,
    MIB,
    MICROSECONDS,
    PER_SECOND,
    PERCENTAGE,
    PROCESSORS,
    SECONDS,
)

_OVERVIEW = "z/OS RMF User's Guide, overview conditions for SMF 74-4"
_REPORT = "z/OS RMF Report Analysis, Coupling Facility Activity report"


def _told(seconds: Any, interval: Any) -> Any:
    """The processor time; null where it rounds to 0.000 processors, because a share of it says nothing."""
    return ibis.ifelse(seconds < 0.0005 * interval, ibis.null("float64"), seconds)


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
        **{fact.name: table[fact.name] for fact in FACILITY.facts if fact.name in there and fact.name not in _DIRECT},
    )


_DIRECT = {"interval_seconds"}

#: Whose the numbers are that a facility counts itself, whichever system reports them.
_FACILITY = ("sysplex", "facility")

FACILITY = Grain(
    name="coupling_facility",
    title="Coupling facilities",
    row="one coupling facility as one system saw it in one interval",
    keys=(Key("facility", "Coupling facility"),),
    attributes=(Attribute("model", "Machine type"),),
    facts=(
        Fact("interval_seconds", "Interval", SECONDS, Rollup.SPAN, "SMF 74-4 SMF74INT"),
        Fact(
            "busy_seconds", "Processors busy", SECONDS, Rollup.COUNT, "SMF 74-4 R744PBSY, all processors", of=_FACILITY
        ),
        Fact(
            "wait_seconds",
            "Processors waiting",
            SECONDS,
            Rollup.COUNT,
            "SMF 74-4 R744PWAI, all processors",
            of=_FACILITY,
        ),
        Fact(
            "effective_seconds",
            "Processor time the facility had",
            SECONDS,
            Rollup.COUNT,
            "SMF 74-4 R744PBSY, R744PWAI",
            of=_FACILITY,
        ),
        Fact("commands", "Commands processed", COUNT, Rollup.COUNT, "SMF 74-4 R744PCCT", of=_FACILITY),
        Fact(
            "logical_processors",
            "Logical processors",
            COUNT,
            Rollup.AMOUNT,
            "SMF 74-4 processor sections",
            of=_FACILITY,
        ),
        Fact("requests", "Requests", COUNT, Rollup.COUNT, "SMF 74-4 R744FTOR"),
        Fact("path_busy_requests", "Requests that met path busy", COUNT, Rollup.COUNT, "SMF 74-4 R744FPBC"),
        Fact("subchannel_busy_requests", "Times all subchannels were busy", COUNT, Rollup.COUNT, "SMF 74-4 R744FSCC"),
        Fact("subchannels", "Subchannels usable", COUNT, Rollup.LEVEL, "SMF 74-4 R744FSCL"),
        Fact("paths", "Paths available", COUNT, Rollup.LEVEL, "SMF 74-4 R744FPAM"),
        Fact("failed_requests", "Unsuccessful requests", COUNT, Rollup.COUNT, "SMF 74-4 R744FAIL"),
        Fact("failed_seconds", "Service time of unsuccessful requests", SECONDS, Rollup.COUNT, "SMF 74-4 R744FTIM"),
        Fact("immediate_wait_seconds", "Wait for a subchannel, immediate", SECONDS, Rollup.COUNT, "SMF 74-4 R744FCTM"),
        Fact("cf_level", "CFLEVEL", COUNT, Rollup.SETTING, "SMF 74-4 R744FLVL"),
        Fact("storage_bytes", "Storage", MIB, Rollup.AMOUNT, "SMF 74-4 R744GTSD", of=_FACILITY),
        Fact("storage_free_bytes", "Storage free", MIB, Rollup.LEVEL, "SMF 74-4 R744GTSF", of=_FACILITY),
        Fact("control_bytes", "Control storage", MIB, Rollup.AMOUNT, "SMF 74-4 R744GCSD", of=_FACILITY),
        Fact("control_free_bytes", "Control storage free", MIB, Rollup.LEVEL, "SMF 74-4 R744GCSF", of=_FACILITY),
        Fact("dump_bytes", "Dump space", MIB, Rollup.AMOUNT, "SMF 74-4 R744GDSA", of=_FACILITY),
        Fact(
            "structure_bytes", "Storage of structures in use here", MIB, Rollup.LEVEL, "SMF 74-4 R744SSIZ", of=_FACILITY
        ),
        Fact("sync_requests", "Synchronous requests", COUNT, Rollup.COUNT, "SMF 74-4 R744SSRC"),
        Fact("sync_seconds", "Service time of synchronous requests", SECONDS, Rollup.COUNT, "SMF 74-4 R744SSTM"),
        Fact("async_requests", "Asynchronous requests", COUNT, Rollup.COUNT, "SMF 74-4 R744SARC"),
        Fact("async_seconds", "Service time of asynchronous requests", SECONDS, Rollup.COUNT, "SMF 74-4 R744SATM"),
        Fact("changed_requests", "Requests changed to asynchronous", COUNT, Rollup.COUNT, "SMF 74-4 R744SSTA"),
        Fact("queued_requests", "Requests delayed for want of a subchannel", COUNT, Rollup.COUNT, "SMF 74-4 R744SQRC"),
        Fact("queued_seconds", "Delay of those requests", SECONDS, Rollup.COUNT, "SMF 74-4 R744SQTM"),
    ),
    sources=(
        Source("SMF 74-4", ("smf74_4_local_cf",), _facilities_of_smf),
        Source("RMF XML CF", ("rmf_xml_coupling_facility",), facilities_of_rmf_xml),
        Source(
            "RMF text CF",
            ("text_rmf_coupling_facility",),
            lambda inputs: facilities_of_rmf_xml(inputs, "text_rmf"),
        ),
    ),
    metrics=(
        Metric(
            "utilization",
            "Processor utilization",
            FRACTION,
            "ΣR744PBSY / Σ(R744PBSY + R744PWAI)",
            _REPORT + " (AVERAGE CF UTILIZATION)",
            lambda f: ratio(f.busy_seconds, _told(total(f.busy_seconds, f.wait_seconds), f.interval_seconds)),
            "Null where the facility had less than 0.0005 processors: reports print that as 0.000. "
            "With shared processors or dynamic dispatching this differs from the busy time that PR/SM sees.",
        ),
        Metric(
            "effective_processors",
            "Effective logical processors",
            PROCESSORS,
            "Σ(R744PBSY + R744PWAI) / interval",
            _REPORT + " (LOGICAL PROCESSORS: EFFECTIVE)",
            lambda f: ratio(f.effective_seconds, f.interval_seconds),
        ),
        Metric(
            "requests_per_second",
            "Requests",
            PER_SECOND,
            "R744FTOR / interval",
            _REPORT + " (TOTAL REQUESTS AVG/SEC)",
            lambda f: ratio(f.requests, f.interval_seconds),
        ),
        Metric(
            "sync_per_second",
            "Synchronous requests",
            PER_SECOND,
            "ΣR744SSRC / interval",
            _OVERVIEW + " (SYNCRT)",
            lambda f: ratio(f.sync_requests, f.interval_seconds),
        ),
        Metric(
            "sync_service_time",
            "Synchronous service time",
            MICROSECONDS,
            "ΣR744SSTM / ΣR744SSRC",
            _OVERVIEW + " (SYNCST)",
            lambda f: ratio(f.sync_seconds, f.sync_requests),
        ),
        Metric(
            "async_per_second",
            "Asynchronous requests",
            PER_SECOND,
            "ΣR744SARC / interval",
            _OVERVIEW + " (ASYNCRT)",
            lambda f: ratio(f.async_requests, f.interval_seconds),
        ),
        Metric(
            "async_service_time",
            "Asynchronous service time",
            MICROSECONDS,
            "ΣR744SATM / ΣR744SARC",
            _OVERVIEW + " (ASYNCST)",
            lambda f: ratio(f.async_seconds, f.async_requests),
        ),
        Metric(
            "cf_time_per_request",
            "Facility CPU time per request",
            MICROSECONDS,
            "ΣR744PBSY / (ΣR744SSRC + ΣR744SARC)",
            "z/OS RMF Report Analysis: facility busy time over the requests of all connected systems",
            lambda f: ratio(f.busy_seconds, total(f.sync_requests, f.async_requests)),
            "True only when the records of every connected system are there; otherwise too high.",
        ),
        Metric(
            "sync_processors",
            "Processors held by synchronous requests",
            PROCESSORS,
            "ΣR744SSTM / interval",
            "z/OS RMF Report Analysis: the processor waits for a synchronous request",
            lambda f: ratio(f.sync_seconds, f.interval_seconds),
        ),
        Metric(
            "delayed_fraction",
            "Delayed (no subchannel)",
            PERCENTAGE,
            "ΣR744SQRC / (ΣR744SSRC + ΣR744SARC)",
            _OVERVIEW + " (DREQP)",
            lambda f: ratio(f.queued_requests, total(f.sync_requests, f.async_requests)),
        ),
        Metric(
            "path_busy_fraction",
            "Path busy",
            PERCENTAGE,
            "R744FPBC / R744FTOR",
            _REPORT + " (PATH BUSY)",
            lambda f: ratio(f.path_busy_requests, f.requests),
        ),
        Metric(
            "subchannel_utilization",
            "Subchannel utilization",
            PERCENTAGE,
            "Σ(R744SSTM + R744SATM) / (interval x subchannels)",
            "mainframeperformancetopics.com, Subchannel busy (2019)",
            lambda f: ratio(total(f.sync_seconds, f.async_seconds), f.interval_seconds * f.subchannels),
            "An estimate: service time is not all subchannel time.",
        ),
        Metric(
            "storage_fraction",
            "Storage in use",
            FRACTION,
            "(R744GTSD - R744GTSF) / R744GTSD",
            _REPORT + " (STRUCTURE STORAGE SUMMARY)",
            lambda f: ratio(f.storage_bytes - f.storage_free_bytes, f.storage_bytes),
        ),
        Metric(
            "busy_processors",
            "Busy processors",
            MEAN_COUNT,
            "ΣR744PBSY / interval",
            _REPORT,
            lambda f: ratio(f.busy_seconds, f.interval_seconds),
        ),
    ),
)
