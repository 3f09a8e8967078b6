"""Db2 statistics: the columns of their tables, and under which printed name each value is found.

One name is printed in several spellings over the releases; all are listed. Names are compared as
`plexlens.ingest.text_reports.words.fold` does, so blanks, points and hyphens do not matter.

SMF fields are named where the layouts of this project have them.

Source: IBM, OMEGAMON for Db2 Performance Expert, "Statistics report and trace blocks"; Db2 for z/OS Messages, DSNB401I
and DSNB750I; the studies' reports.
"""

from __future__ import annotations

from dataclasses import dataclass

from plexlens.ingest.rmf_xml.columns import Column, TableSpec, number, text

IDENTITY = (
    text("report", "kind of report the row was read from"),
    text("location", "Db2 location"),
    text("group_name", "data sharing group"),
    text("member", "member of the data sharing group"),
    text("db2_version", "Db2 version as printed"),
    text("statistics", "interval; incremental or cumulative where a display command says so"),
    number("interval_seconds", "seconds", "length of the interval as the report states it"),
)
"""First own columns of every Db2 twin."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column and the names under which reports print it.

    Attributes
    ----------
    column : Column
        The column.
    names : tuple of str
        As statistics reports print it.
    display : tuple of str
        As display commands print it: ``message|heading|label``.
    """

    column: Column
    names: tuple[str, ...]
    display: tuple[str, ...] = ()


def field(name: str, description: str, smf: str, names: str, display: str = "", *, unit: str = "") -> Field:
    """A number's column; names, and places in displays, are separated by semicolons."""
    return Field(number(name, unit, description, smf), _listed(names), _listed(display))


def _listed(names: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in names.split(";") if part.strip())


