"""Group buffer pools as one member used them (SMF 100 IFCID 2: QBGL)."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.db2 import text_reports
from plexlens.metrics.db2.records import ATTRIBUTES, INTERVAL, SUBSYSTEM, common, document, intervals, pool_name, report
from plexlens.metrics.definition import Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import Field, columns_of, facts_of, per_event, per_second
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import COUNT, FRACTION, MEAN_COUNT, PAGES, PER_SECOND, PERCENTAGE, RATIO

_STUDY = "Sysplex/CICSplex/DB2 Data Sharing (1996)"
_BLOCK = report("group buffer pool activity")
_SIZE = document("Determining whether a group buffer pool is too small")

# Counters whose places are published: a fall of one means that Db2 started.
_WITNESSES = ("qbglgg", "qbglxd", "qbglxr", "qbglsw", "qbglaw", "qbglrc")

FIELDS = (
    Field("dependent_getpages", "Getpages of GBP-dependent pages", "QBGLGG"),
    Field("reads_invalid_data", "Reads after cross-invalidation, data returned", "QBGLXD"),
    Field("reads_invalid_no_data", "Reads after cross-invalidation, no data", "QBGLXR"),
    Field("reads_absent_data", "Reads of pages not in the pool, data returned", "QBGLMD"),
    Field("reads_absent_no_data", "Reads of pages not in the pool, no data", "QBGLMR"),
    Field("changed_pages_sync", "Changed pages written synchronously", "QBGLSW", PAGES),
    Field("changed_pages_async", "Changed pages written asynchronously", "QBGLAW", PAGES),
    Field("clean_pages_sync", "Clean pages written synchronously", "QBGLWC", PAGES),
    Field("clean_pages_async", "Clean pages written asynchronously", "QBGLAC", PAGES),
    Field("write_around_pages", "Pages written around the pool", "QBGLWA", PAGES),
    Field("unregister_pages", "Pages unregistered", "QBGLDG", PAGES),
    Field("register_page_lists", "Register page list requests", "QBGLAX"),
    Field("prefetch_pages_retrieved", "Pages retrieved by prefetch", "QBGLAY", PAGES),
    Field("register_page", "Register page requests", "QBGLRG"),
    Field("delete_name", "Delete name requests", "QBGLDN"),
    Field("explicit_invalidations", "Explicit cross-invalidations", "QBGLEX"),
    Field("pages_castout", "Pages cast out", "QBGLRC", PAGES),
    Field("unlock_castout", "Unlock castout requests", "QBGLUN"),
    Field("read_castout_class", "Read castout class requests", "QBGLCC"),
    Field("read_castout_statistics", "Read castout statistics requests", "QBGLCS"),
    Field("read_directory_info", "Read directory information requests", "QBGLRD"),
    Field("read_storage_statistics", "Read storage statistics requests", "QBGLOS"),
    Field("castout_class_threshold", "Class castout threshold reached (CLASST)", "QBGLCT"),
    Field("castout_pool_threshold", "Pool castout threshold reached (GBPOOLT)", "QBGLGT"),
    Field("checkpoints", "Checkpoints triggered", "QBGLCK"),
    Field("rebuild_participations", "Rebuilds taken part in", "QBGLRB"),
    Field("castout_engine_unavailable", "Castout engine not available", "QBGLCN"),
    Field("write_engine_unavailable", "Write engine not available", "QBGLSU"),
    Field("write_failed_no_storage", "Writes failed, no storage", "QBGLWF"),
    Field("secondary_write_failed", "Writes to the secondary pool failed, no storage", "QBGL2F"),
    Field("async_requests", "Requests made asynchronous", "QBGLHS"),
    Field("async_secondary_requests", "Requests to the secondary pool", "QBGL2H"),
    Field("write_register", "Write and register requests", "QBGLWS"),
    Field("write_register_multiple", "Write and register multiple requests", "QBGLWM"),
    Field("pages_write_register", "Pages written by write and register multiple", "QBGLMW", PAGES),
    Field("page_lock_requests", "Page P-lock requests", "QBGLP1"),
    Field("page_lock_suspensions", "Page P-lock suspensions", "QBGLS1"),
    Field("page_lock_negotiations", "Page P-lock negotiations", "QBGLN1"),
    Field("page_unlock_requests", "Page P-lock unlock requests", "QBGLU1"),
)

_DISPLAY = "Db2 -DISPLAY GROUPBUFFERPOOL GDETAIL"

#: Whose the numbers of a group buffer pool are, whichever member displays them.
_POOL = ("sysplex", "group_name", "group_pool")

# Counted by the coupling facility for all members together: statistics records do not hold them, a display does.
_OF_THE_FACILITY = (
    Fact(
        "group_reads_data",
        "Reads of the whole group, data returned",
        COUNT,
        Rollup.COUNT,
        f"{_DISPLAY}, DSNB784I",
        of=_POOL,
    ),
    Fact(
        "group_reads_entry_existed",
        "Reads of the whole group, no data, directory entry existed",
        COUNT,
        Rollup.COUNT,
        f"{_DISPLAY}, DSNB785I",
        of=_POOL,
    ),
    Fact(
        "group_reads_entry_created",
        "Reads of the whole group, no data, directory entry created",
        COUNT,
        Rollup.COUNT,
        f"{_DISPLAY}, DSNB785I",
        of=_POOL,
    ),
    Fact(
        "group_reads_entry_not_created",
        "Reads of the whole group, no data, no directory entry created",
        COUNT,
        Rollup.COUNT,
        f"{_DISPLAY}, DSNB785I",
        of=_POOL,
    ),
    Fact(
        "group_writes_changed",
        "Changed pages written by the whole group",
        PAGES,
        Rollup.COUNT,
        f"{_DISPLAY}, DSNB786I",
        of=_POOL,
    ),
    Fact(
        "group_writes_clean",
        "Clean pages written by the whole group",
        PAGES,
        Rollup.COUNT,
        f"{_DISPLAY}, DSNB786I",
        of=_POOL,
    ),
    Fact(
        "castouts",
        "Castouts of the whole group",
        COUNT,
        Rollup.COUNT,
        f"{_DISPLAY}, DSNB787I",
        of=_POOL,
    ),
    Fact(
        "directory_reclaims",
        "Directory entries reclaimed",
        COUNT,
        Rollup.COUNT,
        f"{_DISPLAY}, DSNB787I",
        of=_POOL,
    ),
    Fact(
        "data_reclaims",
        "Data entries reclaimed",
        COUNT,
        Rollup.COUNT,
        f"{_DISPLAY}, DSNB787I",
        of=_POOL,
    ),
    Fact(
        "invalidations_directory_reclaim",
        "Cross-invalidations by directory reclaim",
        COUNT,
        Rollup.COUNT,
        f"{_DISPLAY}, DSNB788I",
        of=_POOL,
    ),
    Fact("directory_entries", "Directory entries", COUNT, Rollup.AMOUNT, f"{_DISPLAY}, DSNB759I", of=_POOL),
    Fact("data_pages", "Data pages", PAGES, Rollup.AMOUNT, f"{_DISPLAY}, DSNB759I", of=_POOL),
)


def _pools(inputs: Inputs) -> Any:
    table = intervals(inputs, "smf100_ifcid2_qbgl", FIELDS, "qbglgn", witnesses=_WITNESSES, long_since_11=True)
    return table.select(**common(table), **columns_of(table, FIELDS), group_pool=pool_name(table.qbglgn, "GBP"))


def _returned(f: Any) -> Any:
    return total(f.reads_invalid_data, f.reads_absent_data)


def _invalid(f: Any) -> Any:
    return total(f.reads_invalid_data, f.reads_invalid_no_data)


def _absent(f: Any) -> Any:
    return total(f.reads_absent_data, f.reads_absent_no_data)


def _reads(f: Any) -> Any:
    return total(_invalid(f), _absent(f))


def _group_reads(f: Any) -> Any:
    return total(
        f.group_reads_data, f.group_reads_entry_existed, f.group_reads_entry_created, f.group_reads_entry_not_created
    )


def _changed(f: Any) -> Any:
    return total(f.changed_pages_sync, f.changed_pages_async)


def _writes(f: Any) -> Any:
    return total(_changed(f), f.clean_pages_sync, f.clean_pages_async)


def _others(f: Any) -> Any:
    return total(
        f.unregister_pages,
        f.register_page_lists,
        f.register_page,
        f.delete_name,
        f.explicit_invalidations,
        f.unlock_castout,
        f.read_castout_class,
        f.read_castout_statistics,
        f.read_directory_info,
        f.read_storage_statistics,
        f.other_requests,
    )


GROUP_POOL = Grain(
    name="db2_group_pool",
    title="Db2 group buffer pools",
    row="one group buffer pool as one Db2 used it in one interval",
    keys=(SUBSYSTEM, Key("group_pool", "Group buffer pool")),
    attributes=ATTRIBUTES,
    facts=(
        INTERVAL,
        *facts_of("SMF 100 IFCID 2", FIELDS),
        Fact(
            "other_requests",
            "Other requests, where only their sum is told",
            COUNT,
            Rollup.COUNT,
            "Db2 PM group buffer pool detail, Other Requests",
        ),
        *_OF_THE_FACILITY,
    ),
    sources=(
        Source("SMF 100", ("smf100_ifcid2_qbgl",), _pools),
        Source(text_reports.STATISTICS, ("text_db2_group_buffer_pool",), text_reports.group_pools),
        Source(
            text_reports.DISPLAY,
            ("text_db2_group_buffer_pool",),
            lambda inputs: text_reports.group_pools(inputs, displays=True),
        ),
    ),
    metrics=(
        per_second(
            "dependent_getpages_per_second", "Getpages of GBP-dependent pages", "dependent_getpages", "QBGLGG", _BLOCK
        ),
        Metric(
            "reads_per_second",
            "Synchronous reads",
            PER_SECOND,
            "(QBGLXD + QBGLXR + QBGLMD + QBGLMR) / interval",
            _BLOCK,
            lambda f: ratio(_reads(f), f.interval_seconds),
        ),
        Metric(
            "read_hit_fraction",
            "Read hits",
            FRACTION,
            "(QBGLXD + QBGLMD) / (QBGLXD + QBGLXR + QBGLMD + QBGLMR)",
            f"{_STUDY}, figure 2 (Read Hit Percentage)",
            lambda f: ratio(_returned(f), _reads(f)),
            "A read that returns no data is followed by a read from disk.",
        ),
        Metric(
            "invalid_read_hit_fraction",
            "Read hits after cross-invalidation",
            FRACTION,
            "QBGLXD / (QBGLXD + QBGLXR)",
            _SIZE,
            lambda f: ratio(f.reads_invalid_data, _invalid(f)),
            "Low means that changed pages leave the group buffer pool before other members read them again.",
        ),
        Metric(
            "absent_read_hit_fraction",
            "Read hits for pages not in the local pool",
            FRACTION,
            "QBGLMD / (QBGLMD + QBGLMR)",
            _BLOCK,
            lambda f: ratio(f.reads_absent_data, _absent(f)),
        ),
        Metric(
            "invalid_read_fraction",
            "Reads due to cross-invalidation",
            FRACTION,
            "(QBGLXD + QBGLXR) / (QBGLXD + QBGLXR + QBGLMD + QBGLMR)",
            f"{_STUDY}, figure 2 (Reads Due To Cross Invalidation)",
            lambda f: ratio(_invalid(f), _reads(f)),
        ),
        Metric(
            "absent_read_fraction",
            "Reads due to page not found",
            FRACTION,
            "(QBGLMD + QBGLMR) / (QBGLXD + QBGLXR + QBGLMD + QBGLMR)",
            f"{_STUDY}, figure 2 (Reads Due To Page Not Found in Buffer Pool)",
            lambda f: ratio(_absent(f), _reads(f)),
        ),
        Metric(
            "writes_per_second",
            "Pages written",
            PER_SECOND,
            "(QBGLSW + QBGLAW + QBGLWC + QBGLAC) / interval",
            _BLOCK,
            lambda f: ratio(_writes(f), f.interval_seconds),
        ),
        Metric(
            "changed_pages_per_second",
            "Changed pages written",
            PER_SECOND,
            "(QBGLSW + QBGLAW) / interval",
            _BLOCK,
            lambda f: ratio(_changed(f), f.interval_seconds),
        ),
        Metric(
            "sync_write_fraction",
            "Changed pages written synchronously",
            FRACTION,
            "QBGLSW / (QBGLSW + QBGLAW)",
            _BLOCK,
            lambda f: ratio(f.changed_pages_sync, _changed(f)),
            "Written at commit by the transaction itself, which waits.",
        ),
        Metric(
            "reads_per_write",
            "Reads per page written",
            RATIO,
            "(QBGLXD + QBGLXR + QBGLMD + QBGLMR) / (QBGLSW + QBGLAW + QBGLWC + QBGLAC)",
            _BLOCK,
            lambda f: ratio(_reads(f), _writes(f)),
        ),
        Metric(
            "requests_per_second",
            "Requests to the group buffer pool",
            PER_SECOND,
            "(reads + writes + castouts + other requests) / interval",
            f"{_STUDY}, figure 2: 429 + 430 + 1 + 1231 requests in ten minutes",
            lambda f: ratio(total(_reads(f), _writes(f), f.pages_castout, _others(f)), f.interval_seconds),
            "Counts pages where one request moves several; the coupling facility's own count is in its structure.",
        ),
        per_second("castouts_per_second", "Pages cast out", "pages_castout", "QBGLRC", _BLOCK),
        per_event(
            "pages_per_castout",
            "Pages per castout I/O",
            MEAN_COUNT,
            ("pages_castout", "QBGLRC"),
            ("unlock_castout", "QBGLUN"),
            source=f"{_BLOCK} (PAGES CASTOUT, UNLOCK CASTOUT)",
            caveat="Db2 unlocks once for each castout I/O.",
        ),
        per_second(
            "castout_engine_unavailable_per_second",
            "Castout engine not available",
            "castout_engine_unavailable",
            "QBGLCN",
            _BLOCK,
        ),
        per_second(
            "write_engine_unavailable_per_second",
            "Write engine not available",
            "write_engine_unavailable",
            "QBGLSU",
            _BLOCK,
        ),
        per_event(
            "write_failed_fraction",
            "Writes failed for want of storage",
            PERCENTAGE,
            ("write_failed_no_storage", "QBGLWF"),
            ("changed_pages_sync", "QBGLSW"),
            source=_SIZE,
            caveat="Any at all delay commits, and pages can end on the logical page list.",
        ),
        per_second(
            "write_failures_per_second",
            "Writes failed, no storage",
            "write_failed_no_storage",
            "QBGLWF",
            _SIZE,
        ),
        per_second("unregister_per_second", "Pages unregistered", "unregister_pages", "QBGLDG", _BLOCK),
        Metric(
            "reclaim_invalidations_per_second",
            "Cross-invalidations by directory reclaim",
            PER_SECOND,
            "cross-invalidations by directory reclaim / interval",
            document("Too few directory entries"),
            lambda f: ratio(f.invalidations_directory_reclaim, f.interval_seconds),
            "From a display command alone; of SMF data, coupling_structure has it for the pool's structure. The aim is "
            "none: each may cost a read from disk.",
        ),
        Metric(
            "group_read_hit_fraction",
            "Read hits of the whole group",
            FRACTION,
            "reads with data / (reads with data + entry existed + entry created + entry not created)",
            "Db2 for z/OS Messages, DSNB784I and DSNB785I",
            lambda f: ratio(f.group_reads_data, _group_reads(f)),
            "From a display command with GDETAIL alone.",
        ),
        Metric(
            "directory_to_data_ratio",
            "Directory entries per data page",
            RATIO,
            "directory entries / data pages",
            document("Group buffer pool RATIO"),
            lambda f: ratio(f.directory_entries, f.data_pages),
            "From a display command alone; of SMF data, coupling_structure has it for the pool's structure.",
        ),
        per_event(
            "page_lock_suspension_fraction",
            "Page P-lock requests that waited",
            PERCENTAGE,
            ("page_lock_suspensions", "QBGLS1"),
            ("page_lock_requests", "QBGLP1"),
            source=_BLOCK,
        ),
    ),
)
