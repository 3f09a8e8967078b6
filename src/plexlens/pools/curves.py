"""Read misses at every pool size, and the share of each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from plexlens import _core
from plexlens.errors import UnreadableInputError, UsageError
from plexlens.ingest.page_trace import TraceNames
from plexlens.pools.members import ALONE, by_member, check_several, full_name, named_in_order
from plexlens.pools.trace import Trace, open_trace
from plexlens.progress import Progress

# A module that takes as long to load as this one, for a name.
if TYPE_CHECKING:
    from plexlens.pools.page_sample import Batches

#: Default number of sizes, in geometric progression up to the size beyond which misses do not fall.
SIZES = 20

#: Fewest pages of a pool in a sample, and fewest pages of the sample that a size stands for. Below, the stated errors
#: are too small (docs/pools.md): a handful of popular pages decides.
LEAST_SAMPLED, LEAST_SAMPLED_SIZE = 256, 16

#: Pages of a sample with which standard errors are doubled.
SMALL = 256

#: Largest size at which shares are kept: the core counts distances in 32 bits.
_LARGEST = (1 << 32) - 2


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
        Read misses at the sizes of the pool's points: exact, or estimated from a sample.
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
        An impossible size or share; a size, or every pool, of which the sample holds too few pages; a group of one
        member is asked for.
    UnreadableInputError
        A file that is not a trace.
    """
    check_sizes(sizes)
    _check_sampled_sizes(sizes, sample)
    opened = trace if isinstance(trace, Trace) else open_trace(trace)
    source = ", ".join(path.name for path in opened.sources[:3])
    if group is False:
        whole = new_curves(sample, placement, sizes)
        read_curves(opened, [whole], source=source, progress=progress)
        return _enough_sampled(opened, [(ALONE, whole)], sizes)
    new_curves(sample)
    member_curves: dict[int, _core.PoolCurves] = {}
    for batch in opened.batches(progress):
        for member, own in by_member(batch):
            if member not in member_curves:
                member_curves[member] = new_curves(sample, placement, sizes)
            add_to(member_curves[member], own, source=source)
    if group:
        check_several(member_curves)
    members = named_in_order(member_curves, opened.names)
    several = len(members) > 1
    own = [(name if several else ALONE, member_curves[number]) for number, name in members.items()]
    return _enough_sampled(opened, own, sizes)


def _enough_sampled(
    trace: Trace, member_curves: Sequence[tuple[str, _core.PoolCurves]], sizes: Sequence[int]
) -> list[PoolCurve]:
    """Curves of all pools of all members; those of which a sample holds too few pages are left out, with a note."""
    kept, few = [], []
    for member, curves in member_curves:
        for pool in curves.pools():
            name = full_name(member, trace.names.pool(pool))
            pages, rate = curves.distinct_pages(pool), curves.rate
            needed = max(LEAST_SAMPLED / max(pages, 1.0), LEAST_SAMPLED_SIZE / max(curves.enough(pool), 1))
            if rate < min(needed, 1.0):
                few.append((name, pages * rate, needed))
            else:
                kept.append(replace(curve_of(curves, pool, trace.names, sizes), pool=name))
    sampled = [f"{name} ({round(pages):,} pages)" for name, pages, _ in few]
    if few and not kept:
        enough = min(share for _, _, share in few)
        raise UsageError(
            file="",
            what=f"the sample holds too few pages for a curve: {', '.join(sampled)}",
            remedy=f"give --sample {enough:.2g} or more, or leave it out" if enough < 0.5 else "leave --sample out",
        )
    if few:
        trace.facts.notes.append(
            f"No curve, since the sample holds fewer than {LEAST_SAMPLED} pages of the pool, or hardly any that is "
            f"used again: {', '.join(sampled)}."
        )
    return kept


def _check_sampled_sizes(sizes: Sequence[int], sample: float | None) -> None:
    if not sizes or sample is None or not 0 < sample < 1:
        return
    least = int(np.ceil(LEAST_SAMPLED_SIZE / sample))
    if min(sizes) < least:
        raise UsageError(
            file="",
            what=f"a pool of {min(sizes):,} pages is {min(sizes) * sample:.2g} pages of the sample: too few",
            remedy=f"give sizes of {least:,} pages or more, or a larger --sample",
        )


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


