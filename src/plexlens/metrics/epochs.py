"""Epochs: stretches of time in which observers overlap; names of entities and observers as SQL."""

from __future__ import annotations

from collections.abc import Iterable

from plexlens.metrics.definition import Grain
from plexlens.metrics.engine_table import quoted
from plexlens.metrics.over_time import MOMENTS

#: Between the parts of a joined name, and for a part that is null: signs that no EBCDIC name holds.
_BETWEEN, _NOTHING = "\u241f", "\u2400"


def entity(grain: Grain) -> tuple[str, ...]:
    """Columns that identify the entity of a row."""
    return tuple(dict.fromkeys(("sysplex", "system", *grain.observers, *(key.name for key in grain.keys))))


def joined(names: Iterable[str]) -> str:
    """SQL of a single text that combines the columns; null is a value of its own."""
    parts = [f"coalesce({quoted(name)}::varchar, '{_NOTHING}')" for name in names]
    return f" || '{_BETWEEN}' || ".join(parts) or "''"


def epochs(base: str, grain: Grain) -> str:
    """SQL of the epoch of each observer, as ``who`` and ``epoch``: observers of different epochs never overlap.

    An observer is taken to be there from its first start to its last end.
    """
    reached = "max(ends) over (order by starts, ends, who rows between unbounded preceding and 1 preceding)"
    # Grouped by the columns: a text of each row would take longer than everything else.
    named = ", ".join(map(quoted, grain.observers))
    ends = (
        f"select {joined(grain.observers)} as who, starts, ends from (select {named}, min(epoch(interval_start)) as "
        f"starts, max(epoch(interval_end)) as ends from {base} group by {named})"
    )
    return (
        "select who, sum(is_new) over (order by starts, ends, who rows between unbounded preceding and current row) "
        f"as epoch from (select *, case when starts > {reached} - {MOMENTS} then 1 else 0 end as is_new from ({ends}))"
    )
