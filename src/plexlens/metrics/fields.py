"""Facts that are one recorded field each, declared once: the fact, its source text and its column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from plexlens.metrics.definition import Fact, Metric, Rollup
from plexlens.metrics.expressions import ratio
from plexlens.metrics.unit import COUNT, PER_SECOND, Unit


@dataclass(frozen=True)
class Field:
    """A fact taken unchanged from one field.

    Parameters
    ----------
    name, title
        Of the fact.
    field
        Name of the recorded field, as in the layout; the raw table's column is the same in lower case.
    unit, rollup, computed_from
        Of the fact.
    """

    name: str
    title: str
    field: str
    unit: Unit = COUNT
    rollup: Rollup = Rollup.COUNT
    computed_from: str = ""

    @property
    def column(self) -> str:
        """Column of the raw table."""
        return self.field.lower()


def facts_of(record: str, fields: Iterable[Field]) -> tuple[Fact, ...]:
    """The facts of the fields; ``record`` is what their source text begins with (``SMF 115-2``)."""
    return tuple(
        Fact(f.name, f.title, f.unit, f.rollup, f"{record} {f.field}", computed_from=f.computed_from) for f in fields
    )


def names_of(fields: Iterable[Field]) -> tuple[str, ...]:
    """Columns of the raw table that the fields are read from."""
    return tuple(f.column for f in fields)


def columns_of(table: Any, fields: Iterable[Field]) -> dict[str, Any]:
    """Fact name to column of the table, in floating point."""
    return {f.name: table[f.column].cast("float64") for f in fields}


def per_second(name: str, title: str, fact: str, field: str, source: str, *, caveat: str = "") -> Metric:
    """A metric: the fact (recorded as ``field``) divided by the fact ``interval_seconds``."""
    return Metric(
        name,
        title,
        PER_SECOND,
        f"{field} / interval",
        source,
        lambda f: ratio(f[fact], f.interval_seconds),
        caveat,
    )


def per_event(
    name: str,
    title: str,
    unit: Unit,
    amount: tuple[str, str],
    events: tuple[str, str],
    *,
    source: str,
    caveat: str = "",
) -> Metric:
    """A metric: one fact divided by another; each is given as fact name and as what the formula calls it."""
    return Metric(
        name,
        title,
        unit,
        f"{amount[1]} / {events[1]}",
        source,
        lambda f: ratio(f[amount[0]], f[events[0]]),
        caveat,
    )
