"""Duration of each object's I/Os: IFCID 6 paired with 7, writes of IFCID 10, or the sums of IFCID 199."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

#: Read I/Os that may be under way; beyond that the oldest are given up.
_UNDER_WAY = 1 << 16

_PAIRED, _SUMMED = "IFCID 6 and 7", "IFCID 199"


@dataclass
class ObjectDelay:
    """The I/Os of an object.

    Attributes
    ----------
    pool, object, partition
        Which. IFCID 6 and 7 have no partition: it is 0 then.
    sync_ios, sync_seconds, sync_longest
        Synchronous I/Os, what they took in all and the longest, in seconds.
    prefetch_ios, prefetch_seconds, prefetch_longest, prefetch_pages
        Prefetch I/Os (of IFCID 199: all asynchronous ones), and the pages they moved.
    write_ios, write_pages
        Asynchronous writes (IFCID 10) and their pages.
    source
        The source records. IFCID 199 counts writes among synchronous and asynchronous I/Os.
    """

    pool: int
    object: int
    partition: int
    source: str
    sync_ios: int = 0
    sync_seconds: float = 0.0
    sync_longest: float = 0.0
    prefetch_ios: int = 0
    prefetch_seconds: float = 0.0
    prefetch_longest: float = 0.0
    prefetch_pages: int = 0
    write_ios: int = 0
    write_pages: int = 0

    @property
    def sync_mean(self) -> float | None:
        """Mean delay of a synchronous I/O in seconds; None without such I/Os."""
        return self.sync_seconds / self.sync_ios if self.sync_ios else None

    @property
    def prefetch_mean(self) -> float | None:
        """Mean time of a prefetch I/O in seconds; None without such I/Os."""
        return self.prefetch_seconds / self.prefetch_ios if self.prefetch_ios else None


@dataclass
class _Events:
    """Starts (IFCID 6) or ends (IFCID 7) of read I/Os, as columns."""

    who: npt.NDArray[np.uint64]
    object: npt.NDArray[np.uint32]
    time: npt.NDArray[np.int64]
    pool: npt.NDArray[np.uint16]
    sync: npt.NDArray[np.bool_]
    pages: npt.NDArray[np.int64]
    failed: npt.NDArray[np.bool_]

    def take(self, rows: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> _Events:
        return _Events(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def events(
    who: npt.NDArray[np.uint64],
    object: npt.NDArray[np.uint32],
    time: npt.NDArray[np.int64],
    *,
    pool: npt.NDArray[np.uint16] | None = None,
    sync: npt.NDArray[np.bool_] | None = None,
    pages: npt.NDArray[np.int64] | None = None,
    failed: npt.NDArray[np.bool_] | None = None,
) -> _Events:
    """Columns of starts (``pool``, ``sync``) or ends (``pages``, ``failed``); ``who`` is member and agent."""
    rows = len(time)
    return _Events(
        who=who,
        object=object,
        time=time,
        pool=np.zeros(rows, np.uint16) if pool is None else pool,
        sync=np.zeros(rows, np.bool_) if sync is None else sync,
        pages=np.zeros(rows, np.int64) if pages is None else pages,
        failed=np.zeros(rows, np.bool_) if failed is None else failed,
    )


@dataclass
class IoDelays:
    """Pairs the starts and ends of read I/Os as they arrive.

    An end belongs to the oldest start of the same agent and object that has none. An end without a start (the trace
    began in between) is counted, and so is a start without an end.

    Attributes
    ----------
    by_object
        Delays by pool, object and partition.
    ends_alone, starts_alone, failed
        Ends without a start, starts without an end, and I/Os that ended in an error.
    """

    by_object: dict[tuple[int, int, int], ObjectDelay] = field(default_factory=dict)
    summed: dict[tuple[int, int, int], ObjectDelay] = field(default_factory=dict)
    ends_alone: int = 0
    failed: int = 0
    _given_up: int = 0
    _under_way: _Events | None = field(default=None, repr=False)

    @property
    def starts_alone(self) -> int:
        """Number of starts without an end."""
        return self._given_up + (len(self._under_way.time) if self._under_way is not None else 0)

    def ranked(self) -> list[ObjectDelay]:
        """The objects, ordered by synchronous I/O, highest first; sums of IFCID 199 if no I/O was paired."""
        object_delays = self.by_object or self.summed
        return sorted(
            object_delays.values(), key=lambda delay: (-delay.sync_ios, delay.pool, delay.object, delay.partition)
        )

    def add(self, starts: _Events | None, ends: _Events | None) -> None:
        """Pair the next events."""
        if starts is None and ends is None:
            return
        begun = [part for part in (self._under_way, starts) if part is not None]
        every = [*begun, *([ends] if ends is not None else [])]
        both = _Events(
            *(np.concatenate([getattr(part, name) for part in every]) for name in _Events.__dataclass_fields__)
        )
        is_end = np.zeros(len(both.time), np.bool_)
        if ends is not None:
            is_end[len(both.time) - len(ends.time) :] = True
        # An I/O that took no time at all still begins before it ends.
        order = np.lexsort((is_end, both.time, both.object, both.who))
        both, is_end = both.take(order), is_end[order]
        first = np.ones(len(order), np.bool_)
        first[1:] = (both.who[1:] != both.who[:-1]) | (both.object[1:] != both.object[:-1])
        group = np.cumsum(first) - 1
        alone = _without_start(is_end, first, group)
        self.ends_alone += int(np.count_nonzero(alone))
        paired_starts, paired_ends, left = _in_turn(np.flatnonzero(~is_end), np.flatnonzero(is_end & ~alone), group)
        self._count(both.take(paired_starts), both.take(paired_ends))
        under_way = both.take(left)
        if len(left) > _UNDER_WAY:
            self._given_up += len(left) - _UNDER_WAY
            under_way = under_way.take(np.argsort(under_way.time, kind="stable")[-_UNDER_WAY:])
        self._under_way = under_way

    def _count(self, starts: _Events, ends: _Events) -> None:
        good = ~ends.failed
        self.failed += int(np.count_nonzero(~good))
        starts, ends = starts.take(good), ends.take(good)
        seconds = (ends.time - starts.time) / 1e6
        for sync in (True, False):
            kind = starts.sync == sync
            keys = (starts.pool[kind].astype(np.uint64) << np.uint64(32)) | starts.object[kind]
            values, which = np.unique(keys, return_inverse=True)
            counts = np.bincount(which, minlength=len(values))
            sums = np.bincount(which, seconds[kind], len(values))
            pages = np.bincount(which, ends.pages[kind], len(values))
            longest = np.zeros(len(values))
            np.maximum.at(longest, which, seconds[kind])
            for at, key in enumerate(values.tolist()):
                delays = self._object(self.by_object, _PAIRED, key >> 32, key & 0xFFFFFFFF, 0)
                if sync:
                    delays.sync_ios += int(counts[at])
                    delays.sync_seconds += float(sums[at])
                    delays.sync_longest = max(delays.sync_longest, float(longest[at]))
                else:
                    delays.prefetch_ios += int(counts[at])
                    delays.prefetch_seconds += float(sums[at])
                    delays.prefetch_longest = max(delays.prefetch_longest, float(longest[at]))
                    delays.prefetch_pages += int(pages[at])

    def add_writes(
        self, pool: npt.NDArray[np.uint32], object: npt.NDArray[np.uint32], pages: npt.NDArray[np.int64]
    ) -> None:
        """Count asynchronous writes."""
        result, which = np.unique((pool.astype(np.uint64) << np.uint64(32)) | object, return_inverse=True)
        counts, sums = np.bincount(which, minlength=len(result)), np.bincount(which, pages, len(result))
        for at, key in enumerate(result.tolist()):
            delays = self._object(self.by_object, _PAIRED, key >> 32, key & 0xFFFFFFFF, 0)
            delays.write_ios += int(counts[at])
            delays.write_pages += int(sums[at])

    def add_sums(
        self,
        pool: int,
        object: int,
        partition: int,
        sync: tuple[int, float, float],
        other: tuple[int, int, float, float],
    ) -> None:
        """Count a row of IFCID 199.

        Parameters
        ----------
        pool, object, partition
            Which data set.
        sync
            Synchronous I/Os, their mean and longest delay in seconds.
        other
            Asynchronous I/Os, their pages, mean and longest time in seconds.
        """
        delays = self._object(self.summed, _SUMMED, pool, object, partition)
        delays.sync_ios += sync[0]
        delays.sync_seconds += sync[0] * sync[1]
        delays.sync_longest = max(delays.sync_longest, sync[2])
        delays.prefetch_ios += other[0]
        delays.prefetch_pages += other[1]
        delays.prefetch_seconds += other[0] * other[2]
        delays.prefetch_longest = max(delays.prefetch_longest, other[3])

    @staticmethod
    def _object(
        object_delays: dict[tuple[int, int, int], ObjectDelay], source: str, pool: int, object: int, partition: int
    ) -> ObjectDelay:
        key = (pool, object, partition)
        if key not in object_delays:
            object_delays[key] = ObjectDelay(pool=pool, object=object, partition=partition, source=source)
        return object_delays[key]


def _without_start(
    is_end: npt.NDArray[np.bool_], first: npt.NDArray[np.bool_], group: npt.NDArray[np.intp]
) -> npt.NDArray[np.bool_]:
    """Ends without a start: those that bring the balance of starts and ends in their group to a new low below zero."""
    if not len(is_end):
        return is_end
    balance = np.cumsum(np.where(is_end, -1, 1))
    before = np.concatenate(([0], balance[:-1]))[first]
    balance = balance - before[group]
    # Groups one after another in one running minimum: each begins far below the one before.
    below = group.astype(np.int64) * (2 * len(is_end) + 2)
    low = np.minimum.accumulate(np.minimum(balance, 0) - below) + below
    low_before = np.concatenate(([0], low[:-1]))
    low_before[first] = 0
    return is_end & (low < low_before)


def _in_turn(
    starts: npt.NDArray[np.intp], ends: npt.NDArray[np.intp], group: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Starts and ends with the same ordinal in their group, and the remaining starts."""

    def turn(rows: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
        groups = group[rows]
        begins = np.searchsorted(groups, groups, "left")
        turns: npt.NDArray[np.int64] = np.arange(len(rows)) - begins
        return turns

    wide = len(group) + 1
    start_keys = group[starts].astype(np.int64) * wide + turn(starts)
    end_keys = group[ends].astype(np.int64) * wide + turn(ends)
    _, at_starts, at_ends = np.intersect1d(start_keys, end_keys, assume_unique=True, return_indices=True)
    left = np.ones(len(starts), np.bool_)
    left[at_starts] = False
    return starts[at_starts], ends[at_ends], starts[left]
