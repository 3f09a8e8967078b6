"""The queueing network of a system at a load: solved by formula, or simulated event by event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plexlens._core import QueueingError, run_network, solve_network
from plexlens.capacity.model import ClassModel, SystemModel
from plexlens.capacity.substitution import Substitution, Vector
from plexlens.capacity.waiting import Load, Waiting, fullest, waiting
from plexlens.metrics.page_numbers import page_numbers

_PLAN = page_numbers("plan")

#: Events of a run, about; and the longest run in seconds of the system.
_EVENTS = 3_000_000
_LONGEST = 36_000.0

_FULL = 1.0 - 1e-9

#: Steps until engines and lines agree, and the relative difference that is agreement.
_STEPS = 1000
_AGREED = 1e-7

Stations = list[tuple[str, str, int, list[float]]]
Classes = list[tuple[str, float | None, int, float, int, float]]


@dataclass(frozen=True)
class Setting:
    """Load and configuration requested of a system.

    Attributes
    ----------
    rates
        Transactions per second of each class; of a closed class the factor on its users is this over its rate.
    engines, ziips
        Engines.
    speed
        Speed of every engine over the measured one.
    cost
        CPU time of a transaction over the measured one.
    spread
        Share that the system has of its work, where added systems take some: lines that systems share keep all of it.
    """

    rates: Mapping[str, float]
    engines: float
    ziips: float
    speed: float = 1.0
    cost: float = 1.0
    spread: float = 1.0


@dataclass(frozen=True)
class ClassResult:
    """Results for a class.

    Attributes
    ----------
    response
        Seconds; None where a station is saturated.
    half_width
        Half of the 95 % confidence interval of a run; None of a formula.
    general, ziip
        Seconds at general engines and zIIPs, waiting included.
    io, waiting
        Seconds of I/O service; of waiting for everything but engines.
    index
        Performance index; above 1 the goal is missed.
    """

    name: str
    rate: float
    response: float | None
    velocity: float | None
    index: float | None
    general: float | None = None
    ziip: float | None = None
    io: float = 0.0
    waiting: float = 0.0
    half_width: float | None = None


@dataclass(frozen=True)
class SystemResult:
    """Results for a system at a load.

    Attributes
    ----------
    busy, ziip_busy
        Busy share of engines asked for; 1 or more is more than there is.
    overflow
        Share of eligible work on general engines.
    saturated
        What cannot keep up; empty where everything can.
    used
        Busy share of each line.
    """

    classes: Mapping[str, ClassResult]
    busy: float
    ziip_busy: float | None
    overflow: float
    saturated: str = ""
    used: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Network:
    stations: Stations
    classes: Classes
    general: tuple[float, ...]
    ziip: tuple[float, ...]
    busy: float
    ziip_busy: float | None
    overflow: float
    waiting: Waiting
    saturated: str


@dataclass(frozen=True)
class _State:
    """State of the iteration between engines and lines, by class."""

    rates: Mapping[str, float]
    stretch: Mapping[str, float]
    hold: Mapping[str, float]
    spin: float


def solved(system: SystemModel, setting: Setting) -> SystemResult:
    """The network solved by mean value analysis, consistent with the lines."""
    network, results, saturated = _agreed(system, setting)
    if results is None:
        return _result(system, network, None, None, saturated=saturated)
    return _result(
        system,
        network,
        results["residence"],
        None,
        throughput=results["throughput"],
        utilisation=results["utilisation"],
    )


def _agreed(system: SystemModel, setting: Setting) -> tuple[_Network, dict[str, Any] | None, str]:
    """A network whose line waits are consistent with its engines and throughputs, found by substitution.

    Whoever waits for an engine holds a QR TCB for longer; what is slow holds locks and threads for longer; closed
    classes bring less when they wait.
    """
    is_closed = any(class_model.users is not None for class_model in system.classes)
    state = _State(dict(setting.rates), dict(system.stretch), {}, 0.0)
    search: Substitution | None = None
    for _ in range(_STEPS):
        network = _network(system, setting, state, is_closed=is_closed)
        results, saturated = None, network.saturated
        if not saturated:
            try:
                results = solve_network(network.stations, network.classes)
            except QueueingError as error:
                if error.station is None:
                    raise
                saturated = error.station
        if results is None:
            # A jump can go too far; a step saturates what is saturated.
            if search is None or not search.go_back():
                return network, None, saturated
            state = _state_at(state, search.at)
            continue
        if not system.lines:
            return network, results, ""
        new = _next(system, setting, network, results)
        image = _vector(new)
        search = search or Substitution(_vector(state, like=new))
        if search.apart(image) < _AGREED:
            return network, results, ""
        search.follow(image)
        state = _state_at(new, search.at)
        if search.grows and not is_closed:
            break
    if is_closed:
        return network, results, ""
    # What grows with every step has no end: a line that its own queue makes longer.
    return network, None, fullest(system, network.waiting.used)


def _next(system: SystemModel, setting: Setting, network: _Network, result: dict[str, Any]) -> _State:
    stretch, hold, rates = {}, {}, {}
    for number, class_model in enumerate(system.classes):
        rates[class_model.name] = (
            result["throughput"][number] if class_model.users is not None else setting.rates[class_model.name]
        )
        at_general = _with_factor(class_model, result["residence"][0][number], network.general[number])
        # The service itself is longer on slower engines, and where a transaction costs more; who spins for a coupling
        # facility is in Db2, off the QR TCB.
        service = network.general[number]
        stretch[class_model.name] = at_general / service * setting.cost / setting.speed if service else 1.0
        if system.held.get(class_model.name):
            hold[class_model.name] = _held(system, network, number, result["residence"]) / system.held[class_model.name]
    return _State(rates, stretch, hold, network.waiting.spin)


def _vector(state: _State, *, like: _State | None = None) -> Vector:
    """The numbers of a state, in the order of another one; what a state lacks is as measured."""
    like = like or state
    parts = ((state.rates, like.rates), (state.stretch, like.stretch), (state.hold, like.hold))
    return np.array([mine.get(name, 1.0) for mine, names in parts for name in names] + [state.spin])


def _state_at(like: _State, vector: Vector) -> _State:
    """The state with these numbers, in the order of another one."""
    numbers = iter(vector.tolist())
    rates, stretch, hold = ({name: next(numbers) for name in names} for names in (like.rates, like.stretch, like.hold))
    return _State(rates, stretch, hold, next(numbers))


def run(system: SystemModel, setting: Setting, *, seed: int = 1) -> SystemResult:
    """The network simulated event by event; waits at lines come from the formula."""
    network, results, saturated = _agreed(system, setting)
    if results is None:
        return _result(system, network, None, None, saturated=saturated)
    each_second = (
        sum(setting.rates[class_model.name] * (1.0 + 3.0 * class_model.visits) for class_model in system.classes) + 1.0
    )
    seconds = min(_LONGEST, _EVENTS / each_second)
    ran = run_network(network.stations, network.classes, seed=seed, warm_up=seconds / 10, seconds=seconds)
    return _result(system, network, None, ran["response"], utilisation=ran["utilisation"])


def at_base(system: SystemModel) -> SystemModel:
    """The model with the engines and responses at the measured load, the reference for longer waits at lines."""
    network, results, _ = _agreed(replace(system, stretch={}, held={}), base(system))
    if results is None:
        return system
    stretch, contents = {}, {}
    for number, class_model in enumerate(system.classes):
        service = _general_before(system, class_model)
        if service:
            stretch[class_model.name] = (
                _with_factor(class_model, results["residence"][0][number], network.general[number]) / service
            )
        if not class_model.background:
            contents[class_model.name] = _held(system, network, number, results["residence"])
    return replace(system, stretch=stretch, held=contents)


def base(system: SystemModel) -> Setting:
    """The measured load on the measured engines."""
    return Setting({class_model.name: class_model.rate for class_model in system.classes}, system.engines, system.ziips)


def _overflows(system: SystemModel, setting: Setting, classes: tuple[ClassModel, ...]) -> tuple[float, list[float]]:
    """Share of eligible work that overflows, in total and per class."""
    work = [
        setting.rates[class_model.name] * class_model.eligible * setting.cost / setting.speed for class_model in classes
    ]
    whole = sum(work)
    if not whole:
        return 0.0, [class_model.overflow for class_model in classes]
    measured = sum(amount * class_model.overflow for amount, class_model in zip(work, classes, strict=True)) / whole
    share = system.overflow.share(round(setting.ziips), whole)
    # At the measured load the law gives what was measured, but for rounding.
    if abs(share - measured) < 1e-9:
        share = measured
    if share >= measured:
        rest = (1.0 - share) / (1.0 - measured) if measured < 1.0 else 1.0
        return share, [1.0 - (1.0 - class_model.overflow) * rest for class_model in classes]
    return share, [class_model.overflow * share / measured for class_model in classes]


def _servers(engines: float) -> tuple[int, float]:
    """Whole servers, and the number of engines that each represents."""
    count = max(1, round(engines))
    return count, engines / count


def _general_before(system: SystemModel, class_model: ClassModel) -> float:
    return class_model.general + class_model.overflow * class_model.eligible * system.ziip_factor


def _network(system: SystemModel, setting: Setting, state: _State, *, is_closed: bool) -> _Network:
    classes = system.classes
    share, shares = _overflows(system, setting, classes)
    faster = setting.cost / setting.speed
    general = [(c.general + o * c.eligible * system.ziip_factor) * faster for c, o in zip(classes, shares, strict=True)]
    ziip = [(1.0 - o) * c.eligible * faster for c, o in zip(classes, shares, strict=True)]
    rates = [state.rates[class_model.name] for class_model in classes]
    work = sum(rate * value for rate, value in zip(rates, general, strict=True))
    if state.spin and work:
        # Who spins for a coupling facility is not known by class: it is spread as processor time is.
        general = [value * (1.0 + state.spin / work) for value in general]
        work += state.spin
    servers, unit = _servers(setting.engines)
    stations: Stations = [("general engines", "priority", servers, [value / unit for value in general])]
    busy = work / setting.engines
    ziip_busy = None
    if setting.ziips > 0:
        servers, unit = _servers(setting.ziips)
        stations.append(("zIIPs", "priority", servers, [value / unit for value in ziip]))
        ziip_busy = sum(rate * value for rate, value in zip(rates, ziip, strict=True)) / setting.ziips
    options = waiting(
        system, _load(system, setting, state), {"general engines": busy, "zIIPs": ziip_busy or 0.0}, is_closed=is_closed
    )
    saturated = "" if is_closed else options.saturated
    is_open = not is_closed
    if is_open and busy >= _FULL:
        saturated = "general engines"
    elif is_open and (ziip_busy or 0.0) >= _FULL:
        saturated = "zIIPs"
    elsewhere = [0.0 if c.background else c.io_service + options.seconds[c.name] for c in classes]
    stations.append(("other", "delay", 1, elsewhere))
    rows: Classes = []
    for class_model in classes:
        rate = setting.rates[class_model.name]
        if class_model.users is None or not class_model.rate:
            rows.append((class_model.name, rate, 0, 0.0, class_model.priority, class_model.visits))
        else:
            think = max(0.0, class_model.users / class_model.rate - (class_model.response or 0.0))
            users = max(1, round(class_model.users * rate / class_model.rate))
            rows.append((class_model.name, None, users, think, class_model.priority, class_model.visits))
    return _Network(stations, rows, tuple(general), tuple(ziip), busy, ziip_busy, share, options, saturated)


def _load(system: SystemModel, setting: Setting, state: _State) -> Load:
    growth = {
        class_model.name: state.rates[class_model.name] / class_model.rate if class_model.rate else 1.0
        for class_model in system.classes
    }
    work = {
        class_model.name: class_model.rate * (class_model.general + class_model.eligible + 1e-12)
        for class_model in system.classes
        if not class_model.background
    } or {
        class_model.name: class_model.rate * (class_model.general + class_model.eligible)
        for class_model in system.classes
    }
    whole = sum(work.values())
    grown = sum(amount * growth[name] for name, amount in work.items()) / whole if whole else 1.0
    stretch = {
        name: value / system.stretch[name] if system.stretch.get(name) else 1.0 for name, value in state.stretch.items()
    }
    engines = setting.engines / system.engines if system.engines else 1.0
    return Load(growth, grown, setting.spread, stretch, state.hold, engines)


def _with_factor(class_model: ClassModel, residence: float, service: float) -> float:
    """Time at general engines, with the formula's wait multiplied by the measured factor."""
    return service + class_model.engine_factor * max(0.0, residence - service)


