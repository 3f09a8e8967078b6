"""Local pools and group buffer pools in closed form: Che's approximation of LRU, with cross-invalidation.

A page of a pool is used at its own rate (independent references by Zipf's law). Che's approximation: an LRU list of
C pages holds a page for a time T after its last use that is the same for all pages, and T solves "the expected number
of pages held is C" (H. Che, Y. Tung, Z. Wang, "Hierarchical Web caching systems: modeling, design and experimental
results", IEEE JSAC 20(7), 2002). Three such lists follow each other here:

- the local pool of each member, by its getpages;
- the directory of the group buffer pool, by the requests that reach it: first reads, re-reads, writes;
- its data entries, which begin with a write and are renewed by whatever request finds them.

Scans count as uses spread evenly over the page set. What the model leaves out is the same everywhere: VPSEQT, castout
(data that waits for it cannot be reclaimed), and that references of a transaction belong together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plexlens.sharing.closed_form import crossing

Floats = npt.NDArray[np.float64]

#: Ranks that have a class of their own; beyond, classes of ranks grow in proportion.
_SINGLE = 32

#: Inserts that fill a page, as the simulator has them (its `append`).
ROWS_A_PAGE = 20

#: Classes of ranks in all.
_CLASSES = 160


@dataclass(frozen=True)
class PageSetLoad:
    """Activity of the members on a page set of a pool, per second; a number per member.

    Attributes
    ----------
    pages, skew
        Pages, and the exponent of Zipf's law by which they are popular.
    random, sequential
        Getpages by key and by scan.
    updates
        Pages that are changed and written at commit.
    dependent
        Whether the page set depends on the group buffer pool.
    """

    pages: int
    skew: float
    random: tuple[float, ...]
    sequential: tuple[float, ...]
    updates: tuple[float, ...]
    dependent: bool


@dataclass(frozen=True)
class PageRates:
    """Events in a pool, summed over members, per second.

    Attributes
    ----------
    absent, invalid
        Getpages whose page was not in the local pool, and whose page was there but cross-invalidated.
    absent_hits, invalid_hits
        Of these, reads of the group buffer pool that returned the page.
    other_misses
        Getpages of page sets that are not dependent whose page was not in the pool.
    xi_write, xi_reclaim
        Cross-invalidations by writes, and by reclaim of directory entries.
    directory_reclaims
        Directory entries taken from one page for another.
    directory_used, data_used
        Entries in use.
    writes
        Pages written.
    """

    absent: float
    invalid: float
    absent_hits: float
    invalid_hits: float
    other_misses: float
    xi_write: float
    xi_reclaim: float
    directory_reclaims: float
    directory_used: float
    data_used: float
    writes: float

    @property
    def hit_fraction(self) -> float:
        """Reads of the group buffer pool that returned a page; NaN without reads."""
        reads = self.absent + self.invalid
        return (self.absent_hits + self.invalid_hits) / reads if reads else math.nan


def zipf_classes(pages: int, skew: float) -> tuple[Floats, Floats]:
    """Pages in classes of similar popularity: the number in each, and the reference probability of a page in it.

    Parameters
    ----------
    pages
        Pages; 1 or more.
    skew
        Exponent of Zipf's law; 0 makes all alike.
    """
    if pages <= _CLASSES:
        edges = np.arange(pages + 1, dtype=np.float64)
    else:
        wide = np.unique(np.round(np.geomspace(_SINGLE, pages, _CLASSES - _SINGLE)))
        edges = np.concatenate([np.arange(_SINGLE, dtype=np.float64), wide])
    counts = np.diff(edges)
    # The sum of r**-skew over ranks edge+1 .. next edge, by the midpoint rule; exact where a class is one rank.
    low, high = edges[:-1] + 0.5, edges[1:] + 0.5
    if abs(skew - 1.0) < 1e-9:
        sums = np.log(high / low)
    else:
        sums = (high ** (1.0 - skew) - low ** (1.0 - skew)) / (1.0 - skew)
    single = counts == 1
    sums[single] = edges[1:][single] ** -skew
    return counts, sums / sums.sum() / counts


def characteristic_time(function: Callable[[float], float], capacity: float, most: float) -> float:
    """The time T for which an LRU list of the given capacity holds the expected number of entries; infinite if all fit.

    Parameters
    ----------
    function
        Expected number of pages held when each stays T seconds after its last use; it grows with T.
    capacity
        Places.
    most
        Pages that are used at all.
    """
    if capacity >= most:
        return math.inf
    if capacity <= 0:
        return 0.0
    return crossing(lambda time: function(time) - capacity, 1e-9, 1e12, within=1e-6)


def _present(rates: Floats, time: float) -> Floats:
    """Probability that a page was used within the given time."""
    if math.isinf(time):
        return np.where(rates > 0, 1.0, 0.0)
    return -np.expm1(-rates * time)


def _stay(rates: Floats, time: float) -> Floats:
    """Mean duration of a stay that each use within ``time`` prolongs: (e^(rate T) - 1) / rate."""
    if math.isinf(time):
        return np.full_like(rates, math.inf)
    exponent = np.minimum(rates * time, 600.0)
    return np.where(rates > 0, np.expm1(exponent) / np.maximum(rates, 1e-300), time)


def _occupied(stays: Floats, absences: Floats) -> Floats:
    """Share of the time that entries are present; infinite stays count fully."""
    with np.errstate(invalid="ignore"):
        shares = stays / (stays + absences)
    return np.where(np.isinf(stays), np.where(np.isinf(absences), 0.0, 1.0), shares)


def _with_data(options: Floats, changed: Floats, time: float) -> Floats:
    """Probability that a page is in the data entries: a change brings it in, and requests keep it there."""
    gone = np.where(changed > 0, 1.0 / np.maximum(changed, 1e-300), math.inf)
    return _occupied(_stay(options, time), gone)


def _keeps(uses: Floats, pool_time: float, directory_time: float) -> Floats:
    """Probability that a member keeps a page whose directory entry was not requested within the directory's time.

    Either it has had the page all that time, by uses that never were further apart than its pool's time; or it had it,
    left it longer than that, and has not used it since; or it has not used it at all. Any other course asks for it.
    """
    there = _present(uses, pool_time)
    if math.isinf(pool_time):
        return there
    never = np.exp(-np.minimum(uses * directory_time, 600.0))
    long_ago = np.exp(-np.minimum(uses * pool_time, 600.0))
    kept = there * np.exp(-np.minimum(uses * long_ago * directory_time, 600.0))
    left = there * np.maximum(long_ago - never, 0.0)
    whole = kept + left + (1.0 - there) * never
    return np.where(whole > 0, kept / np.maximum(whole, 1e-300), 0.0)


@dataclass(frozen=True)
class _Pages:
    """Pages of all page sets of a pool, in classes: their number, and uses and changes per page by member."""

    counts: Floats
    used: list[Floats]
    changed: list[Floats]
    dependent: npt.NDArray[np.bool_]


def _pages(sets: Sequence[PageSetLoad], members: int) -> _Pages:
    parts = [(data_set, *zipf_classes(max(data_set.pages, 1), data_set.skew)) for data_set in sets]
    if not parts:
        empty = np.zeros(0)
        return _Pages(empty, [empty] * members, [empty] * members, np.zeros(0, dtype=np.bool_))
    return _Pages(
        np.concatenate([counts for _, counts, _ in parts]),
        [
            np.concatenate(
                [
                    data_set.random[m] * chance + data_set.sequential[m] / max(data_set.pages, 1)
                    for data_set, _, chance in parts
                ]
            )
            for m in range(members)
        ],
        [np.concatenate([data_set.updates[m] * chance for data_set, _, chance in parts]) for m in range(members)],
        np.concatenate([np.full(len(counts), data_set.dependent) for data_set, counts, _ in parts]),
    )


def page_rates(
    sets: Sequence[PageSetLoad],
    buffers: Sequence[float],
    data_entries: float,
    directory_entries: float,
    hot: Sequence[float] = (),
    *,
    kept: float | None = None,
) -> PageRates:
    """Rates of the events that a pool's getpages cause.

    Parameters
    ----------
    sets
        Page sets of the pool.
    buffers
        Size of the local pool of each member.
    data_entries, directory_entries
        Of the group buffer pool; 0 where there are none.
    hot
        Getpages of each member that change the one page where all members insert.
    kept
        Members that still have a page when its directory entry is reclaimed, mean, where it was measured
        (R744CXDR / R744CDER); None: as the model has it, which takes too many.
    """
    about = _pages(sets, len(buffers))
    times = []
    for uses, size in zip(about.used, buffers, strict=True):

        def content(time: float, uses: Floats = uses) -> float:
            return float(about.counts @ _present(uses, time))

        times.append(characteristic_time(content, size, float(about.counts @ (uses > 0))))
    other_misses = sum(
        float(about.counts @ np.where(about.dependent, 0.0, uses * (1.0 - _present(uses, time))))
        for uses, time in zip(about.used, times, strict=True)
    )
    keep = about.dependent
    counts = about.counts[keep]
    used = [uses[keep] for uses in about.used]
    changed = [changes[keep] for changes in about.changed]
    all_used, all_changed = np.sum(used, axis=0), np.sum(changed, axis=0)
    absent, invalid, in_pool = [], [], []
    for uses, changes, time in zip(used, changed, times, strict=True):
        there = _present(uses, time)
        # Used last a time a ago, a < T, and changed by another since: integral of u e^(-ua) (1 - e^(-oa)) over 0..T.
        rate = uses + all_changed - changes
        valid_still = np.where(rate > 0, uses / np.maximum(rate, 1e-300), 0.0) * _present(rate, time)
        absent.append(uses * (1.0 - there))
        invalid.append(uses * np.maximum(there - valid_still, 0.0))
        in_pool.append(there)
    all_absent, all_invalid = np.sum(absent, axis=0), np.sum(invalid, axis=0)
    options = all_absent + all_invalid + all_changed
    directory_time, reclaims, lost = math.inf, np.zeros_like(counts), np.zeros_like(counts)
    distinct = float(counts @ (options > 0))
    if 0 < directory_entries < distinct:
        absences = 1.0 / np.maximum(all_used, 1e-300)

        def entries(time: float) -> float:
            return float(counts @ _occupied(_stay(options, time), absences))

        directory_time = characteristic_time(entries, directory_entries, distinct)
        reclaims = np.where(options > 0, 1.0 / (_stay(options, directory_time) + absences), 0.0)
        keepers = [_keeps(uses, time, directory_time) for uses, time in zip(used, times, strict=True)]
        lost = reclaims * (np.sum(keepers, axis=0) if kept is None else kept)
    changing = float(counts @ (all_changed > 0))
    data_time = math.inf
    if data_entries < changing:

        def data(time: float) -> float:
            return float(counts @ _with_data(options, all_changed, time))

        data_time = characteristic_time(data, data_entries, changing)
    # Data go with their directory entry.
    stay_time = min(data_time, directory_time)
    absent_hits = invalid_hits = 0.0
    for number, (uses, changes, time) in enumerate(zip(used, changed, times, strict=True)):
        own = absent[number] + invalid[number] + changes
        # A member that does not have a page has not asked for it, nor changed it, for its pool's time.
        older = 1.0 if math.isinf(stay_time) else max(1.0 - time / stay_time, 0.0) if stay_time else 0.0
        there = _with_data(options - own * (1.0 - older), all_changed - changes * (1.0 - older), stay_time)
        absent_hits += float(counts @ (absent[number] * there))
        since = _present(uses + all_changed - changes, stay_time)
        invalid_hits += float(counts @ (invalid[number] * np.maximum(since, there)))
    # A write invalidates the members that have the page in a version that is still valid.
    valid = [
        np.where(uses > 0, (uses * there - bad) / np.maximum(uses, 1e-300), 0.0)
        for uses, there, bad in zip(used, in_pool, invalid, strict=True)
    ]
    all_valid = np.sum(valid, axis=0)
    xi_write = sum(float(counts @ (changes * (all_valid - own))) for changes, own in zip(changed, valid, strict=True))
    # The page where all insert: whoever comes after another member finds it invalid, and its last version at once.
    inserts = sum(hot)
    passed_on = sum(rate * (1.0 - rate / inserts) for rate in hot) if inserts else 0.0
    new_pages = inserts / ROWS_A_PAGE
    return PageRates(
        float(counts @ all_absent) + new_pages,
        # Each page lost by reclaim is read again when its member uses it next.
        float(counts @ (all_invalid + np.minimum(lost, all_used))) + max(passed_on - new_pages, 0.0),
        absent_hits,
        invalid_hits + max(passed_on - new_pages, 0.0),
        other_misses,
        xi_write + passed_on,
        float(counts @ lost),
        float(counts @ reclaims),
        min(directory_entries, distinct) if directory_entries else 0.0,
        min(data_entries, float(counts @ _with_data(options, all_changed, stay_time))),
        float(counts @ all_changed) + inserts,
    )
