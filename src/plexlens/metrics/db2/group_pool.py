"""Group buffer pools as one member used them (SMF 100 IFCID 2: QBGL)."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.db2.records import common, intervals, pool_name
from plexlens.metrics.fields import Field, columns_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import PAGES

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


def _pools(inputs: Inputs) -> Any:
    table = intervals(inputs, "smf100_ifcid2_qbgl", FIELDS, "qbglgn", witnesses=_WITNESSES, long_since_11=True)
    return table.select(**common(table), **columns_of(table, FIELDS), group_pool=pool_name(table.qbglgn, "GBP"))
