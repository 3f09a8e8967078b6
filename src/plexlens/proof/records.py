"""The records of a bundle compared with those of the files that they are of, read again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from plexlens.errors import UsageError
from plexlens.ingest.compression import Expansion
from plexlens.pdb import Pdb
from plexlens.pdb.carried import carried_path, carry
from plexlens.pdb.opening import DumpReading
from plexlens.progress import Progress
from plexlens.proof.manifest import Manifest

_KEYS = ("source_id", "record_no", "section_no")


@dataclass(frozen=True)
class RecordsCompared:
    """Records compared with those of their files.

    Attributes
    ----------
    files, rows : int
        How many files were read again, and rows compared.
    first : str
        The first difference, a sentence; empty if there is none.
    """

    files: int
    rows: int
    first: str = ""

    def sentence(self) -> str:
        """The result."""
        if self.first:
            return f"the records are not those of the files: {self.first}"
        return f"records: those of the {self.files:,} files, read again ({self.rows:,} rows)"


def compare_records(
    pdb: Pdb, manifest: Manifest, files: Sequence[Path], reading: DumpReading, progress: Progress
) -> RecordsCompared:
    """Read files again and compare their rows with those of a bundle.

    Parameters
    ----------
    pdb
        The records of the bundle.
    manifest
        Of the bundle.
    files
        All files that the records are of.
    reading
        How they are read; code page and leap seconds are those with which the first source of the bundle was read.
    progress
        Told how far each stage is.

    Raises
    ------
    UsageError
        A file that the bundle is of is not among them.
    PlexlensError
        A file cannot be read.
    """
    options = manifest.sources[0].options if manifest.sources else {}
    reading = replace(
        reading,
        codepage="037" if options.get("codepage") == "037" else "1047",
        leap_seconds=options.get("leap_seconds") is True,
        expansion=Expansion.of(options),
    )
    with Pdb.temporary() as fresh, Pdb.temporary() as copy:
        reading.into(fresh, files, progress)
        there = {ingest.sha256 for ingest in fresh.ingests}
        for source in manifest.sources:
            if source.sha256 not in there:
                raise UsageError(
                    file=source.file,
                    what=f"the bundle is of this file (SHA-256 {source.sha256}), and none of the files given is it",
                    remedy="name all files that the bundle is of, unchanged, or none",
                )
        carry(fresh, copy, progress)
        return RecordsCompared(len(manifest.sources), sum(manifest.tables.values()), _first(pdb, copy, manifest))


def _first(pdb: Pdb, copy: Pdb, manifest: Manifest) -> str:
    for table in sorted(manifest.tables.keys() | copy.manifest.columns.keys()):
        if table not in copy.manifest.columns:
            return f"the files give no table {table}"
        if table not in manifest.tables:
            return f"the files give a table {table}, which the bundle lacks"
        bundled, read = (pq.read_table(side.path / carried_path(table)) for side in (pdb, copy))
        if bundled.column_names != read.column_names:
            odd = sorted(set(bundled.column_names) ^ set(read.column_names))
            return f"table {table} has other columns: {', '.join(odd)}"
        if bundled.num_rows != read.num_rows:
            return f"table {table} has {bundled.num_rows:,} rows, and the files give {read.num_rows:,}"
        if bundled.equals(read):
            continue
        for name in bundled.column_names:
            pairs = zip(bundled.column(name).to_pylist(), read.column(name).to_pylist(), strict=True)
            for number, pair in enumerate(pairs):
                if not _same(*pair):
                    keys = (
                        f"{key} {bundled.column(key)[number].as_py()}" for key in _KEYS if key in bundled.column_names
                    )
                    return (
                        f"table {table}, {', '.join(keys)}, column {name}: {pair[0]!r}, and the files give {pair[1]!r}"
                    )
    return ""


def _same(bundled: Any, read: Any) -> bool:
    if isinstance(bundled, float) and isinstance(read, float) and math.isnan(bundled):
        return math.isnan(read)
    return type(bundled) is type(read) and bool(bundled == read)
