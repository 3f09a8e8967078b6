"""The queueing network of a system at a load: solved by formula, or simulated event by event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from plexlens._core import QueueingError, run_network, solve_network
from plexlens.capacity.model import ClassModel, SystemModel
from plexlens.capacity.waiting import Load, Waiting, fullest, waiting
from plexlens.metrics.page_numbers import page_numbers

_PLAN = page_numbers("plan")

#: Events of a run, about; and the longest run in seconds of the system.
_EVENTS = 3_000_000
_LONGEST = 36_000.0

_FULL = 1.0 - 1e-9

#: Steps until engines and lines agree, and the relative difference that is agreement.
_STEPS = 200
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
    made, found, saturated = _agreed(system, setting)
    if found is None:
        return _result(system, made, None, None, saturated=saturated)
    return _result(
        system, made, found["residence"], None, throughput=found["throughput"], utilisation=found["utilisation"]
    )


def _agreed(system: SystemModel, setting: Setting) -> tuple[_Network, dict[str, Any] | None, str]:
    """A network whose line waits are consistent with its engines and throughputs.

    Whoever waits for an engine holds a QR TCB for longer; what is slow holds locks and threads for longer; closed
    classes bring less when they wait. Solved by substitution, halfway from the third step on.
    """
    is_closed = any(one.users is not None for one in system.classes)
    state = _State(dict(setting.rates), dict(system.stretch), {}, 0.0)
    for step in range(_STEPS):
        made = _network(system, setting, state, is_closed=is_closed)
        if made.saturated:
            return made, None, made.saturated
        try:
            found = solve_network(made.stations, made.classes)
        except QueueingError as error:
            if error.station is None:
                raise
            return made, None, error.station
        if not system.lines:
            return made, found, ""
        new = _next(system, setting, made, found)
        if _apart(state, new) < _AGREED:
            return made, found, ""
        state = new if step < 2 else _between(state, new)
    if is_closed:
        return made, found, ""
    # What grows with every step has no end: a line that its own queue makes longer.
    return made, None, fullest(system, made.waiting.used)


def _next(system: SystemModel, setting: Setting, made: _Network, found: dict[str, Any]) -> _State:
    stretch, hold, rates = {}, {}, {}
    for number, one in enumerate(system.classes):
        rates[one.name] = found["throughput"][number] if one.users is not None else setting.rates[one.name]
        at_general = _with_factor(one, found["residence"][0][number], made.general[number])
        # The service itself is longer on slower engines, and where a transaction costs more; who spins for a coupling
        # facility is in Db2, off the QR TCB.
        service = made.general[number]
        stretch[one.name] = at_general / service * setting.cost / setting.speed if service else 1.0
        if system.held.get(one.name):
            hold[one.name] = _held(system, made, number, found["residence"]) / system.held[one.name]
    return _State(rates, stretch, hold, made.waiting.spin)


def _apart(one: _State, other: _State) -> float:
    """Largest relative difference between two states."""
    far = abs(one.spin - other.spin)
    for mine, theirs in ((one.rates, other.rates), (one.stretch, other.stretch), (one.hold, other.hold)):
        for name, value in theirs.items():
            far = max(far, abs(mine.get(name, 1.0) - value) / max(abs(value), 1e-12))
    return far


def _between(one: _State, other: _State) -> _State:
    def mean(mine: Mapping[str, float], theirs: Mapping[str, float]) -> dict[str, float]:
        return {name: (mine.get(name, value) + value) / 2 for name, value in theirs.items()}

    return _State(
        mean(one.rates, other.rates), mean(one.stretch, other.stretch), mean(one.hold, other.hold),
        (one.spin + other.spin) / 2,
    )  # fmt: skip


def run(system: SystemModel, setting: Setting, *, seed: int = 1) -> SystemResult:
    """The network simulated event by event; waits at lines come from the formula."""
    made, found, saturated = _agreed(system, setting)
    if found is None:
        return _result(system, made, None, None, saturated=saturated)
    each_second = sum(setting.rates[one.name] * (1.0 + 3.0 * one.visits) for one in system.classes) + 1.0
    seconds = min(_LONGEST, _EVENTS / each_second)
    ran = run_network(made.stations, made.classes, seed=seed, warm_up=seconds / 10, seconds=seconds)
    return _result(system, made, None, ran["response"], utilisation=ran["utilisation"])


def at_base(system: SystemModel) -> SystemModel:
    """The model with the engines and responses at the measured load, the reference for longer waits at lines."""
    made, found, _ = _agreed(replace(system, stretch={}, held={}), base(system))
    if found is None:
        return system
    stretch, held = {}, {}
    for number, one in enumerate(system.classes):
        service = _general_before(system, one)
        if service:
            stretch[one.name] = _with_factor(one, found["residence"][0][number], made.general[number]) / service
        if not one.background:
            held[one.name] = _held(system, made, number, found["residence"])
    return replace(system, stretch=stretch, held=held)


def base(system: SystemModel) -> Setting:
    """The measured load on the measured engines."""
    return Setting({one.name: one.rate for one in system.classes}, system.engines, system.ziips)


def _overflows(system: SystemModel, setting: Setting, classes: tuple[ClassModel, ...]) -> tuple[float, list[float]]:
    """Share of eligible work that overflows, in total and per class."""
    work = [setting.rates[one.name] * one.eligible * setting.cost / setting.speed for one in classes]
    whole = sum(work)
    if not whole:
        return 0.0, [one.overflow for one in classes]
    measured = sum(amount * one.overflow for amount, one in zip(work, classes, strict=True)) / whole
    share = system.overflow.share(round(setting.ziips), whole)
    # At the measured load the law gives what was measured, but for rounding.
    if abs(share - measured) < 1e-9:
        share = measured
    if share >= measured:
        rest = (1.0 - share) / (1.0 - measured) if measured < 1.0 else 1.0
        return share, [1.0 - (1.0 - one.overflow) * rest for one in classes]
    return share, [one.overflow * share / measured for one in classes]


def _servers(engines: float) -> tuple[int, float]:
    """Whole servers, and the number of engines that each represents."""
    count = max(1, round(engines))
    return count, engines / count


def _general_before(system: SystemModel, one: ClassModel) -> float:
    return one.general + one.overflow * one.eligible * system.ziip_factor


def _network(system: SystemModel, setting: Setting, state: _State, *, is_closed: bool) -> _Network:
    classes = system.classes
    share, shares = _overflows(system, setting, classes)
    faster = setting.cost / setting.speed
    general = [(c.general + o * c.eligible * system.ziip_factor) * faster for c, o in zip(classes, shares, strict=True)]
    ziip = [(1.0 - o) * c.eligible * faster for c, o in zip(classes, shares, strict=True)]
    rates = [state.rates[one.name] for one in classes]
    work = sum(rate * one for rate, one in zip(rates, general, strict=True))
    if state.spin and work:
        # Who spins for a coupling facility is not known by class: it is spread as processor time is.
        general = [one * (1.0 + state.spin / work) for one in general]
        work += state.spin
    servers, unit = _servers(setting.engines)
    stations: Stations = [("general engines", "priority", servers, [one / unit for one in general])]
    busy = work / setting.engines
    ziip_busy = None
    if setting.ziips > 0:
        servers, unit = _servers(setting.ziips)
        stations.append(("zIIPs", "priority", servers, [one / unit for one in ziip]))
        ziip_busy = sum(rate * one for rate, one in zip(rates, ziip, strict=True)) / setting.ziips
    asked = waiting(
        system, _load(system, setting, state), {"general engines": busy, "zIIPs": ziip_busy or 0.0}, is_closed=is_closed
    )
    saturated = "" if is_closed else asked.saturated
    is_open = not is_closed
    if is_open and busy >= _FULL:
        saturated = "general engines"
    elif is_open and (ziip_busy or 0.0) >= _FULL:
        saturated = "zIIPs"
    elsewhere = [0.0 if c.background else c.io_service + asked.seconds[c.name] for c in classes]
    stations.append(("other", "delay", 1, elsewhere))
    rows: Classes = []
    for one in classes:
        rate = setting.rates[one.name]
        if one.users is None or not one.rate:
            rows.append((one.name, rate, 0, 0.0, one.priority, one.visits))
        else:
            think = max(0.0, one.users / one.rate - (one.response or 0.0))
            users = max(1, round(one.users * rate / one.rate))
            rows.append((one.name, None, users, think, one.priority, one.visits))
    return _Network(stations, rows, tuple(general), tuple(ziip), busy, ziip_busy, share, asked, saturated)


def _load(system: SystemModel, setting: Setting, state: _State) -> Load:
    growth = {one.name: state.rates[one.name] / one.rate if one.rate else 1.0 for one in system.classes}
    work = {
        one.name: one.rate * (one.general + one.eligible + 1e-12) for one in system.classes if not one.background
    } or {one.name: one.rate * (one.general + one.eligible) for one in system.classes}
    whole = sum(work.values())
    grown = sum(amount * growth[name] for name, amount in work.items()) / whole if whole else 1.0
    stretch = {
        name: value / system.stretch[name] if system.stretch.get(name) else 1.0 for name, value in state.stretch.items()
    }
    engines = setting.engines / system.engines if system.engines else 1.0
    return Load(growth, grown, setting.spread, stretch, state.hold, engines)


def _with_factor(one: ClassModel, residence: float, service: float) -> float:
    """Time at general engines, with the formula's wait multiplied by the measured factor."""
    return service + one.engine_factor * max(0.0, residence - service)


