"""Curves of a trace in pieces that executors compute: by pool, which is exact, and by shards of a pool's pages.

Pools do not share buffers, so the curve of each follows from its own references. A single pool is divided by a hash of
the page (`plexlens.pools.page_sample.hashes`): all references to a page are in the same shard, and a pool of ``n``
buffers behaves as ``shards`` pools of ``n / shards`` (Waldspurger and others, "Efficient MRC construction with SHARDS",
FAST 2015, with all shards in place of a sample). Each shard scaled by their number estimates the curve; the mean of
these has a standard error with two parts, as that of a sample has (docs/pools.md): how far the shards differ, and how
far the curve falls over the range of sizes that a size of a shard stands for. The first part is larger than the error:
together the shards look at every page, so that most of their differences cancel.

Each piece reads the whole trace and takes its own references.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.special import stdtrit

from plexlens import _core
from plexlens.errors import UnreadableInputError, UsageError
from plexlens.executors import Executors
from plexlens.pools.curves import (
    LEAST_SAMPLED,
    LEAST_SAMPLED_SIZE,
    PoolCurve,
    add_to,
    check_sizes,
    choice_of_sizes,
    curve_of,
    kept_size,
    new_curves,
)
from plexlens.pools.members import ALONE, by_member, check_several, full_name, named_in_order
from plexlens.pools.opening import Opening
from plexlens.pools.page_sample import hashes
from plexlens.pools.trace import Trace
from plexlens.progress import Progress, silent

#: Standard errors on each side that have 95 % of a normal distribution between them.
_NORMAL = 1.959964

_GETPAGE = _core.TRACE_FUNCTIONS.index("getpage")

#: A pool of a member, both by number; the member is 0 where members are not distinguished.
Key = tuple[int, int]


@dataclass(frozen=True)
class Piece:
    """A piece of work.

    Attributes
    ----------
    opening
        The trace.
    pools
        Pools to look at.
    is_group
        Whether members have pools of their own.
    sizes
        Pool sizes; empty for a choice.
    shard, shards
        The shard to look at, and their number; 0 of 1 for all pages.
    """

    opening: Opening
    pools: frozenset[Key]
    is_group: bool
    sizes: tuple[int, ...] = ()
    shard: int = 0
    shards: int = 1


@dataclass(frozen=True)
class Shard:
    """The curve of the pages of a pool in a shard.

    Attributes
    ----------
    getpages, distinct_pages, enough
        As of a curve: of the shard alone.
    sizes, misses
        Sizes in pages of the shard, rising, and read misses: all sizes up to 64, 64 to each doubling, and those that
        were asked for.
    """

    getpages: int
    distinct_pages: int
    enough: int
    sizes: npt.NDArray[np.int64]
    misses: npt.NDArray[np.float64]

    def of(self, at: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Misses at sizes of the shard; on a straight line between those that are known."""
        return np.interp(at, self.sizes, self.misses)


