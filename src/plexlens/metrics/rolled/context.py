"""Relations that the facts of a source read whole, in addition to the records that it dates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plexlens.metrics.definition import Source
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.rolled.rule import dated_tables
from plexlens.metrics.source_sql import SourceSelect, tables_in, with_parts


def context_of(inputs: Inputs, source: Source, source_select: SourceSelect) -> str:
    """Hash of the rows of every relation that reads none of the dated records; empty if there is no such relation.

    A day is rolled up with what these relations hold at the time: other rows in them make it stale.
    """
    names = sorted(_roots(source, source_select))
    results: list[Any] = []
    for name in names:
        select = f"select md5(coalesce(string_agg(t::varchar, '|' order by t::varchar), '')) from {name} t"
        results.append(inputs.connection.execute(with_parts(source_select.parts, select)).fetchone())
    return "; ".join(f"{name} {row[0]}" for name, row in zip(names, results, strict=True) if row)


def _roots(source: Source, source_select: SourceSelect) -> set[str]:
    """Relations without dated records that are read together with such records."""
    parts: Mapping[str, str] = source_select.parts
    read = {
        name: [other for other in tables_in(text) if other in parts and other != name] for name, text in parts.items()
    }
    tables = dated_tables(source)
    dated: dict[str, bool] = {}

    def is_dated(name: str) -> bool:
        if name not in dated:
            # A raw table names no other part.
            dated[name] = any(map(is_dated, read[name])) if read[name] else source.tables.get(name, name) in tables
        return dated[name]

    above = [
        [name for name in tables_in(source_select.select) if name in parts],
        *(names for n, names in read.items() if is_dated(n)),
    ]
    return {name for names in above for name in names if not is_dated(name)}
