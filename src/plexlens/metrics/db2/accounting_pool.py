"""Which work uses which buffer pool (SMF 101 IFCID 3, QBAC)."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.db2.records import SUBSYSTEM, pool_name
from plexlens.metrics.db2.threads import SHARING_ATTRIBUTES, gathered, with_correlation
from plexlens.metrics.definition import Grain, Key, Metric, Source
from plexlens.metrics.expressions import ratio
from plexlens.metrics.fields import Field, columns_of, facts_of, names_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import FRACTION, MEAN_COUNT

_BLOCK = "IBM OMEGAMON for Db2 documentation, IFCID 003 - Buffer Manager Accounting Data"

_FIELDS = (
    Field("getpages", "Getpages", "QBACGET"),
    Field("getpages_failed", "Getpages that failed", "QBACNGT"),
    Field("sync_reads", "Synchronous reads", "QBACRIO"),
    Field("buffer_updates", "Buffer updates", "QBACSWS"),
    Field("sync_writes", "Synchronous writes", "QBACIMW"),
    Field("sequential_prefetch_requests", "Sequential prefetch requests", "QBACSEQ"),
    Field("list_prefetch_requests", "List prefetch requests", "QBACLPF"),
    Field("dynamic_prefetch_requests", "Dynamic prefetch requests", "QBACDPF"),
    Field("async_pages_read", "Pages read by prefetch", "QBACSIO"),
)
_FACTS = facts_of("SMF 101 IFCID 3", _FIELDS)
_KEYS = (SUBSYSTEM, Key("pool", "Buffer pool"), Key("connection_type", "Connection type"), Key("plan", "Plan"))


def _pools(inputs: Inputs) -> Any:
    table = inputs.table("smf101_ifcid3_qbac", "qbacpid", *names_of(_FIELDS))
    table = with_correlation(inputs, table)
    table = table.mutate(pool=pool_name(table.qbacpid), **columns_of(table, _FIELDS))
    names = tuple(fact.name for fact in _FACTS)
    return gathered(inputs, table, (key.name for key in _KEYS), summed=names)


POOL_USE = Grain(
    name="db2_accounting_pool",
    title="Db2 accounting by buffer pool",
    row="one buffer pool as the threads of one plan used it, by the quarter of an hour in which they ended",
    keys=_KEYS,
    attributes=SHARING_ATTRIBUTES,
    facts=_FACTS,
    sources=(Source("SMF 101", ("smf101_ifcid3_qbac",), _pools),),
    metrics=(
        Metric(
            "getpages_per_sync_read",
            "Getpages per synchronous read",
            MEAN_COUNT,
            "QBACGET / QBACRIO",
            _BLOCK,
            lambda f: ratio(f.getpages, f.sync_reads),
        ),
        Metric(
            "hit_ratio",
            "Getpages without an own read",
            FRACTION,
            "(QBACGET - QBACRIO) / QBACGET",
            _BLOCK,
            lambda f: ratio(f.getpages - f.sync_reads, f.getpages),
            "Prefetch on behalf of the thread counts as a hit.",
        ),
        Metric(
            "updates_per_getpage",
            "Buffer updates per getpage",
            MEAN_COUNT,
            "QBACSWS / QBACGET",
            _BLOCK,
            lambda f: ratio(f.buffer_updates, f.getpages),
        ),
    ),
)