def divided_curves(
    opening: Opening,
    trace: Trace,
    executors: Executors,
    *,
    sizes: Sequence[int] = (),
    shards: int = 1,
    group: bool | None = False,
    progress: Progress = silent,
) -> list[PoolCurve]:
    """Curves of all pools of a trace, as `plexlens.pools.curves.curves_of`, by executors.

    This process reads the trace once, for the getpages of each pool and the facts.

    Parameters
    ----------
    opening, trace
        How executors open the trace, and the trace.
    executors
        Where the curves are computed.
    sizes, group
        As of `plexlens.pools.curves.curves_of`.
    shards
        The number of shards of a pool that has more than its share of the getpages, ``1 / shards``; 1: none is divided.
        The curves of the others are exact, and so are those of pools with fewer than 256 pages per shard.
    progress
        Told bytes or pieces done and in all, and the stage.

    Raises
    ------
    UsageError
        An impossible size, or a group of a single member is asked for.
    UnreadableInputError
        The trace cannot be read, or an executor sees another trace.
    """
    check_sizes(sizes)
    _check_sizes(sizes, shards)
    counted: dict[Key, int] = {}
    for key, getpages in _getpages(trace, is_group=group is not False, progress=progress):
        counted[key] = counted.get(key, 0) + getpages
    members = {member for member, _ in counted}
    if group:
        check_several(members)
    most = sum(counted.values()) / shards
    large = frozenset(key for key, getpages in counted.items() if shards > 1 and getpages > most)
    work = Piece(opening.absolute(), large, group is not False, tuple(sizes))

    def tell(done: int, total: int) -> None:
        progress(done, total, "computing curves on executors")

    parts = []
    if large:
        parts = executors(shard_of, [replace(work, shard=shard, shards=shards) for shard in range(shards)], tell)
    curves: dict[Key, PoolCurve] = {}
    for key in sorted(large):
        own = [part[key] for part in parts if key in part]
        if len(own) == shards and sum(part.distinct_pages for part in own) >= LEAST_SAMPLED * shards:
            curves[key] = joined(own, sizes, pool=trace.names.pool(key[1]))
            trace.facts.notes.append(
                f"{_name(key, trace, members)}: the curve is joined from {shards} shards of its pages, and estimated."
            )
    exact = {key: getpages for key, getpages in counted.items() if key not in curves}
    pieces = [replace(work, pools=pools) for pools in together(exact)]
    for pool_curves in executors(pool_curves_of, pieces, tell):
        curves |= pool_curves
    for key, getpages in counted.items():
        there = curves[key].getpages if key in curves else 0
        if key not in curves or there != getpages:
            raise UnreadableInputError(
                file=str(trace.sources[0]),
                what=f"executors read {there:,} getpages of {_name(key, trace, members)}, and this machine "
                f"{getpages:,}",
                remedy="see that all of them have the same trace at this path, and that nobody writes it",
            )
    names = named_in_order(members, trace.names)
    return [
        replace(curves[key], pool=_name(key, trace, members))
        for member in names
        for key in sorted(curves)
        if key[0] == member
    ]


def together(getpages: Mapping[Key, int]) -> list[frozenset[Key]]:
    """Pools that a piece looks at together: those with few getpages, up to as many as the largest pool has.

    More pieces would read the trace more often, and the largest would not end sooner.
    """
    room = max(getpages.values(), default=0)
    pieces: list[tuple[int, set[Key]]] = []
    for key in sorted(getpages, key=lambda key: (-getpages[key], key)):
        for number, (taken, keys) in enumerate(pieces):
            if taken + getpages[key] <= room:
                pieces[number] = (taken + getpages[key], keys | {key})
                break
        else:
            pieces.append((getpages[key], {key}))
    return [frozenset(keys) for _, keys in pieces]


def pool_curves_of(piece: Piece) -> dict[Key, PoolCurve]:
    """The exact curves of a piece; the work of an executor."""
    trace, curves = _read(piece)
    return {
        (member, pool): curve_of(own, pool, trace.names, piece.sizes)
        for member, own in curves.items()
        for pool in own.pools()
    }


def shard_of(piece: Piece) -> dict[Key, Shard]:
    """The curves of a shard; the work of an executor."""
    _, curves = _read(piece)
    return {(member, pool): _shard(own, pool, piece) for member, own in curves.items() for pool in own.pools()}


def joined(parts: Sequence[Shard], sizes: Sequence[int] = (), *, pool: str = "") -> PoolCurve:
    """The curve of a pool from all its shards, without shares of data sets.

    Parameters
    ----------
    parts
        The shards.
    sizes
        Pool sizes in pages; empty for a choice.
    pool
        Its name.
    """
    shards = len(parts)
    largest = max(part.enough for part in parts)
    # Sizes that stand for a size of a shard at which its misses are known.
    chosen = sorted(set(sizes)) or [
        (size - 1) * shards + 1 for size in choice_of_sizes(largest, float(LEAST_SAMPLED_SIZE))
    ]
    each = np.array(chosen, np.float64)
    estimates = shards * np.array([part.of(_at(each, shards)) for part in parts])
    misses = estimates.mean(axis=0)
    spread = estimates.std(axis=0, ddof=1) / np.sqrt(shards) * float(stdtrit(shards - 1, 0.975)) / _NORMAL
    # Of the pages between two references to a page, the number in its shard is binomial.
    off = _NORMAL * np.sqrt(each * (shards - 1))
    ends = [
        np.sum([part.of(_at(np.maximum(end, 1.0), shards)) for part in parts], axis=0)
        for end in (each - off, each + off)
    ]
    errors = np.hypot(spread, (ends[0] - ends[1]) / 2 / _NORMAL)
    return PoolCurve(
        pool=pool,
        getpages=sum(part.getpages for part in parts),
        distinct_pages=float(sum(part.distinct_pages for part in parts)),
        points=tuple(zip(chosen, misses.tolist(), errors.tolist(), strict=True)),
        enough=(largest - 1) * shards + 1,
    )


