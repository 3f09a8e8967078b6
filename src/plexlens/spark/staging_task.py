"""A task of an executor: read one dump into files in the staging folder of a database.

The executor commits nothing. Each attempt writes into a folder of its own, so that an attempt which Spark gave up and
which still runs disturbs no other.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from plexlens import __version__
from plexlens.errors import PlexlensError
from plexlens.ingest.compression import Expansion
from plexlens.ingest.plausible import Bound, read_bounds
from plexlens.pdb.commit import STAGING
from plexlens.pdb.database import Pdb
from plexlens.pdb.job import IngestResult, Job
from plexlens.pdb.object_store import Access
from plexlens.pdb.place import is_dump_object, source_at
from plexlens.pdb.reading import Staged, read
from plexlens.progress import silent


@dataclass(frozen=True, slots=True)
class Task:
    """A dump to read.

    Attributes
    ----------
    path, name : str
        The file, from the root of the file system or by its address, and as the user named it.
    pdb : str
        Folder of the database, from the root.
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


def look(places: Sequence[str]) -> Answer:
    """See whether the executor reaches these paths; the reader of an object names what is missing itself."""
    paths = [place for place in places if not is_dump_object(place)]
    return Answer(socket.gethostname(), unseen=next((place for place in paths if not Path(place).exists()), ""))


def stage(task: Task) -> Answer:
    """Read a dump into staged files."""
    task.access.use()
    # Another folder at the path of the database, or the run has ended: what is written now, nobody would commit.
    seen = look([str(Path(task.pdb, STAGING, task.run)), task.path])
    if seen.unseen:
        return seen
    from pyspark import TaskContext

    context = TaskContext.get()
    attempt = "" if context is None else f".{context.taskAttemptId()}"
    try:
        path = source_at(task.path)
        job = Job(
            Pdb.open(Path(task.pdb)),
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
        return Answer(seen.host, result=read(path, job))
    except PlexlensError as error:
        return Answer(seen.host, error=error)


@cache
def _bounds(layouts: tuple[Path, ...]) -> Mapping[str, Sequence[Bound]]:
    """Bounds of fields, read once by each process of an executor."""
    return read_bounds(layouts)
