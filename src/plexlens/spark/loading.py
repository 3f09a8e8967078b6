"""Dumps into a database by a cluster: executors read them side by side, this process commits them.

The process that started Spark holds the write lock and commits the files in their order, each by a commit of its own,
as the embedded engine does. An executor reads a file against the database as it stands then. If a file that is
committed since brought some of its records, the reading does not count, and the file is read once more: then all
files before it are in the database.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from plexlens import __version__
from plexlens.errors import PlexlensError, SchemaConflictError, StorageError, UnreadableInputError, UsageError
from plexlens.pdb.commit import STAGING, clean_leftovers, staging_folder
from plexlens.pdb.durable import OvertakenError
from plexlens.pdb.job import IngestResult, Job
from plexlens.pdb.loading import load, store
from plexlens.pdb.object_store import Access
from plexlens.pdb.reading import Staged, read
from plexlens.spark.needs import said, without_plexlens
from plexlens.spark.staging_task import Answer, Task, look, running_at, stage

#: How often executors read a file before this process reads it.
_READINGS = 3

#: Files that executors are given at a time, at least: a cluster that grows on demand has to see what waits.
_AHEAD = 16

#: Seconds between two looks at what is done.
_LOOK = 0.2

#: Seconds within which the Python of a task that was cancelled ends.
_KILLED = 10.0

_REACHED = "see that every executor reaches the bucket, and has plexlens[s3]"
_SHARED = "put dumps, layouts and database where this machine and every executor see them at the same path"


@contextmanager
def loaded_by(spark: Any, paths: Sequence[Path], job: Job) -> Iterator[Callable[[Path], IngestResult]]:
    """Have executors read files ahead, for `plexlens.pdb.ingest`, which holds the write lock meanwhile.

    Parameters
    ----------
    spark
        The session.
    paths
        The files, in the order in which they are committed.
    job
        How they are read, and into which database.

    Yields
    ------
    callable
        Waits for a file and commits it; raises as `plexlens.pdb.loading.load`.

    Raises
    ------
    UsageError
        Executors have another Plexlens, none, or do not see the database.
    """
    run = _Run(spark.sparkContext, paths, job)
    try:
        run.start()
        yield run.load
    finally:
        run.end()


class _Run:
    """Files that are read ahead."""

    def __init__(self, context: Any, paths: Sequence[Path], job: Job) -> None:
        self._context = context
        self._job = job
        self._paths = paths
        self._name = f"spark{uuid4().hex[:12]}"
        self._marker = job.pdb.path / STAGING / self._name
        self._sizes = {path: _size(path) for path in paths}
        self._total = sum(self._sizes.values())
        self._stage = f"reading {len(paths)} file{'s' if len(paths) > 1 else ''} on Spark"
        self._done = 0
        self._stops = threading.Event()
        workers = min(len(paths) or 1, max(_AHEAD, 2 * context.defaultParallelism))
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="spark")
        self._answers: dict[Path, Future[Answer]] = {}

    def start(self) -> None:
        """See that executors can work at all, and give them the files."""
        try:
            self._mark()
            see = partial(look, access=Access.here())
            answer = self._pool.submit(self._on_executor, see, [str(running_at(self._marker))]).result()
        except PlexlensError:
            raise
        except Exception as error:
            raise _unusable(error) from error
        if answer.error is not None:
            raise UsageError(
                file=f"executor {answer.host}",
                what=f"it does not reach the database: {answer.error.what}",
                remedy=_REACHED,
            )
        if answer.unseen:
            raise UsageError(
                file=str(self._job.pdb.path), what=f"executor {answer.host} does not see this folder", remedy=_SHARED
            )
        if answer.version != __version__:
            raise UsageError(
                file=f"executor {answer.host}",
                what=f"it has Plexlens {answer.version}, and this is {__version__}",
                remedy="install the same version everywhere",
            )
        self._answers = {path: self._pool.submit(self._read, path) for path in self._paths}

    def _mark(self) -> None:
        """Make the folder by which executors see that the run goes on."""
        if self._job.pdb.disk.shared:
            self._marker.mkdir(parents=True, exist_ok=True)
        else:
            self._job.pdb.disk.write(running_at(self._marker), "see docs/spark.md\n")

    def end(self) -> None:
        """Stop what still runs, and remove what was staged in vain."""
        self._stops.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        left = {answer for answer in self._answers.values() if not answer.done()}
        while left:
            # Again and again: a thread may have been about to start its job.
            with suppress(Exception):
                self._context.cancelJobGroup(self._name)
            left = wait(left, timeout=_LOOK).not_done
        self._pool.shutdown()
        # What is not removed here, the next writer or a repair removes.
        if self._job.pdb.disk.shared:
            self._clean_folder()
        else:
            with suppress(OSError, PlexlensError):
                # First what lets tasks begin.
                running_at(self._marker).unlink()
                for path in self._marker.rglob("*"):
                    path.unlink()

    def _clean_folder(self) -> None:
        """Remove what is staged in a folder, as soon as the tasks that were cancelled have ended.

        Spark kills their Python some seconds later; until then they write into their folders.
        """
        with suppress(OSError):
            self._marker.rmdir()
        until = time.monotonic() + _KILLED
        while True:
            with suppress(OSError, PlexlensError):
                self._job.pdb.refresh()
                clean_leftovers(self._job.pdb)
            if not any(self._marker.parent.glob(f"*{self._name}*")) or time.monotonic() > until:
                return
            time.sleep(_LOOK)

    def load(self, path: Path) -> IngestResult:
        """Wait for a file that executors read, and commit it."""
        for number in range(_READINGS):
            if number:
                self._answers[path] = self._pool.submit(self._read, path)
            staged = self._result(path)
            if staged is None:
                break
            if isinstance(staged, IngestResult):
                return replace(staged, file=str(path))
            if _is_whole(staged):
                try:
                    if not self._job.pdb.disk.shared:
                        # Executors may have seen what another writer has committed.
                        self._job.pdb.refresh()
                    return replace(store(staged, self._job.pdb), file=str(path))
                except OvertakenError:
                    self._discard(staged)
                except SchemaConflictError as error:
                    self._discard(staged)
                    raise _named(error, path) from error
        if not self._job.pdb.disk.shared:
            return load(path, self._job)
        # Not there, or read in vain: whatever it is, this process sees the present state. What goes wrong must not take
        # away what executors have staged, so nothing is cleaned before the end.
        staged = read(path, self._job)
        return staged if isinstance(staged, IngestResult) else store(staged, self._job.pdb)

    def _result(self, path: Path) -> IngestResult | Staged | None:
        """The file as executors read it; None if it is not there."""
        answer = self._awaited(path)
        if answer.error is not None:
            raise _named(answer.error, path)
        if answer.unseen and path.exists():
            what = "it" if answer.unseen == str(path.absolute()) else f"the database ({self._job.pdb.path})"
            raise UnreadableInputError(
                file=str(path), what=f"executor {answer.host} does not see {what}", remedy=_SHARED
            )
        return answer.result

    def _awaited(self, path: Path) -> Answer:
        future = self._answers[path]
        while not wait([future], timeout=_LOOK).done:
            self._show()
        try:
            answer = future.result()
        except Exception as error:
            raise UnreadableInputError(
                file=str(path),
                what=f"Spark does not read it: {said(error)}",
                remedy="see the log of the executor, and run the command again; or leave out --engine spark",
            ) from error
        return answer

    def _show(self) -> None:
        done = sum(self._sizes[path] for path, answer in self._answers.items() if answer.done())
        # A file that is read once more does not take the bar back.
        self._done = max(self._done, done)
        self._job.progress(self._done, self._total, self._stage)

    def _read(self, path: Path) -> Answer:
        job = self._job
        task = Task(
            path=str(path.absolute()),
            name=job.names.get(path, str(path)),
            pdb=str(job.pdb.path.absolute()),
            run=self._name,
            layouts=tuple(folder.absolute() for folder in job.layouts),
            codepage=job.codepage,
            leap_seconds=job.leap_seconds,
            memory=job.memory,
            expansion=job.expansion,
            threads=int(self._context.getConf().get("spark.task.cpus", "1")),
            access=Access.here(),
        )
        return self._on_executor(stage, task)

    def _on_executor(self, work: Callable[[Any], Answer], argument: Any) -> Answer:
        """A job of one task: one that fails does not end the others."""
        if self._stops.is_set():
            raise RuntimeError("the run has ended")
        self._context.setJobGroup(self._name, f"plexlens ingest {self._job.pdb.path}", interruptOnCancel=True)
        answers: list[Answer] = self._context.parallelize([argument], 1).map(work).collect()
        return answers[0]

    def _discard(self, staged: Staged) -> None:
        if not self._job.pdb.disk.shared:
            # They may have been moved already.
            with suppress(StorageError):
                for file in staged.files:
                    file.staged.unlink()
            return
        shutil.rmtree(staging_folder(self._job.pdb, staged.source.writer), ignore_errors=True)


def _is_whole(staged: Staged) -> bool:
    """Whether the files that an executor wrote are there, with the size that it wrote."""
    return all(_size(file.staged) == file.bytes for file in staged.files)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, PlexlensError):
        return 0


def _named(error: PlexlensError, path: Path) -> PlexlensError:
    """An error of an executor, with the file as the user named it."""
    if error.file == str(path.absolute()):
        error.file = str(path)
    return error


def _unusable(error: Exception) -> UsageError:
    """Why an executor does not even start."""
    return without_plexlens(error) or UsageError(
        file="",
        what=f"executors run no Python of Plexlens: {said(error)}",
        remedy="see that each of them has the same Python and Plexlens, and that PYSPARK_PYTHON names that Python",
    )
