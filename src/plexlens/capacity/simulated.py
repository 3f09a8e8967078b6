"""Predictions from the sysplex simulator itself: a scenario at other loads and on other processors.

The scenario is the user's. Load is in multiples of its own rates; engines, zIIPs and speed of a `Change` are applied to
its machines. Added members are not: a member has pools, regions and routes, which only its author can add.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from plexlens.capacity.attribution import base, matching
from plexlens.capacity.change import Change, count_of
from plexlens.capacity.model import Model
from plexlens.capacity.network import ClassResult, SystemResult
from plexlens.errors import UsageError
from plexlens.simulate import Scenario, Simulated, resource_text, run_scenario, run_scenarios
from plexlens.simulate.estimates import estimate
from plexlens.simulate.replications import Tell

#: Rates of a scenario and of the measurement that are called different.
_APART = 0.1


@dataclass(frozen=True)
class Simulation:
    """Runs of a scenario.

    Attributes
    ----------
    file
        Where it was read from.
    runs
        Load, and what each system did.
    notes
        Notes on the scenario compared with the measurement.
    """

    file: str
    runs: tuple[tuple[float, Mapping[str, SystemResult]], ...]
    notes: tuple[str, ...]


def simulate_loads(
    scenario: Scenario,
    change: Change,
    loads: Iterable[float],
    model: Model | None = None,
    *,
    tell: Tell | None = None,
) -> Simulation:
    """Simulate a scenario at several loads under a change.

    Parameters
    ----------
    loads
        Multiples of the scenario's rates.
    model
        The calibrated model, whose goals and rates the scenario is compared with.
    tell
        Called about ten times per second with the simulated seconds so far and in all.

    Raises
    ------
    UsageError
        The change adds members, or the scenario has no system that the model has.
    ScenarioFileError
        The scenario cannot be.
    """
    if change.members:
        raise UsageError(
            file=scenario.file,
            what="--scenario and --members cannot be combined",
            remedy="add the members to the scenario file, or leave --members out",
        )
    notes = () if model is None else _beside(scenario, model)
    simulated = run_scenarios([_changed(scenario, change.at(load)) for load in loads], tell=tell)
    runs = [(load, results_of(run, model)) for load, run in zip(loads, simulated, strict=True)]
    return Simulation(scenario.file, tuple(runs), notes)


def _changed(scenario: Scenario, change: Change) -> Scenario:
    try:
        return changed(scenario, change)
    except (AttributeError, KeyError, TypeError, ValueError):
        # A value of another type than it should be: the simulator says which, and where.
        run_scenario(scenario)
        raise


def changed(scenario: Scenario, change: Change) -> Scenario:
    """The scenario at another load and on other engines; the load of a closed class is its number of users."""
    values = copy.deepcopy(scenario.values)
    classes = values.get("class", [])
    for entry in classes:
        factor = change.scale
        for name, single in change.scales.items():
            if matching({entry.get("name", "") + ".1", entry.get("name", "")}, name):
                factor *= single
        if "rate" in entry:
            entry["rate"] = float(entry["rate"]) * factor
        if "users" in entry:
            entry["users"] = max(1, round(entry["users"] * factor))
    for cec in values.get("cec", []):
        cec["engines"] = round(count_of("engines", change.engines, cec.get("engines", 1), 1))
        cec["ziips"] = round(count_of("ziips", change.ziips, cec.get("ziips", 0), 0))
        for key in ("speed", "ziip_speed"):
            cec[key] = float(cec.get(key, 1.0)) * change.speed
    for system in values.get("system", []):
        for key, text, least in (("engines", change.engines, 1), ("ziips", change.ziips, 0)):
            if key in system:
                system[key] = round(count_of(key, text, system[key], least))
    return Scenario(scenario.file, values, scenario.lines)


def _beside(scenario: Scenario, model: Model) -> tuple[str, ...]:
    """Differences between the scenario and the measured system."""
    names = {entry["name"] for entry in scenario.values.get("system", []) if "name" in entry}
    there = {system.name for system in model.systems}
    if not names & there:
        raise UsageError(
            file=scenario.file,
            what=f"the scenario has no system of the measurement ({', '.join(sorted(there))})",
            remedy="give the systems of the scenario the names of the measured systems",
        )
    notes = []
    if lacking := sorted(there - names):
        notes.append(f"The scenario has no {', '.join(lacking)}, so it has no simulated values.")
    rates: dict[str, float] = {}
    for system in model.systems:
        for class_model in system.classes:
            if not class_model.background:
                rates[base(class_model.name)] = rates.get(base(class_model.name), 0.0) + class_model.rate
    for class_model in scenario.values.get("class", []):
        rate, measured = class_model.get("rate"), rates.get(class_model.get("name", ""))
        if rate and measured and abs(rate / measured - 1.0) > _APART:
            notes.append(
                f"The scenario has {rate:,.1f} {class_model['name']} per second, the measurement "
                f"{measured:,.1f}; simulated "
                "loads are multiples of the scenario's load."
            )
    return tuple(notes)


def results_of(run: Simulated, model: Model | None = None) -> dict[str, SystemResult]:
    """Results of each system in a run; confidence intervals of responses use the intervals of the run."""
    intervals = run.results["intervals"]
    seconds = sum(interval["end"] - interval["start"] for interval in intervals)
    values = run.scenario.values
    machines = {cec["name"]: cec for cec in values["cec"]}
    results = {}
    for place, system in enumerate(values["system"]):
        cec = machines[system["cec"]]
        engines = system.get("engines", cec["engines"])
        ziips = system.get("ziips", cec.get("ziips", 0))
        used = [interval["systems"][place] for interval in intervals]
        busy, ziip_busy = (sum(entry[name] for entry in used) / seconds for name in ("busy", "ziip_busy"))
        on_cp = sum(space["ziip_on_cp"] for entry in used for space in entry["spaces"])
        eligible = on_cp + ziip_busy * seconds
        classes = {}
        for number, about in enumerate(values["class"]):
            entries = _class(intervals, number, system["name"], seconds, run)
            if entries is not None:
                name = _period(about["name"], system["name"], model)
                classes[name] = _named(entries, name, system["name"], model)
        saturated = ", ".join(
            resource_text(entry) for entry in run.results["saturated"] if is_of(entry, system, values)
        )
        results[system["name"]] = SystemResult(
            classes,
            busy / engines,
            ziip_busy / ziips if ziips else None,
            on_cp / eligible if eligible else 0.0,
            saturated,
        )
    return results


def is_of(resource: Mapping[str, Any], system: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether a system uses a resource in a run's results; volumes and coupling facilities are used by all."""
    kind, name = resource["resource"], resource["name"]
    if kind in ("machine", "machine_ziips"):
        return bool(name == system["cec"])
    if kind in ("system", "system_ziips"):
        return bool(name == system["name"])
    if kind in ("qr_tcb", "region_threads", "region_open_tcbs"):
        return any(entry["name"] == name and entry["system"] == system["name"] for entry in values.get("region", []))
    if kind in ("member_threads", "log"):
        members = [member for group in values.get("db2", []) for member in group["member"]]
        return any(member["name"] == name and member["system"] == system["name"] for member in members)
    return True if kind != "subchannels" else bool(name.partition(" to ")[0] == system["name"])


