"""Ranges of a pool's reads at sizes that were not measured.

Statistics give the reads of a pool at the sizes that it had, and SPSIZE those of one larger size. Between and beyond
these sizes the reads follow from the order of references, which statistics do not hold. Two ranges say what is left:

*Possible.* A larger LRU pool holds everything that a smaller one holds (Mattson and others 1970), so its reads are at
most those of any smaller size and at least those of any larger size that was measured. A getpage reads at most once.
Pages that were seen in the pool, and that do not fit together, were read. Nothing narrower follows from statistics: a
batch job that repeats a set of pages reads all of them until the last page fits.

*Likely.* Beyond the measured sizes, reads times size lie between those of the nearest measured size and a pool whose
reads do not depend on its size: twice the buffers save at most half of the reads, half the buffers at most double them.
This is a rule, not a law; docs/pools.md shows how often it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: Reads per getpage below which a pool holds nearly all that it is asked for: how far it could shrink is unknown, since
#: reads that hardly happen say nothing about the pages that are found.
FEWEST_READS = 1e-3

#: Pages of the largest read I/O: a sequential prefetch of a 4 KB pool with 40,000 sequential buffers (Db2 13 for
#: z/OS, *Prefetch I/O*).
MOST_PAGES = 64


@dataclass(frozen=True)
class Range:
    """A range of a number.

    Attributes
    ----------
    least, most
        The bounds.
    """

    least: float
    most: float

    def times(self, factor: float) -> Range:
        """The range of the number times a positive factor."""
        return Range(self.least * factor, self.most * factor)

    def within(self, other: Range) -> Range:
        """The part of the range inside another; the nearest bound where they do not overlap."""
        least, most = (min(max(bound, other.least), other.most) for bound in (self.least, self.most))
        return Range(least, most)

    def holds(self, value: float, *, tolerance: float = 0.0) -> bool:
        """Whether a value lies in the range, widened by a share of its bounds."""
        return self.least * (1 - tolerance) <= value <= self.most * (1 + tolerance)


@dataclass(frozen=True)
class Point:
    """Reads of a pool at one size.

    Attributes
    ----------
    size
        Buffers.
    share
        Read I/Os per getpage.
    error
        Standard error of the share by the intervals in which the pool had this size; 0 for one interval.
    now
        Whether it was counted under the load that is asked about; then the share has no error.
    unsure
        By how much the share may be too high: SPSIZE counts avoidable pages of prefetch, not avoidable I/Os.
    """

    size: int
    share: float
    error: float = 0.0
    now: bool = False
    unsure: float = 0.0

    @property
    def range(self) -> Range:
        """Two standard errors around the share."""
        off = 0.0 if self.now else 2 * self.error
        return Range(max(self.share - self.unsure - off, 0.0), min(self.share + off, 1.0))


def possible(points: Sequence[Point], size: int, *, touched: float = 0.0) -> Range:
    """Range of read I/Os per getpage at a size, valid for every order of references.

    Parameters
    ----------
    points
        What is measured.
    size
        Buffers.
    touched
        Distinct pages seen in the pool, per getpage of the same time; `Seen.touched`.
    """
    least = max((point.range.least for point in points if point.size >= size), default=0.0)
    most = min((point.range.most for point in points if point.size <= size), default=1.0)
    return Range(min(max(least, touched), most), most)


def likely(points: Sequence[Point], size: int, *, touched: float = 0.0) -> Range | None:
    """Read I/Os per getpage at a size if reads change by no more than the size does.

    None where the pool hardly reads and the size is smaller than any measured: then only `possible` says anything.
    """
    whole = possible(points, size, touched=touched)
    below = max((point for point in points if point.size <= size), key=lambda entry: entry.size, default=None)
    above = min((point for point in points if point.size >= size), key=lambda point: point.size, default=None)
    if below is not None and above is not None:
        return whole
    if below is not None:
        near = below.range
        return Range(near.least * below.size / size, near.most).within(whole)
    if above is None or above.share < FEWEST_READS:
        return None
    near = above.range
    return Range(near.least, near.most * above.size / size).within(whole)


def size_for(size: int, pages_per_second: float, seconds: float) -> Range:
    """Buffers with which a page stays this long, if it stays ``size / pages_per_second`` now.

    If reads do not depend on the size, that many pages are read in this time; if reads times size stay the same, the
    geometric mean of them and the size now.
    """
    read = pages_per_second * seconds
    middle = (size * read) ** 0.5
    return Range(min(middle, read), max(middle, read))
