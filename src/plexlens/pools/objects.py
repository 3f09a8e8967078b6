"""Pools and objects by the I/O they cost.

What ranks is read I/O per second: it alone turns into CPU and into delay. A hit ratio does not: the application hit
ratio counts pages that prefetch brought as hits, so that it measures waits and not I/O; the system hit ratio falls
with every page that prefetch reads ahead, below zero where nobody asks for them; and neither knows how often. Both are
shown to be recognised, and nothing is decided by them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from plexlens.metrics.page_numbers import page_numbers
from plexlens.pools.cost import IoCost, per_day
from plexlens.pools.observation import Observation, ObservedObject

_IO = page_numbers("pool_io")


@dataclass(frozen=True)
class Io:
    """Getpages and I/O of a pool or an object over a period. None: not known.

    Attributes
    ----------
    pool, name, kind
        Pool; ``DATABASE.PAGESET`` or empty for the whole pool; ``tablespace``, ``index`` or empty.
    seconds
        The time; 0 where it is not known.
    partitions
        Data sets of the object that were referenced; of a pool, its objects.
    getpages, random_getpages
        All, and by random access; the rest is of scans and lists.
    sync_reads, prefetch_reads, prefetch_pages
        Synchronous read I/Os; prefetch I/Os and the pages they read.
    updates, write_ios, pages_written
        References that change a page; write I/Os and the pages they wrote.
    sync_delay, sync_delay_longest, prefetch_delay
        Seconds of a synchronous read I/O, mean and longest, and of a prefetch I/O, as recorded.
    recorded_sync_reads, recorded_prefetches
        Read I/Os recorded in the trace, in addition to the simulated ones.
    page_fixed
        Whether its pool is page-fixed: its I/O costs less CPU.
    parts
        The objects of a pool: it waits as long as they do together, each at its own delay.
    """

    pool: str
    name: str
    kind: str = ""
    seconds: float = 0.0
    partitions: int = 1
    getpages: float | None = None
    random_getpages: float | None = None
    sync_reads: float | None = None
    prefetch_reads: float | None = None
    prefetch_pages: float | None = None
    updates: float | None = None
    write_ios: float | None = None
    pages_written: float | None = None
    sync_delay: float | None = None
    sync_delay_longest: float | None = None
    prefetch_delay: float | None = None
    recorded_sync_reads: float | None = None
    recorded_prefetches: float | None = None
    page_fixed: bool = False
    parts: tuple[Io, ...] = ()

    @property
    def read_ios(self) -> float | None:
        """Synchronous and prefetch read I/Os."""
        return _total(self.sync_reads, self.prefetch_reads)

    @property
    def pages_read(self) -> float | None:
        """Pages read: one per synchronous read, plus those of prefetch."""
        return _total(self.sync_reads, self.prefetch_pages)

    @property
    def recorded_read_ios(self) -> float | None:
        """Read I/Os recorded in the trace."""
        return _total(self.recorded_sync_reads, self.recorded_prefetches)

    @property
    def random_share(self) -> float | None:
        """Share of random getpages."""
        return _IO["random_share"].of(self)

    @property
    def application_hit_ratio(self) -> float | None:
        """Share of getpages that did not wait for a synchronous read."""
        return _IO["application_hit_ratio"].of(self)

    @property
    def system_hit_ratio(self) -> float | None:
        """Getpages minus pages read, as a share of getpages; negative if prefetch reads pages that are not used."""
        return _IO["system_hit_ratio"].of(self)

    @property
    def pages_per_write(self) -> float | None:
        """Pages per write I/O."""
        return _IO["pages_per_write"].of(self)

    def per_second(self, amount: float | None) -> float | None:
        """An amount divided by the seconds of the trace."""
        return amount / self.seconds if amount is not None and self.seconds > 0 else None

    @property
    def read_ios_per_second(self) -> float | None:
        """Read I/Os per second, by which pools and objects are ranked."""
        return _IO["read_ios_per_second"].of(self)

    def cpu_seconds(self, cost: IoCost) -> float | None:
        """CPU of the read I/Os."""
        if self.read_ios is None:
            return None
        return cost.cpu_seconds(self.sync_reads or 0.0, self.prefetch_reads or 0.0, page_fixed=self.page_fixed)

    def sync_delay_of(self, cost: IoCost) -> float:
        """Duration of a synchronous read in seconds: measured for the object if recorded, else the general
        assumption.
        """
        return cost.sync_delay.value if self.sync_delay is None else self.sync_delay

    def elapsed_seconds(self, cost: IoCost) -> float | None:
        """Time that applications waited for synchronous reads."""
        if self.parts:
            return _total(*(part.elapsed_seconds(cost) for part in self.parts))
        return None if self.sync_reads is None else self.sync_reads * self.sync_delay_of(cost)

    def cpu_per_day(self, cost: IoCost) -> float | None:
        """CPU of the read I/Os in 24 hours."""
        return _scaled(self.cpu_seconds(cost), self.seconds)

    def delay_per_day(self, cost: IoCost) -> float | None:
        """Time waited in 24 hours."""
        return _scaled(self.elapsed_seconds(cost), self.seconds)


def _scaled(amount: float | None, seconds: float) -> float | None:
    return None if amount is None else per_day(amount, seconds)


def _total(*parts: float | None) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def io_of(observed: ObservedObject, observation: Observation) -> Io:
    """The simulation's counters for an object, combined with its recorded I/O."""
    counters, delay = observed.counters, observed.delay
    return Io(
        pool=observed.pool,
        name=observed.name,
        kind=observed.kind,
        seconds=observation.seconds,
        partitions=observed.partitions,
        getpages=observed.getpages,
        random_getpages=observed.getpages_of("random"),
        sync_reads=counters.get("sync_reads", 0),
        prefetch_reads=counters.get("prefetch_reads", 0),
        prefetch_pages=counters.get("prefetch_pages", 0),
        updates=observed.updates,
        write_ios=counters.get("writes", 0),
        pages_written=counters.get("pages_written", 0),
        sync_delay=None if delay is None else delay.sync_mean,
        sync_delay_longest=delay.sync_longest if delay is not None and delay.sync_ios else None,
        prefetch_delay=None if delay is None else delay.prefetch_mean,
        recorded_sync_reads=observed.recorded_sync_reads if observation.recorded else None,
        recorded_prefetches=observed.recorded_prefetches if observation.recorded else None,
        page_fixed=observation.settings[observed.pool].pgfix,
    )


