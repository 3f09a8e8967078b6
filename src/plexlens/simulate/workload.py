"""SMF 72-3: processor time of the address spaces, response times of the transactions.

As WLM has it, transactions have response times and their regions the processor time. Service classes of address
spaces are CICSRGN, STCDB2 and STCIRLM; each address space is a report class besides; each transaction class is a
service class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from plexlens.simulate.processors import ADJUSTMENT, UNITS, ziip_factor
from plexlens.simulate.written import Interval
from plexlens.smf_rows.record import Record
from plexlens.smf_rows.smf72_3 import (
    BEGIN_TO_END,
    EXECUTION,
    Found,
    Goal,
    Io,
    Period,
    Responses,
    Service,
    State,
    WorkClass,
    sections,
)

#: Workload of the service classes of address spaces.
WORKLOAD = "REGIONS"

#: R723MTVL: WLM samples four times per second.
_SAMPLING = 0.25

#: Service classes of address spaces.
SPACE_CLASSES = ("CICSRGN", "STCDB2", "STCIRLM")

#: Those of them that do I/O.
_IO_CLASSES = ("CICSRGN", "STCDB2")

#: R723CIMP: Db2 and IRLM go before all transactions, which have the importance of their regions' dispatching priority.
_FIRST, _LAST = 1, 5
#: Dispatching priority of a region that has none of its own in the scenario.
_PRIORITY = 3

_Spaces = list[Mapping[str, Any]]


def spaces_by_class(interval: Interval, system: str) -> dict[str, _Spaces]:
    """Address spaces of a system by their service class."""
    regions = {region["name"] for region in interval.values.get("region", [])}
    used = interval.used(system)
    classes: dict[str, _Spaces] = {name: [] for name in SPACE_CLASSES}
    for space in used["spaces"]:
        if space["name"] in regions:
            classes["CICSRGN"].append(space)
        elif space["name"].endswith("IRLM"):
            classes["STCIRLM"].append(space)
        else:
            classes["STCDB2"].append(space)
    return classes


def _importance(priority: int) -> int:
    return max(_FIRST, min(_LAST, priority))


def _samples(seconds: float) -> int:
    """Number of samples that observe an activity of this total duration."""
    return max(round(seconds / _SAMPLING), 0)


def service_of(interval: Interval, spaces: _Spaces, factor: float) -> Service:
    """Service of address spaces, which exist all the time."""
    general = sum(space["cpu"] for space in spaces)
    ziip = sum(space["ziip"] for space in spaces)
    here = len(spaces) * interval.seconds
    return Service(
        cpu=(general + ziip * factor) * UNITS,
        ziip=ziip * UNITS,
        ziip_on_cp=sum(space["ziip_on_cp"] for space in spaces) * UNITS,
        active=here,
        resident=here,
    )


def _found(interval: Interval, spaces: _Spaces) -> Found:
    """WLM's samples of address spaces using or waiting for processors; an unused address space is idle."""

    def samples(name: str) -> int:
        return _samples(sum(space[name] for space in spaces))

    using, on_ziip, delay, ziip_delay = (samples(name) for name in ("cpu", "ziip", "cpu_delay", "ziip_delay"))
    taken = _samples(len(spaces) * interval.seconds)
    return Found(
        using=using,
        using_ziip=on_ziip,
        ziip_work_on_cp=samples("ziip_on_cp"),
        delay=delay,
        ziip_delay=ziip_delay,
        # Several tasks of a space can work at a time: WLM samples each of them.
        idle=max(taken - using - on_ziip - delay - ziip_delay, 0),
        taken=taken,
    )


def _dasd(interval: Interval, system: str, *, of_db2: bool) -> Io:
    """I/O of a system: of Db2, or of regions to data sets of their own."""
    used = interval.used(system)
    own = [
        entry["used"]
        for entry in interval.truth.get("data_sets", ())
        if entry["system"] == system and not entry["group"]
    ]

    def of_all(name: str) -> float:
        of_regions = float(sum(entry[name] for entry in own))
        return float(sum(volume[name] for volume in used["volumes"])) - of_regions if of_db2 else of_regions

    return Io(
        requests=round(of_all("requests")),
        connected=max(of_all("service") - of_all("pending") - of_all("disconnected"), 0.0),
        disconnected=of_all("disconnected"),
        waiting=of_all("queued") + of_all("pending"),
        queued=of_all("queued"),
    )


