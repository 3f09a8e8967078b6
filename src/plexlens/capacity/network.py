"""The queueing network of a system at a load, and what it says: solved by formula, or run event by event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plexlens._core import QueueingError, run_network, solve_network
from plexlens.capacity.model import ClassModel, SystemModel

#: Events of a run, about; and the longest run in seconds of the system.
_EVENTS = 3_000_000
_LONGEST = 36_000.0

_FULL = 1.0 - 1e-9

Stations = list[tuple[str, str, int, list[float]]]
Classes = list[tuple[str, float | None, int, float, int, float]]


@dataclass(frozen=True)
class Setting:
    """What is asked of a system.

    Attributes
    ----------
    rates
        Transactions a second of each class; of a closed class the factor on its users is this over its rate.
    engines, ziips
        Engines.
    speed
        Speed of every engine over the measured one.
    cost
        CPU time of a transaction over the measured one.
    """

    rates: Mapping[str, float]
    engines: float
    ziips: float
    speed: float = 1.0
    cost: float = 1.0


@dataclass(frozen=True)
class ClassResult:
    """What a class gets.

    Attributes
    ----------
    response
        Seconds; None where a station is saturated.
    half_width
        Half of the 95 % confidence interval of a run; None of a formula.
    general, ziip
        Seconds at general engines and zIIPs, waiting included.
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
    half_width: float | None = None


@dataclass(frozen=True)
class SystemResult:
    """What a system does at a load.

    Attributes
    ----------
    busy, ziip_busy
        Busy share of engines asked for; 1 or more is more than there is.
    overflow
        Share of eligible work on general engines.
    saturated
        What cannot keep up; empty where everything can.
    """

    classes: Mapping[str, ClassResult]
    busy: float
    ziip_busy: float | None
    overflow: float
    saturated: str = ""


@dataclass(frozen=True)
class _Network:
    stations: Stations
    classes: Classes
    names: tuple[str, ...]
    general: tuple[float, ...]
    ziip: tuple[float, ...]
    io: tuple[float, ...]
    busy: float
    ziip_busy: float | None
    overflow: float
    saturated: str


def solved(system: SystemModel, setting: Setting) -> SystemResult:
    """The network by mean value analysis."""
    made = _network(system, setting)
    if made.saturated:
        return _result(system, made, None, None)
    try:
        found = solve_network(made.stations, made.classes)
    except QueueingError as error:
        if error.station is None:
            raise
        return _result(system, made, None, None, saturated=error.station)
    return _result(
        system, made, found["residence"], None, throughput=found["throughput"], utilisation=found["utilisation"]
    )


def run(system: SystemModel, setting: Setting, *, seed: int = 1) -> SystemResult:
    """The network event by event."""
    made = _network(system, setting)
    if made.saturated:
        return _result(system, made, None, None)
    each_second = sum(setting.rates[one.name] * (1.0 + 3.0 * one.visits) for one in system.classes) + 1.0
    seconds = min(_LONGEST, _EVENTS / each_second)
    found = run_network(made.stations, made.classes, seed=seed, warm_up=seconds / 10, seconds=seconds)
    return _result(system, made, None, found["response"], utilisation=found["utilisation"])


def base(system: SystemModel) -> Setting:
    """The measured load on the measured engines."""
    return Setting({one.name: one.rate for one in system.classes}, system.engines, system.ziips)


def base_response(system: SystemModel) -> dict[str, float]:
    """Modelled response of each class at the measured load; empty where the model saturates there."""
    results = solved(system, base(system)).classes
    return {name: one.response for name, one in results.items() if one.response is not None}


def _overflows(system: SystemModel, setting: Setting, classes: tuple[ClassModel, ...]) -> tuple[float, list[float]]:
    """Share of eligible work that overflows, of all and of each class."""
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


