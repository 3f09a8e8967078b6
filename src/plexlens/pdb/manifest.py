"""The manifest: the only authority on the contents of a PDB.

A file under ``tables/`` that the manifest does not name does not exist for a reader. The manifest is one JSON file,
replaced whole. Its first line carries the format's version and the SHA-256 of every byte after that line, so that a
manifest cut short or edited is found before anything is read by it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import Any

from plexlens import __version__
from plexlens.errors import PdbDamagedError, PdbVersionError, UnreadableInputError
from plexlens.pdb.durable import Disk
from plexlens.pdb.schema import Column, TypeConflictError, merge_columns

FORMAT = "plexlens-pdb"
VERSION = 1
"""Version of the format on disk; a reader refuses a later one."""

NAME = "manifest.json"
PREVIOUS = "manifest.previous.json"
"""The manifest before the last ingest: what a damaged one is replaced by."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file of a table.

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
    """

    path: str
    table: str
    day: str
    variant: int
    rows: int
    bytes: int


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
        UTC, ISO 8601.
    rows : dict
        Rows by table.
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
    files : tuple of DataFile
        Its Parquet files.
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
    files: tuple[DataFile, ...]


@dataclass(frozen=True)
class Manifest:
    """Contents of a PDB at one moment; immutable, replaced by a new manifest.

    Attributes
    ----------
    ingests : tuple of Ingest
        In the order in which they were committed.
    variants : dict
        For each table the different sets of columns its files have, the earliest first.
    """

    ingests: tuple[Ingest, ...] = ()
    variants: dict[str, tuple[tuple[Column, ...], ...]] = field(default_factory=dict)

    @cached_property
    def columns(self) -> dict[str, tuple[Column, ...]]:
        """The columns of each table, all variants joined."""
        return {table: merge_columns(variants) for table, variants in self.variants.items()}

    @cached_property
    def files(self) -> dict[str, list[DataFile]]:
        """The files of each table."""
        files: dict[str, list[DataFile]] = {}
        for ingest in self.ingests:
            for entry in ingest.files:
                files.setdefault(entry.table, []).append(entry)
        return files

    def find(self, sha256: str) -> Ingest | None:
        """The ingest of a file with this content, if there is one."""
        return next((ingest for ingest in self.ingests if ingest.sha256 == sha256), None)

    def may_hold(self, sample: str) -> bool:
        """Whether a file with this sample may be held; only then is its hash needed."""
        return any(ingest.sample == sample for ingest in self.ingests)

    def new_id(self, sample: str) -> str:
        """An id for a new ingest: 16 digits of its sample, and a number if another has the same sample."""
        taken = {ingest.id for ingest in self.ingests}
        candidates = chain([sample[:16]], (f"{sample[:16]}x{number}" for number in count(2)))
        return next(candidate for candidate in candidates if candidate not in taken)

    def with_ingest(self, ingest: Ingest, variants: dict[str, tuple[tuple[Column, ...], ...]]) -> Manifest:
        """The manifest with another ingest added.

        Parameters
        ----------
        ingest
            Its files name variants by their place in `variants`.
        variants
            The columns with which the ingest's own files were written, by table.

        Raises
        ------
        TypeConflictError
            A table's columns do not go together with those it has (`plexlens.pdb.schema`).
        """
        joined = dict(self.variants)
        place: dict[tuple[str, int], int] = {}
        for table, brought in variants.items():
            held = list(joined.get(table, ()))
            for index, variant in enumerate(brought):
                if variant not in held:
                    held.append(variant)
                place[table, index] = held.index(variant)
            try:
                merge_columns(held)
            except TypeConflictError as error:
                raise TypeConflictError(f"table {table}: {error}") from None
            joined[table] = tuple(held)
        files = tuple(replace(entry, variant=place[entry.table, entry.variant]) for entry in ingest.files)
        return Manifest((*self.ingests, replace(ingest, files=files)), joined)


def write_manifest(folder: Path, manifest: Manifest, disk: Disk) -> None:
    """Replace the manifest atomically, and keep the previous version next to it.

    Raises
    ------
    OSError
        It could not be written; the manifest before is still in place.
    """
    body = "\n".join(_body_lines(manifest))
    checksum = hashlib.sha256(body.encode()).hexdigest()
    path = folder / NAME
    if path.exists():
        disk.write(folder / PREVIOUS, path.read_text(encoding="utf-8"))
    disk.write(path, f'{{"format": "{FORMAT}", "version": {VERSION}, "checksum": "{checksum}",\n{body}')


def _body_lines(manifest: Manifest) -> Iterator[str]:
    """The manifest after its first line: a line per table and per ingest, so that two versions can be compared."""
    yield f'"written_by": {json.dumps("plexlens " + __version__)},'
    yield '"tables": {'
    yield ",\n".join(
        f"{json.dumps(table)}: {json.dumps([[_column_json(column) for column in variant] for variant in variants])}"
        for table, variants in manifest.variants.items()
    )
    yield "},"
    yield '"ingests": ['
    yield ",\n".join(json.dumps(_ingest_json(ingest)) for ingest in manifest.ingests)
    yield "]}"
    yield ""


def _column_json(column: Column) -> dict[str, Any]:
    return {"name": column.name, "type": column.type, "metadata": dict(column.metadata)}


def _ingest_json(ingest: Ingest) -> dict[str, Any]:
    entry = {name.name: getattr(ingest, name.name) for name in fields(ingest)}
    entry["notes"] = [asdict(note) for note in ingest.notes]
    # Table and day stand in the path.
    entry["files"] = [
        {"path": file.path, "variant": file.variant, "rows": file.rows, "bytes": file.bytes} for file in ingest.files
    ]
    return entry


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a PDB.

    Raises
    ------
    PdbDamagedError
        It is not as written.
    PdbVersionError
        A later Plexlens wrote it.
    UnreadableInputError
        The system does not let it be read.
    """
    path = folder / NAME
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnreadableInputError(
            file=str(path),
            what=f"the manifest cannot be read: {error.strerror}",
            remedy="check that you may read this folder and that its disk is there",
        ) from error
    first, _, body = content.partition(b"\n")
    version, checksum = _read_first_line(path, first)
    if version > VERSION:
        raise PdbVersionError(
            file=str(folder),
            what=f"the PDB has format version {version}; Plexlens {__version__} knows versions up to {VERSION}",
            remedy="open it with the Plexlens that wrote it, or a later one",
        )
    if hashlib.sha256(body).hexdigest() != checksum:
        raise damaged(path, "the checksum in its first line is not that of the rest", offset=len(first) + 1)
    try:
        return _from_json(json.loads(content))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(path, f"it has an entry that cannot be understood ({type(error).__name__}: {error})") from error


