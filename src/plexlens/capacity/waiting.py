"""Waits of transactions at the lines of a system, at a load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plexlens.capacity.lines import Holds
from plexlens.capacity.model import SystemModel

#: Busy share of a line that closed classes fill: they come back only when they were served.
_MOST_BUSY = 0.998

#: Busy share from which a line is the cause of what is held for long.
_CAUSE = 0.9

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
    lines, waits = system.lines_together, system.waits_together
    names = [class_model.name for class_model in system.classes]
    growth = np.array([load.growth.get(name, load.whole) for name in names])
    requests = lines.load(growth, load.whole, load.spread)
    hold = lines.hold(
        np.array([load.stretch.get(name, 1.0) for name in names]),
        np.array([load.hold.get(name, 1.0) for name in names]),
    )
    used = dict(zip(lines.names, lines.used(requests, hold).tolist(), strict=True))
    if is_closed:
        requests = lines.most_load(requests, hold, _MOST_BUSY)
    now, is_full = lines.wait(requests, hold, load.engines / load.spread if load.spread > 0 else 1.0)
    more = now - lines.measured_wait
    saturated = fullest(system, used) if is_full else ""
    unknown = _unknown_growth(system, used, engines)
    seconds, entering = waits.seconds(more, unknown)
    return Waiting(
        dict(zip(names, seconds.tolist(), strict=True)),
        dict(zip(names, entering.tolist(), strict=True)),
        used,
        float(system.spinning @ np.maximum(0.0, more)) * load.whole,
        saturated,
    )


def fullest(system: SystemModel, used: Mapping[str, float]) -> str:
    """The line that causes waits at the others: locks and threads are held longer because another resource is busy."""
    own = {name: busy for name, busy in used.items() if system.lines[name].holds is not Holds.RESPONSE}
    causes = own if own and max(own.values()) > _CAUSE else used
    return max(causes, key=lambda name: causes[name])


def _unknown_growth(system: SystemModel, used: Mapping[str, float], engines: Mapping[str, float]) -> float:
    """Factor on waits of unknown cause: the growth at a single server as busy as the busiest resource."""
    name, before = system.busiest
    now = used[name] if name in used else engines.get(name, 0.0)
    before = min(before, _MOST_BUSY)
    if now >= 1.0:
        return _MOST_GROWTH
    return min(_MOST_GROWTH, (1.0 - before) / (1.0 - now))
