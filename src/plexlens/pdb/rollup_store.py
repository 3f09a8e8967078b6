"""Roll-ups of a PDB on disk: Parquet files made from its tables, and an index of what they were made from.

They are derived: the folder can be deleted, and is made again. Nothing in it is needed to read the tables, and a reader
believes an entry only if the tables are still those that the entry was made from. Layout::

    rollups/
      <grain>/index.json        what the files hold; a file that it does not name does not exist
      <grain>/<day>-<n>/<level>.parquet

An index is replaced whole, after its files are on the device. A process that is killed before leaves files that no
index names; the next one that writes removes them, some time later, so that whoever still reads them can end.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens.pdb.durable import Disk
from plexlens.pdb.entries import DataFile
from plexlens.pdb.manifest import Manifest

#: Folder within the PDB, and the version of what is in it.
FOLDER, VERSION = "rollups", 1

_INDEX = "index.json"

#: Seconds for which files that no index names are kept: a question that began before is answered from them.
GRACE = 900.0

#: Levels: rows as the grain has them, rows by the hour, by the day, and the intervals of each observer.
INTERVAL, HOUR, DAY, COVER = "interval", "hour", "day", "cover"

#: Stands in place of a grain for lists of what is in raw partitions, whose days are ``TABLE~DAY``.
LISTS = "extent"


@dataclass(frozen=True)
class Made:
    """A partition of a raw table that a day was made from.

    Attributes
    ----------
    digest
        Of the sources that its rows came from.
    rows
        Rows in them.
    """

    digest: str
    rows: int


@dataclass(frozen=True)
class RolledFile:
    """A Parquet file of a roll-up.

    Attributes
    ----------
    path
        From the PDB's folder.
    rows, bytes
        Its size.
    """

    path: str
    rows: int
    bytes: int


@dataclass(frozen=True)
class RolledDay:
    """The roll-ups of a grain for a day (UTC).

    Attributes
    ----------
    day
        The day, ``2026-03-02``.
    made_from
        The partitions of raw tables (``TABLE/DAY``) with records that have a say in it.
    files
        A file for each level.
    told
        Further facts about it, for readers; JSON types only.
    """

    day: str
    made_from: Mapping[str, Made]
    files: Mapping[str, RolledFile]
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_hours(self) -> bool:
        """Whether it has rows shorter than a day."""
        return INTERVAL in self.files


@dataclass(frozen=True)
class Rollup:
    """The roll-ups of a grain.

    Attributes
    ----------
    definition
        Hash of what the definitions said when they were made; another one makes all of them stale but those of days
        whose raw rows have expired.
    days
        By day.
    reach
        First and last day on which records of a raw file end, by the file's path: what need not be read again.
    shape
        What readers have to know of the columns, once the definition is another one; JSON types only.
    """

    definition: str = ""
    days: Mapping[str, RolledDay] = field(default_factory=dict)
    reach: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    shape: Mapping[str, Any] = field(default_factory=dict)


def digest_of(files: Iterable[DataFile], revisions: Mapping[str, int]) -> Made:
    """Digest of a partition: its sources and its number of rows; merging files does not change it.

    Parameters
    ----------
    files
        Its files.
    revisions
        How often sources were read again, by id.
    """
    listed = list(files)
    named = sorted({source for file in listed for source in file.sources or (file.path,)})
    content = json.dumps([(source, revisions.get(source, 0)) for source in named]).encode()
    return Made(hashlib.sha256(content).hexdigest()[:32], sum(file.rows for file in listed))


def revisions_of(pdb: Manifest) -> dict[str, int]:
    """Number of times that a source was read again, by id, for sources read again."""
    return {ingest.id: ingest.revision for ingest in pdb.ingests if ingest.revision}


class RollupStore:
    """The folder of roll-ups in a PDB.

    Parameters
    ----------
    pdb
        Folder of the PDB.
    disk
        Takes the steps that have to survive a crash.
    """

    def __init__(self, pdb: Path, disk: Disk | None = None) -> None:
        self.pdb = pdb
        self.folder = pdb / FOLDER
        self.disk = disk or Disk()

    @property
    def grains(self) -> tuple[str, ...]:
        """Names of the grains that have an index."""
        if not self.folder.is_dir():
            return ()
        return tuple(sorted(path.parent.name for path in self.folder.glob(f"*/{_INDEX}")))

    def read(self, grain: str) -> Rollup:
        """The index of a grain; an empty one if it is missing, damaged or of another version."""
        try:
            content = (self.folder / grain / _INDEX).read_bytes()
            head, _, body = content.partition(b"\n")
            text = json.loads(head)
            if text["version"] != VERSION or hashlib.sha256(body).hexdigest() != text["checksum"]:
                return Rollup()
            return _rollup(json.loads(body))
        except (OSError, ValueError, KeyError, TypeError):
            return Rollup()

    def stamp(self, grain: str) -> object:
        """A value that changes when the index of a grain does."""
        try:
            stat = (self.folder / grain / _INDEX).stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size, stat.st_ino

    def write(self, grain: str, rollup: Rollup) -> None:
        """Replace the index of a grain; its files are on the device.

        Raises
        ------
        OSError
            It could not be written; the index before is still in place.
        """
        body = json.dumps(
            {
                "definition": rollup.definition,
                "days": [asdict(day) for day in rollup.days.values()],
                "reach": dict(rollup.reach),
                "shape": dict(rollup.shape),
            }
        )
        head = {"version": VERSION, "checksum": hashlib.sha256(body.encode()).hexdigest()}
        self.disk.make_folder(self.folder / grain)
        self.disk.write(self.folder / grain / _INDEX, f"{json.dumps(head)}\n{body}")

    def fresh_folder(self, grain: str, day: str) -> Path:
        """A new folder for the files of a day."""
        home = self.folder / grain
        self.disk.make_folder(home)
        number = 1
        while (folder := home / f"{day}-{number}").exists():
            number += 1
        self.disk.make_folder(folder)
        return folder

    def store(self, folder: Path, level: str, rows: pa.Table) -> RolledFile:
        """Write the rows of a level, and force them to the device.

        Raises
        ------
        OSError
            It could not be written.
        """
        # What writes files is loaded where a file is written.
        import pyarrow.parquet as pq

        from plexlens.pdb.staging import ROW_GROUP_ROWS

        path = folder / f"{level}.parquet"
        # Every question reads them: lz4 is faster to read than zstd, and takes a tenth more. Sums of few rows repeat;
        # dictionaries of numbers save as much.
        pq.write_table(rows, path, row_group_size=ROW_GROUP_ROWS, compression="lz4")
        self.disk.sync_file(path)
        return RolledFile(path.relative_to(self.pdb).as_posix(), rows.num_rows, path.stat().st_size)

    def is_damaged(self, grain: str) -> bool:
        """Whether a grain has an index that cannot be read, of no known version."""
        path = self.folder / grain / _INDEX
        try:
            content = path.read_bytes()
        except OSError:
            return False
        head, _, body = content.partition(b"\n")
        try:
            text = json.loads(head)
            is_whole = hashlib.sha256(body).hexdigest() == text["checksum"]
            return not is_whole or not isinstance(text["version"], int)
        except (ValueError, KeyError, TypeError):
            return True

    def clean(self, grain: str, *, older_than: float = GRACE) -> None:
        """Remove the files of a grain that its index does not name. Call it with the write lock held, before writing.

        Parameters
        ----------
        grain
            The grain.
        older_than
            Seconds that the index has been in place: a server may still answer from what the index before named.
        """
        home = self.folder / grain
        if not home.is_dir() or self.is_damaged(grain):
            return
        try:
            age = time.time() - (home / _INDEX).stat().st_mtime
        except OSError:
            age = older_than
        if age < older_than:
            return
        named = {self.pdb / file.path for day in self.read(grain).days.values() for file in day.files.values()}
        folders = {path.parent for path in named}
        for folder in filter(Path.is_dir, home.iterdir()):
            if folder not in folders:
                shutil.rmtree(folder, ignore_errors=True)
                continue
            for path in folder.iterdir():
                if path not in named:
                    path.unlink(missing_ok=True)

    def is_whole(self, day: RolledDay) -> bool:
        """Whether the files of a day are there, with all of their bytes."""
        try:
            return all((self.pdb / file.path).stat().st_size == file.bytes for file in day.files.values())
        except OSError:
            return False

    def set_aside(self, grain: str) -> Path:
        """Move everything of a grain out of the way, for a person to look at; return where it is now."""
        home = self.pdb / "set-aside" / FOLDER
        self.disk.make_folder(home)
        number = 1
        while (target := home / f"{grain}-{number}").exists():
            number += 1
        self.disk.move(self.folder / grain, target)
        self.disk.sync_folder(self.folder)
        return target


def _rollup(text: Mapping[str, Any]) -> Rollup:
    days = {
        day["day"]: RolledDay(
            day["day"],
            {name: Made(**made_from) for name, made_from in day["made_from"].items()},
            {level: RolledFile(**file) for level, file in day["files"].items()},
            day["told"],
        )
        for day in text["days"]
    }
    reach = {path: (first, last) for path, (first, last) in text["reach"].items()}
    return Rollup(text["definition"], days, reach, text["shape"])
