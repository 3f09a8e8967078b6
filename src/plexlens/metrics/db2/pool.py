"""Buffer pools of one Db2 (SMF 100 IFCID 2: QBST)."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.db2 import io_price, text_reports
from plexlens.metrics.db2.pool_fields import FIELDS, WITNESSES
from plexlens.metrics.db2.records import (
    ATTRIBUTES,
    INTERVAL,
    SUBSYSTEM,
    common,
    document,
    intervals,
    page_bytes,
    pool_name,
    report,
)
from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import columns_of, facts_of, per_event, per_second
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import COUNT, FRACTION, GIB, MEAN_COUNT, PER_SECOND, PERCENTAGE, RATIO, WHOLE_SECONDS

_STUDY = "DB2 Buffer Pool Tuning (2014)"
_READS = report("buffer pool read operations")
_WRITES = report("buffer pool write operations")
_THRESHOLDS = document("Buffer pool thresholds")


def _pools(inputs: Inputs) -> Any:
    table = intervals(inputs, "smf100_ifcid2_qbst", FIELDS, "qbstpid", witnesses=WITNESSES, long_since_11=True)
    return table.select(
        **common(table),
        **columns_of(table, FIELDS),
        pool=pool_name(table.qbstpid),
        getpages_random=table.qbstget - table.qbstsgt,
        sync_reads_random=table.qbstrio - table.qbstsio,
        pool_bytes=table.qbstvpl.cast("float64") * page_bytes(table.qbstpid),
    )


def pages_read(f: Any) -> Any:
    """Pages read in any way: one for each synchronous read, and what prefetch brought."""
    return total(f.sync_reads, prefetch_pages(f))


def prefetch_pages(f: Any) -> Any:
    """Pages read by prefetch of the three kinds."""
    return total(f.sequential_prefetch_pages, f.list_prefetch_pages, f.dynamic_prefetch_pages)


def prefetch_ios(f: Any) -> Any:
    """Prefetch I/Os of the three kinds."""
    return total(f.sequential_prefetch_reads, f.list_prefetch_reads, f.dynamic_prefetch_reads)


def read_ios(f: Any) -> Any:
    """Read I/Os, synchronous and prefetch."""
    return total(f.sync_reads, prefetch_ios(f))


def write_ios(f: Any) -> Any:
    """Write I/Os, synchronous and asynchronous."""
    return total(f.sync_writes, f.async_writes)


POOL = Grain(
    name="db2_pool",
    title="Db2 buffer pools",
    row="one buffer pool of one Db2 in one interval",
    keys=(SUBSYSTEM, Key("pool", "Buffer pool")),
    attributes=(*ATTRIBUTES, Attribute("page_fix", "PGFIX"), Attribute("page_steal", "PGSTEAL")),
    facts=(
        INTERVAL,
        *facts_of("SMF 100 IFCID 2", FIELDS),
        Fact("getpages_random", "Random getpages", COUNT, Rollup.COUNT, "SMF 100 IFCID 2 QBSTGET - QBSTSGT"),
        Fact("sync_reads_random", "Random synchronous reads", COUNT, Rollup.COUNT, "SMF 100 IFCID 2 QBSTRIO - QBSTSIO"),
        Fact(
            "pool_bytes",
            "Pool storage",
            GIB,
            Rollup.AMOUNT,
            "SMF 100 IFCID 2 QBSTVPL x page size",
            computed_from="db2_pool.buffers",
        ),
        Fact("vpseqt", "Sequential threshold (VPSEQT)", FRACTION, Rollup.SETTING, "Db2 -DISPLAY BUFFERPOOL"),
        Fact("dwqt", "Deferred write threshold (DWQT)", FRACTION, Rollup.SETTING, "Db2 -DISPLAY BUFFERPOOL"),
        Fact(
            "vdwqt",
            "Vertical deferred write threshold (VDWQT)",
            FRACTION,
            Rollup.SETTING,
            "Db2 -DISPLAY BUFFERPOOL",
        ),
    ),
    sources=(
        Source("SMF 100", ("smf100_ifcid2_qbst",), _pools),
        Source(text_reports.STATISTICS, ("text_db2_pool",), text_reports.pools),
        Source(text_reports.DISPLAY, ("text_db2_pool",), lambda inputs: text_reports.pools(inputs, displays=True)),
    ),
    metrics=(
        per_second("getpages_per_second", "Getpages", "getpages", "QBSTGET", _READS),
        per_second("random_getpages_per_second", "Random getpages", "getpages_random", "(QBSTGET - QBSTSGT)", _READS),
        per_second("sequential_getpages_per_second", "Sequential getpages", "getpages_sequential", "QBSTSGT", _READS),
        per_event(
            "sequential_getpage_fraction",
            "Sequential share of getpages",
            FRACTION,
            ("getpages_sequential", "QBSTSGT"),
            ("getpages", "QBSTGET"),
            source=_READS,
        ),
        Metric(
            "read_ios_per_second",
            "Read I/Os",
            PER_SECOND,
            "(QBSTRIO + QBSTPIO + QBSTLIO + QBSTDIO) / interval",
            f"{_STUDY}, pool performance tables (RI/O/Sec)",
            lambda f: ratio(read_ios(f), f.interval_seconds),
            "The study's primary metric: it alone turns into CPU cost and delay. Rank pools by it.",
        ),
        Metric(
            "read_cpu_per_day",
            "CPU of read I/O in a day",
            WHOLE_SECONDS,
            "(QBSTRIO + QBSTPIO + QBSTLIO + QBSTDIO) x 33 µs x 86400 / interval",
            io_price.SOURCE,
            lambda f: ratio(read_ios(f), f.interval_seconds) * (io_price.CPU_OF_IO * io_price.DAY),
            io_price.CAVEAT,
        ),
        Metric(
            "sync_read_ios_per_second",
            "Synchronous read I/Os",
            PER_SECOND,
            "QBSTRIO / interval",
            _STUDY,
            lambda f: ratio(f.sync_reads, f.interval_seconds),
            "The application waits for each of them.",
        ),
        Metric(
            "async_read_ios_per_second",
            "Prefetch read I/Os",
            PER_SECOND,
            "(QBSTPIO + QBSTLIO + QBSTDIO) / interval",
            _STUDY,
            lambda f: ratio(prefetch_ios(f), f.interval_seconds),
        ),
        Metric(
            "pages_read_per_second",
            "Pages read",
            PER_SECOND,
            "(QBSTRIO + QBSTSPP + QBSTLPP + QBSTDPP) / interval",
            _STUDY,
            lambda f: ratio(pages_read(f), f.interval_seconds),
        ),
        Metric(
            "write_ios_per_second",
            "Write I/Os",
            PER_SECOND,
            "(QBSTIMW + QBSTWIO) / interval",
            f"{_STUDY}, pool performance tables (WIO/Sec)",
            lambda f: ratio(write_ios(f), f.interval_seconds),
        ),
        Metric(
            "ios_per_second",
            "Read and write I/Os",
            PER_SECOND,
            "(read I/Os + write I/Os) / interval",
            f"{_STUDY}, pool performance tables (Total I/Os per second)",
            lambda f: ratio(total(read_ios(f), write_ios(f)), f.interval_seconds),
        ),
        Metric(
            "hit_fraction",
            "Application hit ratio",
            FRACTION,
            "(QBSTGET - QBSTRIO) / QBSTGET",
            f"{_STUDY}, buffer pool performance metrics (Hit Ratio)",
            lambda f: ratio(f.getpages - f.sync_reads, f.getpages),
            "Counts a page that prefetch brought as a hit: it tells of waits, not of I/O.",
        ),
        Metric(
            "system_hit_fraction",
            "System hit ratio",
            FRACTION,
            "(QBSTGET - QBSTRIO - QBSTSPP - QBSTLPP - QBSTDPP) / QBSTGET",
            f"{_STUDY}, buffer pool performance metrics (System Hit Ratio); {_READS} (BPOOL HIT RATIO)",
            lambda f: ratio(f.getpages - pages_read(f), f.getpages),
            "Negative where prefetch reads pages that nobody asks for. Near zero it says nothing against a pool of "
            "scans.",
        ),
        Metric(
            "random_hit_fraction",
            "Random hit ratio",
            FRACTION,
            "(random getpages - QBSTRIO + QBSTSIO) / random getpages",
            "IBM OMEGAMON for Db2 documentation, buffer pool hit percent random",
            lambda f: ratio(f.getpages_random - f.sync_reads_random, f.getpages_random),
        ),
        per_event(
            "getpages_per_random_read",
            "Random getpages per random synchronous read",
            MEAN_COUNT,
            ("getpages_random", "(QBSTGET - QBSTSGT)"),
            ("sync_reads_random", "(QBSTRIO - QBSTSIO)"),
            source=f"{_READS} (GETPAGE PER SYN.READ-RANDOM)",
        ),
        per_event(
            "pages_per_sequential_prefetch",
            "Pages per sequential prefetch I/O",
            MEAN_COUNT,
            ("sequential_prefetch_pages", "QBSTSPP"),
            ("sequential_prefetch_reads", "QBSTPIO"),
            source=f"{_READS} (S.PRF.PAGES READ/S.PRF.READ)",
        ),
        per_event(
            "pages_per_list_prefetch",
            "Pages per list prefetch I/O",
            MEAN_COUNT,
            ("list_prefetch_pages", "QBSTLPP"),
            ("list_prefetch_reads", "QBSTLIO"),
            source=f"{_READS} (L.PRF.PAGES READ/L.PRF.READ)",
        ),
        per_event(
            "pages_per_dynamic_prefetch",
            "Pages per dynamic prefetch I/O",
            MEAN_COUNT,
            ("dynamic_prefetch_pages", "QBSTDPP"),
            ("dynamic_prefetch_reads", "QBSTDIO"),
            source=f"{_READS} (D.PRF.PAGES READ/D.PRF.READ)",
        ),
        Metric(
            "pages_per_prefetch",
            "Pages per prefetch I/O",
            MEAN_COUNT,
            "(QBSTSPP + QBSTLPP + QBSTDPP) / (QBSTPIO + QBSTLIO + QBSTDIO)",
            f"{_STUDY} (Pages/Seq-I/O)",
            lambda f: ratio(prefetch_pages(f), prefetch_ios(f)),
        ),
        Metric(
            "prefetch_needed_fraction",
            "Prefetch requests that needed an I/O",
            PERCENTAGE,
            "(QBSTPIO + QBSTLIO + QBSTDIO) / (QBSTSEQ + QBSTLPF + QBSTDPF)",
            _READS,
            lambda f: ratio(
                prefetch_ios(f),
                total(f.sequential_prefetch_requests, f.list_prefetch_requests, f.dynamic_prefetch_requests),
            ),
            "A request whose pages are all in the pool needs none. Places of the request counts in the record are not "
            "published; see the layout.",
        ),
        per_event(
            "updates_per_page_written",
            "Updates per page written",
            MEAN_COUNT,
            ("buffer_updates", "QBSTSWS"),
            ("pages_written", "QBSTPWS"),
            source=f"{_WRITES} (BUFF.UPDATES/PAGES WRITTEN)",
        ),
        Metric(
            "pages_per_write",
            "Pages per write I/O",
            MEAN_COUNT,
            "QBSTPWS / (QBSTIMW + QBSTWIO)",
            f"{_STUDY} (Pages/Write); {_WRITES} (PAGES WRITTEN PER WRITE I/O)",
            lambda f: ratio(f.pages_written, write_ios(f)),
            "Low single digits mean scattered updates; the study then lowers VDWQT.",
        ),
        Metric(
            "sync_write_fraction",
            "Synchronous share of write I/Os",
            FRACTION,
            "QBSTIMW / (QBSTIMW + QBSTWIO)",
            f"{_THRESHOLDS}: immediate write threshold",
            lambda f: ratio(f.sync_writes, write_ios(f)),
            "With DMTH never reached these are pages older than two checkpoints, not a shortage.",
        ),
        Metric(
            "vertical_trigger_fraction",
            "Deferred writes triggered by VDWQT",
            FRACTION,
            "QBSTDWV / (QBSTDWT + QBSTDWV)",
            f"{_STUDY}: mostly VDWQT is what one wants to see",
            lambda f: ratio(f.vertical_write_threshold, total(f.deferred_write_threshold, f.vertical_write_threshold)),
        ),
        per_second(
            "prefetch_disabled_no_buffer_per_second",
            "Prefetch disabled, no buffer",
            "prefetch_disabled_no_buffer",
            "QBSTSPD",
            f"{_THRESHOLDS}: sequential prefetch threshold (90 %)",
        ),
        per_second(
            "prefetch_disabled_no_engine_per_second",
            "Prefetch disabled, no read engine",
            "prefetch_disabled_no_engine",
            "QBSTREE",
            _READS,
        ),
        per_second(
            "write_engine_unavailable_per_second",
            "Write engine not available",
            "write_engine_unavailable",
            "QBSTWEE",
            _WRITES,
        ),
        per_second(
            "data_manager_threshold_per_second",
            "DMTH reached",
            "data_manager_threshold",
            "QBSTDMC",
            f"{_THRESHOLDS}: data management threshold (95 %)",
        ),
        Metric(
            "page_ins_per_second",
            "Page-ins",
            PER_SECOND,
            "(QBSTRPI + QBSTWPI) / interval",
            f"{_STUDY}: paging means that memory is overcommitted",
            lambda f: ratio(total(f.page_ins_read, f.page_ins_write), f.interval_seconds),
        ),
        Metric(
            "page_in_fraction",
            "Read I/Os that needed a page-in",
            PERCENTAGE,
            "QBSTRPI / (QBSTRIO + QBSTPIO + QBSTLIO + QBSTDIO)",
            "IBM OMEGAMON for Db2 documentation, buffer pool efficiency",
            lambda f: ratio(f.page_ins_read, read_ios(f)),
        ),
        Metric(
            "residency",
            "Residency",
            WHOLE_SECONDS,
            "QBSTVPL / (pages read / interval)",
            "Residency time, db2utor (2011): VPSIZE / pages read per second",
            lambda f: ratio(f.buffers * f.interval_seconds, pages_read(f)),
            "How long a page stays if every page read takes a buffer: pool pages / pages read per second. The study "
            "calls it useless for pools of mixed access; null where nothing was read.",
        ),
        Metric(
            "io_intensity",
            "Pages moved per buffer and second",
            RATIO,
            "(QBSTRIO + QBSTSPP + QBSTLPP + QBSTDPP + QBSTPWS) / QBSTVPL / interval",
            "PGFIX intensity, Favero (2014) after Campbell (2006)",
            lambda f: ratio(total(pages_read(f), f.pages_written), f.buffers * f.interval_seconds),
            "Ranks pools for PGFIX(YES): fixing pays most where it is highest.",
        ),
        per_second("opens_per_second", "Data sets opened", "data_set_opens", "QBSTDSO", report("buffer pool general")),
        per_event(
            "pages_per_castout",
            "Pages per castout I/O",
            MEAN_COUNT,
            ("castout_pages", "QBSTPCO"),
            ("castout_ios", "QBSTCIO"),
            source=_WRITES,
        ),
    ),
)
