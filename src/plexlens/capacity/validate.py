"""Validation of the model against measurements: at the mean load, and in every interval at that interval's rates.

Errors that are usual for models of this kind are 5 to 10 % of utilisation and 10 to 30 % of response time (Lazowska and
others, "Quantitative System Performance", 1984). Of a class whose error is larger than the bound, nothing is concluded.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from plexlens.capacity.calibrate import FEWEST_TRANSACTIONS
from plexlens.capacity.measured import Facts, Measured
from plexlens.capacity.model import ClassModel, Model, SystemModel
from plexlens.capacity.network import Setting, base, solved
from plexlens.metrics.page_numbers import page_numbers

_PLAN = page_numbers("plan")

#: Velocity is judged by its difference: allowed points of velocity per unit of the bound.
_VELOCITY_POINTS = 0.5


@dataclass(frozen=True)
class ClassCheck:
    """Measured and modelled values of a class.

    Attributes
    ----------
    measured, modelled
        Response time in seconds at the mean load.
    velocity, velocity_modelled
        Execution velocity.
    error
        Modelled over measured response, less 1.
    interval_error
        Mean absolute error of response over intervals, by transactions; None with fewer than two.
    held_out_error
        The same of intervals that the model was not calibrated from, by a model of the others.
    reproduced
        Whether conclusions are drawn.
    reason
        Why not, or what limits them.
    """

    system: str
    name: str
    measured: float | None
    modelled: float | None
    velocity: float | None
    velocity_modelled: float | None
    error: float | None
    interval_error: float | None
    reproduced: bool
    reason: str
    held_out_error: float | None = None


@dataclass(frozen=True)
class Point:
    """A system in a single interval: measured response, and modelled response at the interval's rates.

    Attributes
    ----------
    load
        Processor time that its transactions ask for over that of the mean interval.
    busy, busy_modelled
        Busy share of general engines.
    """

    time: datetime
    load: float
    busy: float
    ziip_busy: float | None
    responses: dict[str, float]
    modelled: dict[str, float]
    transactions: dict[str, float]
    busy_modelled: float | None = None


@dataclass(frozen=True)
class SystemCheck:
    """Measured and modelled values of a system at the mean load."""

    system: str
    busy: float
    busy_modelled: float
    ziip_busy: float | None
    ziip_busy_modelled: float | None
    classes: tuple[ClassCheck, ...]
    points: tuple[Point, ...]


def validate(measured: Measured, model: Model, *, tolerance: float) -> tuple[SystemCheck, ...]:
    """Compare every system and class with the measurement.

    Parameters
    ----------
    tolerance
        Largest error of response, as a fraction; of velocity half as many points.
    """
    return tuple(_system(measured, system, tolerance) for system in model.systems)


def _system(measured: Measured, system: SystemModel, tolerance: float) -> SystemCheck:
    system_result = solved(system, base(system))
    measured_points = points(measured, system)
    checks = []
    for class_model in system.classes:
        result = system_result.classes[class_model.name]
        checks.append(
            _class(
                system,
                class_model,
                result.response,
                result.velocity,
                measured_points,
                tolerance=tolerance,
                saturated=system_result.saturated,
            )
        )
    return SystemCheck(
        system.name, system.busy / system.engines, system_result.busy,
        system.ziip_busy / system.ziips if system.ziips else None, system_result.ziip_busy, tuple(checks),
        measured_points,
    )  # fmt: skip


def _class(
    system: SystemModel,
    class_model: ClassModel,
    response: float | None,
    velocity: float | None,
    points: tuple[Point, ...],
    *,
    tolerance: float,
    saturated: str,
) -> ClassCheck:
    error = _PLAN["error"](modelled=response, measured=class_model.response)
    interval_error = _interval_error(class_model.name, points)
    reason = "; ".join(class_model.uncertain)
    apart = velocity - class_model.velocity if velocity is not None and class_model.velocity is not None else None
    bound = tolerance * _VELOCITY_POINTS
    if not reason and saturated:
        reason = f"the measured load already saturates {saturated}, and an open model has no solution there"
    if not reason and class_model.goal.kind == "velocity":
        if apart is None:
            reason = "no state samples by cause, so its velocity cannot be modelled"
        elif abs(apart) > bound:
            reason = f"velocity is off by {abs(apart) * 100:.0f} points, more than {bound * 100:g}"
    elif not reason and class_model.goal.kind != "none" and error is None:
        reason = "no response time in enough transactions to model"
    if not reason and error is not None and abs(error) > tolerance and class_model.goal.kind != "velocity":
        reason = f"response is off by {abs(error):.0%}, more than {tolerance:.0%}"
    if not reason and interval_error is not None and interval_error > tolerance and class_model.goal.kind != "velocity":
        reason = f"response over intervals is off by {interval_error:.0%}, more than {tolerance:.0%}"
    reproduced = not reason
    if reproduced and class_model.other_from == "rest" and not class_model.background:
        reason = (
            "no state samples: the part of the response that the model does not explain is treated as delay that does "
            "not depend on load"
        )
        if interval_error is None:
            reason += "; it is exact at the mean load by construction"
    return ClassCheck(
        system.name,
        class_model.name,
        class_model.response,
        response,
        class_model.velocity,
        velocity,
        error,
        interval_error,
        reproduced,
        reason,
    )


def _interval_error(name: str, points: tuple[Point, ...]) -> float | None:
    rows = [
        (point.transactions[name], abs(point.modelled[name] / point.responses[name] - 1.0))
        for point in points
        if point.responses.get(name) and name in point.modelled
    ]
    total = sum(weight for weight, _ in rows)
    return sum(weight * error for weight, error in rows) / total if len(rows) > 1 and total else None


def points(measured: Measured, system: SystemModel) -> tuple[Point, ...]:
    """A system in every interval: measured, and modelled at the interval's rates."""
    mean = sum(
        class_model.rate * (class_model.general + class_model.eligible)
        for class_model in system.classes
        if not class_model.background
    )
    results = []
    for time in measured.intervals:
        engines = measured.processors[time].get((system.name, "CP"))
        if engines is None:
            continue
        ziips = measured.processors[time].get((system.name, "IIP"))
        rows = measured.classes[time]
        rates = {
            class_model.name: _rate(class_model, rows.get((system.name, class_model.name)), engines.seconds, system)
            for class_model in system.classes
        }
        work = sum(
            rates[class_model.name] * (class_model.general + class_model.eligible)
            for class_model in system.classes
            if not class_model.background
        )
        system_result = solved(system, Setting(rates, engines.engines, ziips.engines if ziips else 0.0))
        responses, counts = {}, {}
        for class_model in system.classes:
            row = rows.get((system.name, class_model.name))
            if class_model.background or row is None or (row["transactions"] or 0.0) < FEWEST_TRANSACTIONS:
                continue
            if row["elapsed_seconds"]:
                responses[class_model.name] = row["elapsed_seconds"] / row["transactions"]
                counts[class_model.name] = row["transactions"]
        modelled = {name: system_result.classes[name].response for name in responses}
        results.append(
            Point(
                time, work / mean if mean else engines.busy / system.busy, engines.busy / engines.engines,
                ziips.busy / ziips.engines if ziips else None, responses,
                {name: value for name, value in modelled.items() if value is not None}, counts,
                system_result.busy,
            )
        )  # fmt: skip
    return tuple(results)


def _rate(class_model: ClassModel, row: Facts | None, seconds: float, system: SystemModel) -> float:
    """Rate of a class in an interval; for background work, its processor time divided by the demand of a unit."""
    if row is None:
        return 0.0
    if not class_model.background:
        return float(row["transactions"] or 0.0) / seconds
    used = (row["cp_seconds"] or 0.0) / system.capture + (row["ziip_engine_seconds"] or 0.0) / system.ziip_capture
    value = (
        class_model.general
        + class_model.overflow * class_model.eligible * system.ziip_factor
        + (1.0 - class_model.overflow) * class_model.eligible
    )
    return float(used / value / seconds) if value else 0.0
