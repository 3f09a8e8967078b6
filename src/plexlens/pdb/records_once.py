"""De-duplication of records for sources whose module does not do it itself: reports in overlapping files.

An SMF reader knows the hash of a record before it decodes it. A report in XML or text is known only when its rows are:
so its rows are staged, a hash is taken over what they say (not over where they stood), and the rows of a report that
is held already, or came before in the same file, are taken out again before the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens.ingest.kinds import RecordRows
from plexlens.ingest.source import COMMON_FIELDS
from plexlens.pdb.partition import partition_of
from plexlens.pdb.staging import StagedFile, StagedTables
from plexlens.pdb.views import identifier, parquet_path

_KEPT = ("system", "sysplex", "interval_start", "interval_end", "source_id", "record_no")

INVENTORY_SCHEMA = pa.schema(
    [
        *(entry for entry in COMMON_FIELDS if entry.name in _KEPT),
        pa.field("report", pa.string(), metadata={"description": "name of the report"}),
        pa.field("values", pa.uint64(), metadata={"description": "values in the report"}),
        pa.field("hash", pa.uint64(), metadata={"description": "64 bits of a hash of the values"}),
    ]
)
"""The inventory of a kind of reports: a row for each report that is kept, as ``smf_record`` has for records."""


@dataclass(frozen=True, slots=True)
class Found:
    """Number of records (reports) in a source, and the number left out because they are held already."""

    records: int
    duplicates: int


def leave_out_held(
    tables: StagedTables,
    rows: RecordRows,
    hashes: Callable[[str, Iterable[str]], npt.NDArray[np.uint64]],
    horizon: str = "",
) -> Found:
    """Remove the rows of records that are already held from the staged tables; add the others to the inventory.

    Parameters
    ----------
    tables
        The staged tables of one source, complete.
    rows
        Rows that identify a record.
    hashes
        For an inventory table and days (as partitions are named), the hashes that are held.
    horizon
        The first day whose records the inventory still holds: those of earlier days have expired, and are left out too.

    Raises
    ------
    OSError
        A staged file could not be written.
    """
    staged = tables.flush()
    staged_files = [file for file in staged if file.table == rows.table]
    if not staged_files:
        return Found(0, 0)
    records = _inventory(staged_files, rows)
    days = [partition_of(start and start.date()) for start in records.column("interval_start").to_pylist()]
    contents = set(hashes(rows.inventory, set(days)).tolist())
    duplicates, expired = [], []
    numbers, values = records.column("record_no").to_pylist(), records.column("hash").to_pylist()
    for record_no, day, value in zip(numbers, days, values, strict=True):
        if day < horizon:
            expired.append(record_no)
        elif value in contents:
            duplicates.append(record_no)
        contents.add(value)
    if duplicates or expired:
        left_out = pa.array([*duplicates, *expired], pa.uint64())
        for file in staged:
            tables.rewrite(file, lambda part: _without(part, left_out))
        records = _without(records, left_out)
    if expired:
        tables.expired[rows.inventory] = len(expired)
    for batch in records.to_batches():
        tables.add(rows.inventory, batch)
    return Found(len(days), len(duplicates))


def _inventory(files: list[StagedFile], rows: RecordRows) -> pa.Table:
    """A row for each record, by number."""
    # A null is not an empty text, and no text has either separator.
    content = ", ".join(f"coalesce(CAST({identifier(name)} AS VARCHAR), chr(1))" for name in rows.columns)
    paths = ", ".join(parquet_path(file.staged) for file in files)
    with duckdb.connect(config={"autoinstall_known_extensions": False}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        # The sum does not depend on the order of rows, nor on how the file was cut into batches.
        # Record 0 is the file as a whole: it stays while any record does. A record without a name (a server's answer
        # that there is no report) does not say what was asked for: the rest of the file does, and counts with it.
        content_hash = f"sum(md5_number_lower(concat_ws(chr(2), {content}))::HUGEINT)"
        result = connection.execute(
            "WITH record AS (SELECT any_value(system) AS system, any_value(sysplex) AS sysplex, "
            "min(interval_start) AS interval_start, max(interval_end) AS interval_end, "
            "any_value(source_id) AS source_id, record_no, "
            f'any_value({identifier(rows.label)}) AS report, count(*) AS "values", {content_hash} AS content '
            f"FROM read_parquet([{paths}], union_by_name=true, hive_partitioning=false) GROUP BY record_no) "
            "SELECT * EXCLUDE content, "
            "((content + CASE WHEN report IS NULL THEN coalesce((SELECT content FROM record WHERE record_no = 0), 0) "
            "ELSE 0 END) % 18446744073709551616)::UBIGINT AS hash FROM record WHERE record_no > 0 ORDER BY record_no"
        ).to_arrow_table()
    return result.cast(INVENTORY_SCHEMA)


def _without(part: pa.Table, record_numbers: pa.Array) -> pa.Table:
    """The rows that belong to none of these records; a table without record numbers stays as it is."""
    if "record_no" not in part.column_names:
        return part
    import pyarrow.compute as pc

    return part.filter(pc.invert(pc.is_in(part.column("record_no"), value_set=record_numbers)))
