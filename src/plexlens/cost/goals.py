"""Goals of service class periods while a cap is in force, judged by the model of `plexlens plan`.

A cap gives a partition the engines that its limit is worth: MSU that ran under the cap / MSU of an engine. The model is
calibrated from the selected intervals and asked for the load of the busiest hour of the capped time. Engines serve by
importance, so classes that fit are judged without those below them, and the others are held back until the cap ends:
the simulation of the cap says for how long.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from plexlens.capacity.calibrate import calibrate
from plexlens.capacity.change import Change, setting
from plexlens.capacity.measured import measure
from plexlens.capacity.model import ClassModel, Model, SystemModel
from plexlens.capacity.network import ClassResult, Setting, SystemResult, solved
from plexlens.capacity.plan import TOLERANCE, checked
from plexlens.capacity.validate import ClassCheck
from plexlens.cost.limits import Delay, Pressed
from plexlens.cost.use import PartitionUse, Use
from plexlens.errors import PlexlensError
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.sysplexes import check_one

#: Busy share of the engines above which a class counts as held back: no queue is stable at 1.
FULL = 0.995


@dataclass(frozen=True)
class UnderCap:
    """A class period in the capped time of a what-if.

    Attributes
    ----------
    title
        The what-if.
    machine, partition, system
        Where.
    name, goal, importance
        The class period.
    load
        Demand in the busiest hour of the capped time over the mean of the data.
    engines
        Engines that what ran under the cap is worth.
    index_before, index
        Performance index at that load without and under the cap; None where the model gives none.
    response_before, response
        Seconds; None for velocity goals of work without transactions, and where a class is held back.
    error
        Error of the model in this class, as a fraction of response; None where it is not known.
    verdict
        What it comes to, in words.
    is_missed
        Whether it misses its goal by more than the error of the model, or is held back, because of the cap.
    """

    title: str
    machine: str
    partition: str
    system: str
    name: str
    goal: str
    importance: int | None
    load: float
    engines: float
    index_before: float | None
    index: float | None
    response_before: float | None
    response: float | None
    error: float | None
    verdict: str
    is_missed: bool


@dataclass(frozen=True)
class Goals:
    """Goals under caps.

    Attributes
    ----------
    rows
        A row for each class period with a goal of each capped partition.
    notes
        What was not judged, and why.
    """

    rows: tuple[UnderCap, ...]
    notes: tuple[str, ...]


#: A what-if: its title, how it presses partitions, and what waits in them, by machine and partition.
Tried = tuple[str, Mapping[tuple[str, str], Pressed], Mapping[tuple[str, str], Delay]]


def judge(inputs: Inputs, name: str, use: Use, tried: Iterable[Tried]) -> Goals:
    """Judge the goals in the capped time of what-ifs.

    Parameters
    ----------
    inputs, name, use
        The data, and what the user called it.
    tried
        What-ifs.
    """
    capped = [entry for entry in tried if entry[1]]
    if not capped:
        return Goals((), ("No cap holds work back, so goals are as measured.",))
    try:
        check_one(inputs, name)
        measured = measure(inputs, name, kind="service class")
        model = calibrate(measured, users={}, serves={})
        checks = {check.system: check for check in checked(measured, model, tolerance=TOLERANCE)}
    except PlexlensError as error:
        return Goals((), (f"Goals are not judged: {error.what}; {error.remedy}.",))
    partitions = {(partition.machine, partition.name): partition for partition in use.partitions}
    systems = {system.name: system for system in model.systems}
    rows: list[UnderCap] = []
    notes = list(model.notes)
    for title, pressed, delays in capped:
        for key, press in sorted(pressed.items()):
            partition = partitions[key]
            system = systems.get(partition.system)
            if system is None:
                notes.append(
                    f"{key[0]} {key[1]}: goals are not judged, because no service classes of its system are recorded "
                    "(SMF 72-3)."
                )
                continue
            of_class = {check.name: check for check in checks[system.name].classes}
            listed = _Judge(model, system, of_class).rows(_Case(title, partition, press, delays.get(key)))
            if not listed:
                notes.append(f"{key[0]} {key[1]}: no service class period of {system.name} has a goal to judge.")
            rows += listed
    return Goals(tuple(rows), tuple(dict.fromkeys(notes)))


@dataclass(frozen=True)
class _Case:
    """The capped time of a partition under a what-if."""

    title: str
    partition: PartitionUse
    press: Pressed
    delay: Delay | None


@dataclass(frozen=True)
class _Judge:
    """The model of a system, and how well it fits."""

    model: Model
    system: SystemModel
    checks: Mapping[str, ClassCheck]

    def rows(self, case: _Case) -> list[UnderCap]:
        """A row for each class period with a goal, the most important first."""
        partition, system = case.partition, self.system
        covered = float(partition.samples.covered.sum())
        mean = float(partition.samples.msu.sum()) / covered if covered else 0.0
        if not mean or not partition.msu_per_second:
            return []
        load = case.press.busiest_demand / mean
        engines = min(case.press.busiest_ran / partition.msu_per_second, system.engines)
        wanted = setting(Change().at(load), self.model, system)
        free = solved(system, wanted)
        through, result = under(system, replace(wanted, engines=engines))
        results = []
        for entry in sorted(system.classes, key=lambda entry: entry.priority):
            if entry.goal.kind == "none":
                continue
            check, before = self.checks[entry.name], free.classes[entry.name]
            after = result.classes[entry.name] if result is not None and entry.name in through else None
            verdict, is_missed = _verdict(entry, check, before, after, load)
            if after is None and case.delay is not None and case.delay.longest:
                verdict += f"; work waits up to {case.delay.longest / 60:.0f} minutes"
            judged = after if check.reproduced else None
            results.append(
                UnderCap(
                    case.title, partition.machine, partition.name, system.name, entry.name, entry.goal.text,
                    entry.importance, load, engines,
                    before.index if check.reproduced else None,
                    None if judged is None else judged.index,
                    before.response if check.reproduced else None,
                    None if judged is None else judged.response,
                    _error(check), verdict, is_missed,
                )
            )  # fmt: skip
        return results


def under(system: SystemModel, wanted: Setting) -> tuple[frozenset[str], SystemResult | None]:
    """The classes that get through on the engines of a cap, and the system without the others.

    Classes are added by priority as long as all their work fits; below the first that does not, nothing gets through.

    Parameters
    ----------
    wanted
        Rates of all classes, and the engines of the cap.
    """
    through: frozenset[str] = frozenset()
    kept: SystemResult | None = None
    for priority in sorted({entry.priority for entry in system.classes}):
        names = frozenset(entry.name for entry in system.classes if entry.priority <= priority)
        rates = {name: rate if name in names else 0.0 for name, rate in wanted.rates.items()}
        result = solved(system, replace(wanted, rates=rates))
        if result.saturated or result.busy > FULL:
            break
        through, kept = names, result
    return through, kept


def _error(check: ClassCheck) -> float | None:
    for error in (check.held_out_error, check.interval_error, check.error):
        if error is not None:
            return abs(error)
    return None


def _verdict(
    entry: ClassModel, check: ClassCheck, before: ClassResult, after: ClassResult | None, load: float
) -> tuple[str, bool]:
    """Effect of a cap on a class, in words, and whether it makes the class miss its goal."""
    if after is None:
        verdict = "held back: its work does not fit under the cap"
        was_missed = check.reproduced and (before.index or 0.0) > 1 + (_error(check) or 0.0)
        return (f"{verdict}; it misses its goal without the cap too", False) if was_missed else (verdict, True)
    reason = _refusal(entry, check, after, load)
    if reason:
        return f"not judged: {reason}", False
    index, error = after.index or 0.0, _error(check) or 0.0
    if before.index is not None and before.index > 1 + error and index > 1:
        return f"missed without the cap too, now by {_amount(entry, after)}", False
    if index > 1 + error:
        return f"misses by {_amount(entry, after)}", True
    near = "near its goal: the difference is within the error of the model"
    return (near if index > 1 - error else "meets its goal"), False


def _refusal(entry: ClassModel, check: ClassCheck, after: ClassResult, load: float) -> str:
    """Why nothing is concluded; empty where something is."""
    if not check.reproduced:
        return check.reason
    if entry.unseen is not None and load > entry.unseen:
        return f"beyond {entry.unseen:.2f} of the mean load a QR TCB without records could be full"
    return "" if after.index is not None else "the model gives no number to compare with the goal"


def _amount(entry: ClassModel, result: ClassResult) -> str:
    """By how much a class misses its goal."""
    goal = entry.goal
    if goal.kind == "velocity":
        return f"{(goal.value - (result.velocity or 0.0)) * 100:.0f} points of velocity"
    reached = (result.response or 0.0) * ((goal.quantile or math.nan) if goal.kind == "percentile" else 1.0)
    return f"{reached - goal.value:.3g} s"


def missed(rows: Sequence[UnderCap]) -> tuple[UnderCap, ...]:
    """The class periods that miss their goals because of a cap."""
    return tuple(row for row in rows if row.is_missed)
