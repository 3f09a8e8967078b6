"""Twin rows of Db2 statistics: pools, group buffer pools, locking, log and address spaces of one interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from plexlens.ingest.printed.address import fold
from plexlens.ingest.printed.catalogue import Catalogue
from plexlens.ingest.printed.values import NUMBER, Printed

_KEY_OF = {"pool": "pool_name", "group_pool": "pool_name", "cpu": "address_space"}
"""Columns that name what a row is about, by kind of block."""


class TurnedBack(NamedTuple):
    """A count computed from its rate: its name, its pool, the rate as printed, the count, and its maximum error.

    The error is that of the printed rate; that of the interval's length comes on top where it was worked out.
    """

    name: str
    about: str
    rate: str
    quantity: float
    error: float

    def __str__(self) -> str:
        error = math.ceil(round(self.error, 6))
        return f"{self.about} {self.name} {self.rate}/s is {self.quantity:.0f} ± {error}".strip()


def _is_share(column: str) -> bool:
    return column.endswith("_percent")


class StatisticsRows:
    """Gathers the twin rows of an interval."""

    def __init__(self, known: Catalogue) -> None:
        blocks = [block for block in known.blocks if "db2_statistics" in known.tables[block.table].reports]
        self._tables = {block.kind: block.table for block in blocks}
        self._columns = {
            kind: known.tables[table].places(*(block.block for block in blocks if block.kind == kind))
            for kind, table in self._tables.items()
        }
        spaces = known.lists["db2_address_space"]
        self._spaces = {fold(printed): space for printed, space in spaces.items()} | {"TOTAL": "TOTAL"}
        self._rows: dict[tuple[str, str], dict[str, object]] = {}
        self._rates: dict[tuple[str, str], dict[str, tuple[str, Printed]]] = {}
        self.turned_back: list[TurnedBack] = []
        """Counts that `rows` made of rates."""

    def __bool__(self) -> bool:
        return bool(self._rows)

    def fits(self, kind: str, about: str | None, name: str, values: list[tuple[str | None, Printed]]) -> bool:
        """Whether these values contradict none of the earlier values; otherwise they belong to another interval or
        Db2.
        """
        row, results = self._place(kind, about, name, values)
        contents = self._rows.get(row, {}) if row else {}
        return all(contents.get(column, number) == number for column, number in results.items())

    def add(self, kind: str, about: str | None, name: str, values: list[tuple[str | None, Printed]]) -> bool:
        """Add the values of a line of a block; return whether a table has a column for them.

        Parameters
        ----------
        kind, about
            Kind of the block, and the pool or group buffer pool it is about.
        name
            Name of the values.
        values
            The values with their column heads.
        """
        row, results = self._place(kind, about, name, values)
        if row and results:
            self._rows.setdefault(row, {}).update(results)
            return True
        heads = dict(values)
        column, rate = self._columns.get(kind, {}).get((fold(name),)), heads.get("/SECOND")
        if column is not None and rate is not None and rate.type == NUMBER and not _is_share(column):
            row = (kind, (about or "").upper())
            self._rows.setdefault(row, {})
            self._rates.setdefault(row, {})[column] = (name, rate)
            return True
        return False

    def _place(
        self, kind: str, about: str | None, name: str, values: list[tuple[str | None, Printed]]
    ) -> tuple[tuple[str, str] | None, dict[str, float]]:
        folded, columns = fold(name), self._columns.get(kind, {})
        if kind == "cpu":
            space = self._spaces.get(folded)
            numbers = {
                columns[fold(head),]: value.number
                for head, value in values
                if head and (fold(head),) in columns and value.number is not None
            }
            return (kind, space) if space else None, numbers
        heads = {head: value for head, value in values if value.number is not None}
        for head, value in heads.items():
            column = columns.get((fold(head or ""), folded))
            if column is not None:
                return (kind, ""), {column: value.number or 0.0}
        column, quantity = columns.get((folded,)), heads.get("QUANTITY")
        if column is None or quantity is None or quantity.number is None:
            return None, {}
        return (kind, (about or "").upper()), {column: quantity.number}

    def rows(self, seconds: float | None) -> Iterator[tuple[str, dict[str, object]]]:
        """The rows, in order of first occurrence.

        A count that is printed only as a rate is the rate times `seconds`, the length of the interval; `turned_back`
        says how exactly.
        """
        for (kind, about), values in self._rows.items():
            for column, (name, rate) in self._rates.get((kind, about), {}).items():
                if seconds is not None and rate.number is not None and column not in values:
                    values[column] = rate.number * seconds
                    half = ((rate.high or 0.0) - (rate.low or 0.0)) / 2
                    self.turned_back.append(TurnedBack(name, about, rate.text, rate.number * seconds, half * seconds))
            key = _KEY_OF.get(kind)
            name = f"G{about}" if kind == "group_pool" and about.startswith("BP") else about
            yield self._tables[kind], {"statistics": "interval", **values, **({key: name} if key else {})}
