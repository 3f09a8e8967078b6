"""Twin rows of Db2 accounting: times and suspensions of a group of threads, and of the packages they ran."""

from __future__ import annotations

from collections.abc import Iterator

from plexlens.ingest.printed.address import fold
from plexlens.ingest.printed.catalogue import Catalogue
from plexlens.ingest.printed.values import DURATION, NUMBER, Printed

TABLE = "text_db2_accounting"
_BLOCKS = ("times", "package_times", "suspensions", "highlights", "package_value")
_ACTIVITY = ("subsystem", "pool", "locking")
"""Kinds of block that count what threads did."""


class AccountingRows:
    """Gathers the twin rows of a report: a row for each group of identifiers, and for each package in it."""

    def __init__(self, known: Catalogue) -> None:
        table = known.tables[TABLE]
        self._columns = {block: table.places(block) for block in _BLOCKS}
        self._columns |= {f"{kind}_activity": table.places(f"{kind}_activity") for kind in _ACTIVITY}
        self._columns["package_suspensions"] = self._columns["suspensions"]
        self._columns_of_identifiers = table.places("identifier")
        self._done: list[dict[str, object]] = []
        self._identifiers: dict[str, str] = {}
        self._group: dict[str, object] = {}
        self._package: dict[str, object] = {}
        self.is_average = True
        """Whether the report prints averages; a trace prints what each thread took."""

    @property
    def about(self) -> str | None:
        """The identifiers above the values, as a single text."""
        return " ".join(f"{name}={value}" for name, value in self._identifiers.items()) or None

    def identify(self, identifiers: dict[str, str]) -> None:
        """Process a line of identifiers: it begins a new group unless it repeats the open group."""
        changed = any(self._identifiers.get(name, value) != value for name, value in identifiers.items())
        if changed or (self._has_values() and not identifiers.keys() <= self._identifiers.keys()):
            self._close()
            self._identifiers = {}
        self._identifiers.update(identifiers)

    def end_group(self) -> None:
        """End the open group: a trace begins its next thread."""
        self._close()
        self._identifiers = {}

    def _has_values(self) -> bool:
        return bool(self._group or self._package)

    def add(
        self, kind: str, about: str | None, name: str, parent: str | None, values: list[tuple[str | None, Printed]]
    ) -> bool:
        """Add the values of a line of a block; return whether a table has a column for them.

        Parameters
        ----------
        kind, about
            Kind of the block, and the package it is about.
        name, parent
            Name of the values, and the name it stands under.
        values
            The values with their column heads.
        """
        results = dict(self._said(kind, name, parent, values)) or self._activity(kind, about, name, values)
        if not results:
            return False
        if kind.startswith("package"):
            if self._package.get("package_name", about) != about or _contradicts(self._package, results):
                self._close_package()
            self._package["package_name"] = about
            self._package.update(results)
            return True
        if _contradicts(self._group, results):
            self._close()
        self._group.update(results)
        return True

    def _activity(
        self, kind: str, about: str | None, name: str, values: list[tuple[str | None, Printed]]
    ) -> dict[str, object]:
        """A count of the threads' activity: the average, or in a trace the thread's own count."""
        column = self._columns.get(f"{kind}_activity", {}).get((fold(name),))
        value = dict(values).get("AVERAGE" if self.is_average else "TOTAL")
        # Of the blocks of buffer pools the one of all pools counts.
        if column is None or value is None or value.number is None or not (about or "TOTAL").upper().startswith("TOT"):
            return {}
        return {column: value.number}

    def _said(
        self, kind: str, name: str, parent: str | None, values: list[tuple[str | None, Printed]]
    ) -> Iterator[tuple[str, object]]:
        """Columns filled by a line of a block, with their values."""
        columns, folded = self._columns.get(kind, {}), fold(name)
        for head, value in values:
            if kind == "package_value":
                column = columns.get((folded,))
                if column == "collection":
                    yield column, value.text
                elif column is not None and value.number is not None:
                    yield column, value.number
                return
            if value.type not in {NUMBER, DURATION}:
                continue
            above, under = fold(parent or ""), fold(head or "")
            column = columns.get((under, above, folded)) or columns.get((under, folded))
            if column is None and not (kind == "package_times" and above):
                column = columns.get((folded,))
            if column is not None:
                yield column, value.number

    def _close_package(self) -> None:
        if len(self._package) > 1:
            self._done.append({**self._common("package"), **self._package})
        self._package = {}

    def _close(self) -> None:
        if self._group:
            self._done.append({**self._common("plan"), **self._group})
        self._close_package()
        self._group = {}

    def _common(self, level: str) -> dict[str, object]:
        named = {self._columns_of_identifiers[fold(name),]: value for name, value in self._identifiers.items()}
        return {"level": level, "is_average": self.is_average, "statistics": "interval", **named}

    def rows(self) -> Iterator[dict[str, object]]:
        """The rows; afterwards none are held."""
        self._close()
        yield from self._done
        self._done, self._identifiers = [], {}


def _contradicts(content: dict[str, object], result: dict[str, object]) -> bool:
    return any(content.get(column, value) != value for column, value in result.items())
