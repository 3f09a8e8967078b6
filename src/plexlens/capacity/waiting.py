"""Waits of transactions at the lines of a system, at a load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plexlens.capacity.lines import Holds, Law, Line
from plexlens.capacity.model import SystemModel

#: Busy share of a line that closed classes fill: they come back only when they were served.
_MOST_BUSY = 0.998

#: Busy share from which a line is the cause of what is held for long.
_CAUSE = 0.9

#: Kinds of lines that are passed before anything is held.
_ENTERING = ("locks", "threads", "open TCBs")

#: Most times by which a wait of unknown cause grows: beyond, the busiest resource is full.
_MOST_GROWTH = 1000.0


@dataclass(frozen=True)
class Load:
    """Load on the lines.

    Attributes
    ----------
    growth
        Transactions of each class over the measured ones.
    whole
        The same of all work: of what no class is known to bring.
    spread
        Share of the systems' work that this one has; what systems share is used by all of them.
    stretch
        Time at general engines over the service there, each over the measured one, by class.
    hold
        Response over the measured one, by class, time for a lock and for a thread left out.
    engines
        Engines of a system over the measured ones.
    """

    growth: Mapping[str, float]
    whole: float
    spread: float
    stretch: Mapping[str, float]
    hold: Mapping[str, float]
    engines: float = 1.0


@dataclass(frozen=True)
class Waiting:
    """Results of the lines.

    Attributes
    ----------
    seconds
        Waiting of a transaction by class: at lines, and of unknown cause.
    entering
        Seconds of it for locks and threads, in which nothing is held that others wait for.
    used
        Busy share of each line.
    spin
        Seconds of general engines per second that synchronous requests spin more than at the measured load.
    saturated
        The fullest line that cannot keep up; empty where all can.
    """

    seconds: Mapping[str, float]
    entering: Mapping[str, float]
    used: Mapping[str, float]
    spin: float
    saturated: str = ""


def waiting(system: SystemModel, load: Load, engines: Mapping[str, float], *, is_closed: bool) -> Waiting:
    """Waits of all classes.

    Parameters
    ----------
    engines
        Busy shares of ``general engines`` and ``zIIPs`` at this load.
    is_closed
        Whether closed classes fill the lines, which then are never asked for more than they can do.
    """
    states = {name: _state(line, load) for name, line in system.lines.items()}
    used = {name: line.used(*states[name]) for name, line in system.lines.items()}
    more: dict[str, float] = {}
    is_full = False
    for name, line in system.lines.items():
        share, hold = states[name]
        if line.law is Law.QUEUE and line.busy * share * hold >= _MOST_BUSY and is_closed:
            share = _MOST_BUSY / (line.busy * hold)
        now = line.wait(share, hold, load.engines / load.spread if load.spread > 0 else 1.0)
        is_full = is_full or now is None
        more[name] = (now or 0.0) - line.measured_wait
    saturated = fullest(system, used) if is_full else ""
    unknown = _unknown_growth(system, used, engines)
    seconds, entering = {}, {}
    for class_model in system.classes:
        kinds: dict[str, float] = {}
        for wait in class_model.waits:
            if not wait.lines:
                kinds[wait.kind] = kinds.get(wait.kind, 0.0) + wait.seconds * unknown
                continue
            extra = sum(wait.requests * share * more.get(name, 0.0) for name, share in wait.lines.items())
            kinds[wait.kind] = kinds.get(wait.kind, 0.0) + max(0.0, wait.seconds + extra)
        seconds[class_model.name] = sum(kinds.values()) + class_model.other * unknown
        entering[class_model.name] = sum(kinds.get(kind, 0.0) for kind in _ENTERING)
    spin = sum(rate * load.whole * sum(max(0.0, more[name]) for name in names) for rate, names in system.spins)
    return Waiting(seconds, entering, used, spin, saturated)


def _state(line: Line, load: Load) -> tuple[float, float]:
    """Requests, and holding time per request, relative to the measured load."""
    value = sum(share * load.growth.get(name, load.whole) for name, share in line.shares.items())
    value += max(0.0, 1.0 - line.known) * load.whole
    if line.shared and load.spread > 0:
        value /= load.spread
    if line.holds is Holds.NOTHING or not line.known:
        return value, 1.0
    longer = load.stretch if line.holds is Holds.ENGINES else load.hold
    return value, sum(share * longer.get(name, 1.0) for name, share in line.shares.items()) / line.known


def busiest(system: SystemModel) -> tuple[str, float]:
    """The busiest resource at the measured load, and its busy share."""
    places = {"general engines": system.busy / system.engines}
    if system.ziips:
        places["zIIPs"] = system.ziip_busy / system.ziips
    places |= {name: line.busy for name, line in system.lines.items() if line.law is Law.QUEUE}
    name = max(places, key=lambda place: places[place])
    return name, places[name]


def fullest(system: SystemModel, used: Mapping[str, float]) -> str:
    """The line that causes waits at the others: locks and threads are held longer because another resource is busy."""
    own = {name: busy for name, busy in used.items() if system.lines[name].holds is not Holds.RESPONSE}
    causes = own if own and max(own.values()) > _CAUSE else used
    return max(causes, key=lambda name: causes[name])


def _unknown_growth(system: SystemModel, used: Mapping[str, float], engines: Mapping[str, float]) -> float:
    """Factor on waits of unknown cause: the growth at a single server as busy as the busiest resource."""
    name, before = busiest(system)
    now = used[name] if name in used else engines.get(name, 0.0)
    before = min(before, _MOST_BUSY)
    if now >= 1.0:
        return _MOST_GROWTH
    return min(_MOST_GROWTH, (1.0 - before) / (1.0 - now))
