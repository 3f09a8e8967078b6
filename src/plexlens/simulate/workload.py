"""SMF 72-3: processor time of the address spaces, response times of the transactions.

As WLM has it, transactions have response times and their regions the processor time. Service classes of address
spaces are CICSRGN, STCDB2 and STCIRLM; each address space is a report class besides; each transaction class is a
service class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plexlens.simulate.processors import ADJUSTMENT, UNITS, ziip_factor
from plexlens.simulate.written import Interval, Record, Row

#: R723CADF: resource consumption, response times, delays.
_RESOURCE, _RESPONSE, _DELAYS = 0x80, 0x40, 0x20

#: R723MSCF: report class.
_REPORT_CLASS = 0x80

#: R723CRGF: an average response time; R723CRTF: in milliseconds.
_AVERAGE, _MILLISECONDS = 0x40, 0x80

#: R723MTVL: WLM samples four times per second.
_SAMPLING = 0.25

#: R723RFLG: begin-to-end phase, execution phase.
_BEGIN_TO_END, _EXECUTION = 0x80, 0x40

#: Service classes of address spaces.
SPACE_CLASSES = ("CICSRGN", "STCDB2", "STCIRLM")

#: R723CIMP: Db2 and IRLM go before all transactions, which have the importance of their regions' dispatching priority.
_FIRST, _LAST = 1, 5
#: Dispatching priority of a region that has none of its own in the scenario.
_PRIORITY = 3

_Spaces = list[Mapping[str, Any]]


def spaces_by_class(interval: Interval, system: str) -> dict[str, _Spaces]:
    """Address spaces of a system by their service class."""
    regions = {region["name"] for region in interval.values.get("region", [])}
    used = next(used for used in interval.truth["systems"] if used["name"] == system)
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
    """Samples that find something that lasts so long in all."""
    return max(round(seconds / _SAMPLING), 0)


def _service(interval: Interval, spaces: _Spaces, factor: float) -> Row:
    """Service of address spaces, and how often WLM finds them using processors or waiting for these.

    R723CCPU is of all engines, that of zIIPs as a general engine would have given it. A space that nobody works in is
    idle.
    """
    general = sum(space["cpu"] for space in spaces)
    ziip = sum(space["ziip"] for space in spaces)
    service = (general + ziip * factor) * UNITS
    here = len(spaces) * interval.seconds
    using, on_ziip = _samples(general), _samples(ziip)
    delayed = _samples(sum(space["cpu_delay"] for space in spaces))
    delayed_for_ziip = _samples(sum(space["ziip_delay"] for space in spaces))
    found = using + on_ziip + delayed + delayed_for_ziip
    # Several tasks of a space can work at a time: WLM samples each of them.
    idle = max(_samples(here) - found, 0)
    return {
        "r723cadf": _RESOURCE | _DELAYS,
        "r723csrv": service,
        "r723ccpu": service,
        "r723csup": ziip * UNITS,
        "r723csuc": sum(space["ziip_on_cp"] for space in spaces) * UNITS,
        "r723ctat": here,
        "r723ctrr": here,
        "r723ccus": using,
        "r723supu": on_ziip,
        "r723sucu": _samples(sum(space["ziip_on_cp"] for space in spaces)),
        "r723ctou": using + on_ziip,
        "r723ccde": delayed,
        "r723supd": delayed_for_ziip,
        "r723ctot": delayed + delayed_for_ziip,
        "r723ctdq": delayed + delayed_for_ziip,
        "r723cidl": idle,
        "r723ctsa": float(found + idle),
        "r723csac": _samples(here),
    }


def _dasd(interval: Interval, system: str) -> Row:
    """I/O of a system, which is all of Db2's."""
    used = next(used for used in interval.truth["systems"] if used["name"] == system)

    def of_all(name: str) -> float:
        return float(sum(volume[name] for volume in used["volumes"]))

    return {
        "r723circ": round(of_all("requests")),
        "r723cict": max(of_all("service") - of_all("pending") - of_all("disconnected"), 0.0),
        "r723cidt": of_all("disconnected"),
        "r723ciwt": of_all("queued") + of_all("pending"),
        "r723ciot": of_all("queued"),
    }


def _states(counts: Mapping[str, Any], *, routed: bool) -> list[Row]:
    """States of the transactions of a class that ended, as CICS tells WLM: Db2 is another product.

    A transaction that was routed is in its begin-to-end phase in the terminal region, which waits for the conversation
    while the execution phase is elsewhere.
    """
    used, elapsed = counts["used"], counts["response"]["seconds"]

    def phase(flag: int, length: float, **seconds: float) -> Row:
        named = {name: _samples(min(spent, length)) for name, spent in seconds.items()}
        # What is left of the phase: ready, for a TCB or an engine.
        ready = max(_samples(length) - sum(named.values()), 0)
        return {
            "r723rtyp": "CICS",
            "r723rflg": flag,
            "r723ress": ready + sum(named.values()),
            "r723rrdy": ready,
            **named,
        }

    if not routed:
        return [phase(_BEGIN_TO_END, elapsed, r723ract=used["region_cpu"], r723rwo=used["db2_elapsed"])]
    terminal, way = used["terminal_cpu"], used["wait_shipping"]
    elsewhere = max(elapsed - terminal, 0.0)
    return [
        phase(_BEGIN_TO_END, elapsed, r723ract=terminal, r723rwco=elsewhere),
        phase(_EXECUTION, max(elsewhere - way, 0.0), r723ract=used["region_cpu"], r723rwo=used["db2_elapsed"]),
    ]


