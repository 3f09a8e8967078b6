"""One Db2 as a whole (SMF 100 IFCID 1 and 2): threads, commits, SQL, EDM pools, latches, and the statistics' own gaps.

The statistics of an interval are two records written within moments of each other; their rows are brought together by
the nearest ten seconds of the interval's end.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.db2 import text_reports
from plexlens.metrics.db2.records import ATTRIBUTES, INTERVAL, SUBSYSTEM, SYSTEM, common, document, intervals, report
from plexlens.metrics.db2.subsystem_fields import SECTIONS, Section
from plexlens.metrics.definition import Fact, Grain, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import columns_of, facts_of, per_event, per_second
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import COUNT, FRACTION, MEAN_COUNT, PER_SECOND

_GAPS = (
    Fact("restarts", "Starts seen", COUNT, Rollup.COUNT, "SMF 100 QWHSISEQ, or counters that fall"),
    Fact("missing_records", "Statistics records missing", COUNT, Rollup.COUNT, "SMF 100 QWHSISEQ"),
    Fact("unused_records", "Records without interval", COUNT, Rollup.COUNT, "SMF 100: first, or after a start"),
    Fact("records", "Statistics records", COUNT, Rollup.COUNT, "SMF 100"),
)
_SERVICES = report("subsystem services")
_SQL = report("SQL DML")
_EDM = report("EDM pool")
_DDF = report("global DDF activity")
_LATCHES = report("latch counters")


def _fields() -> tuple[Fact, ...]:
    return tuple(fact for section in SECTIONS for fact in facts_of(section.record, section.fields))


def _section(inputs: Inputs, section: Section) -> Any:
    """A section's rows with the columns of the grain; facts of other sections are null."""
    table = intervals(
        inputs,
        section.table,
        section.fields,
        *section.keys,
        witnesses=section.witnesses,
        long_since_11=section.long_since_11,
        unused=not section.keys,
    )
    own = columns_of(table, section.fields)
    unused = table.unused_because.notnull()
    # Levels and peaks of a record without interval would stand beside no counts.
    known = {key: ibis.ifelse(unused, ibis.null("float64"), column) for key, column in own.items()}
    nothing = ibis.null("float64")
    ten_seconds = ((table.interval_end + ibis.interval(seconds=5)).epoch_seconds() // 10).cast("int64")
    return table.select(
        **common(table),
        moment=ten_seconds,
        restarts=table.restarts,
        missing_records=table.missing_records,
        unused_records=unused.cast("float64"),
        records=ibis.literal(1.0),
        **{fact.name: known.get(fact.name, nothing) for fact in _fields()},
    )


def _subsystems(inputs: Inputs) -> Any:
    parts = [_section(inputs, section) for section in SECTIONS if inputs.has(section.table)]
    rows = parts[0] if len(parts) == 1 else ibis.union(*parts)
    how = {Rollup.COUNT: "sum", Rollup.AMOUNT: "sum", Rollup.LEVEL: "sum", Rollup.PEAK: "max"}
    return (
        rows.group_by([*SYSTEM, "moment"])
        .aggregate(
            **{name: rows[name].max() for name in ("group_name", "member", "db2_version", "utc_offset")},
            **{name: rows[name].max() for name in ("interval_end", "interval_seconds", *(f.name for f in _GAPS))},
            interval_start=rows.interval_start.min(),
            **{fact.name: getattr(rows[fact.name], how[fact.rollup])() for fact in _fields()},
        )
        .drop("moment")
    )


def _dml(f: Any) -> Any:
    return total(f.selects, f.inserts, f.updates, f.deletes, f.opens, f.fetches, f.prepares, f.describes)


def _commits(f: Any) -> Any:
    return total(f.commits_phase_2, f.commits_single_phase, f.commits_read_only)


def _read_ios(f: Any) -> Any:
    return total(f.sync_reads, f.sequential_prefetch_reads, f.list_prefetch_reads, f.dynamic_prefetch_reads)


_COMMITS = "Q3STCOMM + Q3STSYNC + Q3STRDON"
_PLACES = "Places of Q3STSYNC and Q3STRDON in the record are not published; see the layout."

SUBSYSTEM_GRAIN = Grain(
    name="db2_subsystem",
    title="Db2 subsystems",
    row="one Db2 in one interval",
    keys=(SUBSYSTEM,),
    attributes=ATTRIBUTES,
    facts=(INTERVAL, *_fields(), *_GAPS),
    sources=(
        Source("SMF 100", ("smf100_ifcid1_q3st",), _subsystems),
        Source(text_reports.STATISTICS, ("text_db2_subsystem",), text_reports.subsystems),
    ),
    metrics=(
        Metric(
            "commits_per_second",
            "Commits",
            PER_SECOND,
            f"({_COMMITS}) / interval",
            _SERVICES,
            lambda f: ratio(_commits(f), f.interval_seconds),
            _PLACES,
        ),
        Metric(
            "rollback_fraction",
            "Rollbacks",
            FRACTION,
            f"Q3STABRT / (Q3STABRT + {_COMMITS})",
            _SERVICES,
            lambda f: ratio(f.rollbacks, total(f.rollbacks, _commits(f))),
            f"Each undoes its work from the log. {_PLACES}",
        ),
        per_second("rollbacks_per_second", "Rollbacks", "rollbacks", "Q3STABRT", _SERVICES),
        per_second("threads_per_second", "Threads created", "threads_created", "Q3STCTHD", _SERVICES),
        per_event(
            "signons_per_thread",
            "Signons per thread",
            MEAN_COUNT,
            ("signons", "Q3STSIGN"),
            ("threads_created", "Q3STCTHD"),
            source=_SERVICES,
            caveat="Above one, threads are used again.",
        ),
        per_second("threads_queued_per_second", "Threads queued", "threads_queued", "Q3STCTHW", _SERVICES),
        per_second("checkpoints_per_second", "System checkpoints", "system_checkpoints", "QWSDCKPT", _SERVICES),
        Metric(
            "sql_per_second",
            "SQL statements (DML)",
            PER_SECOND,
            "(QXSELECT + QXINSRT + QXUPDTE + QXDELET + QXOPEN + QXFETCH + QXPREP + QXDESC) / interval",
            _SQL,
            lambda f: ratio(_dml(f), f.interval_seconds),
        ),
        Metric(
            "getpages_per_sql",
            "Getpages per SQL statement",
            MEAN_COUNT,
            "QBSTGET / SQL statements (DML)",
            "IBM OMEGAMON for Db2 documentation: ratio of getpages to SQL DML statements",
            lambda f: ratio(f.getpages, _dml(f)),
            "Below six is usual for transactions.",
        ),
        Metric(
            "getpages_per_commit",
            "Getpages per commit",
            MEAN_COUNT,
            f"QBSTGET / ({_COMMITS})",
            report("buffer pool read operations"),
            lambda f: ratio(f.getpages, _commits(f)),
            _PLACES,
        ),
        per_second("getpages_per_second", "Getpages", "getpages", "QBSTGET", report("buffer pool read operations")),
        Metric(
            "read_ios_per_second",
            "Read I/Os",
            PER_SECOND,
            "(QBSTRIO + QBSTPIO + QBSTLIO + QBSTDIO) / interval",
            "DB2 Buffer Pool Tuning (2014)",
            lambda f: ratio(_read_ios(f), f.interval_seconds),
        ),
        per_event(
            "package_load_fraction",
            "Package section requests that loaded",
            FRACTION,
            ("package_section_loads", "QISEKTL"),
            ("package_sections", "QISEKTG"),
            source=_EDM,
        ),
        per_event(
            "descriptor_load_fraction",
            "Database descriptor requests that loaded",
            FRACTION,
            ("descriptor_loads", "QISEDBDL"),
            ("descriptors", "QISEDBDG"),
            source=_EDM,
        ),
        Metric(
            "statement_cache_hit_fraction",
            "Statement cache hits",
            FRACTION,
            "(QISEDSG - QISEDSI) / QISEDSG",
            f"{_EDM} (DYNAMIC SQL STMT HIT RATIO)",
            lambda f: ratio(f.statement_searches - f.statement_inserts, f.statement_searches),
        ),
        per_second("full_prepares_per_second", "Full prepares", "prepares_full", "QXSTNFND", _SQL),
        Metric(
            "skeleton_pool_used_fraction",
            "Skeleton pool in use",
            FRACTION,
            "(QISEKPGE - QISEKFRE) / QISEKPGE",
            _EDM,
            lambda f: ratio(f.skeleton_pool_pages - f.skeleton_pool_free, f.skeleton_pool_pages),
        ),
        Metric(
            "rid_failures_per_second",
            "RID lists failed",
            PER_SECOND,
            "(QXNSMIAP + QXMRMIAP) / interval",
            document("Managing RID pool size"),
            lambda f: ratio(total(f.rid_no_storage, f.rid_limit), f.interval_seconds),
            "The access falls back to a scan.",
        ),
        per_second("latch_14_per_second", "Latch suspensions, class 14", "latch_14", "QVLSLC14", _LATCHES),
        per_second("latch_19_per_second", "Latch suspensions, class 19", "latch_19", "QVLSLC19", _LATCHES),
        Metric(
            "dbat_reuse_fraction",
            "DBAT requests served from the pool",
            FRACTION,
            "QDSTPOOL / (QDSTNDBA + QDSTPOOL)",
            _DDF,
            lambda f: ratio(f.dbats_reused, total(f.dbats_created, f.dbats_reused)),
        ),
        per_event(
            "unused_record_fraction",
            "Statistics records without interval",
            FRACTION,
            ("unused_records", "records without interval"),
            ("records", "records"),
            source="Db2 for z/OS documentation, statistics trace: counters run since Db2 started",
            caveat="The first record of the data, and the first after each start of Db2, tell no interval.",
        ),
    ),
)
