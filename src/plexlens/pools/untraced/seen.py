"""Pools and data sets of a Db2 by statistics: SMF 100, IFCID 199, output of -DISPLAY BUFFERPOOL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import sqrt
from typing import Any

from plexlens.errors import NothingUsableError
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available, facts, rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.pools.members import pool_order
from plexlens.pools.settings import Configuration, PoolSettings, page_bytes_of
from plexlens.pools.untraced.bounds import MOST_PAGES, Point

_COLUMNS = ("subsystem", "pool", "interval_start", "interval_end", "interval_seconds", "buffers", "getpages")
_COUNTS = ("getpages_sequential", "sync_reads", "sync_writes", "async_writes")
_READS = ("sequential_prefetch_reads", "list_prefetch_reads", "dynamic_prefetch_reads")
_PAGES = ("sequential_prefetch_pages", "list_prefetch_pages", "dynamic_prefetch_pages")


@dataclass(frozen=True)
class Seen:
    """A pool as statistics saw it.

    Attributes
    ----------
    settings
        Its size and thresholds now.
    seconds, intervals
        Time at the present size, and intervals in it.
    getpages, sequential, sync_reads, prefetch_ios, prefetch_pages, write_ios
        Counts in this time; ``sequential`` are sequential getpages, None where they are not counted.
    points
        Reads at every size that was measured.
    simulated
        Pages of SPSIZE; 0 without.
    touched
        Distinct pages that IFCID 199 or LSTATS saw in the pool.
    """

    settings: PoolSettings
    seconds: float
    intervals: int
    getpages: float
    sequential: float | None
    sync_reads: float
    prefetch_ios: float
    prefetch_pages: float
    write_ios: float
    points: tuple[Point, ...]
    simulated: int = 0
    touched: float = 0.0

    @property
    def name(self) -> str:
        """Its name."""
        return self.settings.name

    @property
    def reads_per_second(self) -> float:
        """Read I/Os per second."""
        return (self.sync_reads + self.prefetch_ios) / self.seconds

    @property
    def pages_per_second(self) -> float:
        """Pages read per second."""
        return (self.sync_reads + self.prefetch_pages) / self.seconds

    @property
    def getpages_per_second(self) -> float:
        """Getpages per second."""
        return self.getpages / self.seconds

    @property
    def residency(self) -> float | None:
        """Seconds that a page stays if every page read takes a buffer; None where nothing was read."""
        return self.settings.size / self.pages_per_second if self.pages_per_second else None

    def floor(self, size: int) -> float:
        """Fewest read I/Os per getpage at a size: the pages seen that do not fit were read in this time."""
        return max(self.touched - size, 0.0) / MOST_PAGES / self.getpages if self.getpages else 0.0


@dataclass(frozen=True)
class SeenObject:
    """A page set, all its partitions, as IFCID 199 or a display with LSTATS saw it.

    Attributes
    ----------
    pool, database, page_set, kind
        Which; ``kind`` is ``table space``, ``index space`` or empty.
    sync_ios, async_ios, async_pages
        I/Os that were recorded; asynchronous ones are prefetches and deferred writes.
    missing
        Seconds of data set and interval in which nothing was recorded, because there was less than one I/O per second.
    seconds
        Time of all intervals.
    cached, changed
        Mean pages in the pool, and changed ones among them, while recorded.
    most_cached
        Most pages in the pool at the end of an interval.
    is_displayed
        Whether a display is the source, which leaves nothing out.
    """

    pool: str
    database: str
    page_set: str
    kind: str
    sync_ios: float
    async_ios: float
    async_pages: float
    missing: float
    seconds: float
    cached: float
    changed: float
    most_cached: float
    is_displayed: bool = False

    @property
    def name(self) -> str:
        """``DATABASE.PAGESET``."""
        return f"{self.database}.{self.page_set}"

    @property
    def ios_per_second(self) -> tuple[float, float]:
        """I/Os per second, at least and at most."""
        ios = self.sync_ios + self.async_ios
        return ios / self.seconds, (ios + self.missing) / self.seconds

    @property
    def pages_per_async_io(self) -> float | None:
        """Pages of an asynchronous I/O."""
        return self.async_pages / self.async_ios if self.async_ios else None


@dataclass(frozen=True)
class Statistics:
    """Everything that statistics say about the pools of a Db2.

    Attributes
    ----------
    subsystem
        Its name; empty if unknown.
    pools
        In the order of their numbers.
    objects
        In the order of I/Os, most first; empty without IFCID 199 and LSTATS.
    configuration
        Pools now.
    left_out
        What cannot be used, in sentences.
    """

    subsystem: str
    pools: tuple[Seen, ...]
    objects: tuple[SeenObject, ...] = ()
    configuration: Configuration = field(default_factory=Configuration)
    left_out: tuple[str, ...] = ()


def statistics_of(
    inputs: Inputs, configuration: Configuration, subsystem: str, *, minutes: float | None = None
) -> Statistics:
    """Statistics of the pools of a Db2.

    Parameters
    ----------
    inputs
        A database.
    configuration
        The pools now; other pools are left out, and named.
    subsystem
        The Db2; empty where there is one.
    minutes
        Length of an interval that says neither its length nor its end, as the output of -DISPLAY BUFFERPOOL does not.

    Raises
    ------
    NothingUsableError
        No pool has an interval with getpages.
    """
    rows: dict[str, list[dict[str, Any]]] = {}
    counted = facts(inputs, GRAINS["db2_pool"])
    if counted is not None:
        columns = (*_COLUMNS, *_COUNTS, *_READS, *_PAGES)
        for row in counted.select(*columns).ordered("interval_start", "interval_end", "pool").to_pylist():
            # Rows of display output do not say whose they are where there is no command prefix.
            if page_bytes_of(row["pool"] or "") and (row["subsystem"] in (None, "", subsystem) or not subsystem):
                rows.setdefault(row["pool"], []).append(row)
    left_out: list[str] = []
    taken = sorted((name for name, own in rows.items() if _complete(own, minutes)), key=_order)
    if taken:
        left_out.append(
            f"{', '.join(taken)}: an interval that does not say its length is taken as {minutes:g} minutes."
        )
    objects, not_usable = _objects(inputs, subsystem, minutes)
    left_out += not_usable
    touched: dict[str, float] = {}
    for seen_object in objects:
        touched[seen_object.pool] = touched.get(seen_object.pool, 0.0) + seen_object.most_cached
    larger = _simulated(inputs, subsystem)
    seen = []
    for name in sorted(rows, key=_order):
        settings = configuration.pools.get(name)
        usable = [row for row in rows[name] if _usable(row)]
        if settings is None or not usable:
            why = "its size is not known" if settings is None else "no interval with its length and counts"
            left_out.append(f"{name} is left out: {why}.")
            continue
        seen.append(_seen(settings, usable, larger.get(name), touched.get(name, 0.0)))
        unused = len(rows[name]) - len(usable)
        if unused:
            left_out.append(f"{name}: {unused} of {len(rows[name])} intervals have no length or no counts.")
    if not seen:
        raise NothingUsableError(
            file="",
            what="no interval of statistics with the length, the getpages and the size of a pool"
            + (f" ({'; '.join(left_out)})" if left_out else ""),
            remedy="give SMF 100 of two intervals or more, or the output of -DISPLAY BUFFERPOOL(ACTIVE) "
            "DETAIL(INTERVAL): two displays one after the other, or one and --minutes for its length",
        )
    return Statistics(subsystem, tuple(seen), tuple(objects), configuration, tuple(left_out))


def _order(pool: str) -> tuple[Any, ...]:
    return (*pool_order(pool), pool)


def _complete(rows: Sequence[dict[str, Any]], minutes: float | None) -> bool:
    """Lengths of intervals that do not say them: a display counts up to the next display, the last as long as told.

    Returns whether ``minutes`` was needed.
    """
    needed = False
    for row, later in zip(rows, [*rows[1:], None], strict=True):
        if row["interval_seconds"] or row["interval_end"] is not None:
            continue
        if later is not None and row["interval_start"] and later["interval_start"] > row["interval_start"]:
            row["interval_seconds"] = (later["interval_start"] - row["interval_start"]).total_seconds()
        elif minutes is not None:
            row["interval_seconds"], needed = 60 * minutes, True
    return needed


def _usable(row: Mapping[str, Any]) -> bool:
    return bool(row["interval_seconds"]) and row["getpages"] is not None and row["sync_reads"] is not None


def _sum(row: Mapping[str, Any], names: Sequence[str]) -> float:
    return sum(float(row[name] or 0.0) for name in names)


def _reads(row: Mapping[str, Any]) -> float:
    return float(row["sync_reads"]) + _sum(row, _READS)


def _seen(
    settings: PoolSettings, rows: Sequence[Mapping[str, Any]], larger: tuple[float, float, float] | None, touched: float
) -> Seen:
    by_size: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_size.setdefault(round(row["buffers"] or settings.size), []).append(row)
    # Settings from elsewhere may say another size than the statistics have: then their last size stands for now.
    last = settings.size if settings.size in by_size else round(rows[-1]["buffers"] or settings.size)
    own = by_size.get(last, list(rows))
    points = [_point(size, results, now=size == last) for size, results in by_size.items()]
    simulated = 0
    getpages = sum(float(row["getpages"]) for row in own)
    if larger is not None and getpages:
        pages, avoided, avoided_pages = larger
        simulated = round(pages)
        share = max(sum(_reads(row) for row in own) - avoided, 0.0) / getpages
        # An avoided prefetch I/O has one avoidable page or more.
        unsure = min(sum(_sum(row, _READS) for row in own), avoided_pages) / getpages
        if simulated:
            points.append(Point(last + simulated, min(share, 1.0), now=True, unsure=unsure))
    sequential = [row["getpages_sequential"] for row in own]
    return Seen(
        settings=settings if settings.size == last else PoolSettings.of(settings.name, last),
        seconds=sum(float(row["interval_seconds"]) for row in own),
        intervals=len(own),
        getpages=getpages,
        sequential=None if None in sequential else float(sum(sequential)),
        sync_reads=sum(float(row["sync_reads"]) for row in own),
        prefetch_ios=sum(_sum(row, _READS) for row in own),
        prefetch_pages=sum(_sum(row, _PAGES) for row in own),
        write_ios=sum(_sum(row, ("sync_writes", "async_writes")) for row in own),
        points=tuple(sorted(points, key=lambda point: point.size)),
        simulated=simulated,
        touched=touched,
    )


def _point(size: int, rows: Sequence[Mapping[str, Any]], *, now: bool) -> Point:
    """Reads per getpage at a size, with the standard error of a ratio by its intervals (Cochran 1977, 2.46)."""
    getpages = sum(float(row["getpages"]) for row in rows)
    share = sum(_reads(row) for row in rows) / getpages if getpages else 0.0
    error = 0.0
    if len(rows) > 1 and getpages:
        off = sum((_reads(row) - share * float(row["getpages"])) ** 2 for row in rows)
        error = sqrt(off * len(rows) / (len(rows) - 1)) / getpages
    return Point(size, min(share, 1.0), error, now)


def _simulated(inputs: Inputs, subsystem: str) -> dict[str, tuple[float, float, float]]:
    """Pages that SPSIZE simulates in each pool, and the synchronous reads and prefetched pages that it would avoid."""
    grain = GRAINS["db2_pool_simulation"]
    if not available(inputs, grain):
        return {}
    results = {}
    for row in rolled_up(inputs, grain, by=("subsystem", "pool"), time="all"):
        if (not subsystem or row["subsystem"] == subsystem) and row["simulated_pages"]:
            avoided = _sum(row, ("avoided_reads_random", "avoided_reads_sequential"))
            results[row["pool"]] = (float(row["simulated_pages"]), avoided, float(row["avoided_pages_async"] or 0.0))
    return results


def _objects(inputs: Inputs, subsystem: str, minutes: float | None) -> tuple[list[SeenObject], list[str]]:
    """Page sets by IFCID 199, else as -DISPLAY BUFFERPOOL with LSTATS prints them; and what cannot be used."""
    grain = GRAINS["db2_data_set"]
    if not available(inputs, grain):
        return [], []
    by = ("subsystem", "pool", "database", "page_set", "partition")
    rows = [
        row
        for row in rolled_up(inputs, grain, by=by, time="interval")
        if (not subsystem or row["subsystem"] == subsystem) and row["interval_seconds"] and row["pool"]
    ]
    if rows:
        seconds = sum({row["time"]: float(row["interval_seconds"]) for row in rows}.values())
        return _page_sets(rows, lambda pool: seconds, every_io=False), []
    displayed = facts(inputs, grain)
    assert displayed is not None
    wanted = displayed.where("source_kind = 'Db2 display command' and pool is not null")
    columns = (*by, "kind", "interval_start", "sync_ios", "async_ios", "async_pages", "pages_cached", "pages_changed")
    rows = [
        row | {"time": row["interval_start"]}
        for row in wanted.select(*columns).ordered("interval_start", "pool").to_pylist()
        if row["subsystem"] in (None, "", subsystem) or not subsystem
    ]
    lengths = _lengths(rows, minutes)
    usable = [row | {"interval_seconds": length} for row in rows if (length := lengths[row["pool"]].get(row["time"]))]
    left_out = []
    if len(usable) < len(rows):
        left_out.append(
            f"{len(rows) - len(usable)} of {len(rows)} rows of data sets have no length: a display with "
            "DETAIL(INTERVAL) and LSTATS counts up to the next one, and the last needs --minutes."
        )
    return _page_sets(usable, lambda pool: sum(filter(None, lengths[pool].values())), every_io=True), left_out


def _lengths(rows: Sequence[Mapping[str, Any]], minutes: float | None) -> dict[str, dict[Any, float | None]]:
    """Seconds that displays of each pool count, by their start: up to the next display, the last for ``minutes``.

    Displays without a start cannot be put in order: where one of their data sets comes twice, they have no length.
    """
    last = None if minutes is None else 60 * minutes
    results: dict[str, dict[Any, float | None]] = {}
    for pool in {row["pool"] for row in rows}:
        own = [row for row in rows if row["pool"] == pool]
        starts = sorted({row["time"] for row in own if row["time"] is not None})
        lengths: dict[Any, float | None] = {start: (later - start).total_seconds() for start, later in pairwise(starts)}
        if starts:
            lengths[starts[-1]] = last
        undated = [(row["database"], row["page_set"], row["partition"]) for row in own if row["time"] is None]
        if undated:
            lengths[None] = last if len(set(undated)) == len(undated) else None
        results[pool] = lengths
    return results


def _page_sets(
    rows: Sequence[Mapping[str, Any]], seconds_of: Callable[[str], float], *, every_io: bool
) -> list[SeenObject]:
    """Rows of data sets by page set, most I/Os first.

    Parameters
    ----------
    rows
        Rows of the grain ``db2_data_set`` with their ``time`` and ``interval_seconds``.
    seconds_of
        Seconds that the rows of a pool cover.
    every_io
        Whether a data set without a row has no I/O; otherwise it has less than one per second.
    """
    sets: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        sets.setdefault((row["pool"], row["database"] or "", row["page_set"] or ""), []).append(row)
    results = []
    for (pool, database, page_set), own in sets.items():
        seconds = seconds_of(pool)
        partitions = {row["partition"] for row in own}
        recorded = sum(float(row["interval_seconds"]) for row in own)
        cached: dict[Any, float] = {}
        changed: dict[Any, float] = {}
        for row in own:
            cached[row["time"]] = cached.get(row["time"], 0.0) + float(row["pages_cached"] or 0.0)
            changed[row["time"]] = changed.get(row["time"], 0.0) + float(row["pages_changed"] or 0.0)
        results.append(
            SeenObject(
                pool=pool,
                database=database,
                page_set=page_set,
                kind=own[0]["kind"] or "",
                sync_ios=sum(float(row["sync_ios"] or 0.0) for row in own),
                async_ios=sum(float(row["async_ios"] or 0.0) for row in own),
                async_pages=sum(float(row["async_pages"] or 0.0) for row in own),
                missing=0.0 if every_io else len(partitions) * seconds - recorded,
                seconds=seconds,
                cached=sum(cached.values()) / len(cached),
                changed=sum(changed.values()) / len(changed),
                most_cached=max(cached.values()),
                is_displayed=every_io,
            )
        )
    return sorted(results, key=lambda entry: (-entry.sync_ios - entry.async_ios, entry.name))
