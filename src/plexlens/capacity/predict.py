"""Predictions: at a load, over loads, the saturation load of a system, and the load at which each goal breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from plexlens.capacity.change import Change, setting
from plexlens.capacity.model import Model, SystemModel
from plexlens.capacity.network import SystemResult, run, solved

#: Loads beyond which nothing is looked for, in multiples of the load asked for.
HIGHEST = 1000.0

#: Where charts end, in multiples of the measured load, unless something saturates before.
TOP = 3.0

_CLOSE = 1e-6


def at(model: Model, system: SystemModel, change: Change, load: float = 1.0) -> SystemResult:
    """A system under a change at a multiple of its load, by formula."""
    return solved(system, setting(change.at(load), model, system))


def run_at(model: Model, system: SystemModel, change: Change, load: float = 1.0, *, seed: int = 1) -> SystemResult:
    """As `at`, event by event."""
    return run(system, setting(change.at(load), model, system), seed=seed)


def _edge(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Largest load at which a condition holds, between `low`, where it holds, and `high`, where it does not."""
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def saturation(model: Model, system: SystemModel, change: Change) -> tuple[float, str] | None:
    """Load at which a system saturates, and the saturated resource; None if no load saturates it."""

    def keeps_up(load: float) -> bool:
        return not at(model, system, change, load).saturated

    high = 1.0
    while keeps_up(high):
        high *= 2.0
        if high > HIGHEST:
            return None
    low = _edge(keeps_up, 0.0, high)
    return low, at(model, system, change, low * (1 + 10 * _CLOSE) + 1e-12).saturated


@dataclass(frozen=True)
class Breaking:
    """Load at which a goal breaks.

    Attributes
    ----------
    load
        Largest load at which the goal is met; 0 where it is met at none, None where it holds up to saturation.
    busy
        Busy share of the busier kind of engine at that load; None without a saturating load.
    beyond
        Load beyond which the data cannot say whether the goal is met; the load at which it breaks is then not told.
    """

    system: str
    name: str
    load: float | None
    busy: float | None = None
    beyond: float | None = None


def breaking(model: Model, system: SystemModel, change: Change, name: str, limit: float | None) -> Breaking:
    """The load at which the goal of a class breaks, as far as the data can show.

    Parameters
    ----------
    limit
        The load that saturates the system; None where none does.
    """
    result = _breaking(model, system, change, name, limit)
    unseen = system.of(name).unseen
    if unseen is None:
        return result
    unseen *= change.speed
    known = result.load if result.load is not None else limit
    if known is not None and known <= unseen:
        return result
    return Breaking(system.name, name, None, beyond=unseen)


def _breaking(model: Model, system: SystemModel, change: Change, name: str, limit: float | None) -> Breaking:
    """The load at which the goal breaks according to the model."""

    def met(load: float) -> bool:
        index = at(model, system, change, load).classes[name].index
        return index is not None and index <= 1.0 + 1e-9

    high = HIGHEST if limit is None else limit * (1 - _CLOSE)
    if met(high):
        return Breaking(system.name, name, None)
    low = 1e-6
    if not met(low):
        return Breaking(system.name, name, 0.0)
    load = _edge(met, low, high)
    system_result = at(model, system, change, load)
    return Breaking(system.name, name, load, max(system_result.busy, system_result.ziip_busy or 0.0))


def curve_loads(limit: float | None, points: int = 28) -> tuple[float, ...]:
    """Loads for a curve: evenly up to `TOP` or near saturation, denser towards the end."""
    top = TOP if limit is None else min(TOP, limit)
    low = min(0.1, top / 10)
    even = [low + (top - low) * step / points for step in range(points)]
    near = [top * share for share in (0.98, 0.99, 0.995)]
    loads = {round(value, 6) for value in (*even, *near, *([top] if limit is None or limit > top else [])) if value > 0}
    if top > 1.0:
        loads.add(1.0)
    return tuple(sorted(loads))
