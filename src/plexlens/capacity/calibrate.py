"""Models out of measurements.

Demands are CPU seconds over ended transactions (utilisation law). CPU time that no class is charged with is spread in
proportion to the time that is: every demand is divided by the capture ratio of its kind of engine, so that the model's
utilisation at the measured load is the measured one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from plexlens.capacity.attribution import EVERY, attribute, matching
from plexlens.capacity.goals import goal_of
from plexlens.capacity.measured import ClassKey, Facts, Measured
from plexlens.capacity.model import ClassModel, Model, Samples, SystemModel
from plexlens.capacity.network import base_response
from plexlens.capacity.overflow import Overflow
from plexlens.errors import NothingUsableError, UsageError

#: Ended transactions below which a class is background: a mean over fewer says nothing of the next.
FEWEST_TRANSACTIONS = 10

_DISCRETIONARY = 6

#: Seconds for which work takes an engine until it waits for something, where nothing tells it of any class; and the
#: most that a mean transaction then is divided into, so that a run event by event sees many transactions.
BURST = 0.001
MOST_BURSTS = 20


def calibrate(
    measured: Measured, *, users: Mapping[str, int] | None = None, serves: Mapping[str, str] | None = None
) -> Model:
    """A model of every system.

    Parameters
    ----------
    measured
        What `plexlens.capacity.measure` read.
    users
        Classes that are closed, with their users; think time follows from users = throughput x (think + response).
    serves
        Class of address spaces whose CPU time is that of the transactions of other classes, by name: one, several
        with commas between them, or ``*`` for all that have response times and no CPU time. What SMF 72-3 records of
        served classes is used besides.

    Raises
    ------
    NothingUsableError
        No system has CPU time in its classes.
    UsageError
        A class that is named is not there.
    """
    keys = sorted({key for rows in measured.classes.values() for key in rows})
    served = {part.strip() for text in (serves or {}).values() for part in text.split(",")} - {EVERY, ""}
    _known(keys, {*(users or {}), *(serves or {}), *served})
    notes = list(measured.notes)
    systems = []
    for system in measured.systems:
        facts = {name: measured.total((system, name)) for one, name in keys if one == system}
        made = _system(measured, system, facts, notes, users=dict(users or {}), serves=dict(serves or {}))
        if made is not None:
            systems.append(made)
    if not systems:
        raise NothingUsableError(
            file="",
            what="no system has CPU time in its classes",
            remedy="give SMF 72-3 with resource data (or workload activity reports) of the systems of SMF 70-1",
        )
    return Model(tuple(systems), tuple(dict.fromkeys(notes)), measured.kind)


def _known(keys: list[ClassKey], names: set[str]) -> None:
    there = {name for _, name in keys}
    for name in sorted(names):
        if not matching(there, name):
            raise UsageError(
                file="", what=f"there is no class {name!r}", remedy=f"name one of {', '.join(sorted(there))}"
            )


def _system(
    measured: Measured,
    system: str,
    facts: dict[str, Facts],
    notes: list[str],
    *,
    users: dict[str, int],
    serves: dict[str, str],
) -> SystemModel | None:
    general = measured.engines(system, "CP")
    seconds = general.seconds if general else 0.0
    captured = sum(one["cp_seconds"] or 0.0 for one in facts.values())
    if general is None or not captured or not general.busy:
        notes.append(f"{system}: it has no CPU time in its classes or no general engines, and is left out.")
        return None
    ziips = measured.engines(system, "IIP")
    ziip_captured = sum(one["ziip_engine_seconds"] or 0.0 for one in facts.values())
    equivalent = sum(one["ziip_seconds"] or 0.0 for one in facts.values())
    factor = equivalent / ziip_captured if ziip_captured and equivalent else 1.0
    capture = captured / (general.busy * seconds)
    # Busy zIIPs without work of classes on them are load of nobody: the system's own.
    ziip_capture = ziip_captured / (ziips.busy * ziips.seconds) if ziips and ziips.busy and ziip_captured else 1.0
    _say_of(system, capture, measured, notes)
    bursts = attribute(system, facts, measured, serves, notes)
    ranks = _ranks(facts)
    visits = _visits(facts, bursts)
    classes = tuple(
        _class(
            name,
            one,
            seconds=seconds,
            rank=ranks[name],
            ratios=(capture, ziip_capture, factor),
            visits=visits,
            users=users,
            notes=notes,
            system=system,
        )
        for name, one in facts.items()
        if (one["cp_seconds"] or 0.0) + (one["ziip_engine_seconds"] or 0.0) + (one["transactions"] or 0.0) > 0
    )
    eligible = sum(one.rate * one.eligible for one in classes)
    over = sum(one.rate * one.eligible * one.overflow for one in classes)
    share = over / eligible if eligible else 0.0
    count = round(ziips.engines) if ziips else 0
    if ziips and count == 0:
        count = 1
    busy = ziips.busy if ziips and ziip_captured else 0.0
    if ziips and not ziip_captured and ziips.busy > 0:
        notes.append(f"{system}: no class has zIIP time although zIIPs are busy; zIIPs are left out of the model.")
    if eligible and not over and ziips:
        notes.append(f"{system}: no eligible work overflowed, so general engines are taken not to help zIIPs.")
    model = SystemModel(
        system, classes, general.engines, ziips.engines if ziips else 0.0, general.busy, busy, capture, ziip_capture,
        factor, Overflow.fitted(count, busy, share),
        measured.shares[system].entitled if system in measured.shares else None, _devices(measured),
    )  # fmt: skip
    return _with_rest(model)


def _say_of(system: str, capture: float, measured: Measured, notes: list[str]) -> None:
    if capture > 1.001:
        notes.append(
            f"{system}: classes are charged more CPU time ({capture:.1%}) than engines were busy; check times."
        )
    elif capture < 0.5:
        notes.append(f"{system}: only {capture:.0%} of busy time is charged to classes; the rest is spread over them.")
    share = measured.shares.get(system)
    if share and share.limited:
        notes.append(f"{system}: capping limited the partition {share.limited:.1%} of the time; it is not modelled.")
    if not measured.devices:
        notes.append("No DASD device data (SMF 74-1): time queued for I/O is taken not to grow with load.")


def _importance(facts: Facts) -> int | None:
    goal, level = facts["goal"], facts["importance"]
    if goal == "system":
        return 0
    if goal == "discretionary":
        return _DISCRETIONARY
    return int(level) if level else None


def _ranks(facts: dict[str, Facts]) -> dict[str, int]:
    """Priority of each class: system work first, then by importance; those without one as the least important."""
    levels = {name: _importance(one) for name, one in facts.items()}
    known = sorted({level for level in levels.values() if level is not None})
    order = {level: rank for rank, level in enumerate(known)}
    last = max(len(known) - 1, 0)
    return {name: last if level is None else order[level] for name, level in levels.items()}


@dataclass(frozen=True)
class _Visits:
    """How often classes take engines, and for how long the mean of those that are known."""

    known: dict[str, float]
    burst: float

    def of(self, name: str, demand: float) -> float:
        return self.known.get(name) or max(1.0, demand / self.burst)


def _visits(facts: dict[str, Facts], bursts: dict[str, float]) -> _Visits:
    """By records of transactions, else by I/O operations: an engine is taken once, and again after each."""
    known, taken, seconds = dict(bursts), 0.0, 0.0
    every, whole = 0.0, 0.0
    for name, one in facts.items():
        ended, used = one["transactions"] or 0.0, (one["cp_seconds"] or 0.0) + (one["ziip_engine_seconds"] or 0.0)
        if ended < FEWEST_TRANSACTIONS or not used:
            continue
        every, whole = every + ended, whole + used
        if name not in known and one["dasd_requests"]:
            known[name] = 1.0 + one["dasd_requests"] / ended
        if name in known:
            taken, seconds = taken + known[name] * ended, seconds + used
    if taken:
        return _Visits(known, seconds / taken)
    return _Visits(known, max(BURST, whole / every / MOST_BURSTS) if every else BURST)


def _class(
    name: str,
    facts: Facts,
    *,
    seconds: float,
    rank: int,
    ratios: tuple[float, float, float],
    visits: _Visits,
    users: dict[str, int],
    notes: list[str],
    system: str,
) -> ClassModel:
    capture, ziip_capture, factor = ratios
    ended = facts["transactions"] or 0.0
    elapsed = facts["elapsed_seconds"]
    background = ended < FEWEST_TRANSACTIONS or not elapsed
    on_general = min(facts["ziip_on_cp_seconds"] or 0.0, facts["cp_seconds"] or 0.0)
    eligible = (facts["ziip_engine_seconds"] or 0.0) / ziip_capture + on_general / factor / capture
    only_general = ((facts["cp_seconds"] or 0.0) - on_general) / capture
    span = facts["interval_seconds"] or seconds
    units = ended if not background else (only_general + eligible) / visits.burst or 1.0
    busy = {one: (facts[f"dasd_{one}_seconds"] or 0.0) for one in ("connect", "disconnect", "wait", "ios_queue")}
    samples = _samples(facts)
    if facts["zaap_seconds"]:
        notes.append(f"{system} {name}: zAAP time is not modelled.")
    mean = elapsed / ended if not background and elapsed else None
    doubts = []
    if not background and not (facts["cp_seconds"] or facts["ziip_engine_seconds"]):
        doubts.append("its CPU time is charged to address spaces; name their class with --serves")
    named = [count for given, count in users.items() if name in matching({name}, given)]
    made = ClassModel(
        name=name,
        importance=_importance(facts),
        priority=rank,
        goal=goal_of(facts),
        background=background,
        transactions=ended,
        # Rates are over the time of the processors' records, so that busy time is busy time.
        rate=units / seconds if background else ended / seconds,
        response=mean,
        velocity=samples.velocity if samples else _printed_velocity(facts),
        general=only_general / units,
        eligible=eligible / units,
        visits=1.0 if background else visits.of(name, (only_general + eligible) / units),
        overflow=(on_general / factor / capture / eligible) if eligible else 0.0,
        io_service=(busy["connect"] + busy["disconnect"]) / units,
        io_wait=(busy["wait"] + busy["ios_queue"]) / units,
        io_requests=(facts["dasd_requests"] or 0.0) / units,
        samples=samples,
        users=named[0] if named and not background else None,
        uncertain=tuple(doubts),
    )
    if abs(span - seconds) > 0.01 * seconds:
        notes.append(f"{system} {name}: it was recorded for {span:,.0f} s of the {seconds:,.0f} s of the processors.")
    return made


def _printed_velocity(facts: Facts) -> float | None:
    using, delay = facts["using_samples"], facts["delay_samples"]
    return using / (using + delay) if using is not None and delay is not None and using + delay else None


def _samples(facts: Facts) -> Samples | None:
    """State samples by cause; None where the data tell only a velocity."""
    named = {
        name: facts[f"{name}_samples"]
        for name in ("cpu_using", "cpu_delay", "ziip_using", "ziip_delay", "io_using", "io_delay")
    }
    if named["cpu_using"] is None or facts["using_samples"] is None or not any(named.values()):
        return None
    known = {name: value or 0.0 for name, value in named.items()}
    using = max(facts["using_samples"], known["cpu_using"] + known["ziip_using"])
    delay = max(facts["delay_samples"] or 0.0, known["cpu_delay"] + known["ziip_delay"])
    return Samples(
        known["cpu_using"], known["cpu_delay"], known["ziip_using"], known["ziip_delay"],
        using - known["cpu_using"] - known["ziip_using"], delay - known["cpu_delay"] - known["ziip_delay"],
        facts["unknown_samples"] or 0.0,
    )  # fmt: skip


def _devices(measured: Measured) -> tuple[tuple[float, float], ...]:
    """Busy share of each device, and its part of all time queued (of all operations where nothing queued)."""
    queued = sum(one[3] for one in measured.devices)
    operations = sum(one[2] for one in measured.devices)
    if not operations:
        return ()
    return tuple((busy, (wait / queued) if queued else ios / operations) for _, busy, ios, wait in measured.devices)


def _with_rest(system: SystemModel) -> SystemModel:
    """The other delay of each class: by samples where there are some, else what the model leaves of the response."""
    alone = base_response(system)
    made = []
    for one in system.classes:
        if one.background or one.response is None:
            made.append(one)
            continue
        io = one.io_service + one.io_wait
        found = one.samples
        if found is not None:
            every = (
                found.cpu_using + found.cpu_delay + found.ziip_using + found.ziip_delay
                + found.other_using + found.other_delay + found.unknown
            )  # fmt: skip
            share = (found.other_using + found.other_delay + found.unknown) / every
            made.append(replace(one, other=max(0.0, one.response * share - io)))
        else:
            left = one.response - alone.get(one.name, 0.0)
            made.append(replace(one, other=max(0.0, left), other_from="rest"))
    return replace(system, classes=tuple(made))