def _states(counts: Mapping[str, Any], *, routed: bool) -> list[State]:
    """States of a class's ended transactions, as CICS reports them to WLM: Db2 is another product.

    A transaction that was routed is in its begin-to-end phase in the terminal region, which waits for the conversation
    while the execution phase is elsewhere.
    """
    used, elapsed = counts["used"], counts["response"]["seconds"]

    def phase(flag: int, length: float, **seconds: float) -> State:
        named: dict[str, Any] = {name: _samples(min(spent, length)) for name, spent in seconds.items()}
        # What is left of the phase: ready, for a TCB or an engine.
        return State(flag, ready=max(_samples(length) - sum(named.values()), 0), **named)

    if not routed:
        return [phase(BEGIN_TO_END, elapsed, active=used["region_cpu"], product=used["db2_elapsed"])]
    terminal, way = used["terminal_cpu"], used["wait_shipping"]
    elsewhere = max(elapsed - terminal, 0.0)
    return [
        phase(BEGIN_TO_END, elapsed, active=terminal, conversation=elsewhere),
        phase(EXECUTION, max(elsewhere - way, 0.0), active=used["region_cpu"], product=used["db2_elapsed"]),
    ]


def _responses(counts: Mapping[str, Any], *, routed: bool, has_goal: bool) -> Responses:
    response = counts["response"]
    elapsed, used = response["seconds"], counts["used"]
    execution = elapsed
    if routed:
        execution = max(elapsed - used["terminal_cpu"] - used["wait_shipping"], 0.0)
    return Responses(
        ended=response["count"],
        elapsed=elapsed,
        squares=response["squares"],
        execution=execution,
        failed=sum(counts["failed"].values()),
        executed=response["count"] if routed else 0,
        extended=True,
        buckets=counts["by_goal"] if has_goal else None,
    )


def _class(interval: Interval, system: Mapping[str, Any], name: str, workload: str) -> WorkClass:
    """A service class in its workload; or a report class, which has no workload."""
    return WorkClass(
        name,
        report=not workload,
        policy="SIMULATE",
        workload=workload,
        coefficient=1.0,
        adjustment=ADJUSTMENT,
        ziip_factor=ziip_factor(interval.cec(system)),
        sampling=_SAMPLING,
        samples=_samples(interval.seconds),
    )


def _served(interval: Interval, system: str) -> dict[str, int]:
    """Classes served by the regions of a system, and the number of WLM's samples that observed it."""
    results: dict[str, int] = {}
    for used in interval.truth["classes"]:
        counts = next(entry for entry in used["systems"] if entry["system"] == system)
        seen = _samples(counts["response"]["seconds"])
        if seen:
            results[used["name"]] = seen
    return results


def workload_records(interval: Interval) -> Iterator[Record]:
    """A record for each class on each system."""
    for system in interval.values["system"]:
        yield from _space_records(interval, system)
        yield from _transaction_records(interval, system)


def _space_records(interval: Interval, system: Mapping[str, Any]) -> Iterator[Record]:
    """Service classes of address spaces, and a report class for each space."""
    factor = ziip_factor(interval.cec(system))
    spaces = spaces_by_class(interval, system["name"])
    for name, contents in spaces.items():
        if contents:
            period = Period(
                importance=_importance(min(_priorities(interval, system))) if name == "CICSRGN" else _FIRST,
                service=service_of(interval, contents, factor),
                found=_found(interval, contents),
                io=_dasd(interval, system["name"], of_db2=name == "STCDB2") if name in _IO_CLASSES else None,
            )
            served = _served(interval, system["name"]) if name == "CICSRGN" else {}
            rows = sections(_class(interval, system, name, WORKLOAD), period, served=served)
            yield interval.rmf(system, "smf72_3", rows)
    for contents in spaces.values():
        for space in contents:
            period = Period(service=service_of(interval, [space], factor), found=_found(interval, [space]))
            yield interval.rmf(system, "smf72_3", sections(_class(interval, system, space["name"], ""), period))


def _priorities(interval: Interval, system: Mapping[str, Any], names: Iterable[str] | None = None) -> list[int]:
    """Dispatching priorities of a system's regions, of all or of the named regions."""
    return [
        int(region.get("priority", _PRIORITY))
        for region in interval.values.get("region", [])
        if region["system"] == system["name"] and (names is None or region["name"] in names)
    ]


def _transaction_records(interval: Interval, system: Mapping[str, Any]) -> Iterator[Record]:
    """Service classes of transactions that run on the system."""
    for values, used in zip(interval.values["class"], interval.truth["classes"], strict=True):
        priorities = _priorities(interval, system, values["regions"])
        if not priorities:
            continue
        counts = next(entry for entry in used["systems"] if entry["system"] == system["name"])
        routed, goal = bool(values.get("terminal_regions")), values.get("goal")
        period = Period(
            importance=_importance(min(priorities)),
            goal=Goal(goal, values.get("goal_percent")) if goal is not None else None,
            responses=_responses(counts, routed=routed, has_goal=goal is not None),
        )
        states = _states(counts, routed=routed)
        yield interval.rmf(
            system, "smf72_3", sections(_class(interval, system, used["name"], "CICS"), period, states=states)
        )
