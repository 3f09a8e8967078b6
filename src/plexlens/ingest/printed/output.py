"""Output of a file's rows, with their counts; shared by both scanners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pyarrow as pa

from plexlens.ingest.printed.catalogue import Catalogue, TableSpec
from plexlens.ingest.source import Damage, Severity

HELD_VALUES = 1 << 16
"""Values that wait for the identity of their report."""
VALUE_ROWS = 1 << 15
"""Values of a batch."""
_TWIN_ROWS = 1 << 12
_KEPT_DAMAGE = 1000
"""Damage rows kept of one reason; the others are counted."""


class TableRows:
    """Rows of a table, gathered into batches."""

    def __init__(self, table: TableSpec, limit: int = _TWIN_ROWS) -> None:
        self.total = 0
        self._table = table
        self._schema = table.schema()
        self._limit = limit
        self._rows: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any]) -> None:
        """Add a row; missing columns are derived or null, names without a column are ignored."""
        self._rows.append(self._table.complete(row))
        self.total += 1

    def batches(self, *, all_of_it: bool) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The gathered rows, once there are enough; with `all_of_it`, at the end, all of them."""
        if self._rows and (all_of_it or len(self._rows) >= self._limit):
            arrays = [pa.array([row.get(field.name) for row in self._rows], type=field.type) for field in self._schema]
            yield self._table.name, pa.RecordBatch.from_arrays(arrays, schema=self._schema)
            self._rows = []


class FileOutput:
    """Rows, damage and counts of a file.

    Parameters
    ----------
    file, source_id
        What damage rows and table rows bear.
    known, prefix
        The catalogue, and how the names of the source's tables begin.
    """

    def __init__(self, file: str, source_id: str, known: Catalogue, prefix: str) -> None:
        self.file = file
        self.source_id = source_id
        self.known = known
        self.record_no: int | None = None
        """The report that damage is of, where none is named."""
        self.kinds: dict[str, int] = {}
        """Reports by kind."""
        self.systems: set[str] = set()
        self.sysplexes: set[str] = set()
        self.subsystems: set[str] = set()
        self.first: datetime | None = None
        self.last: datetime | None = None
        """Local times that the reports are within."""
        self.damage: list[Damage] = []
        self.damage_counts: dict[str, int] = {}
        self.tables = {spec.name: TableRows(spec) for spec in known.of_source(prefix)}

    def note(
        self,
        reason: str,
        severity: Severity,
        detail: str,
        remedy: str,
        offset: int | None = None,
        *,
        record_no: int | None = None,
    ) -> None:
        """Note damage in the open report, unless another report is named."""
        count = self.damage_counts.get(reason, 0) + 1
        self.damage_counts[reason] = count
        if count <= _KEPT_DAMAGE:
            at = self.record_no if record_no is None else record_no
            self.damage.append(Damage(self.source_id, self.file, at, offset, reason, severity, detail, remedy))

    def count_report(self, kind: str, identity: tuple[str | None, ...], *moments: datetime | None) -> None:
        """Count a report of a system, sysplex and subsystem, and extend the span of local times."""
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        for names, name in zip((self.systems, self.sysplexes, self.subsystems), identity, strict=False):
            if name:
                names.add(name)
        for moment in moments:
            if moment is not None:
                self.first = moment if self.first is None else min(self.first, moment)
                self.last = moment if self.last is None else max(self.last, moment)

    def batches(self, *, all_of_it: bool) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Full batches; with `all_of_it`, at the end, all batches."""
        for rows in self.tables.values():
            yield from rows.batches(all_of_it=all_of_it)


class PrintedReading(ABC):
    """A file being read; a `plexlens.ingest.source.Reading`."""

    def __init__(self, output: FileOutput) -> None:
        self._gathered = output
        self._begun = False

    @property
    def damage(self) -> list[Damage]:
        """Damage to the file, in the order met; at most a thousand per reason."""
        return self._gathered.damage

    def _counted(self, reports: int, values: int, numbers: int, rows: dict[str, int]) -> dict[str, Any]:
        """The part of the summary that both scanners share."""
        done = self._gathered
        return {
            "reports": reports,
            "values": values,
            "numbers": numbers,
            "records": dict(sorted(done.kinds.items())),
            "tables": {name: count for name, count in rows.items() if count},
            "systems": sorted(done.systems),
            "sysplexes": sorted(done.sysplexes),
            "damage": dict(done.damage_counts),
        }

    def __iter__(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Pairs of table name and batch.

        Raises
        ------
        SourceError
            The file cannot be read, or holds no report.
        RuntimeError
            It was iterated before.
        """
        if self._begun:
            raise RuntimeError("a reading can be iterated only once")
        self._begun = True
        return self._tables()

    @abstractmethod
    def _tables(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Read the file."""
