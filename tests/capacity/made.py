"""A made-up database small enough to work out by hand.

One system, four general engines, intervals of 1,000 s, 20,000 service units a CPU second (R723MADJ 800).

    class        ended   CPU       zIIP      of it on CP   I/O            goal
    ONLINE       1,000   1,000 s   0         0             20,000, 100 s  average 3 s, importance 1
    DDF          2,000   600 s     200 s     100 s         none           90 % within 1 s, importance 2
    STC          0       200 s     0         0             none           velocity 50, importance 1
    SYSTEM       0       200 s     0         0             none           system
"""

from __future__ import annotations

from typing import Any

from plexlens.metrics.inputs import Inputs
from tests.metrics.raw import inputs, row

SECONDS = 1000.0
PER_SECOND = 20_000.0

CONTROL = {
    "r723mcpu": 1.0, "r723msrb": 1.0, "r723madj": 800, "r723nffi": 1.0, "r723nffs": 1.0, "r723mwnm": "W",
    "r723mnsp": "P",
}  # fmt: skip


def period(name: str, number: int, load: float = 1.0, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Control and period section of one class; CPU times in seconds as ``cpu``, ``ziip``, ``on_cp``."""
    seconds = {target: fields.pop(source, 0.0) for source, target in _TIMES.items()}
    work = {target: value * load * PER_SECOND for target, value in seconds.items()}
    return CONTROL | {"r723mscf": 0, "r723mcnm": name}, {"r723cper": 1, "r723cadf": 0xE0, **work, **fields}


_TIMES = {"cpu": "r723ccpu", "ziip": "r723csup", "on_cp": "r723csuc"}


def online(load: float = 1.0, response: float = 1.5, **more: Any) -> dict[str, Any]:
    ended = 1000 * load
    return {
        "cpu": 1000.0, "r723crcp": ended, "r723ctet": ended * response, "r723crgf": 0x40, "r723cval": 3,
        "r723crtf": 0x40, "r723cimp": 1, "r723circ": 20_000 * load, "r723cict": 100.0 * load, **more,
    }  # fmt: skip


def ddf(load: float = 1.0, response: float = 0.6) -> dict[str, Any]:
    ended = 2000 * load
    return {
        "cpu": 600.0, "ziip": 200.0, "on_cp": 100.0, "r723crcp": ended, "r723ctet": ended * response, "r723crgf": 0x80,
        "r723cval": 1, "r723crtf": 0x40, "r723cpct": 90, "r723cimp": 2,
    }  # fmt: skip


STC = {"cpu": 200.0, "r723crgf": 0x20, "r723cval": 50, "r723cimp": 1}
SYSTEM = {"cpu": 200.0, "r723crgf": 0x08}


def database(
    *loads: float,
    engines: int = 4,
    ziips: int = 1,
    busy: float = 2000.0,
    classes: dict[str, Any] | None = None,
    **tables: list[dict[str, Any]],
) -> Inputs:
    """Intervals at so many times the load; ``busy`` seconds of general engines at a load of one.

    With the classes above 1,000 + 400 + 200 + 200 = 1,800 s of it are charged: a capture ratio of 90 %.
    """
    return inputs(**raw_tables(*loads, engines=engines, ziips=ziips, busy=busy, classes=classes), **tables)


def raw_tables(
    *loads: float,
    system: str = "SYS1",
    first: int = 0,
    engines: int = 4,
    ziips: int = 1,
    busy: float = 2000.0,
    classes: dict[str, Any] | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """The raw tables of one system; its records are numbered from ``first``."""
    control, periods, cpus, cpu_control = [], [], [], []
    named, partition, logical, product = [], [], [], []
    for number, load in enumerate(loads or (1.0,)):
        at: dict[str, Any] = {"interval": number, "seconds": SECONDS, "system": system}
        chosen = classes or {"ONLINE": online(load), "DDF": ddf(load), "STC": STC, "SYSTEM": SYSTEM}
        for place, (name, fields) in enumerate(chosen.items()):
            record = first + 100 * number + place + 1
            above, below = period(name, record, load, **fields)
            control.append(row(record, **at, **above))
            periods.append(row(record, **at, **below))
        record = first + 100 * number + 99
        idle = engines * SECONDS - busy * load
        engine = [(0, idle / engines)] * engines + [(2, SECONDS - 200.0 * load / max(ziips, 1))] * ziips
        for place, (kind, wait) in enumerate(engine, 1):
            cpus.append(row(record, place, **at, smf70typ=kind, smf70cnf=1, smf70wat=wait))
        cpu_control.append(row(record, **at, smf70cpa=800, smf70csc="S1", smf70mdl="701"))
        product.append(row(record, **at, smf7xptn=9))
        partition.append(row(record, **at, smf70lpm="LP1", smf70lpn=1, smf70bdn=1, smf70bds=0))
        logical.append(row(record, **at, smf70pdt=0.0, smf70ont=SECONDS, smf70cix=1))
        named.append(row(record, **at, smf70cin="CP", smf70ctn=engines))
    return {
        "smf72_3_period": periods, "smf72_3_wlm_control": control, "smf70_1_cpu_data": cpus,
        "smf70_1_cpu_control": cpu_control, "smf70_1_partition": partition, "smf70_1_logical_processor": logical,
        "smf70_1_cpu_identification": named, "rmf_product_section": product,
    }  # fmt: skip


def several(*systems: dict[str, list[dict[str, Any]]], **more: list[dict[str, Any]]) -> Inputs:
    """The tables of several systems, and others, in one database."""
    names = dict.fromkeys(name for one in (*systems, more) for name in one)
    return inputs(**{name: [row for one in (*systems, more) for row in one.get(name, [])] for name in names})