def io_growth(system: SystemModel, setting: Setting) -> float | None:
    """Factor on time queued for I/O, as of M/M/1 at each device; None where a device cannot keep up.

    Every device's load is taken to grow with all I/O operations.
    """
    before = sum(one.rate * one.io_requests for one in system.classes)
    if not before or not system.devices:
        return 1.0
    growth = sum(setting.rates[one.name] * one.io_requests for one in system.classes) / before
    factor = 0.0
    for busy, weight in system.devices:
        if busy <= 0 or busy >= _FULL:
            factor += weight
            continue
        if busy * growth >= _FULL:
            return None
        factor += weight * growth * (1.0 - busy) / (1.0 - busy * growth)
    return factor


def _servers(engines: float) -> tuple[int, float]:
    """Whole servers, and the engines that each of them stands for."""
    count = max(1, round(engines))
    return count, engines / count


def _network(system: SystemModel, setting: Setting) -> _Network:
    classes = system.classes
    share, shares = _overflows(system, setting, classes)
    faster = setting.cost / setting.speed
    general = [(c.general + o * c.eligible * system.ziip_factor) * faster for c, o in zip(classes, shares, strict=True)]
    ziip = [(1.0 - o) * c.eligible * faster for c, o in zip(classes, shares, strict=True)]
    rates = [setting.rates[one.name] for one in classes]
    growth = io_growth(system, setting)
    io = [one.io_service + one.io_wait * (growth or 1.0) for one in classes]
    servers, unit = _servers(setting.engines)
    stations: Stations = [("general engines", "priority", servers, [one / unit for one in general])]
    busy = sum(rate * one for rate, one in zip(rates, general, strict=True)) / setting.engines
    ziip_busy = None
    if setting.ziips > 0:
        servers, unit = _servers(setting.ziips)
        stations.append(("zIIPs", "priority", servers, [one / unit for one in ziip]))
        ziip_busy = sum(rate * one for rate, one in zip(rates, ziip, strict=True)) / setting.ziips
    stations.append(
        ("other", "delay", 1, [0.0 if c.background else d + c.other for c, d in zip(classes, io, strict=True)])
    )
    saturated = "" if growth is not None else "DASD"
    is_open = all(one.users is None for one in classes)
    if is_open and busy >= _FULL:
        saturated = "general engines"
    elif is_open and (ziip_busy or 0.0) >= _FULL:
        saturated = "zIIPs"
    rows: Classes = []
    for one, rate in zip(classes, rates, strict=True):
        if one.users is None or not one.rate:
            rows.append((one.name, rate, 0, 0.0, one.priority, one.visits))
        else:
            think = max(0.0, one.users / one.rate - (one.response or 0.0))
            users = max(1, round(one.users * rate / one.rate))
            rows.append((one.name, None, users, think, one.priority, one.visits))
    return _Network(
        stations, rows, tuple(c.name for c in classes), tuple(general), tuple(ziip), tuple(io), busy, ziip_busy, share,
        saturated,
    )  # fmt: skip


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
            general = residence[0][number]
            ziip = residence[1][number] if with_ziips else 0.0
            response = general + ziip + made.io[number] + one.other
            velocity = _velocity(one, made, number, (general, ziip), system)
        elif responses is not None and responses[number] is not None:
            response, half = responses[number] or (None, None)
        if one.background:
            response = half = None
        results[one.name] = ClassResult(
            one.name, throughput[number] if throughput else (made.classes[number][1] or 0.0), response, velocity,
            one.goal.index(response, velocity), general, ziip, made.io[number], half,
        )  # fmt: skip
    busy, ziip_busy = made.busy, made.ziip_busy
    if utilisation is not None:
        busy = utilisation[0]
        ziip_busy = utilisation[1] if with_ziips else None
    return SystemResult(results, busy, ziip_busy, made.overflow, saturated or made.saturated)


def _velocity(
    one: ClassModel, made: _Network, number: int, times: tuple[float, float], system: SystemModel
) -> float | None:
    """Execution velocity: measured using samples, with the model's waiting for each second of engines used."""
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
    return using / (using + delay) if using + delay else None
