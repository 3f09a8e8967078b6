"""Read misses at every pool size, and the share of each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from plexlens import _core
from plexlens.errors import UnreadableInputError, UsageError
from plexlens.ingest.page_trace import TraceNames
from plexlens.pools.members import ALONE, by_member, check_several, full_name, named_in_order
from plexlens.pools.page_sample import Batches
from plexlens.pools.trace import Trace, open_trace
from plexlens.progress import Progress

#: Default number of sizes, in geometric progression up to the size beyond which misses do not fall.
SIZES = 20


@dataclass(frozen=True)
class Share:
    """Contribution of a data set to a pool's curve.

    Attributes
    ----------
    name
        ``DATABASE.PAGESET``, with its partition.
    object, partition
        Its numbers in the trace.
    getpages, distinct_pages
        Getpages, and pages referenced; estimated from a sample.
    misses
        Read misses at the sizes of the pool's points. They are kept at sizes 1.6 % apart or less; between two of these
        they are interpolated.
    """

    name: str
    object: int
    partition: int
    getpages: float
    distinct_pages: float
    misses: tuple[float, ...]


@dataclass(frozen=True)
class PoolCurve:
    """The curve of a pool.

    Attributes
    ----------
    pool
        Its name.
    getpages
        Getpages in the trace.
    distinct_pages
        Pages referenced; estimated from a sample.
    points
        Pool size in pages, read misses of an LRU pool of that size without prefetch, their standard error (0: exact).
    enough
        The smallest size at which only first references miss.
    shares
        What each data set contributes, the one with the most misses at the smallest size first.
    """

    pool: str
    getpages: int
    distinct_pages: float
    points: tuple[tuple[int, float, float], ...]
    enough: int = 0
    shares: tuple[Share, ...] = ()


def curves_of(
    trace: Trace | Sequence[Path],
    *,
    sizes: Sequence[int] = (),
    sample: float | None = None,
    placement: Mapping[tuple[int, int], int] | None = None,
    group: bool | None = False,
    progress: Progress | None = None,
) -> list[PoolCurve]:
    """Curves of all pools of a trace.

    Of a group they are of each member's own references. A page that another member changes stays where it is on the
    curve: these are the misses of capacity alone. What is read again because of a change is in the simulation.

    Parameters
    ----------
    trace
        The trace, or files of one in their order.
    sizes
        Pool sizes in pages; empty for a choice up to the size beyond which nothing is gained.
    sample
        Share of the pages to look at; None for all.
    placement
        Data sets, by object and partition, that are to be looked at in another pool (by its id) than the trace has
        them in.
    group
        Whether the members of the trace have pools of their own; None: if there are several.
    progress
        Told bytes done, bytes in all and the file.

    Raises
    ------
    UsageError
        An impossible size or share; a group of one member is asked for.
    UnreadableInputError
        A file that is not a trace.
    """
    check_sizes(sizes)
    opened = trace if isinstance(trace, Trace) else open_trace(trace)
    source = ", ".join(path.name for path in opened.sources[:3])
    if group is False:
        whole = new_curves(sample, placement)
        read_curves(opened, [whole], source=source, progress=progress)
        return [curve_of(whole, pool, opened.names, sizes) for pool in whole.pools()]
    new_curves(sample)
    found: dict[int, _core.PoolCurves] = {}
    for batch in opened.batches(progress):
        for member, own in by_member(batch):
            if member not in found:
                found[member] = new_curves(sample, placement)
            add_to(found[member], own, source=source)
    if group:
        check_several(found)
    members = named_in_order(found, opened.names)
    return [
        replace(curve, pool=full_name(name if len(members) > 1 else ALONE, curve.pool))
        for number, name in members.items()
        for curve in (curve_of(found[number], pool, opened.names, sizes) for pool in found[number].pools())
    ]


def check_sizes(sizes: Sequence[int]) -> None:
    """Refuse sizes that are not possible for a pool.

    Raises
    ------
    UsageError
        A size below 1.
    """
    wrong = next((size for size in sizes if size < 1), None)
    if wrong is not None:
        raise UsageError(file="", what=f"a pool of {wrong} pages is not possible", remedy="give sizes of at least 1")


def new_curves(sample: float | None = None, placement: Mapping[tuple[int, int], int] | None = None) -> _core.PoolCurves:
    """Empty curves, before any reference is added.

    Raises
    ------
    UsageError
        An impossible share.
    """
    try:
        return _core.PoolCurves(sample=sample, placement=placement)
    except _core.PoolError as error:
        what, _, remedy = str(error).partition("; ")
        raise UsageError(file="", what=what, remedy=remedy) from error


def read_curves(
    trace: Batches, curves: Sequence[_core.PoolCurves], *, source: str = "", progress: Progress | None = None
) -> None:
    """Add a trace to curves.

    Raises
    ------
    UnreadableInputError
        The trace holds what cannot be understood.
    """
    for batch in trace.batches(progress):
        for curve in curves:
            add_to(curve, batch, source=source)


def add_to(curves: _core.PoolCurves, batch: pa.RecordBatch, *, source: str = "") -> None:
    """Add part of a trace to curves.

    Raises
    ------
    UnreadableInputError
        It holds what cannot be understood.
    """
    try:
        curves.add(batch)
    except _core.PoolError as error:
        what, _, remedy = str(error).partition("; ")
        raise UnreadableInputError(
            file=source, what=what, remedy=remedy or f"codes mean {_core.TRACE_FUNCTIONS}, from 0"
        ) from error


def curve_of(curves: _core.PoolCurves, pool: int, names: TraceNames, sizes: Sequence[int] = ()) -> PoolCurve:
    """The curve of a pool.

    Parameters
    ----------
    curves
        With all references.
    pool
        Its id.
    names
        Names of pools and data sets.
    sizes
        Pool sizes in pages; empty for a choice.
    """
    enough = curves.enough(pool)
    chosen = sorted(set(sizes)) or _choice(enough)
    misses = curves.read_misses(pool, chosen)
    return PoolCurve(
        pool=names.pool(pool),
        getpages=curves.events(pool)["getpage"],
        distinct_pages=curves.distinct_pages(pool),
        points=tuple((size, read, error) for size, (read, error) in zip(chosen, misses, strict=True)),
        enough=enough,
        shares=_shares(curves, pool, names, chosen),
    )


def _shares(curves: _core.PoolCurves, pool: int, names: TraceNames, sizes: Sequence[int]) -> tuple[Share, ...]:
    found = []
    for number, partition, getpages, distinct, points in curves.shares(pool):
        # A pool without buffers misses always; what is referenced once misses in every pool.
        kept = np.array([0.0, *(size for size, _ in points)])
        counts = np.array([getpages, *(count for _, count in points)])
        misses = np.interp(np.asarray(sizes, np.float64), kept, counts)
        name = names.data_set(number, partition)
        found.append(Share(name, number, partition, getpages, distinct, tuple(misses.tolist())))
    return tuple(sorted(found, key=lambda share: (-share.misses[0], share.name)))


def _choice(enough: int) -> list[int]:
    """Sizes in geometric progression from a thousandth of the last to the last."""
    last = max(enough, 1)
    first = max(last / 1000, 1.0)
    return sorted({round(first * (last / first) ** (step / (SIZES - 1))) for step in range(SIZES)})


def to_json(curves: Sequence[PoolCurve], *, sample: float | None = None) -> dict[str, Any]:
    """``{"pools": {"BP2": {"getpages", "distinct_pages", "curve": [{"pages", "read_misses"}]}}}``.

    Of a sample also the rate, and a standard error with each point.
    """
    pools = {}
    for curve in curves:
        points = []
        for size, misses, error in curve.points:
            point: dict[str, int | float] = {"pages": size, "read_misses": round(misses)}
            if sample is not None:
                point["standard_error"] = error
            points.append(point)
        pools[curve.pool] = {
            "getpages": curve.getpages,
            "distinct_pages": round(curve.distinct_pages),
            "curve": points,
        }
    made: dict[str, Any] = {"pools": pools}
    if sample is not None:
        made["sample"] = sample
    return made
