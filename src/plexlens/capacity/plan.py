"""The complete plan: calibration, check, curves, breaking loads, and the effect of other configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from plexlens.capacity.change import Change, check
from plexlens.capacity.held_out import Kind, SelfTrial, kinds, try_model
from plexlens.capacity.measured import Measured
from plexlens.capacity.model import Model, SystemModel
from plexlens.capacity.network import SystemResult
from plexlens.capacity.predict import TOP, Breaking, at, breaking, curve_loads, run_at, saturation
from plexlens.capacity.simulated import Simulation, simulate_loads
from plexlens.capacity.validate import SystemCheck, validate
from plexlens.simulate import Scenario
from plexlens.simulate.replications import Tell

#: Largest error of response that conclusions are drawn with, unless another is given.
TOLERANCE = 0.3

#: Runs event by event for each system's chart.
_RUNS = 5


@dataclass(frozen=True)
class Outlook:
    """A configuration at the requested load.

    Attributes
    ----------
    title
        What is different.
    limit
        Load that saturates the first system, in multiples of the measured one, and what saturates there; None where
        nothing does.
    limits
        Load that saturates each system; without those that nothing saturates.
    first
        The goal that breaks first and the load at which it does; None where all hold up to saturation.
    """

    title: str
    change: Change
    results: dict[str, SystemResult]
    limit: tuple[float, str, str] | None
    breakings: tuple[Breaking, ...]
    limits: Mapping[str, float] = field(default_factory=dict)

    @property
    def first(self) -> Breaking | None:
        """The first goal to break as the load grows."""
        broken = [entry for entry in self.breakings if entry.load is not None]
        return min(broken, key=lambda entry: entry.load or 0.0, default=None)


@dataclass(frozen=True)
class Curve:
    """A system over loads, in multiples of the measured load.

    Attributes
    ----------
    results
        By formula, at each load, as asked for.
    plain
        The same in the measured configuration; empty where that is what was asked for.
    runs
        Loads and results event by event, as asked for: of the network, or of the sysplex simulator where the plan has a
        simulation.
    """

    system: str
    loads: tuple[float, ...]
    results: tuple[SystemResult, ...]
    plain: tuple[SystemResult, ...] = ()
    runs: tuple[tuple[float, SystemResult], ...] = ()


@dataclass(frozen=True)
class Plan:
    """All contents of a `plexlens plan` page.

    Attributes
    ----------
    asked
        The configuration and load that were asked for.
    outlooks
        Measured configuration and load, what was asked for, and single changes of that.
    curves
        Of each system under the configuration asked for.
    simulation
        Runs of the user's scenario; None where the network itself was run, or nothing.
    tried
        The model tried on intervals that it was not calibrated from; None where there is one interval.
    kinds
        Intervals distinguished by configuration and mix.
    """

    name: str
    measured: Measured
    model: Model
    checks: tuple[SystemCheck, ...]
    tolerance: float
    asked: Change
    outlooks: tuple[Outlook, ...]
    curves: tuple[Curve, ...]
    simulation: Simulation | None = None
    tried: SelfTrial | None = None
    kinds: tuple[Kind, ...] = ()

    @property
    def chosen(self) -> Outlook:
        """The requested configuration."""
        return self.outlooks[1] if len(self.outlooks) > 1 and self.asked != Change() else self.outlooks[0]


def concluded(checks: tuple[SystemCheck, ...]) -> dict[str, tuple[str, ...]]:
    """Classes of each system for which conclusions are drawn."""
    return {system_check.system: tuple(c.name for c in system_check.classes if c.reproduced) for system_check in checks}


def make_plan(
    name: str,
    measured: Measured,
    model: Model,
    change: Change,
    *,
    tolerance: float = TOLERANCE,
    careful: bool = False,
    scenario: Scenario | None = None,
    tell: Tell | None = None,
) -> Plan:
    """Evaluate a model for a change and its alternatives.

    Parameters
    ----------
    name
        What the user called the data.
    change
        Load and configuration asked for.
    careful
        Whether general engines and zIIPs are simulated event by event too.
    scenario
        What the sysplex simulator runs instead.
    tell
        Called about ten times per second with the simulated seconds so far and in all.

    Raises
    ------
    UsageError
        The change means nothing, or the scenario is not of these systems.
    ScenarioFileError
        The scenario cannot be.
    """
    check(change, model)
    tried = try_model(measured, model)
    checks = _checked(measured, model, tried, tolerance)
    names = concluded(checks)
    outlooks = [_outlook("As measured", Change(), model, names)]
    if change != Change():
        outlooks.append(_outlook("As asked", change, model, names))
    outlooks += [_outlook(title, other, model, names) for title, other in _others(change, model)]
    simulation = None
    if scenario is not None:
        limits = [point[0] for system in model.systems if (point := saturation(model, system, _unit(change)))]
        places = _run_loads(min(limits, default=None), change)
        simulation = simulate_loads(scenario, _unit(change), places, model, tell=tell)
    curves = tuple(_curve(model, system, change, careful, simulation) for system in model.systems)
    return Plan(
        name, measured, model, checks, tolerance, change, tuple(outlooks), curves, simulation, tried, kinds(measured)
    )


def checked(measured: Measured, model: Model, *, tolerance: float = TOLERANCE) -> tuple[SystemCheck, ...]:
    """The checks of a model, those of intervals that it was not calibrated from included."""
    return _checked(measured, model, try_model(measured, model), tolerance)


def _checked(measured: Measured, model: Model, tried: SelfTrial | None, tolerance: float) -> tuple[SystemCheck, ...]:
    return tuple(
        _with_trial(system_check, tried, tolerance) for system_check in validate(measured, model, tolerance=tolerance)
    )


def _with_trial(check: SystemCheck, tried: SelfTrial | None, tolerance: float) -> SystemCheck:
    """A check combined with the errors of the trial; a class that fails the trial gets no conclusions."""
    results = []
    for class_check in check.classes:
        class_trial = tried.of(check.system, class_check.name) if tried else None
        if class_trial is None:
            results.append(class_check)
            continue
        fails = class_check.reproduced and class_trial.error > tolerance
        reason = (
            f"a model calibrated with every second interval is off by {class_trial.error:.0%} in the others, "
            "which is more "
            f"than {tolerance:.0%}"
            if fails
            else class_check.reason
        )
        results.append(
            replace(
                class_check,
                held_out_error=class_trial.error,
                reproduced=class_check.reproduced and not fails,
                reason=reason,
            )
        )
    return replace(check, classes=tuple(results))


def _unit(change: Change) -> Change:
    """The configuration at the measured load, of which requested loads are multiples."""
    return replace(change, scale=1.0)


def _run_loads(limit: float | None, change: Change) -> tuple[float, ...]:
    """Loads to simulate: evenly up to the end of the charts or near saturation, plus the measured and the requested
    load.
    """
    top = min(TOP, 0.95 * limit) if limit else TOP
    places = {round(top * step / _RUNS, 3) for step in range(1, _RUNS + 1)}
    places |= {value for value in (1.0, round(change.scale, 3)) if value > 0 and (limit is None or value < limit)}
    return tuple(sorted(places))


def _others(change: Change, model: Model) -> list[tuple[str, Change]]:
    """Single variations of the request: another engine, 20 % more speed, another member, another zIIP."""

    def more(text: str) -> str:
        if not text or text[0] in "+-":
            return f"{int(text or 0) + 1:+d}"
        return str(int(text) + 1)

    results = [
        ("One more general engine", replace(change, engines=more(change.engines))),
        ("Engines 20 % faster", replace(change, speed=change.speed * 1.2)),
        ("One more member", replace(change, members=change.members + 1)),
    ]
    if any(class_model.eligible * class_model.rate > 0 for system in model.systems for class_model in system.classes):
        results.append(("One more zIIP", replace(change, ziips=more(change.ziips))))
    # Taking an engine that is not there away, by the request or here, is refused before.
    return results


def _outlook(title: str, change: Change, model: Model, names: dict[str, tuple[str, ...]]) -> Outlook:
    results = {system.name: at(model, system, change) for system in model.systems}
    unit = _unit(change)
    limits = [(system, point) for system in model.systems if (point := saturation(model, system, unit)) is not None]
    each = {system.name: point[0] for system, point in limits}
    breakings = tuple(
        breaking(model, system, unit, class_model.name, each.get(system.name))
        for system in model.systems
        for class_model in system.classes
        if class_model.goal.kind != "none"
        and class_model.name in names[system.name]
        and _has_index(model, system, class_model.name)
    )
    least = min(limits, key=lambda entry: entry[1][0], default=None)
    limit = (least[1][0], least[1][1], least[0].name) if least else None
    return Outlook(title, change, results, limit, breakings, each)


def _has_index(model: Model, system: SystemModel, name: str) -> bool:
    """Whether a class's goal can be compared with a number; decided at measured load, where the model is checked."""
    return at(model, system, Change(), 1.0).classes[name].index is not None


def _curve(model: Model, system: SystemModel, change: Change, careful: bool, simulation: Simulation | None) -> Curve:
    unit = _unit(change)
    entries = saturation(model, system, unit)
    limit = entries[0] if entries else None
    loads = curve_loads(limit)
    if change.scale > 0 and (limit is None or change.scale < limit):
        loads = tuple(sorted({*loads, round(change.scale, 6)}))
    results = tuple(at(model, system, unit, load) for load in loads)
    runs: list[tuple[float, SystemResult]] = []
    if simulation is not None:
        runs = [
            (load, system_results[system.name])
            for load, system_results in simulation.runs
            if system.name in system_results
        ]
    elif careful:
        runs = [(load, run_at(model, system, unit, load)) for load in _run_loads(limit, change)]
    plain = () if unit == Change() else tuple(at(model, system, Change(), load) for load in loads)
    return Curve(system.name, loads, results, plain, tuple(runs))