def _held(system: SystemModel, network: _Network, number: int, residence: list[list[float]]) -> float:
    """Seconds of a response during which locks and threads can be held."""
    name = system.classes[number].name
    return max(1e-12, _response(system, network, number, residence) - network.waiting.entering[name])


def _response(system: SystemModel, network: _Network, number: int, residence: list[list[float]]) -> float:
    class_model = system.classes[number]
    general = _with_factor(class_model, residence[0][number], network.general[number])
    ziip = (
        _with_factor(class_model, residence[1][number], network.ziip[number]) if network.ziip_busy is not None else 0.0
    )
    return general + ziip + class_model.io_service + network.waiting.seconds[class_model.name]


def _result(
    system: SystemModel,
    network: _Network,
    residence: list[list[float]] | None,
    responses: list[tuple[float, float | None] | None] | None,
    *,
    throughput: list[float] | None = None,
    utilisation: list[float] | None = None,
    saturated: str = "",
) -> SystemResult:
    with_ziips = network.ziip_busy is not None
    results = {}
    for number, class_model in enumerate(system.classes):
        response = velocity = general = ziip = half = None
        if residence is not None:
            general = _with_factor(class_model, residence[0][number], network.general[number])
            ziip = _with_factor(class_model, residence[1][number], network.ziip[number]) if with_ziips else 0.0
            response = _response(system, network, number, residence)
            velocity = _velocity(class_model, network, number, (general, ziip), system)
        elif responses is not None and responses[number] is not None:
            response, half = responses[number] or (None, None)
        if class_model.background:
            response = half = None
        results[class_model.name] = ClassResult(
            class_model.name, throughput[number] if throughput else (network.classes[number][1] or 0.0), response,
            velocity,
            class_model.goal.index(response, velocity), general, ziip, class_model.io_service,
            network.waiting.seconds[class_model.name], half,
        )  # fmt: skip
    busy, ziip_busy = network.busy, network.ziip_busy
    if utilisation is not None:
        busy = utilisation[0]
        ziip_busy = utilisation[1] if with_ziips else None
    return SystemResult(
        results, busy, ziip_busy, network.overflow, saturated or network.saturated, network.waiting.used
    )


def _velocity(
    class_model: ClassModel, network: _Network, number: int, times: tuple[float, float], system: SystemModel
) -> float | None:
    """Execution velocity: measured using samples, with the model's wait per second of engine use."""
    result = class_model.samples
    if result is None:
        return None
    before = class_model.general + class_model.overflow * class_model.eligible * system.ziip_factor
    ziip_before = (1.0 - class_model.overflow) * class_model.eligible
    using = result.other_using
    delay = result.other_delay
    general, ziip = network.general[number], network.ziip[number]
    for samples, base_demand, demand, time in (
        (result.cpu_using, before, general, times[0]),
        (result.ziip_using, ziip_before, ziip, times[1]),
    ):
        if demand <= 0:
            continue
        mine = samples * demand / base_demand if base_demand else 0.0
        using += mine
        delay += mine * max(0.0, time / demand - 1.0)
    return _PLAN["velocity"](using=using, delay=delay)
