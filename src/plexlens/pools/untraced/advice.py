"""Sizes and placements that statistics support, each with the range of its effect.

Sizes. Storage goes in small parts to the pool in which it is worth most by the middle of the likely range: reads fall
with the square root of the size. A pool grows at most until its pages stay five minutes even if no read is saved
(Gray and Putzolu 1987; db2utor, *Page Residency Time*, 2011). Growth never adds reads. Where the budget is smaller than
the pools now, storage is taken where it is worth least; a pool that hardly reads is left, since nothing tells how many
of its buffers it needs.

Placement. A pool steals all its pages at one age. If objects leave with the buffers that they hold, the age of the
others stays as it is, and so do their reads. So objects read by prefetch, whose pages are not found again, can leave
with a part of their buffers, and the others gain the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plexlens.pools.alter import MovedObject, Script, script
from plexlens.pools.cost import IoCost
from plexlens.pools.settings import LEAST, Configuration, PoolSettings
from plexlens.pools.untraced.bounds import FEWEST_READS, Range, likely, possible, size_for
from plexlens.pools.untraced.seen import Seen, SeenObject, Statistics

#: Seconds that a page should stay: below, more buffers pay (five-minute rule); above the second, fewer may do.
SHORT, LONG = 300.0, 900.0

#: Read I/Os per second below which no storage is given (as in the rule db2.pool_residency).
FEWEST_PER_SECOND = 10.0

#: Parts in which storage is given or taken.
_PARTS = 256

#: Pages of an asynchronous I/O from which an object counts as read by prefetch, and asynchronous pages per synchronous
#: I/O; and the most changed pages among those cached, so that the I/Os are not its writes.
SCANNED_PAGES, SCANNED_RATIO, SCANNED_CHANGED = 8.0, 10.0, 0.1

#: Share of a pool's buffers that scanned objects hold, from which a pool of their own is worth a look.
SCANNED_SHARE = 0.1

#: Share of their buffers that scanned objects keep in a pool of their own, and the fewest buffers of such a pool: from
#: 1,000 buffers a prefetch has its full quantity (Db2 13 for z/OS, *Prefetch I/O*).
KEPT, KEPT_LEAST = 0.5, 1000


@dataclass(frozen=True)
class Effect:
    """Effect of a size on a pool.

    Attributes
    ----------
    pool
        The pool as it is seen.
    size
        Its buffers then.
    possible, likely
        Read I/Os per second at this size; ``likely`` is None where only the former is known.
    """

    pool: Seen
    size: int
    possible: Range
    likely: Range | None

    @property
    def saved(self) -> Range:
        """Read I/Os per second that are saved, by the likely range where there is one; negative: added."""
        known = self.likely or self.possible
        now = self.pool.reads_per_second
        return Range(now - known.most, now - known.least)

    @property
    def possibly_saved(self) -> Range:
        """The same by the possible range."""
        now = self.pool.reads_per_second
        return Range(now - self.possible.most, now - self.possible.least)


@dataclass(frozen=True)
class Step:
    """A change that can be made independently of others.

    Attributes
    ----------
    title, why
        What it does, and the numbers behind it.
    effects
        Pools whose size changes.
    saved, possibly_saved
        Read I/Os per second, likely and possible.
    objects
        Objects that move.
    script
        Its commands, and the reverse.
    after
        The pools, and the moved objects, with this step alone.
    """

    title: str
    why: str
    effects: tuple[Effect, ...]
    saved: Range
    possibly_saved: Range
    objects: tuple[str, ...]
    script: Script
    after: Configuration


def effect(pool: Seen, size: int) -> Effect:
    """The effect of a size on a pool."""
    rate = pool.getpages_per_second
    floor = pool.floor(size)
    most = possible(pool.points, size, touched=floor).times(rate)
    near = likely(pool.points, size, touched=floor)
    return Effect(pool, size, most, None if near is None else near.times(rate))


def wanted(pool: Seen, seconds: float = SHORT) -> Range | None:
    """Buffers with which a page of the pool stays this long; None where nothing is read."""
    if pool.pages_per_second <= 0:
        return None
    return size_for(pool.settings.size, pool.pages_per_second, seconds)


def sizes_within(
    pools: Sequence[Seen], budget: int, cost: IoCost, delay_weight: float, *, pinned: Mapping[str, int]
) -> dict[str, int]:
    """Sizes of all pools within a storage.

    Parameters
    ----------
    pools
        The pools.
    budget
        Bytes of all of them.
    pinned
        Buffers of pools whose size is decided.
    cost, delay_weight
        Prices of I/O.

    Returns
    -------
    dict
        Buffers by name; a pool that must not change has what it has.
    """
    sizes = {pool.name: pinned.get(pool.name, pool.settings.size) for pool in pools}
    room = budget - sum(sizes[pool.name] * pool.settings.page_bytes for pool in pools)
    part = abs(room) / _PARTS
    able = [pool for pool in pools if pool.name not in pinned and _can_change(pool, grow=room > 0)]
    for _ in range(_PARTS):
        worth = {}
        for pool in able:
            step = int(part // pool.settings.page_bytes) * (1 if room > 0 else -1)
            size = sizes[pool.name] + step
            if step and _least(pool) <= size <= _most(pool, grow=room > 0):
                worth[pool.name] = abs(
                    _cost(pool, size, cost, delay_weight) - _cost(pool, sizes[pool.name], cost, delay_weight)
                )
        if not worth:
            break
        choose = max if room > 0 else min
        name = choose(worth, key=lambda entry: (worth[entry], entry))
        chosen = next(pool for pool in able if pool.name == name)
        sizes[name] += int(part // chosen.settings.page_bytes) * (1 if room > 0 else -1)
    return sizes


def _can_change(pool: Seen, *, grow: bool) -> bool:
    if grow:
        return pool.reads_per_second >= FEWEST_PER_SECOND
    return pool.points[0].share >= FEWEST_READS


def _least(pool: Seen) -> int:
    return max(LEAST.get(pool.name, 0), min(pool.settings.size, 1000))


def _most(pool: Seen, *, grow: bool) -> float:
    if not grow:
        return pool.settings.size
    enough = wanted(pool)
    return pool.settings.size if enough is None else max(enough.most, pool.settings.size)


def _cost(pool: Seen, size: int, cost: IoCost, delay_weight: float) -> float:
    """CPU and weighed delay per second if reads fall with the square root of the size."""
    sync, ahead = pool.sync_reads / pool.seconds, pool.prefetch_ios / pool.seconds
    price = sync * (cost.sync_read.value + delay_weight * cost.sync_delay.value) + ahead * cost.async_io.value
    return float(price * (pool.settings.size / size) ** 0.5)


def size_steps(statistics: Statistics, sizes: Mapping[str, int]) -> list[Step]:
    """A step for every pool whose size changes: those that shrink first, then by likely saving."""
    steps = []
    for pool in statistics.pools:
        size = sizes.get(pool.name, pool.settings.size)
        if size == pool.settings.size:
            continue
        result = effect(pool, size)
        word = "grows" if size > pool.settings.size else "shrinks"
        stays = "" if pool.residency is None else f"; a page stays at most {pool.residency:,.0f} s now"
        why = (
            f"{pool.name} reads {pool.reads_per_second:,.1f} I/Os per second for {pool.getpages_per_second:,.0f} "
            f"getpages per second{stays}"
        )
        after = with_sizes(statistics, {pool.name: size})
        title = f"{pool.name} {word} from {pool.settings.size:,} to {size:,} buffers"
        text = script(statistics.configuration, after, {}, {})
        steps.append(Step(title, why, (result,), result.saved, result.possibly_saved, (), text, after))
    return sorted(steps, key=lambda step: (step.effects[0].size > step.effects[0].pool.settings.size, -step.saved.most))


def is_scanned(seen_object: SeenObject) -> bool:
    """Whether an object is read by prefetch, according to IFCID 199."""
    pages = seen_object.pages_per_async_io
    return (
        pages is not None
        and pages >= SCANNED_PAGES
        and seen_object.async_pages >= SCANNED_RATIO * max(seen_object.sync_ios, 1.0)
        and seen_object.changed <= SCANNED_CHANGED * seen_object.cached
    )


def is_work_file(seen_object: SeenObject) -> bool:
    """Whether an object is a work file, by its database: DSNDB07, or in a group its usual name with WRK or WORK."""
    return seen_object.database == "DSNDB07" or seen_object.database.startswith("WRK") or "WORK" in seen_object.database


def placement_steps(statistics: Statistics) -> list[Step]:
    """Steps that move scanned objects and work files to pools of their own, ordered by possible saving."""
    steps = []
    for pool in statistics.pools:
        own = [seen_object for seen_object in statistics.objects if seen_object.pool == pool.name]
        for what, word in ((is_work_file, "work files"), (is_scanned, "objects that are read by prefetch")):
            leaving = [
                seen_object
                for seen_object in own
                if what(seen_object) and (what is is_work_file or not is_work_file(seen_object))
            ]
            if leaving and len(leaving) < len(own):
                step = _apart(statistics, pool, leaving, word)
                if step is not None:
                    steps.append(step)
    return sorted(steps, key=lambda step: -step.saved.most)


def _apart(statistics: Statistics, pool: Seen, leaving: Sequence[SeenObject], word: str) -> Step | None:
    content = min(sum(seen_object.cached for seen_object in leaving), float(pool.settings.size))
    if content < SCANNED_SHARE * pool.settings.size:
        return None
    kept = max(round(content * KEPT), KEPT_LEAST)
    free = round(content) - kept
    if free <= 0 or pool.settings.size - kept < LEAST.get(pool.name, 1):
        return None
    new = _unused(statistics, pool.settings)
    if new is None:
        return None
    reads = pool.reads_per_second
    theirs = min(
        sum((seen_object.sync_ios + seen_object.async_ios) / seen_object.seconds for seen_object in leaving), reads
    )
    others, without = reads - theirs, pool.settings.size - content
    # The others have the buffers that they hold now, and those that are freed; the scans half of theirs.
    gain = others * free / (without + free) if without + free else 0.0
    loss = theirs * (content / kept - 1)
    settings = PoolSettings.of(new, kept, vpseqt=99)
    less = replace(pool.settings, size=pool.settings.size - kept)
    names = tuple(seen_object.name for seen_object in leaving)
    moved = {
        seen_object.name: MovedObject(
            seen_object.name, {"table space": "tablespace", "index space": "index"}.get(seen_object.kind, "")
        )
        for seen_object in leaving
    }
    before = statistics.configuration
    after = replace(before, pools={**before.pools, pool.name: less, new: settings}, placement=dict.fromkeys(names, new))
    text = script(before, after, moved, dict.fromkeys(names, pool.name))
    why = (
        f"{len(names)} {word} hold {content:,.0f} of the {pool.settings.size:,} buffers of {pool.name} and do "
        f"{theirs:,.1f} of its {reads:,.1f} read I/Os per second; the others gain {free:,} buffers"
    )
    title = f"{len(names)} {word} leave {pool.name} for {new}"
    possibly = Range(-(pool.getpages_per_second - reads), others)
    return Step(title, why, (), Range(-loss, gain), possibly, names, text, after)


def _unused(statistics: Statistics, like: PoolSettings) -> str | None:
    """The first pool of the same page size that has no buffers."""
    stem = {4096: "BP", 8192: "BP8K", 16384: "BP16K", 32768: "BP32K"}[like.page_bytes]
    last = 50 if like.page_bytes == 4096 else 10
    names = (f"{stem}{number}" for number in range(1, last))
    return next((name for name in names if name not in statistics.configuration.pools), None)


def with_sizes(statistics: Statistics, sizes: Mapping[str, int]) -> Configuration:
    """The pools with other sizes."""
    pools = dict(statistics.configuration.pools)
    for pool in statistics.pools:
        if pool.name in sizes:
            pools[pool.name] = replace(pool.settings, size=sizes[pool.name])
    return replace(statistics.configuration, pools=pools)
