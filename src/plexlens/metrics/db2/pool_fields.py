"""Facts of a buffer pool that are one field of QBST each."""

from __future__ import annotations

from plexlens.metrics.definition import Rollup
from plexlens.metrics.fields import Field
from plexlens.metrics.unit import COUNT, PAGES

#: Counters whose places are published: a fall of one means that Db2 started.
WITNESSES = ("qbstget", "qbstrio", "qbstpws", "qbstwio", "qbstpio", "qbstlio", "qbstdio")

FIELDS = (
    Field("getpages", "Getpages", "QBSTGET"),
    Field("getpages_sequential", "Sequential getpages", "QBSTSGT"),
    Field("sync_reads", "Synchronous reads", "QBSTRIO"),
    Field("sync_reads_sequential", "Synchronous reads, sequential", "QBSTSIO"),
    Field("sequential_prefetch_requests", "Sequential prefetch requests", "QBSTSEQ"),
    Field("sequential_prefetch_reads", "Sequential prefetch I/Os", "QBSTPIO"),
    Field("sequential_prefetch_pages", "Pages read by sequential prefetch", "QBSTSPP", PAGES),
    Field("list_prefetch_requests", "List prefetch requests", "QBSTLPF"),
    Field("list_prefetch_reads", "List prefetch I/Os", "QBSTLIO"),
    Field("list_prefetch_pages", "Pages read by list prefetch", "QBSTLPP", PAGES),
    Field("dynamic_prefetch_requests", "Dynamic prefetch requests", "QBSTDPF"),
    Field("dynamic_prefetch_reads", "Dynamic prefetch I/Os", "QBSTDIO"),
    Field("dynamic_prefetch_pages", "Pages read by dynamic prefetch", "QBSTDPP", PAGES),
    Field("prefetch_disabled_no_buffer", "Prefetch disabled, no buffer", "QBSTSPD"),
    Field("prefetch_disabled_no_engine", "Prefetch disabled, no read engine", "QBSTREE"),
    Field("prefetch_streams_reduced", "Prefetch streams denied", "QBSTJIS"),
    Field("page_ins_read", "Page-ins for reads", "QBSTRPI"),
    Field("page_ins_write", "Page-ins for writes", "QBSTWPI"),
    Field("buffer_updates", "Buffer updates", "QBSTSWS"),
    Field("pages_written", "Pages written", "QBSTPWS", PAGES),
    Field("sync_writes", "Synchronous writes", "QBSTIMW"),
    Field("async_writes", "Asynchronous write I/Os", "QBSTWIO"),
    Field("deferred_write_threshold", "Deferred write threshold reached (DWQT)", "QBSTDWT"),
    Field("vertical_write_threshold", "Vertical deferred write threshold reached (VDWQT)", "QBSTDWV"),
    Field("data_manager_threshold", "Data manager threshold reached (DMTH)", "QBSTDMC"),
    Field("write_engine_unavailable", "Write engine not available", "QBSTWEE"),
    Field("unavailable_buffer", "No buffer available", "QBSTXFL"),
    Field("data_set_opens", "Data sets opened", "QBSTDSO"),
    Field("hsm_migrated", "Migrated data sets met", "QBSTMIG"),
    Field("hsm_recall_timeouts", "Recalls timed out", "QBSTRTO"),
    Field("expansions", "Pool expansions and contractions", "QBSTVPA"),
    Field("expansion_failures", "Pool expansions failed", "QBSTXFV"),
    Field("castout_pages", "Pages cast out", "QBSTPCO", PAGES),
    Field("castout_ios", "Castout I/Os", "QBSTCIO"),
    Field("parallel_requests", "Parallel query requests", "QBSTPQO"),
    Field("parallel_requests_reduced", "Parallel query requests reduced", "QBSTPQF"),
    Field("prefetch_halved", "Prefetch quantity reduced to a half", "QBSTPL1"),
    Field("prefetch_quartered", "Prefetch quantity reduced to a quarter", "QBSTPL2"),
    Field("merge_passes", "Merge passes", "QBSTWFT"),
    Field("merge_passes_degraded", "Merge passes degraded", "QBSTWFF"),
    Field("work_files_requested", "Work files requested", "QBSTWFR"),
    Field("work_files_denied", "Work files denied", "QBSTWFD"),
    Field("work_files_refused", "Work files refused, no buffers", "QBSTMAX"),
    Field("work_file_prefetch_not_scheduled", "Work file prefetch not scheduled", "QBSTWKPD"),
    Field("sequential_threshold_hits", "Sequential threshold reached", "QBSTHST"),
    Field("random_hits_sequential_chain", "Random getpages found on the sequential chain", "QBSTRHS"),
    Field("buffers", "Pool size", "QBSTVPL", PAGES, Rollup.AMOUNT),
    Field("active_buffers", "Buffers in use", "QBSTCBA", COUNT, Rollup.LEVEL),
    Field("prefetch_streams_peak", "Most prefetch streams at once", "QBSTXIS", COUNT, Rollup.PEAK),
    Field("sequential_lru_min", "Smallest sequential chain", "QBSTSMIN", PAGES, Rollup.FLOOR),
    Field("sequential_lru_max", "Largest sequential chain", "QBSTSMAX", PAGES, Rollup.PEAK),
)
