"""The page-reference trace in a PDB: SMF 102 IFCID 198 as ingested, read in time order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from plexlens.errors import PdbDamagedError
from plexlens.ingest.page_trace import ROWS, TraceNames
from plexlens.ingest.page_trace.db2 import (
    COLUMNS,
    DATA_BASES,
    DATA_SETS,
    HEADERS,
    OPENS,
    PAGES,
    READ_ENDS,
    READ_STARTS,
    TABLES,
    WRITES,
    Db2Records,
    described,
)
from plexlens.ingest.page_trace.delays import IoDelays
from plexlens.ingest.page_trace.order import merged
from plexlens.pdb import Pdb
from plexlens.pdb.engine import in_batches, let_wait, session_of

#: What DuckDB may use to sort; beyond it, it spills to a temporary folder.
_MEMORY = "512MiB"

_ORDER = "ORDER BY interval_end, source_id, record_no"


@dataclass
class DatabaseTrace:
    """The trace of a PDB being read.

    Parameters
    ----------
    path
        Its folder.
    names
        Where names of objects and members go.
    delays
        Where delays of I/Os go.
    subsystem
        The Db2 whose records count; empty for all.

    Attributes
    ----------
    records : Db2Records
        What the records said, besides references.
    position : int
        Rows read.
    """

    path: Path
    names: TraceNames
    delays: IoDelays
    subsystem: str = ""
    position: int = 0
    timed: bool = True
    records: Db2Records = field(init=False)

    def __post_init__(self) -> None:
        self.records = Db2Records(self.names, self.subsystem, self.delays)
        self._pdb = Pdb.open(self.path)
        self._tables = {name: info for name, info in self._pdb.tables().items() if name in TABLES}

    @property
    def size(self) -> int:
        """Number of references."""
        return self._tables[PAGES].rows if PAGES in self._tables else 0

    @property
    def lost(self) -> int:
        """References lost while tracing."""
        return self.records.lost

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The references in time order.

        Raises
        ------
        PdbDamagedError
            A file of the PDB cannot be read.
        """
        connection = self._pdb.connect(memory_limit=_MEMORY)
        try:
            for table in (DATA_BASES, OPENS, DATA_SETS, WRITES, HEADERS):
                for rows in self._rows(connection, table):
                    self.records.note({table: rows})
            self._pair(connection)
            yield from merged([self._pages(connection), self._reads(connection)])
        except duckdb.Error as error:
            raise PdbDamagedError(
                file=str(self.path),
                what=f"the trace cannot be read: {str(error).splitlines()[0]}",
                remedy="restore the PDB from a copy, or ingest the dumps into a new one",
            ) from error
        finally:
            connection.close()

    def _pages(self, connection: Any) -> Iterator[pa.RecordBatch]:
        for rows in self._rows(connection, PAGES):
            batch = self.records.references_of(rows).remove_column(0)
            self.position += rows.num_rows
            if batch.num_rows:
                yield batch

    def _reads(self, connection: Any) -> Iterator[pa.RecordBatch]:
        for rows in self._rows(connection, READ_STARTS):
            batch = self.records.reads_of(rows).remove_column(0)
            if batch.num_rows:
                yield batch

    def _pair(self, connection: Any) -> None:
        """Pair the starts and ends of read I/Os, both read in time order."""
        starts, ends = (self._rows(connection, table) for table in (READ_STARTS, READ_ENDS))
        start, end = next(starts, None), next(ends, None)
        while start is not None or end is not None:
            # The stretch that ends first goes first, with what the other has up to there.
            if end is None or (start is not None and _last(start) <= _last(end)):
                self.records.pair(start, None)
                start = next(starts, None)
            else:
                before = None if start is None else _until(start, _last(end))
                self.records.pair(before, end)
                start = None if start is None else start.slice(0 if before is None else before.num_rows)
                end = next(ends, None)

    def _rows(self, connection: Any, table: str) -> Iterator[pa.RecordBatch]:
        """Rows of a table in time order; none if the PDB has no such table."""
        if table not in self._tables:
            return
        named = ", ".join(column.name for column in self._tables[table].columns if column.name in COLUMNS)
        # Starts and ends without a time pair with nothing; references without one are counted.
        only = "WHERE interval_end IS NOT NULL" if table in (READ_STARTS, READ_ENDS) else ""
        session = let_wait(session_of(connection))
        for rows in in_batches(session, f"SELECT {named} FROM {table} {only} {_ORDER}", ROWS):
            own = self.records.own(rows)
            if own.num_rows:
                yield own

    @property
    def contents(self) -> str:
        """Contents of the PDB, in words."""
        counts = {name.removeprefix("smf102_ifcid"): info.rows for name, info in self._tables.items()}
        traced = {int(name): rows for name, rows in counts.items() if name.isdigit()}
        return described({"102": sum(traced.values())} if traced else {}, traced)

    def remarks(self) -> list[str]:
        """Remarks for the user: none beyond those of ``plexlens records``."""
        return []


def _last(rows: pa.RecordBatch) -> Any:
    return rows["interval_end"][-1].as_py()


def _until(rows: pa.RecordBatch, time: Any) -> pa.RecordBatch:
    """The rows up to a time."""
    times = rows["interval_end"]
    return rows.slice(0, int(pc.sum(pc.less_equal(times, pa.scalar(time, times.type))).as_py() or 0))
