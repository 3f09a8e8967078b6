"""Trial of a model before conclusions are drawn: calibrated from every second interval, tested on the others.

Also the kinds of intervals that there are. A mean over intervals with other engines, or with another mix of work, is of
a system that never was.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from plexlens.capacity.calibrate import calibrate
from plexlens.capacity.measured import Measured
from plexlens.capacity.model import Model
from plexlens.capacity.validate import Point, points
from plexlens.errors import NothingUsableError, UsageError

#: Share of the work that has to be done by other classes for two intervals to have different mixes.
APART = 0.25

#: Load of the tried intervals beyond which the trial says something of other loads.
_RANGE = 1.3


@dataclass(frozen=True)
class ClassTrial:
    """A class in the intervals that were not used for calibration.

    Attributes
    ----------
    error
        Mean absolute error of response, by transactions.
    intervals
        Of them.
    """

    system: str
    name: str
    error: float
    intervals: int


@dataclass(frozen=True)
class SelfTrial:
    """Result of the trial.

    Attributes
    ----------
    calibrated, tried
        Starts of the intervals of each part.
    classes
        Errors of response.
    busy
        Largest difference of the busy share of general engines in a tried interval, by system.
    loads
        Least and largest load of the tried intervals, in multiples of the mean of those calibrated from.
    """

    calibrated: tuple[datetime, ...]
    tried: tuple[datetime, ...]
    classes: tuple[ClassTrial, ...]
    busy: dict[str, float]
    loads: tuple[float, float] | None

    @property
    def is_narrow(self) -> bool:
        """Whether the tested loads are too similar for the trial to support conclusions about growth."""
        return self.loads is None or self.loads[1] < _RANGE * self.loads[0]

    def of(self, system: str, name: str) -> ClassTrial | None:
        """The trial of a class; None if no tested interval has enough of its transactions."""
        return next(
            (class_trial for class_trial in self.classes if (class_trial.system, class_trial.name) == (system, name)),
            None,
        )


@dataclass(frozen=True)
class Kind:
    """Intervals with the same configuration and mix of work.

    Attributes
    ----------
    engines
        General engines and zIIPs of each system.
    mix
        Share of each class period in the ended transactions.
    """

    intervals: tuple[datetime, ...]
    engines: tuple[tuple[str, float, float], ...]
    mix: dict[str, float]

    @property
    def text(self) -> str:
        """Configuration and largest classes in words."""
        parts = [
            f"{system}: {general:g} general engine{'' if general == 1 else 's'}"
            + (f" and {ziips:g} zIIP{'' if ziips == 1 else 's'}" if ziips else "")
            for system, general, ziips in self.engines
        ]
        largest = sorted(self.mix.items(), key=lambda share: -share[1])[:3]
        work = ", ".join(f"{name} {share:.0%}" for name, share in largest)
        return "; ".join(parts) + (f"; transactions: {work}" if work else "")


def try_model(measured: Measured, model: Model) -> SelfTrial | None:
    """The trial; None if there are fewer than two intervals, or a part of them is not sufficient for calibration."""
    calibrated, tried = measured.intervals[::2], measured.intervals[1::2]
    if not tried:
        return None
    try:
        part = calibrate(measured.part(calibrated), users=model.users, serves=model.serves)
    except (NothingUsableError, UsageError):
        return None
    others = measured.part(tried)
    classes: list[ClassTrial] = []
    busy: dict[str, float] = {}
    loads: list[float] = []
    for system in part.systems:
        results = points(others, system)
        loads += [point.load for point in results]
        apart = [abs(point.busy - point.busy_modelled) for point in results if point.busy_modelled is not None]
        if apart:
            busy[system.name] = max(apart)
        for class_model in system.classes:
            rows = _errors(class_model.name, results)
            whole = sum(weight for weight, _ in rows)
            if whole:
                error = sum(weight * size for weight, size in rows) / whole
                classes.append(ClassTrial(system.name, class_model.name, error, len(rows)))
    return SelfTrial(calibrated, tried, tuple(classes), busy, (min(loads), max(loads)) if loads else None)


def _errors(name: str, result: tuple[Point, ...]) -> list[tuple[float, float]]:
    """Transactions and absolute response time error of each interval."""
    return [
        (point.transactions[name], abs(point.modelled[name] / point.responses[name] - 1.0))
        for point in result
        if point.responses.get(name) and name in point.modelled
    ]


def kinds(measured: Measured) -> tuple[Kind, ...]:
    """Intervals grouped by engines online, by the mix of transactions and CPU time, and by CPU time per transaction."""
    groups: list[tuple[list[datetime], Kind, dict[str, float]]] = []
    for time in measured.intervals:
        kind = Kind((), _engines(measured, time), _mix(measured, time))
        work = _mix(measured, time, "cp_seconds")
        for times, first, other in groups:
            apart = max(_distance(kind.mix, first.mix), _distance(work, other), _dearer(measured, time, times[0]))
            if kind.engines == first.engines and apart <= APART:
                times.append(time)
                break
        else:
            groups.append(([time], kind, work))
    return tuple(Kind(tuple(times), kind.engines, kind.mix) for times, kind, _ in groups)


def _dearer(measured: Measured, time: datetime, other: datetime) -> float:
    """Increase of general engine time per transaction between two intervals, as a fraction."""
    costs = []
    for rows in (measured.classes[time], measured.classes[other]):
        ended = sum(facts["transactions"] or 0.0 for facts in rows.values())
        used = sum(facts["cp_seconds"] or 0.0 for facts in rows.values())
        costs.append(used / ended if ended else 0.0)
    return max(costs) / min(costs) - 1.0 if min(costs) > 0 else 0.0


def _engines(measured: Measured, time: datetime) -> tuple[tuple[str, float, float], ...]:
    rows = measured.processors[time]
    there = sorted({system for system, _ in rows})
    return tuple(
        (
            system,
            float(round(rows[system, "CP"].engines)) if (system, "CP") in rows else 0.0,
            float(round(rows[system, "IIP"].engines)) if (system, "IIP") in rows else 0.0,
        )
        for system in there
    )


def _mix(measured: Measured, time: datetime, fact: str = "transactions") -> dict[str, float]:
    """Share of each class period in the ended transactions, or in another fact."""
    counts: dict[str, float] = {}
    for (_, name), facts in measured.classes[time].items():
        counts[name] = counts.get(name, 0.0) + (facts[fact] or 0.0)
    whole = sum(counts.values())
    return {name: count / whole for name, count in counts.items() if count} if whole else {}


def _distance(values: dict[str, float], other: dict[str, float]) -> float:
    """Share of the transactions that belong to different classes."""
    return sum(abs(values.get(name, 0.0) - other.get(name, 0.0)) for name in {*values, *other}) / 2