def _responses(counts: Mapping[str, Any], goal: float | None, priority: int, *, routed: bool) -> Row:
    response = counts["response"]
    elapsed, squares = response["seconds"], response["squares"]
    execution = elapsed
    if routed:
        execution = max(elapsed - counts["used"]["terminal_cpu"] - counts["used"]["wait_shipping"], 0.0)
    row: Row = {
        "r723cadf": _RESPONSE,
        "r723cimp": _importance(priority),
        "r723crcp": response["count"],
        "r723carc": sum(counts["failed"].values()),
        "r723cncp": response["count"] if routed else 0,
        "r723ctet": elapsed,
        "r723ctetx": elapsed,
        "r723cets": squares,
        "r723cetsx": squares,
        "r723cxet": execution,
        "r723cxetx": execution,
    }
    if goal is not None:
        row |= {"r723crgf": _AVERAGE, "r723crtf": _MILLISECONDS, "r723cval": max(round(goal * 1000), 1)}
    return row


def _record(
    interval: Interval,
    system: Mapping[str, Any],
    name: str,
    workload: str,
    period: Row,
    *,
    served: Mapping[str, int] | None = None,
    states: list[Row] | None = None,
) -> Record:
    """The record of a service class of a workload; of a report class, which belongs to none."""
    factor = ziip_factor(interval.cec(system))
    control: Row = {
        "r723mscf": 0 if workload else _REPORT_CLASS,
        "r723mnsp": "SIMULATE",
        "r723mwnm": workload,
        "r723mcnm": name,
        "r723mcpg": 1,
        "r723mcpu": 1.0,
        "r723msrb": 1.0,
        "r723mtvl": _SAMPLING,
        "r723mtv_": _samples(interval.seconds),
        "r723msub": len(states or ()),
        "r723madj": ADJUSTMENT,
        "r723nffi": factor,
        "r723nffs": factor,
    }
    first: Row = {"r723cper": 1}
    if states:
        first |= {"r723cwmx": 1, "r723cwmn": len(states)}
    sections: dict[str, list[Row]] = {
        "smf72_3_wlm_control": [control],
        "smf72_3_served": [{"r723scsn": one, "r723scs_": seen} for one, seen in (served or {}).items()],
        "smf72_3_period": [first | period],
        "smf72_3_work_manager_state": states or [],
    }
    return interval.record(system, "smf72_3", sections)


def _served(interval: Interval, system: str) -> dict[str, int]:
    """Classes whose transactions the regions of a system served, and how often WLM found them at it."""
    found: dict[str, int] = {}
    for used in interval.truth["classes"]:
        counts = next(one for one in used["systems"] if one["system"] == system)
        seen = _samples(counts["response"]["seconds"])
        if seen:
            found[used["name"]] = seen
    return found


def workload_records(interval: Interval) -> Iterator[Record]:
    """A record of each class on each system."""
    regions = {region["name"]: region for region in interval.values.get("region", [])}
    for system in interval.values["system"]:
        factor = ziip_factor(interval.cec(system))
        spaces = spaces_by_class(interval, system["name"])
        for name, held in spaces.items():
            if held:
                of_regions = [
                    int(region.get("priority", _PRIORITY))
                    for region in regions.values()
                    if region["system"] == system["name"]
                ]
                first: Row = {"r723cimp": _importance(min(of_regions)) if name == "CICSRGN" else _FIRST}
                if name == "STCDB2":
                    first |= _dasd(interval, system["name"])
                served = _served(interval, system["name"]) if name == "CICSRGN" else {}
                period = _service(interval, held, factor) | first
                yield _record(interval, system, name, "REGIONS", period, served=served)
        for held in spaces.values():
            for space in held:
                yield _record(interval, system, space["name"], "", _service(interval, [space], factor))
        for values, used in zip(interval.values["class"], interval.truth["classes"], strict=True):
            here = [regions[name] for name in values["regions"] if regions[name]["system"] == system["name"]]
            if not here:
                continue
            priority = min(int(region.get("priority", _PRIORITY)) for region in here)
            counts = next(one for one in used["systems"] if one["system"] == system["name"])
            routed = bool(values.get("terminal_regions"))
            period = _responses(counts, values.get("goal"), priority, routed=routed)
            states = _states(counts, routed=routed)
            yield _record(interval, system, used["name"], "CICS", period, states=states)
