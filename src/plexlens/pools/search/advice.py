"""Pool settings other than size: thresholds, page steal, page fix; each simulated or priced.

Pools do not touch each other, so one pass over the trace tries a variant of every pool at once. The pools of one name
at the members of a group touch each other through their group buffer pool: what is chosen is simulated once more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from plexlens.pools.cost import IoCost
from plexlens.pools.headroom import Headroom
from plexlens.pools.prediction import Activity, State
from plexlens.pools.settings import Configuration, PoolSettings

#: Values of VPSEQT that are tried.
VPSEQT = (20, 40, 60, 80, 90, 99)
#: Values of VDWQT that are tried: per cent, and buffers.
VDWQT = ((0, 128), (1, 0), (5, 0), (10, 0), (30, 0))
#: Values of DWQT that are tried.
DWQT = (30, 50, 70)

#: I/Os per second below which page fixing gains too little to be worth the storage (robertsdb2blog, September 2016).
FIXED_IOS = 100.0

#: How much the read I/O of a pool may rise by another page steal, as a share: nothing but rounding.
STEAL_RISE = 0.001

#: Simulates configurations, all in one pass.
Simulate = Callable[[Sequence[Configuration]], list[State]]


@dataclass(frozen=True)
class Advice:
    """A recommended change of settings.

    Attributes
    ----------
    title
        What is done.
    after
        The pools after it, simulated or priced.
    worth
        Whether it is recommended.
    why
        Why it is, or is not.
    """

    title: str
    after: State
    worth: bool
    why: str


class Advisor:
    """Recommends pool settings.

    Parameters
    ----------
    simulate
        Simulates configurations.
    delay_weight
        CPU seconds that a second of delay is worth.
    kept
        Pools, by full name, whose settings stay.
    least
        What a change has to save.
    seconds
        Time that the trace covers; 0 if it has no times.
    preview
        Simulates configurations on a part of the trace, where thresholds are tried before the whole trace confirms what
        is chosen; None: on the whole trace.
    """

    def __init__(
        self,
        simulate: Simulate,
        *,
        least: float,
        seconds: float,
        delay_weight: float = 0.0,
        kept: frozenset[str] = frozenset(),
        preview: Simulate | None = None,
    ) -> None:
        self._simulate = simulate
        self._preview = preview
        self._delay_weight = delay_weight
        self._least = least
        self._seconds = seconds
        self._kept = kept

    def thresholds(self, now: State) -> Advice | None:
        """Thresholds with the least cost, pool by pool; None if no others save enough."""
        pools = self._open(now)
        kinds: dict[str, list[Mapping[str, int]]] = {
            "VPSEQT": [{"vpseqt": value} for value in VPSEQT],
            "VDWQT": [{"vdwqt": percent, "vdwqt_pages": buffers} for percent, buffers in VDWQT],
            "DWQT": [{"dwqt": value} for value in DWQT],
        }
        variants = [change for changes in kinds.values() for change in changes]
        tried = [_with(now.configuration, dict.fromkeys(pools, change)) for change in variants]
        begun, *states = (
            [now, *self._simulate(tried)] if self._preview is None else self._preview([now.configuration, *tried])
        )
        costs = {}
        for name in pools:
            part = self._cost(begun, name)
            # What is saved in a part of the trace stands for the same share of the whole.
            scale = self._cost(now, name) / part if part > 0 else 0.0
            costs[name] = [scale * self._cost(state, name) for state in states]
        chosen: dict[str, dict[str, int]] = {}
        at = 0
        for changes in kinds.values():
            for name in pools:
                own = costs[name][at : at + len(changes)]
                best = min(range(len(changes)), key=lambda number: own[number])
                if self._cost(now, name) - own[best] >= self._least:
                    chosen.setdefault(name, {}).update(changes[best])
            at += len(changes)
        if not chosen:
            return None
        (after,) = self._simulate([_with(now.configuration, chosen)])
        # Two thresholds together may save less than one of them: then they stay.
        kept = {
            name: change
            for name, change in chosen.items()
            if self._cost(now, name) - self._cost(after, name) >= self._least
        }
        if not kept:
            return None
        if kept != chosen:
            (after,) = self._simulate([_with(now.configuration, kept)])
        text = ", ".join(f"{name} {_told(pools[name], after.configuration.pools[name])}" for name in kept)
        return Advice(f"Set thresholds: {text}", after, True, "the cheapest of the simulated settings")

    def _open(self, state: State) -> dict[str, PoolSettings]:
        """Pools whose settings may change."""
        return {name: pool for name, pool in state.configuration.pools.items() if name not in self._kept}

    def _cost(self, state: State, name: str) -> float:
        return state.cost_of(name, self._delay_weight)

    def steal(self, now: State) -> list[Advice]:
        """Pools without read I/O once their pages are in, where no LRU chains are needed: NONE if the overflow area
        stays empty, else FIFO.

        IBM recommends FIFO for pools that have no I/O, and NONE for objects that fit completely (Db2 12 for z/OS,
        *Choosing a page-stealing algorithm*). Nothing has been stolen where all pages read, those of prefetch included,
        have a buffer.
        """
        wished: dict[str, tuple[str, str]] = {}
        for name, pool in self._open(now).items():
            activity = now.pools[name]
            if pool.steal != "LRU" or activity.getpages == 0:
                continue
            overflow = min(max(pool.size // 10, 50), 6400)
            pages = max(activity.distinct_pages, activity.pages_read)
            if pages <= pool.size - overflow:
                why = (
                    f"all {pages:,.0f} pages that were read fit in addition to the overflow area; Db2 loads whole data "
                    "sets into such a pool, so compare their sizes first"
                )
                wished[name] = "NONE", why
            elif pages <= pool.size:
                why = f"all {pages:,.0f} pages that were read have a buffer: none is read again, and none is stolen"
                wished[name] = "FIFO", why
        if not wished:
            return []
        changes = {name: {"steal": steal} for name, (steal, _) in wished.items()}
        (tried,) = self._simulate([_with(now.configuration, changes)])
        advices: list[Advice] = []
        for name, (steal, why) in wished.items():
            before, after = now.pools[name].read_ios, tried.pools[name].read_ios
            if after > before * (1 + STEAL_RISE):
                text = f"simulation gives {after - before:,.0f} more read I/Os"
                advices.append(Advice(f"Set PGSTEAL({steal}) for {name}", _one_pool(now, tried, name), False, text))
            else:
                now = _one_pool(now, tried, name)
                text = f"{why}; read I/O does not rise, and LRU chains need no maintenance (its cost is not included)"
                advices.append(Advice(f"Set PGSTEAL({steal}) for {name}", now, True, text))
        return advices

    def page_fix(self, now: State, cost: IoCost, headroom: Headroom | None) -> list[Advice]:
        """Pools worth page-fixing, ordered by pages moved per buffer, highest first."""
        advices: list[Advice] = []
        rated = []
        for name, pool in self._open(now).items():
            activity = now.pools[name]
            if not pool.pgfix and activity.ios > 0:
                rated.append(((activity.pages_read + activity.pages_written) / pool.size, name))
        for intensity, name in sorted(rated, reverse=True):
            activity, pool = now.pools[name], now.configuration.pools[name]
            saved = cost.page_fix.value * activity.cpu_seconds
            rate = activity.ios / self._seconds if self._seconds > 0 else None
            title = f"Page-fix {name}"
            after = _priced(now, name, cost)
            moved = f"{intensity:,.1f} pages were moved per buffer in the trace"
            if headroom is not None and headroom.is_paging:
                advices.append(
                    Advice(title, after, False, f"{headroom}, and fixed buffers reduce the frames of other work")
                )
            elif rate is None:
                why = "the trace has no times, so its I/Os per second are not known"
                advices.append(Advice(title, after, False, why))
            elif rate < FIXED_IOS:
                why = f"{rate:,.1f} I/Os per second; below {FIXED_IOS:,.0f} fixing gains too little for its storage"
                advices.append(Advice(title, after, False, why))
            elif saved < self._least:
                advices.append(Advice(title, after, False, f"{moved}: it saves less than the minimum for a change"))
            else:
                why = (
                    f"{moved}; {pool.bytes / (1 << 20):,.0f} MiB of frames become fixed: check that they are available"
                )
                now = after
                advices.append(Advice(title, now, True, why))
        return advices


def _with(configuration: Configuration, changes: Mapping[str, Mapping[str, object]]) -> Configuration:
    pools = {
        name: replace(pool, **changes.get(name, {}))  # type: ignore[arg-type]
        for name, pool in configuration.pools.items()
    }
    return replace(configuration, pools=pools)


def _one_pool(now: State, tried: State, name: str) -> State:
    """The state with a single pool replaced by its trial."""
    pools = {**now.configuration.pools, name: tried.configuration.pools[name]}
    return replace(
        now,
        configuration=replace(now.configuration, pools=pools),
        pools={**now.pools, name: tried.pools[name]},
        data_sets={key: (tried if key[0] == name else now).data_sets[key] for key in now.data_sets},
        uses={key: (tried if key == name else now).uses[key] for key in now.uses},
    )


def _priced(now: State, name: str, cost: IoCost) -> State:
    """The state with a single pool page-fixed: the same I/O at a lower price."""

    def fixed(activity: Activity) -> Activity:
        return replace(activity, cpu_seconds=activity.cpu_seconds * (1 - cost.page_fix.value))

    pools = {**now.configuration.pools, name: replace(now.configuration.pools[name], pgfix=True)}
    return replace(
        now,
        configuration=replace(now.configuration, pools=pools),
        pools={**now.pools, name: fixed(now.pools[name])},
        data_sets={key: fixed(data_set) if key[0] == name else data_set for key, data_set in now.data_sets.items()},
    )


def _told(old: PoolSettings, new: PoolSettings) -> str:
    texts = []
    if old.vpseqt != new.vpseqt:
        texts.append(f"VPSEQT {new.vpseqt}")
    if old.dwqt != new.dwqt:
        texts.append(f"DWQT {new.dwqt}")
    if (old.vdwqt, old.vdwqt_pages) != (new.vdwqt, new.vdwqt_pages):
        texts.append(f"VDWQT {new.vdwqt},{new.vdwqt_pages}")
    return " ".join(texts)