def objects_of(observation: Observation) -> list[Io]:
    """All objects, ordered by read I/O, highest first."""
    return ranked(io_of(observed, observation) for observed in observation.objects())


def partitions_of(observation: Observation) -> list[Io]:
    """Data sets of objects that have several, ordered by read I/O, highest first."""
    several = {(observed.pool, observed.object) for observed in observation.objects() if observed.partitions > 1}
    return ranked(
        io_of(data_set, observation)
        for data_set in observation.data_sets
        if (data_set.pool, data_set.object) in several
    )


def pools_of(observation: Observation) -> list[Io]:
    """All simulated pools, ordered by read I/O, highest first."""
    objects = objects_of(observation)
    return ranked(
        _pool(name, [observed for observed in objects if observed.pool == name], observation)
        for name in observation.pools
    )


def _pool(name: str, objects: list[Io], observation: Observation) -> Io:
    def sum_of(field: str) -> float | None:
        return _total(*(getattr(observed, field) for observed in objects))

    timed = [
        (observed.sync_delay, observed.sync_reads or 0.0) for observed in objects if observed.sync_delay is not None
    ]
    reads = sum(weight for _, weight in timed)
    return Io(
        pool=name,
        name="",
        seconds=observation.seconds,
        partitions=len(objects),
        getpages=sum_of("getpages"),
        random_getpages=sum_of("random_getpages"),
        sync_reads=sum_of("sync_reads"),
        prefetch_reads=sum_of("prefetch_reads"),
        prefetch_pages=sum_of("prefetch_pages"),
        updates=sum_of("updates"),
        write_ios=sum_of("write_ios"),
        pages_written=sum_of("pages_written"),
        sync_delay=sum(delay * weight for delay, weight in timed) / reads if reads else None,
        sync_delay_longest=max((observed.sync_delay_longest or 0.0 for observed in objects), default=0.0) or None,
        recorded_sync_reads=sum_of("recorded_sync_reads"),
        recorded_prefetches=sum_of("recorded_prefetches"),
        page_fixed=observation.settings[name].pgfix,
        parts=tuple(objects),
    )


def ranked(ios: Iterable[Io]) -> list[Io]:
    """Ordered by read I/O, highest first; ties by getpages, then by name."""
    return sorted(ios, key=lambda io: (-(io.read_ios or 0.0), -(io.getpages or 0.0), io.pool, io.name))
