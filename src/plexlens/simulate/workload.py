"""SMF 72-3: processor time of the address spaces, response times of the transactions.

As WLM has it, transactions have response times and their regions the processor time. Service classes of address
spaces are CICSRGN, STCDB2 and STCIRLM; each address space is a report class besides; each transaction class is a
service class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plexlens.simulate.processors import ADJUSTMENT, ziip_factor
from plexlens.simulate.written import Interval, Record, Row

#: R723CADF: resource consumption, response times.
_RESOURCE, _RESPONSE = 0x80, 0x40

#: R723MSCF: report class.
_REPORT_CLASS = 0x80

#: R723CRGF: an average response time; R723CRTF: in milliseconds.
_AVERAGE, _MILLISECONDS = 0x40, 0x80

#: Service units a second of an engine, at a coefficient of 1.
_UNITS = 16e6 / ADJUSTMENT

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


def _service(spaces: _Spaces, factor: float) -> Row:
    """Service of address spaces: R723CCPU is of all engines, that of zIIPs as a general engine would have given it."""
    general = sum(space["cpu"] for space in spaces)
    ziip = sum(space["ziip"] for space in spaces)
    service = (general + ziip * factor) * _UNITS
    return {
        "r723cadf": _RESOURCE,
        "r723csrv": service,
        "r723ccpu": service,
        "r723csup": ziip * _UNITS,
        "r723csuc": sum(space["ziip_on_cp"] for space in spaces) * _UNITS,
    }


def _responses(counts: Mapping[str, Any], goal: float | None, priority: int) -> Row:
    response = counts["response"]
    elapsed, squares = response["seconds"], response["squares"]
    row: Row = {
        "r723cadf": _RESPONSE,
        "r723cimp": _importance(priority),
        "r723crcp": response["count"],
        "r723ctet": elapsed,
        "r723ctetx": elapsed,
        "r723cets": squares,
        "r723cetsx": squares,
        "r723cxet": elapsed,
        "r723cxetx": elapsed,
    }
    if goal is not None:
        row |= {"r723crgf": _AVERAGE, "r723crtf": _MILLISECONDS, "r723cval": max(round(goal * 1000), 1)}
    return row


def _record(interval: Interval, system: Mapping[str, Any], name: str, workload: str, period: Row) -> Record:
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
        "r723madj": ADJUSTMENT,
        "r723nffi": factor,
        "r723nffs": factor,
    }
    sections = {"smf72_3_wlm_control": [control], "smf72_3_period": [{"r723cper": 1} | period]}
    return interval.record(system, "smf72_3", sections)


def workload_records(interval: Interval) -> Iterator[Record]:
    """A record of each class on each system."""
    regions = {region["name"]: region for region in interval.values.get("region", [])}
    for system in interval.values["system"]:
        factor = ziip_factor(interval.cec(system))
        spaces = spaces_by_class(interval, system["name"])
        for name, held in spaces.items():
            if held:
                first = {} if name == "CICSRGN" else {"r723cimp": _FIRST}
                yield _record(interval, system, name, "REGIONS", _service(held, factor) | first)
        for held in spaces.values():
            for space in held:
                yield _record(interval, system, space["name"], "", _service([space], factor))
        for values, used in zip(interval.values["class"], interval.truth["classes"], strict=True):
            here = [regions[name] for name in values["regions"] if regions[name]["system"] == system["name"]]
            if not here:
                continue
            priority = min(int(region.get("priority", _PRIORITY)) for region in here)
            counts = next(one for one in used["systems"] if one["system"] == system["name"])
            yield _record(interval, system, used["name"], "CICS", _responses(counts, values.get("goal"), priority))
