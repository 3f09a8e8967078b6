"""The grains that are rolled up beforehand, by the roll-up rules of their facts; and the hash of their definitions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from plexlens.metrics.catalogue import GRAINS
from plexlens.metrics.definition import Grain, Rollup, Source
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.source_sql import tables_in
from plexlens.pdb.partition import family_of

#: Version of what roll-ups hold: another one makes all of them stale.
VERSION = 1

#: Rules whose facts of several intervals are one fact of a longer time, with nothing else to know.
MERGEABLE = {Rollup.COUNT: "sum", Rollup.PEAK: "max", Rollup.FLOOR: "min"}

_REASONS = {
    Rollup.LEVEL: "a level is a mean over the time in which it is known, which only its intervals tell",
    Rollup.MEAN: "a mean is weighed by the intervals of its own rows",
    Rollup.AMOUNT: "an amount is the value in force at the end, and its changes count by interval",
    Rollup.SETTING: "a setting is the value in force at the end, and its changes count by interval",
}


def reason(grain: Grain) -> str:
    """Why a grain is not rolled up beforehand; empty if it is."""
    for fact in grain.facts:
        if fact.rollup in _REASONS:
            return f"{fact.name}: {_REASONS[fact.rollup]}"
        if fact.of is not None:
            return f"{fact.name}: several rows report the same number, which counts once in each interval"
    if not any(source.dated_by for source in grain.sources):
        return "no source says by which column its records are dated (dated_by)"
    return ""


def rolled_source(inputs: Inputs, grain: Grain) -> Source | None:
    """The source of the facts, where it is the only one in the database and dates its records."""
    there = [
        source
        for source in grain.sources
        if inputs.has(*source.needs) and (not source.any_of or any(map(inputs.has, source.any_of)))
    ]
    return there[0] if len(there) == 1 and there[0].dated_by and there[0].needs else None


def dated_tables(source: Source) -> frozenset[str]:
    """Raw tables with the records that the source dates: those that it reads of their record family."""
    families = {family_of(need) for need in source.needs}
    return frozenset(name for name in (*source.needs, *_read(source)[1]) if family_of(name) in families)


def definition(grain: Grain, source: Source) -> str:
    """Hash of everything in the catalogue that the facts depend on; formulas of metrics are not part of it."""
    texts = {
        "version": VERSION,
        "keys": [key.name for key in grain.keys],
        "attributes": [attribute.name for attribute in grain.attributes],
        "facts": [(fact.name, fact.rollup.name, fact.of) for fact in grain.facts],
        "observers": grain.observers,
        "source": asdict(replace(source, wrong=None)),
        "relations": _read(source)[0],
        "functions": GRAINS.catalogue.functions.defined,
    }
    return hashlib.sha256(json.dumps(texts, sort_keys=True, default=str).encode()).hexdigest()[:32]


def shape(grain: Grain) -> dict[str, Any]:
    """Names in the rows of a grain that a later definition depends on."""
    return {
        "version": VERSION,
        "keys": [key.name for key in grain.keys],
        "attributes": [attribute.name for attribute in grain.attributes],
        "facts": {fact.name: fact.rollup.name for fact in grain.facts},
        "observers": list(grain.observers),
    }


def fits(result: Mapping[str, Any], grain: Grain) -> bool:
    """Whether rows of an earlier definition can serve the grain; facts that they lack are unknown.

    Their keys are those of now, and facts of the same name roll up by the same rule.
    """
    now = shape(grain)
    return all(result.get(name) == now[name] for name in ("version", "keys", "observers")) and all(
        result["facts"].get(fact, rule) == rule for fact, rule in now["facts"].items()
    )


def _read(source: Source) -> tuple[dict[str, str], set[str]]:
    """The relations that a source reads, directly or not, and the raw tables."""
    known = GRAINS.catalogue.relations
    relations: dict[str, str] = {}
    tables: set[str] = set()
    waiting = [*tables_in(source.sql), *((source.table,) if source.table else ())]
    while waiting:
        name = waiting.pop()
        if name in source.tables or name not in known:
            tables.add(source.tables.get(name, name))
        elif name not in relations:
            relations[name] = known[name]
            waiting += tables_in(known[name])
    return relations, tables
