"""Capping, simulated by five minutes: demand above a limit waits, and runs when the limit allows.

WLM caps a partition when its four-hour average exceeds its defined capacity, and the members of a group when the sum
of their averages exceeds the limit of the group; a capped partition runs at the limit, capped members at their shares,
where what one does not need goes to the others by weight (z/OS MVS Planning: Workload Management, Defined capacity
limit and Group capacity limit). At any time the partitions of a machine share its capacity by weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plexlens.cost.rolling import OF_HOUR, WINDOW, Series

#: MSU below which a difference is rounding.
_NEAR = 1e-9


@dataclass(frozen=True)
class Group:
    """A capacity group: places of its partitions, and its limit by period (not a number where there is no limit)."""

    members: tuple[int, ...]
    limit: Series


@dataclass(frozen=True)
class Rules:
    """Limits of the partitions of a machine.

    Attributes
    ----------
    defined
        Defined capacity by period and partition, MSU; not a number where there is no limit.
    groups
        Capacity groups.
    weights, ceilings
        Weight of each partition, and the most that its logical processors can use.
    machine
        Capacity of the machine, MSU; infinite where it is not known.
    start
        First period of each four hours by period and partition (`plexlens.cost.rolling.begins`).
    """

    defined: NDArray[np.float64]
    groups: tuple[Group, ...]
    weights: Series
    ceilings: Series
    machine: float
    start: NDArray[np.int64]


@dataclass(frozen=True)
class Run:
    """The work that ran.

    Attributes
    ----------
    msu
        Rate by period and partition.
    waiting
        Work that waits at the end of each period, MSU-hours.
    capped
        Whether a cap held work back, by period and partition.
    """

    msu: NDArray[np.float64]
    waiting: NDArray[np.float64]
    capped: NDArray[np.bool_]


def divided(limit: float, wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """A limit divided by weight; no partition gets more than it wants, and the rest goes to the others.

    Parameters
    ----------
    limit
        The amount to divide.
    wanted
        What each one can use.
    weights
        Weights; those without weight come last, with equal parts.
    """
    got = [0.0] * len(wanted)
    left = limit
    open_ = {place for place, want in enumerate(wanted) if want > _NEAR}
    while open_ and left > _NEAR:
        total = sum(weights[place] for place in open_)
        parts = {place: left * (weights[place] / total if total else 1 / len(open_)) for place in open_}
        full = {place for place in open_ if wanted[place] - got[place] <= parts[place] + _NEAR}
        for place in full or open_:
            step = min(parts[place], wanted[place] - got[place])
            got[place] += step
            left -= step
        open_ = open_ - full if full else set()
    return got


def simulate(demand: NDArray[np.float64], rules: Rules) -> Run:
    """Run a demand under limits.

    Parameters
    ----------
    demand
        Rate by period and partition, MSU.
    rules
        The limits.
    """
    periods, count = demand.shape
    run = np.zeros_like(demand)
    waiting = np.zeros_like(demand)
    capped = np.zeros(demand.shape, dtype=bool)
    total = np.zeros((periods + 1, count))
    behind = np.zeros(count)
    for place in range(periods):
        # The average of the four hours that ended with the period before.
        average = np.zeros(count)
        if place:
            average = (total[place] - np.take_along_axis(total, rules.start[place - 1][None, :], 0)[0]) / WINDOW
        wanted = np.minimum(demand[place] + behind * OF_HOUR, rules.ceilings)
        allowed = wanted.copy()
        limit = rules.defined[place]
        over = np.isfinite(limit) & (average > limit + _NEAR)
        allowed[over] = np.minimum(allowed[over], limit[over])
        for group in rules.groups:
            members = list(group.members)
            most = group.limit[place]
            if np.isfinite(most) and average[members].sum() > most + _NEAR and allowed[members].sum() > most:
                allowed[members] = divided(most, allowed[members].tolist(), rules.weights[members].tolist())
        capped[place] = allowed < wanted - _NEAR
        if allowed.sum() > rules.machine:
            allowed = np.array(divided(rules.machine, allowed.tolist(), rules.weights.tolist()))
        run[place] = allowed
        behind = np.maximum(behind + (demand[place] - allowed) / OF_HOUR, 0.0)
        behind[behind < _NEAR] = 0.0
        waiting[place] = behind
        total[place + 1] = total[place] + allowed
    return Run(run, waiting, capped)


@dataclass(frozen=True)
class Delay:
    """Waiting time of work.

    Attributes
    ----------
    hours_capped
        Hours in which a cap held work back.
    delayed
        Work that ran later: demand above use, by five minutes, MSU-hours.
    longest
        Longest wait, seconds, first come first served by five minutes; of work that still waits, until the end.
    left
        Work that still waits at the end, MSU-hours.
    """

    hours_capped: float
    delayed: float
    longest: float
    left: float


def delay_of(demand: Series, run: Run, place: int) -> Delay:
    """The wait of a partition's work, first come first served.

    Parameters
    ----------
    demand
        Its demand by period, MSU.
    run
        What ran.
    place
        The partition.
    """
    come = np.cumsum(demand)
    gone = np.cumsum(run.msu[:, place])
    left = float(run.waiting[-1, place]) if len(demand) else 0.0
    # Period by whose end the demand of all periods so far has run; the end of the data for demand that has not.
    done = np.searchsorted(gone, come - 1e-6)
    waits = (done - np.arange(len(come)))[demand > 0]
    late = np.maximum(demand - run.msu[:, place], 0.0) / OF_HOUR
    return Delay(
        float(run.capped[:, place].sum()) / OF_HOUR,
        float(late.sum()),
        float(max(waits.max(initial=0), 0)) * 3600 / OF_HOUR,
        left,
    )


@dataclass(frozen=True)
class Pressed:
    """The time in which a cap holds a partition back.

    Attributes
    ----------
    hours
        Its length.
    demand, ran
        Mean demand and mean use in it, MSU.
    busiest_demand, busiest_ran
        The same in its busiest hour: twelve of its periods that follow each other, or all of fewer.
    """

    hours: float
    demand: float
    ran: float
    busiest_demand: float
    busiest_ran: float


def pressed_of(demand: Series, run: Run, place: int) -> Pressed | None:
    """The capped time of a partition; None where no cap held it back.

    Parameters
    ----------
    demand
        Its demand by period, MSU.
    run
        What ran.
    place
        The partition.
    """
    capped = run.capped[:, place]
    if not capped.any():
        return None
    wanted, ran = demand[capped], run.msu[capped, place]
    length = min(OF_HOUR, len(wanted))
    by_hour = np.convolve(wanted, np.ones(length), "valid")
    # Times apart from each other follow each other here: an hour may be of two of them.
    first = int(np.argmax(by_hour))
    busiest = slice(first, first + length)
    return Pressed(
        float(capped.sum()) / OF_HOUR,
        float(wanted.mean()),
        float(ran.mean()),
        float(wanted[busiest].mean()),
        float(ran[busiest].mean()),
    )
