"""Which work uses which buffer pool (SMF 101 IFCID 3, QBAC)."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.db2.records import SUBSYSTEM, pool_name
from plexlens.metrics.db2.threads import gathered, with_correlation
from plexlens.metrics.definition import Key
from plexlens.metrics.fields import Field, columns_of, facts_of, names_of
from plexlens.metrics.inputs import Inputs

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
