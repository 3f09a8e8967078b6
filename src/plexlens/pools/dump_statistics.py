"""Statistics in the dumps of a trace, made available as a database would hold them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens import _core
from plexlens.ingest.smf import smf_error
from plexlens.layouts_path import layout_folders
from plexlens.pdb.engine import add_table, connect

#: Tables that say what pools, storage, devices and structures were like: records of intervals, so they are few. Db2
#: accounting is not among them: it may be as large as the trace.
_WANTED = ("smf100_", "smf71_", "smf74_", "smf42_")


def statistics_of(dumps: Sequence[Path], layouts: Sequence[Path] = (), *, also: Sequence[str] = ()) -> Any:
    """Statistics from dumps, in memory, behind a DuckDB connection like that of `plexlens.pdb.Pdb.connect`.

    Parameters
    ----------
    dumps
        SMF dumps; they are read once.
    layouts
        Folders with record layouts of the site.
    also
        Beginnings of the names of further tables to read.

    Raises
    ------
    UnreadableInputError
        A dump cannot be read.
    """
    catalogue = _core.Catalogue(layout_folders(layouts))
    tables = [name for name in catalogue.tables() if name.startswith((*_WANTED, *also))]
    results: dict[str, list[pa.RecordBatch]] = {}
    for number, path in enumerate(dumps, 1):
        try:
            reader = _core.SmfReader(path, catalogue, source_id=f"dump{number}", tables=tables, once=False)
            for decoded in reader:
                for name, batch in decoded.tables.items():
                    if batch.num_rows:
                        results.setdefault(name, []).append(batch)
        except _core.SmfError as error:
            raise smf_error(path, error) from error
    connection = connect()
    for name, batches in results.items():
        add_table(connection, name, pa.Table.from_batches(batches))
    return connection
