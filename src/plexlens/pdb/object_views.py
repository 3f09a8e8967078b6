"""Objects as files of a DuckDB connection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from fsspec import AbstractFileSystem

from plexlens.pdb.durable import SCHEME
from plexlens.pdb.engine import Connection
from plexlens.pdb.entries import DataFile
from plexlens.pdb.object_store import Bucket, ObjectFile
from plexlens.pdb.objects import ObjectPath
from plexlens.pdb.views import pruned_apart

#: Groups of objects read one after the other before those that follow are read ahead.
_RUN = 4

#: Objects that are read ahead, at most.
_MOST_AHEAD = 64


class ObjectFiles(AbstractFileSystem):  # type: ignore[misc]
    """The objects of one PDB for reading, as DuckDB asks for files; no other object is there.

    Parameters
    ----------
    bucket
        Their bucket.
    """

    protocol = SCHEME
    #: Each database has its own.
    cachable = False

    def __init__(self, bucket: Bucket) -> None:
        super().__init__()
        self._bucket = bucket
        self.known: dict[str, tuple[list[list[str]], int]] = {}
        self._begun: set[str] = set()
        self._last: tuple[list[list[str]], int, int] = ([], -1, 0)

    def know(self, groups: list[list[str]]) -> None:
        """Take the objects of a table, in groups of which a question reads all or none."""
        self.known.update((key, (groups, place)) for place, group in enumerate(groups) for key in group)

    def _read_ahead(self, key: str) -> None:
        """Read the ends of the objects that will be asked for next, side by side: one after the other would take long.

        These are the others of its group, and, where a question goes through group after group, as many groups again.
        """
        groups, place = self.known[key]
        if key in self._begun:
            return
        table, last, run = self._last
        run = run + 1 if table is groups and place == last + 1 else 1
        self._last = (groups, place, run)
        until = place + 1 + (run if run >= _RUN else 0)
        wanted = [key for group in groups[place:until] for key in group][:_MOST_AHEAD]
        self._begun.update(wanted)
        if len(wanted) > 1:
            self._bucket.fetch_tails(wanted)

    def _key(self, path: str) -> str:
        key = path.removeprefix(f"{SCHEME}://").partition("/")[2]
        if key not in self.known:
            raise FileNotFoundError(2, "there is no such object in the database", path)
        return key

    def glob(self, path: str, maxdepth: int | None = None, **named: Any) -> list[str]:
        """The path itself: the manifest names every file, and a sign of a pattern in it is in brackets."""
        del maxdepth, named
        for sign in "*?[":
            path = path.replace(f"[{sign}]", sign)
        return [path]

    def exists(self, path: str, **named: Any) -> bool:
        """Whether it is an object of the database."""
        del named
        try:
            self._key(path)
        except FileNotFoundError:
            return False
        return True

    isfile = exists

    def isdir(self, path: str) -> bool:
        """False: there are no folders."""
        del path
        return False

    def size(self, path: str) -> int:
        """Its size, as the manifest has it."""
        return self._bucket.size(self._key(path))

    def info(self, path: str, **named: Any) -> dict[str, Any]:
        """Name, size and kind."""
        del named
        return {"name": path, "size": self.size(path), "type": "file"}

    def modified(self, path: str) -> datetime:
        """The same moment for all: objects of a database never change."""
        del path
        return datetime(2000, 1, 1, tzinfo=UTC)

    def open(self, path: str, mode: str = "rb", *words: Any, **named: Any) -> ObjectFile:
        """The object for reading."""
        del words, named
        if "w" in mode or "a" in mode or "+" in mode:
            raise PermissionError(13, "objects of a database are only read", path)
        key = self._key(path)
        self._read_ahead(key)
        return ObjectFile(self._bucket, key)


def attach(connection: Connection, folder: ObjectPath, tables: Iterable[Sequence[DataFile]]) -> None:
    """Let statements of a connection read these files of a PDB in object storage, and nothing else there.

    Parameters
    ----------
    connection
        The connection.
    folder
        The PDB.
    tables
        The files of each of its tables.
    """
    opened = ObjectFiles(folder.bucket)
    for files in tables:
        folder.bucket.sizes.update((f"{folder.key}/{file.path}", file.bytes) for file in files)
        opened.know([[f"{folder.key}/{file.path}" for file in group] for group in pruned_apart(files)])
    connection.register_filesystem(opened)
