"""Buffer pools (SMF 115-215, before MQ 8 115-2: QPST) and page sets (SMF 115-201: QIS1)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import Field, facts_of, per_event, per_second
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.mq.records import INTERVAL, PAGE_BYTES, QUEUE_MANAGER, document, plain, statistics
from plexlens.metrics.unit import COUNT, FRACTION, MEAN_COUNT, MIB, MILLISECONDS, PAGES, PER_SECOND, SECONDS

_BUFFERS = document("Buffer manager data records (QPST)")
_PAGE_SETS = document("Data manager page set data records (QIS1)")

_POOL_FIELDS = (
    Field("buffers", "Buffers", "QPSTNBUF", COUNT, Rollup.AMOUNT),
    Field("available_buffers", "Buffers available at the interval's end", "QPSTCBS", COUNT, Rollup.LEVEL),
    Field("gets_old", "Page gets, contents wanted", "QPSTGETP"),
    Field("gets_new", "Page gets, new page", "QPSTGETN"),
    Field("reads", "Page reads from disk", "QPSTRIO"),
    Field("updates", "Page updates", "QPSTSTW"),
    Field("pages_written", "Pages written", "QPSTTPW", PAGES),
    Field("write_ios", "Page write I/Os", "QPSTWIO"),
    Field("sync_writes", "Pages written synchronously", "QPSTIMW"),
    Field("write_threshold_hits", "Asynchronous write threshold reached (85 %)", "QPSTDWT"),
    Field("sync_threshold_hits", "Synchronous write threshold reached (95 %)", "QPSTDMC"),
    Field("steals", "Page gets that did not find the page in the pool", "QPSTSTL"),
    Field("steal_retries", "Hash chain changed during a steal", "QPSTSTLA"),
    Field("no_buffer", "No buffer available (short on storage)", "QPSTSOS"),
)

#: Bits of QPSTFLAGS.
_ABOVE_THE_BAR = 0x80000000
_FIXED = 0x40000000


def _pools(inputs: Inputs) -> Any:
    table = statistics(inputs, "smf115_2_qpst", _POOL_FIELDS, "qpstpool", "qpstcbsl", "qpstflags")
    flags = table.qpstflags.cast("int64")
    return plain(
        table,
        _POOL_FIELDS,
        pool=table.qpstpool.cast("int64"),
        location=ibis.cases(
            (flags.isnull(), ibis.null("string")), ((flags & _ABOVE_THE_BAR) != 0, "above"), else_="below"
        ),
        page_class=ibis.cases(
            (flags.isnull(), ibis.null("string")), ((flags & _FIXED) != 0, "fixed"), else_="pageable"
        ),
        pool_bytes=table.qpstnbuf.cast("float64") * PAGE_BYTES,
        lowest_available_fraction=ratio(table.qpstcbsl, table.qpstnbuf),
    )


POOL = Grain(
    name="mq_buffer_pool",
    title="MQ buffer pools",
    row="one buffer pool of one queue manager in one interval",
    keys=(QUEUE_MANAGER, Key("pool", "Buffer pool")),
    attributes=(Attribute("location", "Location"), Attribute("page_class", "Page class")),
    facts=(
        INTERVAL,
        *facts_of("SMF 115-215", _POOL_FIELDS),
        Fact(
            "pool_bytes",
            "Size",
            MIB,
            Rollup.AMOUNT,
            "SMF 115-215 QPSTNBUF x 4096",
            computed_from="mq_buffer_pool.buffers",
        ),
        Fact(
            "lowest_available_fraction",
            "Fewest buffers available",
            FRACTION,
            Rollup.FLOOR,
            "SMF 115-215 QPSTCBSL / QPSTNBUF",
        ),
    ),
    sources=(Source("SMF 115", ("smf115_2_qpst",), _pools),),
    metrics=(
        Metric(
            "gets_per_second",
            "Page gets",
            PER_SECOND,
            "(QPSTGETP + QPSTGETN) / interval",
            _BUFFERS,
            lambda f: ratio(total(f.gets_old, f.gets_new), f.interval_seconds),
        ),
        per_second("reads_per_second", "Page reads from disk", "reads", "QPSTRIO", _BUFFERS),
        per_second("updates_per_second", "Page updates", "updates", "QPSTSTW", _BUFFERS),
        per_second("pages_written_per_second", "Pages written", "pages_written", "QPSTTPW", _BUFFERS),
        per_second("write_ios_per_second", "Page write I/Os", "write_ios", "QPSTWIO", _BUFFERS),
        Metric(
            "hit_fraction",
            "Gets without a read from disk",
            FRACTION,
            "(QPSTGETP - QPSTRIO) / QPSTGETP",
            _BUFFERS,
            lambda f: ratio(f.gets_old - f.reads, f.gets_old),
            "A new page (QPSTGETN) needs no read and is left out. A pool of short-lived messages should read nothing "
            "after the queue manager's restart.",
        ),
        Metric(
            "found_fraction",
            "Gets that found the page in the pool",
            FRACTION,
            "(QPSTGETP - QPSTSTL) / QPSTGETP",
            _BUFFERS,
            lambda f: ratio(f.gets_old - f.steals, f.gets_old),
            "IBM states the complement, QPSTSTL / QPSTGETP, which falls as the pool grows.",
        ),
        Metric(
            "available_fraction",
            "Buffers available at the end",
            FRACTION,
            "QPSTCBS / QPSTNBUF",
            _BUFFERS,
            lambda f: ratio(f.available_buffers, f.buffers),
            "Below 15 % the queue manager writes pages asynchronously, below 5 % synchronously.",
        ),
        per_event(
            "pages_per_write",
            "Pages per write I/O",
            MEAN_COUNT,
            ("pages_written", "QPSTTPW"),
            ("write_ios", "QPSTWIO"),
            source=_BUFFERS,
        ),
        per_event(
            "updates_per_page_written",
            "Updates per page written",
            MEAN_COUNT,
            ("updates", "QPSTSTW"),
            ("pages_written", "QPSTTPW"),
            source=_BUFFERS,
            caveat="The higher, the more updates a page took in storage before it was written; IBM states the inverse, "
            "QPSTTPW / QPSTSTW.",
        ),
        per_event(
            "sync_write_fraction",
            "Pages written synchronously",
            FRACTION,
            ("sync_writes", "QPSTIMW"),
            ("pages_written", "QPSTTPW"),
            source=_BUFFERS,
            caveat="With the synchronous threshold never reached these are pages older than two checkpoints, else a "
            "pool that is too small.",
        ),
    ),
)

_PAGE_SET_FIELDS = (
    Field("pages", "Pages", "QIS1TOPG", PAGES, Rollup.AMOUNT),
    Field("unused_pages", "Unused pages", "QIS1UNPG", PAGES, Rollup.LEVEL),
    Field("persistent_pages", "Pages of persistent messages", "QIS1PPG", PAGES, Rollup.LEVEL),
    Field("nonpersistent_pages", "Pages of nonpersistent messages", "QIS1NPPG", PAGES, Rollup.LEVEL),
    Field("full", "Times the page set was full", "QIS1FULL"),
    Field("expansions", "Expansions", "QIS1EXPN"),
    Field("deferred_writes", "Deferred write I/Os", "QIS1DWPN"),
    Field("deferred_write_pages", "Pages of deferred writes", "QIS1DWPP", PAGES),
    Field("deferred_write_seconds", "Time of deferred write I/Os", "QIS1DWPT", SECONDS),
    Field("immediate_writes", "Immediate write I/Os", "QIS1IMWN"),
    Field("immediate_write_pages", "Pages of immediate writes", "QIS1IMWP", PAGES),
    Field("immediate_write_seconds", "Time of immediate write I/Os", "QIS1IMWT", SECONDS),
    Field("read_ios", "Read I/Os", "QIS1GETN"),
    Field("read_pages", "Pages read", "QIS1GETP", PAGES),
    Field("read_seconds", "Time of read I/Os", "QIS1GETT", SECONDS),
    Field("checkpoint_pages", "Pages written by checkpoints", "QIS1CKPP", PAGES),
)


def _page_sets(inputs: Inputs) -> Any:
    table = statistics(inputs, "smf115_201_qis1", _PAGE_SET_FIELDS, "qis1psno", "qis1bpno")
    return plain(
        table,
        _PAGE_SET_FIELDS,
        page_set=table.qis1psno.cast("int64"),
        pool=table.qis1bpno.cast("int64"),
        page_set_bytes=table.qis1topg.cast("float64") * PAGE_BYTES,
    )


PAGE_SET = Grain(
    name="mq_page_set",
    title="MQ page sets",
    row="one page set of one queue manager in one interval",
    keys=(QUEUE_MANAGER, Key("page_set", "Page set")),
    attributes=(Attribute("pool", "Buffer pool"),),
    facts=(
        INTERVAL,
        *facts_of("SMF 115-201", _PAGE_SET_FIELDS),
        Fact(
            "page_set_bytes",
            "Size",
            MIB,
            Rollup.AMOUNT,
            "SMF 115-201 QIS1TOPG x 4096",
            computed_from="mq_page_set.pages",
        ),
    ),
    sources=(Source("SMF 115", ("smf115_201_qis1",), _page_sets),),
    metrics=(
        Metric(
            "used_fraction",
            "Pages in use",
            FRACTION,
            "(QIS1TOPG - QIS1UNPG) / QIS1TOPG",
            _PAGE_SETS,
            lambda f: ratio(f.pages - f.unused_pages, f.pages),
            "The state at the end of each interval, averaged over longer times.",
        ),
        per_second("reads_per_second", "Read I/Os", "read_ios", "QIS1GETN", _PAGE_SETS),
        per_event(
            "read_time",
            "Time of a read I/O",
            MILLISECONDS,
            ("read_seconds", "QIS1GETT"),
            ("read_ios", "QIS1GETN"),
            source=_PAGE_SETS,
        ),
        per_event(
            "pages_per_read",
            "Pages per read I/O",
            MEAN_COUNT,
            ("read_pages", "QIS1GETP"),
            ("read_ios", "QIS1GETN"),
            source=_PAGE_SETS,
        ),
        per_second("deferred_writes_per_second", "Deferred write I/Os", "deferred_writes", "QIS1DWPN", _PAGE_SETS),
        per_event(
            "deferred_write_time",
            "Time of a deferred write I/O",
            MILLISECONDS,
            ("deferred_write_seconds", "QIS1DWPT"),
            ("deferred_writes", "QIS1DWPN"),
            source=_PAGE_SETS,
        ),
        per_event(
            "pages_per_deferred_write",
            "Pages per deferred write I/O",
            MEAN_COUNT,
            ("deferred_write_pages", "QIS1DWPP"),
            ("deferred_writes", "QIS1DWPN"),
            source=_PAGE_SETS,
        ),
        per_second("immediate_writes_per_second", "Immediate write I/Os", "immediate_writes", "QIS1IMWN", _PAGE_SETS),
        per_event(
            "immediate_write_time",
            "Time of an immediate write I/O",
            MILLISECONDS,
            ("immediate_write_seconds", "QIS1IMWT"),
            ("immediate_writes", "QIS1IMWN"),
            source=_PAGE_SETS,
            caveat="An application waits for an immediate write.",
        ),
    ),
)