def _read_first_line(path: Path, line: bytes) -> tuple[int, str]:
    try:
        head = json.loads(line.rstrip().rstrip(b",") + b"}")
        if head["format"] == FORMAT and isinstance(head["version"], int) and isinstance(head["checksum"], str):
            return head["version"], head["checksum"]
    except (ValueError, KeyError, TypeError):
        pass
    raise damaged(path, "its first line does not name the format, version and checksum", offset=0)


def _from_json(content: dict[str, Any]) -> Manifest:
    variants = {
        table: tuple(tuple(_column(entry) for entry in variant) for variant in listed)
        for table, listed in content["tables"].items()
    }
    ingests = tuple(
        Ingest(
            **{
                **entry,
                "span": (entry["span"][0], entry["span"][1]),
                "notes": tuple(Note(**note) for note in entry["notes"]),
                "files": tuple(_file(listed) for listed in entry["files"]),
            }
        )
        for entry in content["ingests"]
    )
    return Manifest(ingests, variants)


def _file(entry: dict[str, Any]) -> DataFile:
    _, _, table, day, _ = entry["path"].split("/")
    return DataFile(table=table, day=day, **entry)


def _column(entry: dict[str, Any]) -> Column:
    column = Column(entry["name"], entry["type"], tuple(sorted(entry["metadata"].items())))
    _ = column.arrow_type  # a type that this version does not know is found here, not in a query
    return column


def damaged(path: Path, what: str, *, offset: int | None = None) -> PdbDamagedError:
    """The error for a damaged manifest, with the way to recover."""
    if path.with_name(PREVIOUS).exists():
        remedy = f"copy {PREVIOUS} to {NAME} (it lacks the last ingest only) and ingest that dump again"
    else:
        remedy = "move the folder away and ingest the dumps into a new PDB"
    return PdbDamagedError(file=str(path), what=f"the manifest is damaged: {what}", remedy=remedy, offset=offset)
