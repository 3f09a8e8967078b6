"""Replay: what the simulation of the present pools counts, next to what Db2 recorded while the trace was taken.

A simulation that contradicts the trace it replays says nothing about other pools. So every number that both have is
compared, and advice states the error, or is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from plexlens import _core
from plexlens.errors import NothingUsableError
from plexlens.ingest.page_trace import pool_name
from plexlens.ingest.page_trace.delays import ObjectDelay
from plexlens.pools.members import member_and_pool
from plexlens.pools.page_sample import Use
from plexlens.pools.prediction import Activity, State
from plexlens.pools.recorded import COUNTERS, PoolInterval, counted_during
from plexlens.pools.trace import TraceFacts
from plexlens.pools.work import Work

#: Largest error of a pool, and of one of its busiest objects, that is taken for agreement.
POOL_BOUND, OBJECT_BOUND = 0.02, 0.05

#: Error of the read I/Os of all pools beyond which nothing is recommended.
REFUSED = 0.20

#: Objects that are compared: those with the most getpages.
BUSIEST = 50

#: A difference of less than one in this number of getpages does not count: a share of a handful of I/Os says nothing.
LEAST = 1000

#: Share of the trace that statistics intervals must cover.
COVERED = 0.9

_MISS = _core.TRACE_STATUSES.index("miss")
_TRACE, _STATISTICS, _IOS, _SUMS = "IFCID 198", "SMF 100", "IFCID 6, 7, 10", "IFCID 199"


@dataclass(frozen=True)
class Check:
    """A count of a pool or object, simulated and recorded.

    Attributes
    ----------
    pool
        By full name.
    name
        The object; empty for the whole pool.
    what
        One of `plexlens.pools.recorded.COUNTERS`, or ``read_ios``, synchronous and by prefetch.
    getpages
        Of the pool or object.
    simulated, recorded
        The counts.
    source
        The records that tell the recorded one.
    unsure
        By how much they may differ, since nothing records which pages were changed, or in the group buffer pool, when
        the trace began.
    surplus
        By how much more the simulation may count, since nothing records which pages of prefetch requests were in the
        pool when the trace began: the simulation reads them all.
    """

    pool: str
    name: str
    what: str
    getpages: float
    simulated: float
    recorded: float
    source: str
    unsure: float = 0.0
    surplus: float = 0.0

    @property
    def difference(self) -> float:
        """Simulated less recorded."""
        return self.simulated - self.recorded

    @property
    def error(self) -> float | None:
        """The difference as a share of what was recorded; None where nothing was recorded."""
        return self.difference / self.recorded if self.recorded else None

    @property
    def explained(self) -> float:
        """The largest difference, without its sign, that the start of the trace explains."""
        return self.unsure + (self.surplus if self.difference > 0 else 0.0)

    @property
    def beyond(self) -> float:
        """The part of the difference, without its sign, that the start of the trace does not explain."""
        return max(abs(self.difference) - self.explained, 0.0)

    @property
    def agrees(self) -> bool:
        """Whether the two agree within the bound, or differ by so little that it does not matter."""
        bound = OBJECT_BOUND if self.name else POOL_BOUND
        return abs(self.difference) <= max(bound * self.recorded, self.getpages / LEAST)

    @property
    def is_contradicted(self) -> bool:
        """Whether the two differ by more than the bound and than the start of the trace explains."""
        return not self.agrees and self.beyond > 0


@dataclass(frozen=True)
class Replay:
    """The comparison.

    Attributes
    ----------
    pools, objects
        Of each pool and each of the busiest objects, what is recorded of it.
    missing
        What cannot be compared, and which records would contain it, in sentences.
    """

    pools: tuple[Check, ...] = ()
    objects: tuple[Check, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def error(self) -> float | None:
        """Differences of the read I/Os of all pools, without their signs, as a share of the recorded read I/Os; None
        where none are recorded.
        """
        recorded = sum(check.recorded for check in self._reads)
        return sum(abs(check.difference) for check in self._reads) / recorded if recorded else None

    @property
    def unexplained(self) -> float:
        """Share of the difference that the tolerance of the counts does not explain; 0 where nothing is recorded."""
        recorded = sum(check.recorded for check in self._reads)
        return sum(check.beyond for check in self._reads) / recorded if recorded else 0.0

    @property
    def _reads(self) -> list[Check]:
        return [check for check in self.pools if check.what in ("sync_reads", "prefetch_ios")]

    @property
    def contradictions(self) -> list[Check]:
        """Pools and objects that do not agree, and not because of the start of the trace."""
        return [check for check in (*self.pools, *self.objects) if check.is_contradicted]

    @property
    def text(self) -> str:
        """The result in a sentence."""
        if not self.pools and not self.objects:
            return "The trace records nothing that the simulation of the present pools can be compared with."
        error, compared = self.error, [*self.pools, *self.objects]
        agreeing = sum(check.agrees for check in compared)
        note = f"{agreeing} of {len(compared)} recorded counts agree with the simulation of the present pools"
        if count := len(compared) - agreeing - len(self.contradictions):
            note += f"; {count} {'is' if count == 1 else 'are'} open: the start of the trace may explain the difference"
        if error is not None:
            note += f"; read I/Os differ by {error:.1%}"
            if self.unexplained < error:
                note += f", {self.unexplained:.1%} beyond what the pools' contents at the start explain"
        return note + "."

    @property
    def advice(self) -> str:
        """The consequence of the error for predicted I/Os; empty where they need no range."""
        if self.error is None or self.error <= POOL_BOUND:
            return ""
        return f"Take every predicted number of read I/Os as ± {self.error:.1%}: a saving below that may not exist."

    def check_advice(self, *, force: bool) -> None:
        """Refuse advice on pools whose simulation contradicts the trace.

        Raises
        ------
        NothingUsableError
            The error is beyond `REFUSED`, and nothing forces the advice.
        """
        if force or self.error is None or self.unexplained <= REFUSED:
            return
        worst = max(self._reads, key=lambda check: check.beyond)
        raise NothingUsableError(
            file="",
            what=f"the simulation of the present pools contradicts the trace: read I/Os differ by {self.error:.0%}, "
            f"most in {worst.pool} ({worst.what.replace('_', ' ')}: {worst.simulated:,.0f} simulated, "
            f"{worst.recorded:,.0f} recorded by {worst.source})",
            remedy="check the sizes and thresholds of the present pools (--settings) and whether the trace has all "
            "references of these pools; --force recommends in spite of it",
        )


def replay_of(
    state: State,
    work: Work,
    facts: TraceFacts,
    *,
    intervals: Sequence[PoolInterval] = (),
    delays: Sequence[ObjectDelay] = (),
) -> Replay:
    """Compare the simulation of the present pools with what was recorded.

    Parameters
    ----------
    state
        The present pools, simulated over the whole trace, with every object where the trace has it.
    work
        What a pass over the trace has found.
    facts
        The trace.
    intervals
        Statistics of the pools.
    delays
        I/Os of objects that the trace records.
    """
    has_statuses = bool(facts.statuses)
    checks: list[Check] = []
    missing: list[str] = []
    partly: list[str] = []
    for name, activity in state.pools.items():
        member, pool = member_and_pool(name)
        if not activity.getpages:
            continue
        # A miss of the local pool may be a hit of the group buffer pool.
        shared = bool(state.dependent.get(pool))
        own = _recorded_of_pool(work.parts[member], pool) if has_statuses and not shared else {}
        texts = {what: (count, _TRACE) for what, count in own.items()}
        if facts.timed and facts.first is not None and facts.last is not None:
            counted = counted_during(intervals, member, pool, facts.first, facts.last)
            if counted is not None and counted.share >= COVERED:
                texts = {what: (count, _STATISTICS) for what, count in counted.counts.items()} | texts
            elif counted is not None:
                partly.append(f"{name} ({counted.share:.0%})")
        texts = _of_delays([delay for delay in delays if pool_name(delay.pool) == pool], alone=not member) | texts
        structure = state.configuration.structures.get(pool) if shared else None
        cached = structure.data_entries if structure is not None else 0
        size = state.configuration.pools[name].size
        checks += _checks(name, "", activity, texts, changed=_changed_before(state, name), cached=cached, size=size)
    if partly:
        missing.append(f"Statistics of SMF 100 cover too little of the trace to be compared: {', '.join(partly)}.")
    objects = list(_objects(state, work, delays, has_statuses=has_statuses))
    if not has_statuses:
        missing.append("The trace does not say which getpages found their page (QW0198PS of IFCID 198).")
    if not any(check.what == "prefetch_ios" for check in checks):
        missing.append("Prefetch and writes are not recorded: trace with SMF 100 active, or with IFCID 6, 7 and 10.")
    return Replay(tuple(checks), tuple(objects), tuple(missing))


def _changed_before(state: State, pool: str) -> float:
    """Pages that may have been changed when the trace began: of each updated data set as many as VDWQT lets be."""
    settings = state.configuration.pools[pool]
    most = settings.size * settings.vdwqt / 100 if settings.vdwqt else settings.vdwqt_pages or 40.0
    own = (activity.updates for (name, _), activity in state.data_sets.items() if name == pool)
    return min(
        sum(min(most, updates) for updates in own), settings.size * settings.dwqt / 100 if settings.dwqt else 40.0
    )


def _checks(
    pool: str,
    name: str,
    activity: Activity,
    text: dict[str, tuple[float, str]],
    *,
    changed: float = 0.0,
    cached: float = 0.0,
    size: float = 0.0,
) -> Iterator[Check]:
    """Checks of what was recorded.

    Parameters
    ----------
    pool, name, activity
        Of which pool or object, and its simulation.
    text
        Recorded counts with their sources.
    changed, cached
        Pages that may have been changed, and in the group buffer pool, when the trace began.
    size
        Buffers of the pool, the most pages that may have been there.
    """
    simulated = {
        "sync_reads": activity.sync_reads,
        "prefetch_ios": activity.prefetch_reads,
        "prefetch_pages": activity.pages_read - activity.sync_reads,
        "write_ios": activity.write_ios,
        "pages_written": activity.pages_written,
    }
    present = min(size, simulated["prefetch_pages"])
    surplus = {
        "prefetch_pages": present,
        "prefetch_ios": present * activity.prefetch_reads / max(simulated["prefetch_pages"], 1.0),
    }
    for what in COUNTERS:
        if what in text:
            recorded, source = text[what]
            if source == _SUMS:
                # IFCID 199 counts asynchronous writes among the asynchronous I/Os.
                also = {"prefetch_ios": "write_ios", "prefetch_pages": "pages_written"}.get(what)
                simulated[what] += simulated[also] if also else 0.0
            unsure = {"pages_written": changed, "sync_reads": cached}.get(what, 0.0)
            if what == "write_ios":
                # Each page may be an I/O of its own where no simulated one tells how many an I/O writes.
                unsure = changed * (activity.write_ios / activity.pages_written if activity.pages_written else 1.0)
            yield Check(
                pool, name, what, activity.getpages, simulated[what], recorded, source, unsure, surplus.get(what, 0.0)
            )
    reads = [text[what] for what in ("sync_reads", "prefetch_ios") if what in text]
    if len(reads) == 2:
        sources = " and ".join(dict.fromkeys(source for _, source in reads))
        both = simulated["sync_reads"] + simulated["prefetch_ios"]
        recorded = sum(count for count, _ in reads)
        more = surplus["prefetch_ios"]
        yield Check(pool, name, "read_ios", activity.getpages, both, recorded, sources, cached, more)


def _recorded_of_pool(work: Work, pool: str) -> dict[str, float]:
    """Synchronous reads of a pool that the statuses of getpages tell."""
    uses = [use for use in work.data_sets.values() if any(pool_name(number) == pool for number in use.getpages)]
    return {"sync_reads": float(sum(_share(use, pool) * use.statuses[_MISS] for use in uses))}


def _share(use: Use, pool: str) -> float:
    own = sum(count for number, count in use.getpages.items() if pool_name(number) == pool)
    return own / use.total if use.total else 0.0


def _of_delays(delays: Sequence[ObjectDelay], *, alone: bool) -> dict[str, tuple[float, str]]:
    """I/Os that records of single I/Os or data sets tell; they do not tell members apart."""
    if not delays or not alone:
        return {}
    sums = any(delay.source == _SUMS for delay in delays)
    source = _SUMS if sums else _IOS
    counts = {
        "sync_reads": sum(delay.sync_ios for delay in delays),
        "prefetch_ios": sum(delay.prefetch_ios for delay in delays),
        "prefetch_pages": sum(delay.prefetch_pages for delay in delays),
    }
    if any(delay.write_ios for delay in delays) and not sums:
        counts |= {
            "write_ios": sum(delay.write_ios for delay in delays),
            "pages_written": sum(delay.write_pages for delay in delays),
        }
    return {what: (float(count), source) for what, count in counts.items()}


def _objects(state: State, work: Work, delays: Sequence[ObjectDelay], *, has_statuses: bool) -> Iterator[Check]:
    """Checks of the objects with the most getpages, all partitions together."""
    activities: dict[tuple[str, int], Activity] = {}
    for name in state.pools:
        member, _ = member_and_pool(name)
        part = work.parts[member]
        for number, partition in part.data_sets:
            activity = state.data_sets.get((name, part.names.data_set(number, partition)))
            if activity is not None:
                activities[name, number] = activities.get((name, number), Activity()) + activity
    busiest = sorted(activities.items(), key=lambda item: (-item[1].getpages, item[0]))[:BUSIEST]
    for (name, number), activity in busiest:
        member, pool = member_and_pool(name)
        part = work.parts[member]
        texts: dict[str, tuple[float, str]] = {}
        own = [delay for delay in delays if delay.object == number and pool_name(delay.pool) == pool]
        texts |= _of_delays(own, alone=not member)
        if has_statuses and not state.dependent.get(pool):
            uses = [use for (count, _), use in part.data_sets.items() if count == number]
            misses = float(np.sum([_share(use, pool) * use.statuses[_MISS] for use in uses]))
            texts |= {"sync_reads": (misses, _TRACE)}
        size = state.configuration.pools[name].size
        yield from _checks(name, part.object_name(number), activity, texts, size=size)


def to_json(replay: Replay) -> dict[str, Any]:
    """Plain values."""

    def row(check: Check) -> dict[str, Any]:
        return asdict(check) | {"error": check.error, "agrees": check.agrees, "contradicted": check.is_contradicted}

    return {
        "text": replay.text,
        "error": replay.error,
        "advice": replay.advice,
        "pools": [row(check) for check in replay.pools],
        "objects": [row(check) for check in replay.objects],
        "missing": list(replay.missing),
    }
