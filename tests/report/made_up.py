"""Made-up facts for every grain there is, so that every page can be looked at before and beside real data.

Values follow the definitions alone: the unit and the way a fact rolls up decide its size, its name the details. They
are smooth, repeatable, and stand for nothing.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pyarrow as pa

from plexlens.metrics.definition import Fact, Grain, Rollup, Source
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import add_table, connect

START = datetime(2026, 3, 9, 6, 0, tzinfo=UTC)
SYSTEMS = ("SYSA", "SYSB", "SYSC", "SYSD")

_NAMES: dict[str, tuple[str, ...]] = {
    "system": SYSTEMS,
    "processor_type": ("CP", "IIP"),
    "machine": ("3931-0A1B2C", "3931-0D4E5F"),
    "partition": ("PRODA", "PRODB", "TESTA", "DEVA", "PHYSICAL"),
    "facility": ("CF01", "CF02"),
    "structure": (
        "DSNDBP1_LOCK1",
        "DSNDBP1_SCA",
        "DSNDBP1_GBP0",
        "DSNDBP1_GBP1",
        "DSNDBP1_GBP2",
        "DSNDBP1_GBP32K",
        "ISGLOCK",
        "IXCSTR1",
        "IXCSTR2",
        "LOGGER_CICS1",
        "LOGGER_OPERLOG",
        "MQPGAPPL1",
        "MQPGADMIN",
        "SYSZWLM_0A1B",
        "IRLMLOCKTBL1",
        "VSAMRLS_LOCK1",
        "VSAMRLS_CACHE1",
        "JES2CKPT1",
    ),
    "class_kind": ("service class", "report class"),
    "workload": ("ONLINE",),
    "class_name": ("CICSHI", "CICSMED", "DDFHI", "DDFLOW", "BATHI", "BATLOW", "STCHI", "TSO", "OMVS"),
    "period": ("1",),
    "other_system": SYSTEMS[:2],
    "direction": ("inbound", "outbound"),
    "transport_class": ("DEFAULT", "LARGE"),
    "path": ("IXCSTR1", "IXCSTR2"),
    "queue_manager": ("MQPA", "MQPB"),
    "subsystem": ("MQPA", "MQPB"),
    "applid": ("CICSPA01", "CICSPA02"),
    "transaction": ("PAY1", "PAY2", "INQ1", "CWBA"),
    "mode": ("QR", "RO", "L8"),
    "volume": tuple(f"PRD{n:03}" for n in range(40)),
    "device": tuple(f"0{n:04X}" for n in range(0x8000, 0x8028)),
}
_KINDS = {"LOCK": "lock", "GBP": "cache", "CACHE": "cache", "LOGGER": "list", "MQ": "list"}


def _noise(*parts: object) -> float:
    """A number from 0 to 1 that the parts alone decide."""
    return zlib.crc32("/".join(map(str, parts)).encode()) / 0xFFFFFFFF


def _shape(step: int, steps: int, entity: tuple[str, ...]) -> float:
    """A working day: a rise, a lunch dip, an afternoon peak; the hour and height differ by entity."""
    hour = 6 + 12 * step / max(steps, 1) + 0.7 * _noise(entity, "shift")
    day = math.exp(-(((hour - 10.7) / 1.9) ** 2)) + 1.1 * math.exp(-(((hour - 15.0) / 2.0) ** 2))
    return 0.12 + 0.8 * day * (0.92 + 0.16 * _noise(entity, step))


def _value(fact: Fact, entity: tuple[str, ...], shape: float) -> float:  # noqa: PLR0911 a table of cases
    size = 0.05 + _noise(entity) ** 3
    own = 0.3 + _noise(entity, fact.name)
    unit, name = fact.unit, fact.name
    if name == "interval_seconds":
        return 900.0
    if name.startswith("bucket_"):
        middle = 4 + 4 * _noise(entity)
        return round(4000 * size * shape * math.exp(-(((int(name[7:]) - middle) / 2.0) ** 2)))
    if fact.rollup in (Rollup.AMOUNT, Rollup.SETTING, Rollup.PEAK, Rollup.FLOOR):
        return {"s": 0.25, "bytes": 4 * 2.0**30, "fraction": 0.6}.get(unit.base, float(1 + int(own * 5)))
    if fact.rollup in (Rollup.LEVEL, Rollup.MEAN):
        scale = {"bytes": 2.0**30, "count": 16.0, "processors": 8.0, "MSU": 300.0, "frames": 4e6, "fraction": 0.5}
        return scale.get(unit.base, 10.0) * (own if fact.of is not None else own * shape)
    if unit.base == "s":
        wide = 3.0 if any(word in name for word in ("online", "engine_", "wait")) else 0.4
        return 900.0 * wide * size * shape * own + (2700 if "online" in name else 0)
    if unit.base == "s²":
        return 0.02 * size * shape
    if unit.base == "bytes":
        return 2.0**31 * size * shape * own
    rare = any(word in name for word in ("false", "queued", "dump", "busy", "failed", "peer", "no_", "refused", "big"))
    return float(round(900.0 * 4000 * size * shape * own * (0.004 if rare else 1.0)))


def facts_of(grain: Grain, steps: int, most: int) -> pa.Table:
    """Facts of at most so many entities of one grain, for a number of quarters of an hour from `START`."""
    keys = tuple(dict.fromkeys(("system", *(key.name for key in grain.keys))))
    entities = list(product(*(_NAMES.get(key, (f"{key}-1", f"{key}-2")) for key in keys)))[:most]
    columns: dict[str, list[Any]] = {name: [] for name in (*keys, "sysplex", "interval_start", "interval_end")}
    columns |= {fact.name: [] for fact in grain.facts} | {one.name: [] for one in grain.attributes}
    for entity in entities:
        told = dict(zip(keys, entity, strict=True))
        kind = next((k for part, k in _KINDS.items() if part in told.get("structure", "")), "list")
        for step in range(steps):
            begin = START + timedelta(minutes=15 * step)
            shape = _shape(step, steps, entity)
            for key in keys:
                columns[key].append(told[key])
            columns["sysplex"].append("PLEX1")
            columns["interval_start"].append(begin)
            columns["interval_end"].append(begin + timedelta(minutes=15))
            for attribute in grain.attributes:
                columns[attribute.name].append(kind if attribute.name == "structure_type" else f"{attribute.name}")
            for fact in grain.facts:
                columns[fact.name].append(_value(fact, entity, shape))
    return pa.table(columns)


def made_up(grains: Mapping[str, Grain], steps: int = 48, entities: int = 160) -> tuple[Inputs, dict[str, Grain]]:
    """A database with facts of every grain, and the grains reading from it."""
    connection = connect()
    for name, grain in grains.items():
        add_table(connection, f"made_up_{name}", facts_of(grain, steps, entities))
    inputs = Inputs(connection)
    return inputs, {
        name: replace(
            grain,
            sources=(Source(grain.sources[0].kind, (f"made_up_{name}",), table=f"made_up_{name}"),),
        )
        for name, grain in grains.items()
    }