def _at(sizes: npt.NDArray[np.float64], shards: int) -> npt.NDArray[np.float64]:
    """Sizes of a shard that sizes of the pool stand for: the page itself is in its shard with certainty."""
    return (sizes - 1) / shards + 1


def _shard(curves: _core.PoolCurves, pool: int, piece: Piece) -> Shard:
    enough = curves.enough(pool)
    wanted = _at(np.array(piece.sizes, np.float64), piece.shards)
    sizes = {int(size) + more for size in wanted for more in (0, 1)} | {enough}
    size = 1
    while size <= enough:
        sizes.add(size)
        size = kept_size(size + 1)
    known = sorted(sizes)
    return Shard(
        curves.events(pool)["getpage"],
        round(curves.distinct_pages(pool)),
        enough,
        np.array(known, np.int64),
        np.array([misses for misses, _ in curves.read_misses(pool, known)]),
    )


def _read(piece: Piece) -> tuple[Trace, dict[int, _core.PoolCurves]]:
    """The trace, read to its end, and the curves of each member of a piece."""
    piece.opening.check_seen()
    trace = piece.opening.open()
    source = ", ".join(path.name for path in trace.sources[:3])
    curves: dict[int, _core.PoolCurves] = {}
    for batch in trace.batches():
        for member, own in _by_member(batch, is_group=piece.is_group):
            part = _own(own, {pool for of, pool in piece.pools if of == member}, piece)
            if part.num_rows:
                if member not in curves:
                    curves[member] = new_curves(None, None, piece.sizes if piece.shards == 1 else ())
                add_to(curves[member], part, source=source)
    return trace, curves


def _own(batch: pa.RecordBatch, pools: Collection[int], piece: Piece) -> pa.RecordBatch:
    """The references of a piece, in their order."""
    chosen = np.isin(batch.column("pool").to_numpy(), list(pools))
    if piece.shards > 1:
        columns = (batch.column(name).to_numpy() for name in ("object", "partition", "page"))
        chosen &= hashes(*columns) % piece.shards == piece.shard
    return batch if chosen.all() else batch.filter(pa.array(chosen))


def _by_member(batch: pa.RecordBatch, *, is_group: bool) -> Iterator[tuple[int, pa.RecordBatch]]:
    if is_group:
        yield from by_member(batch)
    else:
        yield 0, batch


def _getpages(trace: Trace, *, is_group: bool, progress: Progress) -> Iterator[tuple[Key, int]]:
    """References of each pool in each batch, with the getpages among them."""
    for batch in trace.batches(progress):
        for member, own in _by_member(batch, is_group=is_group):
            pools = own.column("pool").to_numpy()
            getpages = np.bincount(pools, weights=own.column("function").to_numpy() == _GETPAGE)
            for pool in np.flatnonzero(np.bincount(pools)).tolist():
                yield (member, pool), int(getpages[pool])


def _name(key: Key, trace: Trace, members: Collection[int]) -> str:
    member = trace.names.member(key[0]) if len(members) > 1 else ALONE
    return full_name(member, trace.names.pool(key[1]))


def _check_sizes(sizes: Sequence[int], shards: int) -> None:
    if shards > 1 and sizes and min(sizes) < LEAST_SAMPLED_SIZE * shards:
        raise UsageError(
            file="",
            what=f"a pool of {min(sizes):,} pages is {min(sizes) / shards:.2g} pages of a shard: too few",
            remedy=f"give sizes of {LEAST_SAMPLED_SIZE * shards:,} pages or more, or fewer --shards",
        )
