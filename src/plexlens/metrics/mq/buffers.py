"""Buffer pools (SMF 115-215, before MQ 8 115-2: QPST) and page sets (SMF 115-201: QIS1)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Rollup
from plexlens.metrics.expressions import ratio
from plexlens.metrics.fields import Field
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.mq.records import PAGE_BYTES, plain, statistics
from plexlens.metrics.unit import COUNT, PAGES, SECONDS

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