POOL_FIELDS = (
    field("getpages", "getpages", "QBSTGET", "GETPAGE REQUEST; GETPAGE REQUESTS; GETPAGES"),
    field(
        "getpages_sequential",
        "sequential getpages",
        "",
        "GETPAGE REQUEST-SEQUENTIAL; GETPAGE REQS-SEQUENTIAL",
        "DSNB411I||SEQ. GETPAGE",
    ),
    field(
        "getpages_random",
        "random getpages",
        "",
        "GETPAGE REQUEST-RANDOM; GETPAGE REQS-RANDOM",
        "DSNB411I||RANDOM GETPAGE",
    ),
    field("sync_reads", "synchronous read I/Os", "QBSTRIO", "SYNCHRONOUS READS; SYNCHRONOUS READ; SYNC READS"),
    field(
        "sync_reads_sequential",
        "synchronous read I/Os of sequential access",
        "QBSTSIO",
        "SYNCHRON. READS-SEQUENTIAL; SYNC READS-SEQUENTIAL",
        "DSNB411I||SYNC READ I/O (S)",
    ),
    field(
        "sync_reads_random",
        "synchronous read I/Os of random access",
        "QBSTRIO - QBSTSIO",
        "SYNCHRON. READS-RANDOM; SYNC READS-RANDOM",
        "DSNB411I||SYNC READ I/O (R)",
    ),
    field(
        "sequential_prefetch_requests",
        "sequential prefetch requests",
        "",
        "SEQUENTIAL PREFETCH REQUEST; SEQUENTIAL PREFETCH REQUESTS; SEQ. PREFETCH REQS; SEQ.PREFETCH REQUEST",
        "DSNB412I||REQUESTS",
    ),
    field(
        "sequential_prefetch_reads",
        "sequential prefetch I/Os",
        "QBSTPIO",
        "SEQUENTIAL PREFETCH READS; SEQ.PREFETCH READS",
        "DSNB412I||PREFETCH I/O",
    ),
    field(
        "sequential_prefetch_pages",
        "pages read by sequential prefetch",
        "QBSTSPP",
        "PAGES READ VIA SEQ.PREFETCH; PAGES READ VIA SEQ. PREFETCH",
        "DSNB412I||PAGES READ",
    ),
    field(
        "list_prefetch_requests",
        "list prefetch requests",
        "",
        "LIST PREFETCH REQUESTS; LIST PREFETCH REQUEST; LIST PREFETCH REQS",
        "DSNB413I||REQUESTS",
    ),
    field(
        "list_prefetch_reads", "list prefetch I/Os", "QBSTLIO", "LIST PREFETCH READS", "DSNB413I||PREFETCH I/O"
    ),
    field(
        "list_prefetch_pages",
        "pages read by list prefetch",
        "QBSTLPP",
        "PAGES READ VIA LIST PREFETCH; PAGES READ VIA LIST PREFTCH; PAGES READ VIA LST PREFETCH",
        "DSNB413I||PAGES READ",
    ),
    field(
        "dynamic_prefetch_requests",
        "dynamic prefetch requests",
        "",
        "DYNAMIC PREFETCH REQUESTED; DYNAMIC PREFETCH REQUESTS; DYN. PREFETCH REQS",
        "DSNB414I||REQUESTS",
    ),
    field(
        "dynamic_prefetch_reads", "dynamic prefetch I/Os", "QBSTDIO", "DYNAMIC PREFETCH READS", "DSNB414I||PREFETCH I/O"
    ),
    field(
        "dynamic_prefetch_pages",
        "pages read by dynamic prefetch",
        "QBSTDPP",
        "PAGES READ VIA DYN.PREFETCH; PAGES READ VIA DYN. PREFETCH",
        "DSNB414I||PAGES READ",
    ),
    field(
        "prefetch_disabled_no_buffer",
        "prefetches not done: no buffer (sequential prefetch threshold)",
        "",
        "PREF.DISABLED-NO BUFFER; PREFETCH DISABLED-NO BUFFER",
        "DSNB415I||NO BUFFER",
    ),
    field(
        "prefetch_disabled_no_engine",
        "prefetches not done: no read engine",
        "",
        "PREF.DISABLED-NO READ ENG; PREFETCH DISABLED-NO READ ENGINE; PREF.DISABLED-NO READ ENGINE",
        "DSNB415I||NO READ ENGINE",
    ),
    field(
        "page_ins_read",
        "page-ins needed for reads",
        "QBSTRPI",
        "PAGE-INS REQUIRED FOR READ; PAGE-INS REQ FOR READ",
        "DSNB411I||PAGE-INS REQUIRED; DSNB411I||PAGE-INS REQ",
    ),
    field("buffer_updates", "buffer updates", "", "BUFFER UPDATES; BUFFER UPDATE", "DSNB420I||SYS PAGE UPDATES"),
    field("pages_written", "pages written", "", "PAGES WRITTEN", "DSNB420I||SYS PAGES WRITTEN"),
    field(
        "sync_writes",
        "synchronous write I/Os",
        "QBSTIMW",
        "SYNCHRONOUS WRITES; SYNCHRONOUS WRITE",
        "DSNB420I||SYNC WRITE I/O",
    ),
    field(
        "async_writes",
        "asynchronous write I/Os",
        "QBSTWIO",
        "ASYNCHRONOUS WRITES",
        "DSNB420I||ASYNC WRITE I/O",
    ),
    field(
        "deferred_write_threshold",
        "times the deferred write threshold (DWQT) was reached",
        "",
        "HORIZ.DEF.WRITE THRESHOLD; HORIZONTAL DEFERRED WRITE THRESHOLD",
        "DSNB421I||DWT HIT",
    ),
    field(
        "vertical_write_threshold",
        "times the vertical deferred write threshold (VDWQT) was reached",
        "",
        "VERTI.DEF.WRITE THRESHOLD; VERTICAL DEFERRED WRITE THRESHOLD",
        "DSNB421I||VERTICAL DWT HIT",
    ),
    field(
        "data_manager_threshold",
        "times the data manager threshold was reached",
        "",
        "DM THRESHOLD; DM THRESHOLD REACHED; DM CRITICAL THRESHOLD",
        "DSNB411I||DMTH HIT",
    ),
    field(
        "write_engine_unavailable",
        "times no write engine was available",
        "",
        "WRITE ENGINE NOT AVAILABLE; WRITE ENGINES NOT AVAILABLE",
        "DSNB421I||NO WRITE ENGINE",
    ),
    field(
        "page_ins_write",
        "page-ins needed for writes",
        "QBSTWPI",
        "PAGE-INS REQUIRED FOR WRITE; PAGE-INS REQ FOR WRITE",
        "DSNB420I||PAGE-INS REQUIRED; DSNB420I||PAGE-INS REQ",
    ),
    field(
        "active_buffers",
        "buffers that cannot be stolen: changed, or in a read or write",
        "",
        "CURRENT ACTIVE BUFFERS",
        "DSNB402I||IN-USE/UPDATED",
    ),
    field(
        "unavailable_buffer", "times no buffer was available", "", "UNAVAIL.BUFFER-VPOOL FULL; UNAVAIL.BUFFER-BP FULL"
    ),
    field("data_set_opens", "data sets opened", "QBSTDSO", "NUMBER OF DATASET OPENS; NUMBER OF DATA SET OPENS"),
    field(
        "buffers",
        "buffers allocated",
        "QBSTVPL",
        "BUFFERS ALLOCATED - VPOOL; BUFFERS ALLOCATED",
        "DSNB402I||ALLOCATED",
    ),
    field(
        "pool_size_buffers",
        "size of the pool as defined, in buffers",
        "",
        "",
        "DSNB402I||BUFFER POOL SIZE; DSNB402I||VIRTUAL BUFFERPOOL SIZE; DSNB402I||BUFFERPOOL SIZE",
    ),
    field(
        "hsm_migrated", "opens that met a migrated data set", "", "DFHSM MIGRATED DATASET; DFHSM MIGRATED DATA SET"
    ),
    field("hsm_recall_timeouts", "recalls that timed out", "", "DFHSM RECALL TIMEOUTS; DFHSM RECALL TIMEOUT"),
    field("expansions", "pool expansions or contractions", "", "VPOOL EXPANS. OR CONTRACT.; VPOOL EXPANSIONS"),
    field("expansion_failures", "pool expansions that failed", "", "VPOOL OR HPOOL EXP.FAILURE; VPOOL EXP.FAILURE"),
    field(
        "prefetch_streams_peak",
        "most concurrent prefetch I/O streams",
        "",
        "CONCUR.PREF.I/O STREAMS-HWM; CONCUR.PREF.I/O STREAMS HWM",
    ),
    field(
        "prefetch_streams_reduced",
        "concurrent prefetch streams denied",
        "QBSTJIS",
        "PREF.I/O STREAMS REDUCTION",
    ),
    field(
        "parallel_requests", "parallel query requests", "", "PARALLEL QUERY REQUESTS", "DSNB440I||PARALLEL REQUEST"
    ),
    field(
        "parallel_requests_reduced",
        "parallel query requests reduced",
        "",
        "PARALL.QUERY REQ.REDUCTION",
        "DSNB440I||DEGRADED PARALLEL",
    ),
    field("prefetch_halved", "prefetch quantities reduced to a half", "", "PREF.QUANT.REDUCED TO 1/2"),
    field("prefetch_quartered", "prefetch quantities reduced to a quarter", "", "PREF.QUANT.REDUCED TO 1/4"),
    field(
        "merge_passes", "merge passes", "QBSTWFT", "MERGE PASSES REQUESTED; NUMBER OF MERGE PASSES REQUESTED"
    ),
    field("merge_passes_degraded", "merge passes degraded", "QBSTWFF", "MERGE PASS DEGRADED-LOW BUF"),
    field("work_files_requested", "work files requested for merges", "QBSTWFR", "WORKFILES REQ.-ALL MERGE PASS"),
    field("work_files_denied", "work files denied in merges", "QBSTWFD", "WORKFILE REQ.REJECTED-LOW BUF"),
    field("work_files_refused", "work files refused for want of buffers", "QBSTMAX", "WORKFILE NOT CREATED-NO BUFFER"),
    field(
        "work_file_prefetch_not_scheduled",
        "work file prefetches not scheduled",
        "QBSTWKPD",
        "WORKFILE PRF NOT SCHEDULED",
    ),
    field("sequential_lru_min", "smallest sequential LRU chain", "QBSTSMIN", "MIN BUFFERS ON SLRU"),
    field("sequential_lru_max", "largest sequential LRU chain", "QBSTSMAX", "MAX BUFFERS ON SLRU"),
    field("sequential_threshold_hits", "times the sequential threshold was hit", "QBSTHST",
          "SLRU LENGTH EQUALS VPSEQT"),
    field("random_hits_sequential_chain", "random getpages found on the sequential chain", "QBSTRHS",
           "VPOOL HITS-RANDOM GETP; RANDOM VPOOL HITS"),
    field("hit_ratio_percent", "hit ratio as printed", "", "BPOOL HIT RATIO (%); BP HIT RATIO (%)", "", unit="percent"),
    field("vpseqt_percent", "sequential threshold", "", "",
          "DSNB404I||VP SEQUENTIAL; DSNB406I||VIRTUAL BUFFERPOOL SEQUENTIAL THRESHOLD", unit="percent"),
    field("dwqt_percent", "deferred write threshold", "", "",
          "DSNB404I||DEFERRED WRITE; DSNB406I||HORIZONTAL DEFERRED WRITE THRESHOLD", unit="percent"),
    field("vdwqt_percent", "vertical deferred write threshold", "", "",
          "DSNB404I||VERTICAL DEFERRED WRT; DSNB406I||VERTICAL DEFERRED WRITE THRESHOLD", unit="percent"),
    field("vppseqt_percent", "parallel sequential threshold", "", "",
          "DSNB404I||PARALLEL SEQUENTIAL; DSNB406I||VIRTUAL BUFFERPOOL PARALLEL SEQUENTIAL THRESHOLD",
          unit="percent"),
)  # fmt: skip
"""A buffer pool's counters."""

