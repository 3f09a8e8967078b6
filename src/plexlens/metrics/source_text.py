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


def source_of(text: Mapping[str, Any], facts: Sequence[Fact], folder: Path) -> Source:
    """The source.

    Parameters
    ----------
    text
        The table: ``kind``, ``needs``, and so on as docs/extending.md lists them.
    facts
        All facts of the grain.
    folder
        Where its SQL files are.
    """
    file = text.get("sql", "")
    plain: dict[str, str] = {}
    for prefix in _listed(text.get("fields", ())):
        plain |= fields_of(facts, prefix)
    differences = text.get("differences")
    return Source(
        kind=text["kind"],
        needs=tuple(text.get("needs", ())),
        any_of=tuple(text.get("any_of", ())),
        sql=(folder / file).read_text(encoding="utf-8").strip() if file else "",
        table=text.get("from", ""),
        tables=dict(text.get("tables", {})),
        values={name: str(value) for name, value in text.get("values", {}).items()},
        plain=plain,
        columns=dict(text.get("columns", {})),
        dated_by=tuple(text.get("dated_by", ())),
        differences=None if differences is None else _differences(differences, facts, plain),
    )


def _listed(text: str | Sequence[str]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)


def fields_of(facts: Sequence[Fact], prefix: str) -> dict[str, str]:
    """The facts that correspond to a single field of a record, with the raw table's column.

    A fact is one where its field is the prefix and one name after it: ``SMF 74-4 R744SSRC``.
    """
    fields = {}
    for fact in facts:
        name = fact.source.removeprefix(f"{prefix} ")
        if name != fact.source and re.fullmatch(r"[A-Za-z0-9_#@$]+", name):
            fields[fact.name] = re.sub(r"[#@$]", "_", name).lower()
    return fields


def _differences(text: Mapping[str, Any], facts: Sequence[Fact], plain: Mapping[str, str]) -> Differences:
    width = text.get("width", _WIDE)
    counters: dict[str, int | str] = {
        plain[fact.name]: _WIDE if fact.unit.base == "s" else width
        for fact in facts
        if fact.name in plain and fact.rollup in _COUNTED
    }
    counters |= dict.fromkeys(text.get("counters", ()), width)
    return Differences(
        entity=tuple(text["entity"]),
        counters=counters,
        witnesses=tuple(text.get("witnesses", ())),
        time=text.get("time", "interval_end"),
        sequence=text.get("sequence", ""),
        started=text.get("started", ""),
        keep_unused=text.get("keep_unused", False),
        of=text.get("of", ""),
    )
