"""A performance database: a folder of Parquet tables and a manifest that says which files count."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens.errors import NotAPdbError, PdbDamagedError, PdbExistsError, PdbWriteError
from plexlens.ingest import plausible
from plexlens.pdb import head, retention
from plexlens.pdb.durable import Disk
from plexlens.pdb.engine import Connection, add_table, connect, show
from plexlens.pdb.entries import DataFile, Ingest
from plexlens.pdb.hashes import hashes_of
from plexlens.pdb.head import Head
from plexlens.pdb.manifest import NAME, Manifest, damaged
from plexlens.pdb.partition import family_of, partition_of
from plexlens.pdb.place import cause_of, disk_of, is_object, location
from plexlens.pdb.rollup_store import RollupStore
from plexlens.pdb.schema import Column, columns_of
from plexlens.pdb.state import read_state
from plexlens.pdb.system_tables import SYSTEM_SCHEMAS, note_table, source_table
from plexlens.pdb.views import plausible_views_sql, view_sql

if TYPE_CHECKING:
    from plexlens.pdb.objects import ObjectPath

#: Folders of a PDB that are empty when it is made.
_FOLDERS = ("staging", "tables", head.LOG, head.SNAPSHOTS)

#: Bytes of Parquet below which a query is not worth sharing among threads: waking them costs more than it saves.
_SMALL = 32 << 20

#: Bytes of Parquet below which any plan of a query is a good one.
_TINY = 4 << 20

#: Steps of DuckDB's optimiser that weigh or shorten plans: of tiny tables they cost an eighth of all processor time.
_WEIGHING = (
    *("join_order", "expression_rewriter", "common_subexpressions", "common_subplan"),
    *("statistics_propagation", "column_lifetime", "duplicate_groups"),
)


@dataclass(frozen=True, slots=True)
class TableInfo:
    """Facts about a table that are known without opening its files.

    Attributes
    ----------
    name : str
        The table.
    family : str
        Its record family.
    rows : int
        Rows in all files.
    files : int
        Parquet files; none for tables kept in the manifest.
    bytes : int
        Size of the files.
    days : tuple of str
        Its partitions: dates, and ``undated``.
    columns : tuple of Column
        Name, type, unit and description of each column.
    """

    name: str
    family: str
    rows: int
    files: int
    bytes: int
    days: tuple[str, ...]
    columns: tuple[Column, ...]


class Pdb:
    """A performance database on disk. Make one by `create`, `open`, `open_or_create` or `temporary`.

    A `Pdb` shows the state it was opened in (or refreshed to), also while another process writes: files are added,
    never changed, and stay for a day after they were replaced.

    Attributes
    ----------
    path : Path
        Its folder.
    manifest : Manifest
        What it holds.
    head : Head
        The commit that made it so.
    """

    def __init__(self, path: Path, state: tuple[Head, Manifest], disk: Disk) -> None:
        self.path = path
        self.head, self.manifest = state
        self.disk = disk

    @classmethod
    def create(cls, path: str | Path) -> Pdb:
        """Make an empty PDB.

        Parameters
        ----------
        path
            A folder that does not exist or is empty.

        Raises
        ------
        PdbExistsError
            Something is there already.
        PdbWriteError
            The folder cannot be written.
        """
        path = location(path)
        if is_object(path) and (path / NAME).is_file():
            raise PdbExistsError(
                file=str(path), what="there is a PDB already", remedy="open it instead of creating one"
            )
        return cls.open_or_create(path) if is_object(path) else cls._create(path, disk_of(path))

    @classmethod
    def open(cls, path: str | Path) -> Pdb:
        """Open a PDB for reading; `plexlens.pdb.ingest` writes into it.

        Raises
        ------
        NotAPdbError
            There is no PDB.
        PdbVersionError
            A later Plexlens wrote it.
        PdbDamagedError
            Its manifest is not as written.
        UnreadableInputError
            The system does not let it be read.
        """
        path = location(path)
        if is_object(path):
            return cls._open_objects(path)
        # No access to the folder is not the same as no PDB: reading the manifest says so.
        if not path.exists():
            raise NotAPdbError(
                file=str(path),
                what="there is no such folder",
                remedy="make a PDB with: plexlens ingest DUMP... --pdb DIR",
            )
        if not path.is_dir():
            raise NotAPdbError(
                file=str(path),
                what="a PDB is a folder, and this is a file",
                remedy="give the folder; a dump goes in with: plexlens ingest DUMP... --pdb DIR",
            )
        if not (path / NAME).exists():
            raise _no_manifest(path)
        path = path.absolute()
        return cls(path, read_state(path), Disk())

    @classmethod
    def open_or_create(cls, path: str | Path) -> Pdb:
        """Open the PDB at this path, or create it if nothing is there.

        Raises
        ------
        PlexlensError
            As `open` and `create`.
        """
        path = location(path)
        if is_object(path):
            # Nothing is written before the first commit, which two writers may try at the same time.
            disk = disk_of(path)
            return cls(path, read_state(path, disk=disk), disk)
        if path.exists() and not _is_new(path):
            return cls.open(path)
        return cls.create(path)

    @classmethod
    def _open_objects(cls, path: Path) -> Pdb:
        disk = disk_of(path)
        head, manifest = read_state(path, disk=disk)
        if not head.tag:
            raise NotAPdbError(
                file=str(path),
                what=f"there is no PDB: there is no object {NAME} below this address",
                remedy=f"check the address, or make a PDB with: plexlens ingest DUMP... --pdb {path}",
            )
        return cls(path, (head, manifest), disk)

    @classmethod
    @contextmanager
    def temporary(cls) -> Iterator[Pdb]:
        """A temporary PDB for a report without a PDB; it is deleted afterwards and never forced to the device."""
        with tempfile.TemporaryDirectory(prefix="plexlens-", ignore_cleanup_errors=True) as folder:
            yield cls._create(Path(folder) / "pdb", Disk(sync=False))

    @classmethod
    def _create(cls, path: Path, disk: Disk) -> Pdb:
        if path.exists() and not _is_new(path):
            content = (path / NAME).exists() if path.is_dir() else False
            raise PdbExistsError(
                file=str(path),
                what="there is a PDB already" if content else "the path exists and is not a PDB",
                remedy="open it instead of creating one" if content else "give a new or empty folder",
            )
        path = path.absolute()
        try:
            for name in _FOLDERS:
                disk.make_folder(path / name)
            disk.write(path / NAME, Head().text())
        except OSError as error:
            raise PdbWriteError(
                file=str(error.filename or path),
                what=f"the PDB cannot be made: {error.strerror or error}",
                remedy="check your permissions and the free space",
            ) from error
        return cls(path, (Head(), Manifest(folder=path)), disk)

    def remove_if_empty(self, *, folder_was_there: bool = False) -> bool:
        """Remove a PDB that holds nothing; return whether it was removed.

        Parameters
        ----------
        folder_was_there
            Whether its folder was there before the PDB was made: then the folder stays, empty.
        """
        self.refresh()
        if self.ingests:
            return False
        if not self.disk.shared:
            return not self.head.tag
        shutil.rmtree(self.path, ignore_errors=True)
        if folder_was_there:
            self.path.mkdir(exist_ok=True)
        return True

    @property
    def ingests(self) -> tuple[Ingest, ...]:
        """The ingested sources, in the order of ingestion."""
        return self.manifest.ingests

    @property
    def keep(self) -> timedelta:
        """Time for which an undo can bring back the files that a commit took away.

        Raises
        ------
        UnreadableInputError
            `retention.toml` is not as it should be.
        """
        stated = retention.read(self.path).keep
        return stated.duration if stated else retention.KEEP

    def refresh(self) -> None:
        """Reread the manifest, to include sources that were ingested since the PDB was opened.

        Raises
        ------
        PlexlensError
            As `open`.
        """
        self.head, self.manifest = read_state(self.path, (self.head, self.manifest), self.disk)

    @property
    def stamp(self) -> object:
        """A value that differs after every commit, at the cost of a look at one file; None if there is none."""
        return head.stamp_of(self.path)

    def tables(self) -> dict[str, TableInfo]:
        """The tables that can be read, by name: those with rows, and the `SYSTEM_SCHEMAS`."""
        results = {}
        for name in sorted({*self.manifest.columns, *SYSTEM_SCHEMAS}):
            files = self.manifest.files.get(name, [])
            kept = self._kept(name)
            results[name] = TableInfo(
                name=name,
                family=family_of(name),
                rows=sum(file.rows for file in files) + (kept.num_rows if kept is not None else 0),
                files=len(files),
                bytes=sum(file.bytes for file in files),
                days=tuple(sorted({file.day for file in files})),
                columns=self.manifest.columns.get(name) or columns_of(SYSTEM_SCHEMAS[name]),
            )
        return results

    def connect(
        self, *, memory_limit: str | None = None, threads: int | None = None, many_questions: bool = False
    ) -> Connection:
        """A connection (DuckDB, in memory) with a view for each table.

        Parameters
        ----------
        memory_limit
            What DuckDB may use before it spills to a temporary folder, such as ``"1GiB"``; DuckDB's own limit
            otherwise.
        threads
            Threads of a query; otherwise as many as there are cores, and one for a small database.
        many_questions
            Copy the tables of a tiny database into memory, for a report that asks hundreds of questions: each that
            reads Parquet files opens them again.

        Raises
        ------
        PdbDamagedError
            A file that the manifest names is missing or damaged.
        """
        self.check_files()
        spill = tempfile.mkdtemp(prefix="plexlens-spill-")
        settings: dict[str, Any] = {"temp_directory": spill, "autoinstall_known_extensions": False}
        if memory_limit is not None:
            settings["memory_limit"] = memory_limit
        size = sum(file.bytes for files in self.manifest.files.values() for file in files)
        if not self.disk.shared:
            # DuckDB drops a result with Python's lock held, and waits for its threads, which need the lock to close
            # their objects: with a second thread that never ends.
            threads = 1
        if threads is None and size < _SMALL:
            threads = 1
        if threads is not None:
            settings["threads"] = threads
        connection = connect(**settings)
        weakref.finalize(connection, shutil.rmtree, spill, ignore_errors=True)
        if is_object(self.path):
            from plexlens.pdb.object_views import attach

            attach(connection, self.path, self.manifest.files.values())
        # Files never change, so what was read of them once stays true, for sessions of the connection too.
        connection.execute("SET GLOBAL parquet_metadata_cache = true")
        is_tiny = size < _TINY
        if is_tiny:
            connection.execute(f"SET disabled_optimizers = '{','.join(_WEIGHING)}'")
        for name, columns in self.manifest.columns.items():
            variants, files = self.manifest.variants[name], self.manifest.files.get(name, [])
            try:
                connection.execute(
                    view_sql(self.path, name, columns, variants, files, copied=is_tiny and many_questions)
                )
            except duckdb.Error as error:
                if (failure := cause_of(error)) is not None:
                    raise failure from None
                raise _damaged_file(self.path, f"table {name} cannot be read: {error}") from error
        for name in SYSTEM_SCHEMAS:
            if name not in self.manifest.columns:
                add_table(connection, name, self._kept(name))
        for statement in plausible_views_sql(self._marked_fields()):
            connection.execute(statement)
        show(connection, Pdb(self.path, (self.head, self.manifest), self.disk))
        return connection

    @property
    def rollups(self) -> RollupStore:
        """Roll-ups that were made from the tables; they are derived, and may be missing or stale."""
        if not self.disk.shared:
            # None are kept in object storage: nothing would keep two writers of an index apart.
            return RollupStore(self.disk.staging(self.path) / "none", self.disk)
        return RollupStore(self.path, self.disk)

    def part(self, wanted: Callable[[DataFile], bool]) -> Pdb:
        """The PDB as if it held only some of its files; its tables keep their columns."""
        manifest = copy(self.manifest)
        manifest.files = {table: list(filter(wanted, files)) for table, files in self.manifest.files.items()}
        return Pdb(self.path, (self.head, manifest), self.disk)

    def _marked_fields(self) -> dict[str, set[str]]:
        """Fields of each table that have at least one value above the field's bound."""
        marked: dict[str, set[str]] = {}
        for ingest in self.ingests:
            for note in ingest.notes:
                if note.note == plausible.NOTE and note.field and note.section in self.manifest.columns:
                    marked.setdefault(note.section, set()).add(note.field.lower())
        return marked

    def record_hashes(self, day: date | None) -> npt.NDArray[np.uint64]:
        """Hashes of the SMF records held for a day, ascending; with None, of records without a date.

        Raises
        ------
        PdbDamagedError
            A file of ``smf_record`` cannot be read.
        """
        return self.held_hashes("smf_record", [partition_of(day)])

    def held_hashes(self, inventory: str, days: Iterable[str], *, without: str | None = None) -> npt.NDArray[np.uint64]:
        """Hashes in an inventory table, ascending.

        Parameters
        ----------
        inventory
            A table with a column ``hash``; it may be missing as yet.
        days
            The partitions that are asked for: dates, ``undated``.
        without
            A source whose rows do not count.

        Raises
        ------
        PdbDamagedError
            A file of the table cannot be read.
        """
        wanted = set(days)
        files = [
            file for file in self.manifest.files.get(inventory, ()) if file.day in wanted and file.sources != (without,)
        ]
        try:
            parts = [hashes_of(self.path / file.path, without if without in file.sources else None) for file in files]
        except (OSError, pa.ArrowException) as error:
            raise _damaged_file(self.path, f"table {inventory} cannot be read: {error}") from error
        # Most ingests meet new days, and `numpy.unique` loads masked arrays.
        return np.unique(np.concatenate(parts)) if parts else np.empty(0, np.uint64)

    def _kept(self, name: str) -> pa.Table | None:
        """A table that is built from the manifest; None for tables that are stored in files."""
        if name == "source":
            return source_table(self.ingests)
        if name == "note":
            return note_table(self.ingests)
        return None if name in self.manifest.columns else SYSTEM_SCHEMAS[name].empty_table()

    def check_files(self) -> None:
        """Check that every file that the manifest names exists and has its recorded size.

        Raises
        ------
        PdbDamagedError
            The first that is not.
        """
        if is_object(self.path):
            self._check_objects(self.path)
            return
        for files in self.manifest.files.values():
            for file in files:
                try:
                    size = os.stat(os.path.join(self.path, file.path)).st_size  # noqa: PTH116, PTH118 thousands of files
                except OSError as error:
                    raise _damaged_file(self.path / file.path, f"the file cannot be read: {error.strerror}") from error
                if size != file.bytes:
                    what = f"the file has {size} bytes, and {file.bytes} were written"
                    raise _damaged_file(self.path / file.path, what)

    def _check_objects(self, path: ObjectPath) -> None:
        """The same by a list from the server, a request for a thousand objects."""
        for file, what in path.differing(self.manifest.every_file()):
            raise _damaged_file(path / file.path, what, path)


def _damaged_file(path: Path, what: str, folder: Path | None = None) -> PdbDamagedError:
    folder = folder or next((parent for parent in path.parents if (parent / NAME).exists()), path)
    return PdbDamagedError(
        file=str(path),
        what=what,
        remedy=f"see what is damaged and from which source it can be read again: plexlens pdb verify {folder}",
    )


def _is_new(path: Path) -> bool:
    """Whether a PDB can be created here: the folder is empty, or holds only the remains of an interrupted creation."""
    if not path.is_dir():
        return False
    left_over = {*_FOLDERS, f"{NAME}.new"}
    return all(entry.name in left_over and (entry.is_file() or not any(entry.iterdir())) for entry in path.iterdir())


def _no_manifest(path: Path) -> NotAPdbError | PdbDamagedError:
    if any((path / name).is_dir() and any((path / name).iterdir()) for name in ("tables", head.LOG)):
        return damaged(path / NAME, "it is missing, but there are tables")
    return NotAPdbError(
        file=str(path),
        what=f"the folder holds no PDB: it has no {NAME}",
        remedy="check the path, or make a PDB with: plexlens ingest DUMP... --pdb DIR",
    )
