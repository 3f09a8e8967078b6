"""Pool names qualified by member, and the references of each member.

A pool is known by its full name: ``DB1A.BP2`` at a member of a data-sharing group, ``BP2`` of a Db2 alone, which is a
group of one member without a name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import numpy as np
import pyarrow as pa

from plexlens.errors import UsageError
from plexlens.ingest.page_trace import TraceNames, pool_id

#: The member of a Db2 alone.
ALONE = ""


def full_name(member: str, pool: str) -> str:
    """``DB1A.BP2``; ``BP2`` for a single Db2."""
    return f"{member}.{pool}" if member else pool


def member_and_pool(name: str) -> tuple[str, str]:
    """Member and pool of a full name; the member is empty for a single Db2."""
    member, _, pool = name.rpartition(".")
    return member, pool


def pool_order(name: str) -> tuple[str, int]:
    """Sort key of pools: the member, then the number of the pool."""
    member, pool = member_and_pool(name)
    return member, pool_id(pool) or 0


def by_member(batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """References of each member in a batch, in their original order."""
    members = batch.column("member").to_numpy()
    if not len(members):
        return
    # In a trace of one Db2 no row has a member, which takes less time to see than to count.
    there = np.flatnonzero(np.bincount(members)).tolist() if members.any() else [0]
    if len(there) == 1:
        yield there[0], batch
        return
    for member in there:
        yield member, batch.filter(pa.array(members == member))


def named_in_order(members: Iterable[int], names: TraceNames) -> dict[int, str]:
    """Names of members by number, in alphabetical order."""
    return dict(sorted(((number, names.member(number)) for number in members), key=lambda pair: pair[1]))


def check_several(members: Collection[object]) -> None:
    """Refuse a trace of one member.

    Raises
    ------
    UsageError
        It has one.
    """
    if len(members) < 2:
        raise UsageError(
            file="",
            what="the trace has one member, and a group needs several",
            remedy="simulate its pools with --no-group, or give the traces of several members",
        )
