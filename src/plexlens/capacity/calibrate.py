"""Calibration: from measurements to models.

Demands are CPU seconds over ended transactions (utilisation law). CPU time that no class is charged with is spread in
proportion to the time that is: every demand is divided by the capture ratio of its kind of engine, so that the model's
utilisation at the measured load is the measured one.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from plexlens.capacity.attribution import EVERY, attribute, matching
from plexlens.capacity.goals import goal_of
from plexlens.capacity.lines import Holds
from plexlens.capacity.measured import ClassKey, Facts, Measured
from plexlens.capacity.model import ClassModel, Model, Samples, SystemModel
from plexlens.capacity.network import at_base, base, solved
from plexlens.capacity.overflow import Overflow
from plexlens.capacity.queues import queues_of
from plexlens.capacity.seen import Queues
from plexlens.errors import NothingUsableError, UsageError
from plexlens.metrics.page_numbers import page_numbers

_PLAN = page_numbers("plan")

#: Ended transactions below which a class is background: a mean over fewer says nothing about the next.
FEWEST_TRANSACTIONS = 10

_DISCRETIONARY = 6

#: Share of the service time that waiting for engines is taken to be as by formula, and the bounds of the factor on it.
#: Nothing varies less than constant services, which wait half as long as exponential ones (Pollaczek and Khinchine).
_PRIOR_WAIT = 0.01
_LEAST_FACTOR = 0.5
_MOST_FACTOR = 2.0

#: Share of the response from which a wait of unknown cause is named.
_TOLD = 0.05

#: Seconds for which work uses an engine before it waits, if this is unknown for all classes; and the
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
        facts = {name: measured.total((system, name)) for text, name in keys if text == system}
        system_model = _system(measured, system, facts, notes, users=dict(users or {}), serves=dict(serves or {}))
        if system_model is not None:
            systems.append(system_model)
    if not systems:
        raise NothingUsableError(
            file="",
            what="no system has CPU time in its classes",
            remedy="give SMF 72-3 with resource data (or workload activity reports) of the systems of SMF 70-1",
        )
    return Model(tuple(systems), tuple(dict.fromkeys(notes)), measured.kind, dict(users or {}), dict(serves or {}))


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
    captured = sum(fact["cp_seconds"] or 0.0 for fact in facts.values())
    capture = _PLAN["capture"](captured=captured, busy_time=general.busy * seconds) if general else None
    if general is None or not capture:
        notes.append(f"{system}: it has no CPU time in its classes or no general engines, and is left out.")
        return None
    ziips = measured.engines(system, "IIP")
    ziip_captured = sum(fact["ziip_engine_seconds"] or 0.0 for fact in facts.values())
    equivalent = sum(fact["ziip_seconds"] or 0.0 for fact in facts.values())
    factor = equivalent / ziip_captured if ziip_captured and equivalent else 1.0
    # Busy zIIPs without work of classes on them are load of nobody: the system's own.
    ziip_capture = ziip_captured / (ziips.busy * ziips.seconds) if ziips and ziips.busy and ziip_captured else 1.0
    _say_of(system, capture, measured, notes)
    own_io = {name for name, fact in facts.items() if fact["dasd_requests"]}
    served = {
        name
        for name, fact in facts.items()
        if fact["transactions"] and not fact["cp_seconds"] and not fact["ziip_engine_seconds"]
    }
    result = attribute(system, facts, measured, serves, notes)
    queues = queues_of(measured, system, facts, seconds, own_io=own_io, served=served, servers=result.servers)
    ranks = _ranks(facts)
    visits = _visits(facts, result.bursts)
    classes = tuple(
        _class(
            name,
            fact,
            seconds=seconds,
            rank=ranks[name],
            ratios=(capture, ziip_capture, factor),
            visits=visits,
            users=users,
            queues=queues,
            notes=notes,
            system=system,
        )
        for name, fact in facts.items()
        if (fact["cp_seconds"] or 0.0) + (fact["ziip_engine_seconds"] or 0.0) + (fact["transactions"] or 0.0) > 0
    )
    eligible = sum(class_model.rate * class_model.eligible for class_model in classes)
    over = sum(class_model.rate * class_model.eligible * class_model.overflow for class_model in classes)
    share = over / eligible if eligible else 0.0
    count = round(ziips.engines) if ziips else 0
    if ziips and count == 0:
        count = 1
    busy = ziips.busy if ziips and ziip_captured else 0.0
    if ziips and not ziip_captured and ziips.busy > 0:
        notes.append(f"{system}: no class has zIIP time although zIIPs are busy; zIIPs are left out of the model.")
    if eligible and not over and ziips:
        notes.append(
            f"{system}: no eligible work overflowed, so the model assumes that general engines do not help zIIPs."
        )
    model = SystemModel(
        system, classes, general.engines, ziips.engines if ziips else 0.0, general.busy, busy, capture, ziip_capture,
        factor, Overflow.fitted(count, busy, share),
        measured.shares[system].entitled if system in measured.shares else None, queues.lines, tuple(queues.spins),
    )  # fmt: skip
    model = _with_rest(model, queues.known)
    _say_of_waits(model, queues, notes)
    return model


def _say_of(system: str, capture: float, measured: Measured, notes: list[str]) -> None:
    if capture > 1.001:
        notes.append(
            f"{system}: classes are charged more CPU time ({capture:.1%}) than engines were busy; check that the "
            "records cover the same time."
        )
    elif capture < 0.5:
        notes.append(
            f"{system}: only {capture:.0%} of busy time is charged to classes; the model spreads the rest over them."
        )
    share = measured.shares.get(system)
    if share and share.limited:
        notes.append(f"{system}: capping limited the partition {share.limited:.1%} of the time; it is not modelled.")
    if not measured.resources.devices:
        notes.append(
            "There are no DASD device data (SMF 74-1): time that transactions wait for volumes is part of other delay."
        )


def _importance(facts: Facts) -> int | None:
    goal, level = facts["goal"], facts["importance"]
    if goal == "system":
        return 0
    if goal == "discretionary":
        return _DISCRETIONARY
    return int(level) if level else None


def _ranks(facts: dict[str, Facts]) -> dict[str, int]:
    """Priority of each class: system work first, then by importance; classes without importance rank lowest."""
    levels = {name: _importance(fact) for name, fact in facts.items()}
    known = sorted({level for level in levels.values() if level is not None})
    order = {level: rank for rank, level in enumerate(known)}
    last = max(len(known) - 1, 0)
    return {name: last if level is None else order[level] for name, level in levels.items()}


@dataclass(frozen=True)
class _Visits:
    """Number of engine requests per class and their duration; the mean for classes without data."""

    known: dict[str, float]
    burst: float

    def of(self, name: str, demand: float) -> float:
        return self.known.get(name) or max(1.0, demand / self.burst)


def _visits(facts: dict[str, Facts], bursts: dict[str, float]) -> _Visits:
    """From records of transactions, else from I/O operations: an engine is requested once, and again after each I/O."""
    known, taken, seconds = dict(bursts), 0.0, 0.0
    every, whole = 0.0, 0.0
    for name, fact in facts.items():
        ended, used = fact["transactions"] or 0.0, (fact["cp_seconds"] or 0.0) + (fact["ziip_engine_seconds"] or 0.0)
        if ended < FEWEST_TRANSACTIONS or not used:
            continue
        every, whole = every + ended, whole + used
        if name not in known and fact["dasd_requests"]:
            known[name] = 1.0 + fact["dasd_requests"] / ended
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
    queues: Queues,
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
    busy = (facts["dasd_connect_seconds"] or 0.0) + (facts["dasd_disconnect_seconds"] or 0.0)
    samples = _samples(facts)
    if facts["zaap_seconds"]:
        notes.append(f"{system} {name}: zAAP time is not modelled.")
    mean = elapsed / ended if not background and elapsed else None
    doubts = []
    if not background and not (facts["cp_seconds"] or facts["ziip_engine_seconds"]):
        doubts.append("its CPU time is charged to address spaces; name their class with --serves")
    named = [count for given, count in users.items() if name in matching({name}, given)]
    class_model = ClassModel(
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
        io_service=busy / units + queues.io_service.get(name, 0.0),
        io_requests=(facts["dasd_requests"] or 0.0) / units,
        unseen=queues.unseen.get(name),
        waits=() if background else tuple(queues.waits.get(name, ())),
        samples=samples,
        users=named[0] if named and not background else None,
        uncertain=tuple(doubts),
    )
    if abs(span - seconds) > 0.01 * seconds:
        notes.append(
            f"{system} {name}: it was recorded for {span:,.0f} s of the {seconds:,.0f} s that processor data covers."
        )
    return class_model


def _printed_velocity(facts: Facts) -> float | None:
    return _PLAN["velocity"](using=facts["using_samples"], delay=facts["delay_samples"])


def _samples(facts: Facts) -> Samples | None:
    """State samples by cause; None if the data have only a velocity."""
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


def _with_rest(system: SystemModel, known: Set[str]) -> SystemModel:
    """The model with the unexplained rest of the measured responses added.

    Where records of transactions tell all waits of a class, what is left of its response is waiting for engines, and
    the formula gets the factor that this asks for; what even twice the formula leaves is other delay. Else other delay
    is by state samples where there are some, and what the model leaves of the response where there are none.
    """
    class_results = solved(system, base(system)).classes
    results = []
    for class_model in system.classes:
        result = class_results[class_model.name]
        if class_model.background or class_model.response is None or result.general is None:
            results.append(class_model)
            continue
        engines = result.general + (result.ziip or 0.0)
        left = class_model.response - class_model.io_service - class_model.waited()
        samples = class_model.samples
        if class_model.name in known:
            service = _service(system, class_model)
            queued = max(engines - service, 0.0)
            # Of the formula's waiting, a little is taken as measured: a factor of next to nothing would be chance.
            prior = _PRIOR_WAIT * service
            factor = min(_MOST_FACTOR, max(_LEAST_FACTOR, (left - service + prior) / (queued + prior)))
            other = max(0.0, left - service - factor * queued) if factor == _MOST_FACTOR else 0.0
            results.append(replace(class_model, engine_factor=factor, other=other, other_from="records"))
        elif samples is not None:
            every = (
                samples.cpu_using + samples.cpu_delay + samples.ziip_using + samples.ziip_delay
                + samples.other_using + samples.other_delay + samples.unknown
            )  # fmt: skip
            share = (samples.other_using + samples.other_delay + samples.unknown) / every
            results.append(
                replace(
                    class_model,
                    other=max(0.0, class_model.response * share - class_model.io_service - class_model.waited()),
                )
            )
        else:
            results.append(replace(class_model, other=max(0.0, left - engines), other_from="rest"))
    return at_base(replace(system, classes=tuple(results)))


def _service(system: SystemModel, class_model: ClassModel) -> float:
    """Engine time per transaction in seconds, at the measured load."""
    return class_model.general + class_model.eligible * (
        class_model.overflow * system.ziip_factor + 1.0 - class_model.overflow
    )


def _say_of_waits(model: SystemModel, queues: Queues, notes: list[str]) -> None:
    """Notes on waits of unknown cause, and on resources that could saturate undetected."""
    name, busy = model.busiest
    for class_model in model.classes:
        share = class_model.other / class_model.response if class_model.response else 0.0
        if share > _TOLD:
            notes.append(
                f"{model.name} {class_model.name}: no record shows the cause of {share:.0%} of its response. "
                "The model lets "
                f"that part grow like waiting at the busiest measured resource ({name}, {busy:.0%} busy)."
            )
    for class_model in model.classes:
        bare = [(wait.kind, wait.seconds) for wait in class_model.waits if not wait.lines]
        if class_model.response and sum(seconds for _, seconds in bare) > _TOLD * class_model.response:
            each = ", ".join(f"{kind} {seconds / class_model.response:.0%}" for kind, seconds in bare)
            notes.append(
                f"{model.name} {class_model.name}: no queue of the model explains these waits of its response: "
                f"{each}. They "
                f"grow as waiting at the busiest resource measured does ({name}, {busy:.0%} busy)."
            )
    unknown = [
        class_model.name
        for class_model in model.classes
        if not class_model.background and class_model.name not in queues.known
    ]
    if unknown:
        notes.append(
            f"{model.name}: records of transactions (SMF 110-1, 101) do not account for everything that "
            f"{', '.join(unknown)} {'waits' if len(unknown) == 1 else 'wait'} for. QR TCBs, threads, locks and the "
            "log can saturate before any modelled resource does."
        )
    if queues.unseen:
        load = min(queues.unseen.values())
        notes.append(
            f"{model.name}: there is no SMF 110-2 to show how busy the QR TCBs of the regions that serve "
            f"{', '.join(queues.unseen)} are. One QR TCB that did all their work outside Db2 would be {1 / load:.0%} "
            "busy "
            f"and full at {load:.2f} times the measured load; beyond that load the plan draws no conclusion."
        )
    apart = sorted(line.name for line in model.lines.values() if line.kind == "QR TCB" and line.holds is Holds.NOTHING)
    if apart:
        notes.append(
            f"{model.name}: SMF 110-2 does not show which classes run in which of the regions {', '.join(apart)}. The "
            "model assumes that all of them use each QR TCB in proportion to their processor time outside Db2, and "
            "that waiting for engines does not hold it longer. SMF 110-1 shows which classes use it."
        )