POOL = TableSpec(
    "text_db2_pool",
    "one buffer pool of one Db2 in one interval, from a statistics report or a display command",
    (
        *IDENTITY,
        text("pool_name", "buffer pool as printed; TOTAL and its like are sums"),
        *(entry.column for entry in POOL_FIELDS),
        text("page_fix", "PGFIX attribute in effect"),
        text("page_steal", "page stealing method in effect"),
        text("autosize", "AUTOSIZE attribute"),
    ),
)

GROUP_POOL_FIELDS = (
    field("dependent_getpages", "getpages of pages that depend on the group buffer pool", "QBGLGG",
           "GBP-DEPENDENT GETPAGES; GBP-DEPEND GETPAGES"),
    field("reads_invalid_data", "reads after cross-invalidation, data returned", "QBGLXD",
           "SYN.READ(XI)-DATA RETURNED; SYNC.READS(XI)-DATA RETURNED; READ(XI)-DATA RETUR; SYN.READS(XI)-DATA RETURNED",
           "DSNB773I|DUE TO BUFFER INVALIDATION|DATA RETURNED"),
    field("reads_invalid_no_data", "reads after cross-invalidation, no data returned", "QBGLXR",
           "SYN.READ(XI)-NO DATA RETURN; SYNC.READS(XI)-NO DATA RETURN; READ(XI)-NO DATA RT; "
           "SYN.READS(XI)-NO DATA RETURN",
           "DSNB773I|DUE TO BUFFER INVALIDATION|DATA NOT RETURNED"),
    field("reads_absent_data", "reads of pages not in the buffer pool, data returned", "",
           "SYN.READ(NF)-DATA RETURNED; SYNC.READS(NF)-DATA RETURNED; READ(NF)-DATA RETUR; SYN.READS(NF)-DATA RETURNED",
           "DSNB774I|DUE TO DATA PAGE NOT IN BUFFER POOL|DATA RETURNED"),
    field("reads_absent_no_data", "reads of pages not in the buffer pool, no data returned", "",
           "SYN.READ(NF)-NO DATA RETURN; SYNC.READS(NF)-NO DATA RETURN; READ(NF)-NO DATA RT; "
           "SYN.READS(NF)-NO DATA RETURN",
           "DSNB774I|DUE TO DATA PAGE NOT IN BUFFER POOL|DATA NOT RETURNED"),
    field("reads_prefetch", "reads done by prefetch", "", "PREFETCH PAGES READ"),
    field("reads_invalid_no_data_interest", "of the former, with read/write interest of others", "", ""),
    field("reads_invalid_no_data_no_interest", "of the former, without", "", ""),
    field("reads_absent_no_data_interest", "of the former, with read/write interest of others", "", ""),
    field("reads_absent_no_data_no_interest", "of the former, without", "", ""),
    field("reads_total", "reads of the group buffer pool as printed", "", ""),
    field("read_hit_percent", "reads that returned data, as printed", "", "", unit="percent"),
    field("reads_failed_no_storage", "reads that failed for want of storage", "", ""),
    field("unregister_pages", "pages unregistered", "", "UNREGISTER PAGE", "DSNB797I||UNREGISTER PAGE"),
    field("register_page_lists", "register page list requests", "",
           "REG.PAGE LIST (RPL) REQUEST; REG.PAGE LIST (RPL) RQ; REG. PAGE LIST (RPL) REQUEST",
           "DSNB789I||REGISTER PAGE LIST"),
    field("prefetch_pages_retrieved", "pages retrieved after a register page list request", "",
           "NUMBER OF PAGES RETR.FROM GBP; PAGES RETR.FROM GBP; NUMBER OF PAGES RETR. FROM GBP",
           "DSNB789I||PAGES RETRIEVED"),
    field("clean_pages_sync", "clean pages written synchronously", "",
           "CLEAN PAGES SYNC.WRITTEN; CLEAN PAGES SYNC.WRTN",
           "DSNB776I|SYNCHRONOUS WRITES|CLEAN PAGES; DSNB776I||CLEAN PAGES; DSNB775I||CLEAN PAGES"),
    field("changed_pages_sync", "changed pages written synchronously", "QBGLSW",
           "CHANGED PGS SYNC.WRTN; CHANGED PAGES SYNC.WRITTEN; CHANGED PAGES SYNC.WRTN",
           "DSNB776I|SYNCHRONOUS WRITES|CHANGED PAGES; DSNB776I||CHANGED PAGES; DSNB775I||CHANGED PAGES"),
    field("clean_pages_async", "clean pages written asynchronously", "",
           "CLEAN PAGES ASYNC.WRTN; CLEAN PAGES ASYNC.WRITTEN",
           "DSNB777I|ASYNCHRONOUS WRITES|CLEAN PAGES; DSNB777I||CLEAN PAGES"),
    field("changed_pages_async", "changed pages written asynchronously", "QBGLAW",
           "CHANGED PGS ASYNC.WRTN; CHANGED PAGES ASYNC.WRITTEN; CHANGED PAGES ASYNC.WRTN",
           "DSNB777I|ASYNCHRONOUS WRITES|CHANGED PAGES; DSNB777I||CHANGED PAGES"),
    field("write_around_pages", "changed pages written around the group buffer pool", "QBGLWA",
           "PAGES IN WRITE-AROUND; PAGES IN WRITE AROUND", "DSNB777I||WRITE-AROUND PAGES"),
    field("write_register", "write and register requests", "", "WRITE AND REGISTER; WRITE & REGISTER"),
    field("write_register_multiple", "write and register multiple requests", "",
           "WRITE & REGISTER MULT; WRITE AND REGISTER MULT; WRITE & REGISTER MULTIPLE"),
    field("pages_write_register", "pages written by write and register (multiple)", "",
           "CHANGED PAGES WRTN WAR & WARM; PAGES WRITE & REG MULT; PAGES WRITTEN WARM"),
    field("write_failed_no_storage", "writes that failed for want of storage", "QBGLWF",
           "WRITE FAILED-NO STORAGE; WRITE FAIL-NO STORAGE; WRITE FAILED - NO STORAGE",
           "DSNB777I||FAILED WRITES DUE TO LACK OF STORAGE; DSNB786I|WRITES|FAILED DUE TO LACK OF STORAGE"),
    field("pages_castout", "pages cast out", "QBGLRC", "PAGES CASTOUT; PAGES CAST OUT",
          "DSNB796I|CASTOUTS|PAGES CASTOUT; DSNB796I||PAGES CASTOUT"),
    field("castouts", "castout operations of the group", "", "", "DSNB787I|RECLAIMS|CASTOUTS; DSNB787I||CASTOUTS"),
    field("unlock_castout", "unlock castout requests", "", "UNLOCK CASTOUT", "DSNB796I|CASTOUTS|UNLOCK CASTOUT"),
    field("read_castout_class", "read castout class requests", "", "READ CASTOUT CLASS",
          "DSNB796I|CASTOUTS|READ CASTOUT CLASS"),
    field("read_castout_statistics", "read castout statistics requests", "", "READ CASTOUT STATISTICS",
           "DSNB796I|CASTOUTS|READ CASTOUT STATISTICS"),
    field("read_directory_info", "read directory information requests", "", "READ DIRECTORY INFO; READ DIRECTORY INFO.",
           "DSNB796I|CASTOUTS|READ DIRECTORY INFO"),
    field("read_storage_statistics", "read storage statistics requests", "", "READ STORAGE STATISTICS",
           "DSNB797I|OTHER INTERACTIONS|READ STORAGE STATISTICS"),
    field("register_page", "register page requests", "", "REGISTER PAGE", "DSNB797I|OTHER INTERACTIONS|REGISTER PAGE"),
    field("delete_name", "delete name requests", "", "DELETE NAME", "DSNB797I|OTHER INTERACTIONS|DELETE NAME"),
    field("async_requests", "requests to the primary pool made asynchronous", "",
          "ASYNCH GBP REQUESTS; ASYNC GBP REQUESTS",
           "DSNB797I|OTHER INTERACTIONS|ASYNCHRONOUS GBP REQUESTS"),
    field("async_secondary_requests", "requests to the secondary pool", "",
          "ASYNCH SEC-GBP REQUESTS; ASYNCH SEC-GBP REQ"),
    field("explicit_invalidations", "explicit cross-invalidations", "", "EXPLICIT X-INVALIDATIONS; EXPLICIT X-INVALID",
           "DSNB797I|OTHER INTERACTIONS|EXPLICIT CROSS INVALIDATIONS; DSNB788I|CROSS INVALIDATIONS|EXPLICIT"),
    field("other_requests", "other requests as printed", "", ""),
    field("castout_class_threshold", "times the class castout threshold was reached", "",
           "CASTOUT CLASS THRESHOLD; CLASS CASTOUT THRESHOLD", "DSNB778I|CASTOUT THRESHOLDS DETECTED|FOR CLASSES"),
    field("castout_pool_threshold", "times the group buffer pool's castout threshold was reached", "",
           "GROUP BP CASTOUT THRESHOLD; GBP CASTOUT THRESHOLD",
           "DSNB778I|CASTOUT THRESHOLDS DETECTED|FOR GROUP BUFFER POOL"),
    field("checkpoints", "checkpoints triggered", "", "GBP CHECKPOINTS TRIGGERED",
          "DSNB778I|CASTOUT THRESHOLDS DETECTED|GBP CHECKPOINTS TRIGGERED"),
    field("rebuild_participations", "participations in rebuilds", "",
          "PARTICIPATION IN REBUILD; PARTICIPATION IN GBP REBUILD",
           "DSNB778I|CASTOUT THRESHOLDS DETECTED|PARTICIPATION IN REBUILD"),
    field("castout_engine_unavailable", "times no castout engine was available", "",
           "CASTOUT ENGINE NOT AVAIL.; CASTOUT ENGINE NOT AVAILABLE"),
    field("write_engine_unavailable", "times no write engine was available", "",
           "WRITE ENGINE NOT AVAILABLE; WRITE ENGINE NOT AVAIL."),
    field("secondary_write_failed", "writes to the secondary pool that failed for want of storage", "QBGL2F",
           "WRITE TO SEC-GBP FAILED", "DSNB762I|WRITES|FAILED DUE TO LACK OF STORAGE"),
    field("page_lock_requests", "page P-lock requests", "", "PAGE P-LOCK LOCK REQ; PG P-LOCK LOCK REQ"),
    field("page_lock_suspensions", "page P-lock suspensions", "", "PAGE P-LOCK LOCK SUSP; PG P-LOCK LOCK SUSP"),
    field("page_lock_negotiations", "page P-lock negotiations", "", "PAGE P-LOCK LOCK NEG; PG P-LOCK LOCK NEG"),
    field("page_unlock_requests", "page P-lock unlock requests", "", "PAGE P-LOCK UNLOCK REQ; PG P-LOCK UNLOCK REQ"),
    field("group_reads_data", "reads of the whole group, data returned", "", "", "DSNB784I|READS|DATA RETURNED"),
    field("group_reads_entry_existed", "reads without data, directory entry existed", "", "",
           "DSNB785I|DATA NOT RETURNED|DIRECTORY ENTRY EXISTED"),
    field("group_reads_entry_created", "reads without data, directory entry created", "", "",
           "DSNB785I|DATA NOT RETURNED|DIRECTORY ENTRY CREATED"),
    field("group_reads_entry_not_created", "reads without data, no directory entry created", "", "",
           "DSNB785I|DATA NOT RETURNED|DIRECTORY ENTRY NOT CREATED"),
    field("group_writes_changed", "changed pages written by the whole group", "", "", "DSNB786I|WRITES|CHANGED PAGES"),
    field("group_writes_clean", "clean pages written by the whole group", "", "", "DSNB786I|WRITES|CLEAN PAGES"),
    field("changed_pages_now", "changed pages in the pool at the time of the display", "", "",
           "DSNB786I|WRITES|CHANGED PAGES SNAPSHOT VALUE; DSNB786I||CHANGED PAGES SNAPSHOT VALUE"),
    field("directory_reclaims", "directory entries reclaimed", "", "", "DSNB787I|RECLAIMS|FOR DIRECTORY ENTRIES"),
    field("data_reclaims", "data entries reclaimed", "", "", "DSNB787I|RECLAIMS|FOR DATA ENTRIES"),
    field("invalidations_directory_reclaim", "cross-invalidations by directory reclaim", "", "",
           "DSNB788I|CROSS INVALIDATIONS|DUE TO DIRECTORY RECLAIMS"),
    field("invalidations_writes", "cross-invalidations by writes", "", "",
          "DSNB788I|CROSS INVALIDATIONS|DUE TO WRITES"),
    field("directory_entries", "directory entries", "", "", "DSNB759I||NUMBER OF DIRECTORY ENTRIES"),
    field("data_pages", "data pages", "", "", "DSNB759I||NUMBER OF DATA PAGES"),
    field("connections", "connected members", "", "", "DSNB759I||NUMBER OF CONNECTIONS"),
    field("directory_to_data_ratio", "directory entries per data page in effect", "", "",
           "DSNB755I||CURRENT DIRECTORY TO DATA RATIO"),
    field("allocated_bytes", "allocated size", "", "", "DSNB758I||ALLOCATED SIZE", unit="bytes"),
    field("class_castout_percent", "class castout threshold", "", "", "DSNB756I||CLASS CASTOUT THRESHOLD",
          unit="percent"),
    field("pool_castout_percent", "group buffer pool castout threshold", "", "",
           "DSNB756I||GROUP BUFFER POOL CASTOUT THRESHOLD", unit="percent"),
    field("directory_residency_seconds", "average time a directory entry stays before it is reclaimed", "", "",
           "DSNB820I|AVERAGE RESIDENCY TIME|FOR DIRECTORY ENTRIES", unit="seconds"),
    field("data_residency_seconds", "average time a data entry stays before it is reclaimed", "", "",
           "DSNB820I|AVERAGE RESIDENCY TIME|FOR DATA ENTRIES", unit="seconds"),
)  # fmt: skip
"""A group buffer pool's counters."""

GROUP_POOL = TableSpec(
    "text_db2_group_buffer_pool",
    "one group buffer pool as one member (or, in columns that say so, the group) saw it in one interval",
    (*IDENTITY, text("pool_name", "group buffer pool, GBP before its number; TOTAL and its like are sums"),
     *(entry.column for entry in GROUP_POOL_FIELDS), text("structure_name", "coupling facility structure"),
     text("cf_name", "coupling facility")),
)  # fmt: skip
