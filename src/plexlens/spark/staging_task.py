"""A task of an executor: read one dump into files in the staging folder of a database.

Files for a database in object storage go below its address. The executor commits nothing. Each attempt writes into a
folder of its own, so that an attempt which Spark gave up and which still runs disturbs no other.
"""

from __future__ import annotations

import shutil
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from plexlens import __version__
from plexlens.errors import PlexlensError
from plexlens.ingest.compression import Expansion
from plexlens.ingest.plausible import Bound, read_bounds
from plexlens.pdb.commit import STAGING, staging_folder
from plexlens.pdb.database import Pdb
from plexlens.pdb.job import IngestResult, Job
from plexlens.pdb.object_store import Access
from plexlens.pdb.place import is_dump_object, is_object, location, source_at
from plexlens.pdb.reading import Staged, read
from plexlens.pdb.writing import told_of_disk
from plexlens.progress import silent


@dataclass(frozen=True, slots=True)
class Task:
    """A dump to read.

    Attributes
    ----------
    path, name : str
        The file, from the root of the file system or by its address, and as the user named it.
    pdb : str
        Folder of the database, from the root, or its address.
    run : str
        Name of a folder in its staging folder, which is there as long as the command runs.
    layouts, codepage, leap_seconds, memory, expansion, threads
        As in `plexlens.pdb.job.Job`.
    access : Access
        How object storage is reached.
    """

    path: str
    name: str
    pdb: str
    run: str
    layouts: tuple[Path, ...]
    codepage: str
    leap_seconds: bool
    memory: int
    expansion: Expansion
    threads: int
    access: Access = field(default_factory=Access)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of an executor to a task.

    Attributes
    ----------
    host, version : str
        Where it ran, and the version of Plexlens there.
    unseen : str
        A path that is not there on the executor; nothing was read then.
    result : IngestResult or Staged or None
        As `plexlens.pdb.reading.read`; None where there is an error.
    error : PlexlensError or None
        Why the file was not read.
    """

    host: str
    version: str = __version__
    unseen: str = ""
    result: IngestResult | Staged | None = None
    error: PlexlensError | None = None


def running_at(folder: Path) -> Path:
    """Path that is there as long as the run goes on that stages files in a folder: the folder, or an object in it."""
    return folder / "running" if is_object(folder) else folder


def look(places: Sequence[str], access: Access | None = None) -> Answer:
    """See whether the executor reaches these paths, and whether there is an object at these addresses."""
    host = socket.gethostname()
    if access is not None:
        access.use()
    try:
        return Answer(host, unseen=next((place for place in places if not location(place).exists()), ""))
    except PlexlensError as error:
        return Answer(host, error=error)


def stage(task: Task) -> Answer:
    """Read a dump into staged files."""
    # Another folder at the path of the database, or the run has ended: what is written now, nobody would commit.
    # The reader of an object says itself what is missing.
    running = str(running_at(location(task.pdb) / STAGING / task.run))
    seen = look([running] if is_dump_object(task.path) else [running, task.path], task.access)
    if seen.unseen or seen.error is not None:
        return seen
    from pyspark import TaskContext

    context = TaskContext.get()
    attempt = "" if context is None else f".{context.taskAttemptId()}"
    try:
        path = source_at(task.path)
        job = Job(
            Pdb.open_or_create(task.pdb) if is_object(task.pdb) else Pdb.open(task.pdb),
            silent,
            task.layouts,
            task.codepage,
            task.leap_seconds,
            task.memory,
            _bounds(task.layouts),
            {path: task.name},
            expansion=task.expansion,
            threads=task.threads,
            reader=task.run + attempt,
        )
        return Answer(seen.host, result=_put(read(path, job), task, job.pdb))
    except PlexlensError as error:
        return Answer(seen.host, error=error)


def _put(result: IngestResult | Staged, task: Task, pdb: Pdb) -> IngestResult | Staged:
    """Put the staged files of a database in object storage there, where the process that commits them reaches them."""
    if isinstance(result, IngestResult) or pdb.disk.shared:
        return result
    folder = pdb.path / STAGING / task.run / result.source.writer
    moved = [replace(file, staged=folder / file.staged.name) for file in result.files]
    try:
        told_of_disk(
            pdb,
            lambda: pdb.disk.move_all((file.staged, to.staged) for file, to in zip(result.files, moved, strict=True)),
        )
    finally:
        shutil.rmtree(staging_folder(pdb, result.source.writer), ignore_errors=True)
    return replace(result, files=tuple(moved))


@cache
def _bounds(layouts: tuple[Path, ...]) -> Mapping[str, Sequence[Bound]]:
    """Bounds of fields, read once by each process of an executor."""
    return read_bounds(layouts)