def _held(system: SystemModel, made: _Network, number: int, residence: list[list[float]]) -> float:
    """Seconds of a response during which locks and threads can be held."""
    name = system.classes[number].name
    return max(1e-12, _response(system, made, number, residence) - made.waiting.entering[name])


def _response(system: SystemModel, made: _Network, number: int, residence: list[list[float]]) -> float:
    one = system.classes[number]
    general = _with_factor(one, residence[0][number], made.general[number])
    ziip = _with_factor(one, residence[1][number], made.ziip[number]) if made.ziip_busy is not None else 0.0
    return general + ziip + one.io_service + made.waiting.seconds[one.name]


def _result(
    system: SystemModel,
    made: _Network,
    residence: list[list[float]] | None,
    responses: list[tuple[float, float | None] | None] | None,
    *,
    throughput: list[float] | None = None,
    utilisation: list[float] | None = None,
    saturated: str = "",
) -> SystemResult:
    with_ziips = made.ziip_busy is not None
    results = {}
    for number, one in enumerate(system.classes):
        response = velocity = general = ziip = half = None
        if residence is not None:
            general = _with_factor(one, residence[0][number], made.general[number])
            ziip = _with_factor(one, residence[1][number], made.ziip[number]) if with_ziips else 0.0
            response = _response(system, made, number, residence)
            velocity = _velocity(one, made, number, (general, ziip), system)
        elif responses is not None and responses[number] is not None:
            response, half = responses[number] or (None, None)
        if one.background:
            response = half = None
        results[one.name] = ClassResult(
            one.name, throughput[number] if throughput else (made.classes[number][1] or 0.0), response, velocity,
            one.goal.index(response, velocity), general, ziip, one.io_service, made.waiting.seconds[one.name], half,
        )  # fmt: skip
    busy, ziip_busy = made.busy, made.ziip_busy
    if utilisation is not None:
        busy = utilisation[0]
        ziip_busy = utilisation[1] if with_ziips else None
    return SystemResult(results, busy, ziip_busy, made.overflow, saturated or made.saturated, made.waiting.used)


def _velocity(
    one: ClassModel, made: _Network, number: int, times: tuple[float, float], system: SystemModel
) -> float | None:
    """Execution velocity: measured using samples, with the model's wait per second of engine use."""
    found = one.samples
    if found is None:
        return None
    before = one.general + one.overflow * one.eligible * system.ziip_factor
    ziip_before = (1.0 - one.overflow) * one.eligible
    using = found.other_using
    delay = found.other_delay
    general, ziip = made.general[number], made.ziip[number]
    for samples, base_demand, demand, time in (
        (found.cpu_using, before, general, times[0]),
        (found.ziip_using, ziip_before, ziip, times[1]),
    ):
        if demand <= 0:
            continue
        mine = samples * demand / base_demand if base_demand else 0.0
        using += mine
        delay += mine * max(0.0, time / demand - 1.0)
    return _PLAN["velocity"](using=using, delay=delay)
