"""Work in pieces as tasks of executors; the results come back in the order of the pieces.

A piece that is lost with its executor or Python is done again by Spark. An error of Plexlens is a result like any
other: the same piece would fail again elsewhere.
"""

from __future__ import annotations

import pickle
import socket
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

from plexlens import __version__
from plexlens.errors import PlexlensError, UsageError
from plexlens.executors import Argument, Executors, Result, Tell
from plexlens.spark.needs import said, without_plexlens

#: Seconds between two looks at the tasks.
_LOOK = 0.2


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of an executor to a piece of work.

    Attributes
    ----------
    host, version : str
        Where it ran, and the version of Plexlens there; another version than that of the driver does no work.
    packed : bytes
        The result, pickled and compressed.
    error : PlexlensError or None
        The error in place of a result.
    """

    host: str
    version: str = __version__
    packed: bytes = b""
    error: PlexlensError | None = None


def piece(work: Callable[[Any], Any], version: str, argument: Any) -> Answer:
    """Do a piece of work on an executor.

    Parameters
    ----------
    work
        The function.
    version
        Version of Plexlens of the process that sent the piece.
    argument
        Its argument.
    """
    host = socket.gethostname()
    if version != __version__:
        return Answer(host)
    try:
        result = work(argument)
    except PlexlensError as error:
        return Answer(host, error=error)
    return Answer(host, packed=zlib.compress(pickle.dumps(result), 1))


def executors(spark: Any, name: str = "plexlens") -> Executors:
    """Executors of a cluster, for functions that divide their work.

    Parameters
    ----------
    spark
        The session.
    name
        What Spark's pages call the work.

    Returns
    -------
    Executors
        Raises `plexlens.errors.UsageError` where executors have another Plexlens or none, and
        `plexlens.errors.PlexlensError` where Spark gives a piece up.
    """
    return partial(_run, spark.sparkContext, name)


def _run(
    context: Any,
    name: str,
    work: Callable[[Argument], Result],
    arguments: Sequence[Argument],
    tell: Tell | None = None,
) -> list[Result]:
    """A job with a task for each piece."""
    if not arguments:
        return []
    group = f"plexlens{uuid4().hex[:12]}"

    def job() -> list[Answer]:
        context.setJobGroup(group, name, interruptOnCancel=True)
        pieces = context.parallelize(list(arguments), len(arguments))
        answers: list[Answer] = pieces.map(partial(piece, work, __version__)).collect()
        return answers

    # In a thread of its own, so that an interrupt is noticed.
    with ThreadPoolExecutor(1, thread_name_prefix="spark") as pool:
        future = pool.submit(job)
        try:
            while not wait([future], timeout=_LOOK).done:
                if tell is not None:
                    tell(_done(context, group), len(arguments))
        finally:
            _end(context, group, future)
        try:
            answers = future.result()
        except Exception as error:
            raise _lost(error, name) from error
    if tell is not None:
        tell(len(arguments), len(arguments))
    return [_result(answer) for answer in answers]


def _done(context: Any, group: str) -> int:
    """Tasks of a job that have ended."""
    tracker = context.statusTracker()
    jobs = filter(None, map(tracker.getJobInfo, tracker.getJobIdsForGroup(group)))
    stages = (tracker.getStageInfo(stage) for job in jobs for stage in job.stageIds)
    return sum(stage.numCompletedTasks for stage in stages if stage is not None)


def _end(context: Any, group: str, future: Future[Any]) -> None:
    """Stop the tasks of a job that this process does not wait for any more."""
    while not future.done():
        # Again and again: the thread may have been about to start the job.
        with suppress(Exception):
            context.cancelJobGroup(group)
        wait([future], timeout=_LOOK)


def _result(answer: Answer) -> Any:
    if answer.version != __version__:
        raise UsageError(
            file=f"executor {answer.host}",
            what=f"it has Plexlens {answer.version}, and this is {__version__}",
            remedy="install the same version everywhere",
        )
    if answer.error is not None:
        raise answer.error
    return pickle.loads(zlib.decompress(answer.packed))


def _lost(error: Exception, name: str) -> PlexlensError:
    return without_plexlens(error) or PlexlensError(
        file=name,
        what=f"Spark does not finish it: {said(error)}",
        remedy="see the log of the executor, and run the command again; or leave out --engine spark",
    )