def new_curves(
    sample: float | None = None,
    placement: Mapping[tuple[int, int], int] | None = None,
    sizes: Sequence[int] = (),
) -> _core.PoolCurves:
    """Empty curves, before any reference is added; shares of data sets are exact at ``sizes`` where there are any.

    Raises
    ------
    UsageError
        An impossible share.
    """
    try:
        shown = None if sample is not None or not sizes else [min(size, _LARGEST) for size in sizes]
        return _core.PoolCurves(sample=sample, placement=placement, share_sizes=shown)
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
    first = LEAST_SAMPLED_SIZE / curves.rate if curves.rate < 1 else 1.0
    chosen = sorted(set(sizes)) or choice_of_sizes(enough, first)
    misses = read_misses(curves, pool, chosen)
    return PoolCurve(
        pool=names.pool(pool),
        getpages=curves.events(pool)["getpage"],
        distinct_pages=curves.distinct_pages(pool),
        points=tuple((size, read, error) for size, (read, error) in zip(chosen, misses, strict=True)),
        enough=enough,
        shares=_shares(curves, pool, names, chosen),
    )


def read_misses(curves: _core.PoolCurves, pool: int, sizes: Sequence[int]) -> list[tuple[float, float]]:
    """Read misses of a pool and their standard errors at these sizes.

    The misses of a few hundred pages are far from a normal distribution: some of them have most. So the error
    that the core measures is widened by `SMALL` per page of the sample, which was chosen on other traces than those
    that docs/pools.md judges it by.
    """
    pages = curves.distinct_pages(pool) * curves.rate
    wider = 1.0 + SMALL / pages if curves.rate < 1 and pages else 1.0
    return [(misses, wider * error) for misses, error in curves.read_misses(pool, list(sizes))]


def _shares(curves: _core.PoolCurves, pool: int, names: TraceNames, sizes: Sequence[int]) -> tuple[Share, ...]:
    # Without a sample, shares are kept at every size here, so nothing is interpolated.
    shares = [
        Share(names.data_set(number, partition), number, partition, getpages, distinct, tuple(misses))
        for number, partition, getpages, distinct, misses in curves.shares(pool, sizes)
    ]
    return tuple(sorted(shares, key=lambda share: (-share.misses[0], share.name)))


def choice_of_sizes(enough: int, least: float = 1.0) -> list[int]:
    """Sizes in geometric progression from a thousandth of the last, or the least, to the last."""
    last = max(enough, 1)
    first = min(max(last / 1000, least), last)
    return sorted({kept_size(round(first * (last / first) ** (step / (SIZES - 1)))) for step in range(SIZES)})


def kept_size(size: int) -> int:
    """The smallest size that is no smaller and at which shares are kept: 64 to each doubling (`ShareSizes::Steps`)."""
    below = max(size, 1) - 1
    octave = max(below.bit_length() - 7, 0)
    return ((below >> octave) + 1) << octave


def to_json(curves: Sequence[PoolCurve], *, sample: float | None = None, shards: int = 1) -> dict[str, Any]:
    """``{"pools": {"BP2": {"getpages", "distinct_pages", "curve": [{"pages", "read_misses"}]}}}``.

    Of a sample or shards also the rate or their number, and a standard error with each point.
    """
    pools = {}
    for curve in curves:
        points = []
        for size, misses, error in curve.points:
            point: dict[str, int | float] = {"pages": size, "read_misses": round(misses)}
            if sample is not None or shards > 1:
                point["standard_error"] = error
            points.append(point)
        pools[curve.pool] = {
            "getpages": curve.getpages,
            "distinct_pages": round(curve.distinct_pages),
            "curve": points,
        }
    results: dict[str, Any] = {"pools": pools}
    if sample is not None:
        results["sample"] = sample
    if shards > 1:
        results["shards"] = shards
    return results
