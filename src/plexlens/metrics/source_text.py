"""A source of facts from the catalogue (a table ``[[source]]`` of a grain's file)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plexlens.metrics.definition import Differences, Fact, Rollup, Source

#: Facts that are counted: a counter that runs since the start of its subsystem is differenced.
_COUNTED = (Rollup.COUNT, Rollup.SPAN)

#: Counters of time have eight bytes.
_WIDE = 64


def source_of(told: Mapping[str, Any], facts: Sequence[Fact], folder: Path) -> Source:
    """The source.

    Parameters
    ----------
    told
        The table: ``kind``, ``needs``, and so on as docs/extending.md lists them.
    facts
        All facts of the grain.
    folder
        Where its SQL files are.
    """
    file = told.get("sql", "")
    plain: dict[str, str] = {}
    for prefix in _listed(told.get("fields", ())):
        plain |= fields_of(facts, prefix)
    differences = told.get("differences")
    return Source(
        kind=told["kind"],
        needs=tuple(told.get("needs", ())),
        any_of=tuple(told.get("any_of", ())),
        sql=(folder / file).read_text(encoding="utf-8").strip() if file else "",
        table=told.get("from", ""),
        tables=dict(told.get("tables", {})),
        values={name: str(value) for name, value in told.get("values", {}).items()},
        plain=plain,
        columns=dict(told.get("columns", {})),
        dated_by=tuple(told.get("dated_by", ())),
        differences=None if differences is None else _differences(differences, facts, plain),
    )


def _listed(told: str | Sequence[str]) -> tuple[str, ...]:
    return (told,) if isinstance(told, str) else tuple(told)


def fields_of(facts: Sequence[Fact], prefix: str) -> dict[str, str]:
    """The facts that correspond to a single field of a record, with the raw table's column.

    A fact is one where its field is the prefix and one name after it: ``SMF 74-4 R744SSRC``.
    """
    found = {}
    for fact in facts:
        name = fact.source.removeprefix(f"{prefix} ")
        if name != fact.source and re.fullmatch(r"[A-Za-z0-9_#@$]+", name):
            found[fact.name] = re.sub(r"[#@$]", "_", name).lower()
    return found


def _differences(told: Mapping[str, Any], facts: Sequence[Fact], plain: Mapping[str, str]) -> Differences:
    width = told.get("width", _WIDE)
    counters: dict[str, int | str] = {
        plain[fact.name]: _WIDE if fact.unit.base == "s" else width
        for fact in facts
        if fact.name in plain and fact.rollup in _COUNTED
    }
    counters |= dict.fromkeys(told.get("counters", ()), width)
    return Differences(
        entity=tuple(told["entity"]),
        counters=counters,
        witnesses=tuple(told.get("witnesses", ())),
        time=told.get("time", "interval_end"),
        sequence=told.get("sequence", ""),
        started=told.get("started", ""),
        keep_unused=told.get("keep_unused", False),
        of=told.get("of", ""),
    )