def _class(
    intervals: list[dict[str, Any]], number: int, system: str, seconds: float, run: Simulated
) -> tuple[float, float, float | None] | None:
    """Rate, mean response and half-width of the interval of a class on a system; None if no transaction ended."""
    counts = [
        entry["response"]
        for two in intervals
        for entry in two["classes"][number]["systems"]
        if entry["system"] == system
    ]
    ended = sum(count["count"] for count in counts)
    if not ended:
        return None
    mean = sum(count["seconds"] for count in counts) / ended
    means = [count["seconds"] / count["count"] for count in counts if count["count"]]
    return ended / seconds, mean, estimate(means).half_width if len(means) > 1 else None


def _period(name: str, system: str, model: Model | None) -> str:
    """The measured class period that corresponds to a class of the scenario."""
    for system_model in model.systems if model else ():
        if system_model.name == system:
            names = sorted(matching({about.name for about in system_model.classes}, name))
            if names:
                return names[0]
    return name


def _named(result: tuple[float, float, float | None], name: str, system: str, model: Model | None) -> ClassResult:
    rate, mean, half = result
    about = [
        class_model for two in (model.systems if model else ()) if two.name == system for class_model in two.classes
    ]
    goal = next((class_model.goal for class_model in about if class_model.name == name), None)
    return ClassResult(name, rate, mean, None, goal.index(mean, None) if goal else None, half_width=half)
