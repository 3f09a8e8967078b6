"""Sources and files of a PDB, and their JSON form in the lines of its manifest."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from plexlens.pdb.partition import system_of
from plexlens.pdb.schema import Column


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file of a table. Its contents never change.

    Attributes
    ----------
    path : str
        From the PDB's folder, with slashes.
    table, day : str
        The table, and the partition its rows belong to.
    variant : int
        Which of the table's variants (`Manifest.variants`) is the file's schema.
    rows, bytes : int
        Size of the file.
    sha256 : str
        Hash of the file's bytes; empty for a file written by format 1.
    sources : tuple of str
        The sources whose rows are in it.
    starts : tuple of (str, str) or None
        Least and greatest ``interval_start`` of its rows, ISO 8601, if all of them have one; known for files in object
        storage.
    """

    path: str
    table: str
    day: str
    variant: int
    rows: int
    bytes: int
    sha256: str = ""
    sources: tuple[str, ...] = ()
    starts: tuple[str, str] | None = None

    @property
    def system(self) -> str | None:
        """The only system in it, if its table is partitioned by system."""
        parts = self.path.split("/")
        return system_of(parts[4]) if len(parts) == 6 else None


@dataclass(frozen=True, slots=True)
class Note:
    """A count of something noteworthy in a source that is not damage.

    Attributes
    ----------
    note : str
        What: ``section_longer``.
    section : str
        Layout or report in which.
    field : str or None
        Field in which, where a single one is meant.
    count : int
        How often.
    max_bytes : int
        The most bytes by which a section was longer or shorter than its layout; 0 where that says nothing.
    severity : str
        As for damage: ``info`` or ``error``.
    """

    note: str
    section: str
    field: str | None = None
    count: int = 1
    max_bytes: int = 0
    severity: str = "info"


@dataclass(frozen=True, slots=True)
class Ingest:
    """A source that the PDB holds.

    Attributes
    ----------
    id : str
        ``source_id`` of its rows: the first digits of `sample`.
    sha256 : str
        Hash of the file's bytes as read.
    sample : str
        Hash of the file's size, first and last MiB.
    file : str
        The file as the user named it.
    size : int
        Bytes.
    kind : str
        The ingest module: ``smf``, ``rmf_xml``.
    started_at, finished_at : str
        UTC, ISO 8601; of the last reading.
    rows : dict
        Rows by table, as read.
    records : dict
        Records by type and subtype (``74.4``), or reports by name; duplicates left out are counted too.
    span : tuple of (str or None)
        First and last time in the source, ISO 8601; None where it has none.
    duplicates : int
        Records left out because the PDB, or the source before them, holds the same record.
    damage : dict
        Rows of the damage table by reason.
    notes : tuple of Note
        Other things counted while reading.
    path : str
        The file, from the root of the file system; empty for a source ingested by format 1.
    options : dict
        How it was read: ``codepage``, ``leap_seconds``.
    revision : int
        How often it was read again (`plexlens pdb rebuild`).
    incomplete : bool
        Whether files with its rows were lost: the source is then read again when it is ingested again.
    """

    id: str
    sha256: str
    sample: str
    file: str
    size: int
    kind: str
    started_at: str
    finished_at: str
    rows: dict[str, int]
    records: dict[str, int]
    span: tuple[str | None, str | None]
    duplicates: int
    damage: dict[str, int]
    notes: tuple[Note, ...]
    path: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    revision: int = 0
    incomplete: bool = False


def compact(value: Any) -> str:
    """JSON without blanks, as lines have it."""
    return json.dumps(value, separators=(",", ":"))


def file_json(file: DataFile) -> list[Any]:
    """A file as JSON; `file_of` is the reverse."""
    # Table and day stand in the path.
    entry: list[Any] = [file.path, file.variant, file.rows, file.bytes, file.sha256, list(file.sources)]
    return [*entry, list(file.starts)] if file.starts else entry


def file_of(table: str, entry: list[Any]) -> DataFile:
    """A file of a table from its JSON."""
    path, variant, rows, size, sha256, sources, *starts = entry
    day = path.split("/")[3]
    span = (starts[0][0], starts[0][1]) if starts else None
    return DataFile(path, table, day, variant, rows, size, sha256, tuple(sources), span)


def ingest_json(ingest: Ingest) -> dict[str, Any]:
    """A source as JSON; `ingest_of` is the reverse."""
    entry = {name.name: getattr(ingest, name.name) for name in fields(ingest)}
    entry["notes"] = [asdict(note) for note in ingest.notes]
    return entry


def ingest_of(entry: dict[str, Any]) -> Ingest:
    """A source from its JSON."""
    return Ingest(
        **{
            **entry,
            "span": (entry["span"][0], entry["span"][1]),
            "notes": tuple(Note(**note) for note in entry["notes"]),
        }
    )


def column_json(column: Column) -> dict[str, Any]:
    """A column as JSON; `column_of` is the reverse."""
    return {"name": column.name, "type": column.type, "metadata": dict(column.metadata)}


def column_of(entry: dict[str, Any]) -> Column:
    """A column from its JSON."""
    column = Column(entry["name"], entry["type"], tuple(sorted(entry["metadata"].items())))
    _ = column.arrow_type  # a type that this version does not know is found here, not in a query
    return column
