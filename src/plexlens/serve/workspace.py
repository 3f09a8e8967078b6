"""The database behind the pages: one engine of bounded memory, and what it has worked out so far.

Questions are answered one after the other. Each part of the data that is looked at has a session of its own, whose
temporary tables hold its facts; few are kept. When something is ingested, everything starts again from the new
manifest.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from sys import getsizeof

from plexlens.errors import PlexlensError
from plexlens.metrics import GRAINS, local_time
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import EVERYTHING, Extent, Selection, intervals_there, resolve, whole_extent
from plexlens.metrics.selection.raw import timed_tables
from plexlens.pdb import Pdb
from plexlens.pdb.deadline import OverTimeError, ended_after
from plexlens.pdb.engine import Connection, session_of
from plexlens.report.blocks.context import Context
from plexlens.report.blocks.readings import Readings, readings_of
from plexlens.report.build import clock_of
from plexlens.report.model.clock import Clock

#: Seconds after which the answer to a question is given up.
LONGEST = 60.0

#: Seconds for which a question waits for those before it.
PATIENCE = 90.0

#: Parts of the data whose facts are kept, bytes of the pages that are kept, and the longest of them in characters.
SESSIONS, ANSWER_BYTES, LONG_ANSWER = 6, 64 << 20, 2_000_000


#: Questions to a session, whose temporary tables grow in number, before it is made anew.
QUESTIONS = 200


class BusyError(PlexlensError):
    """A question that took too long, or had to wait too long."""


@dataclass
class Session:
    """A part of the data.

    Attributes
    ----------
    inputs
        The raw tables, with the selection resolved.
    readings
        What the database was read from.
    questions
        How many it has answered.
    """

    inputs: Inputs
    readings: Readings
    questions: int = 0

    @cached_property
    def clock(self) -> Clock:
        """Clock for the display of times."""
        return clock_of(self.inputs, self.readings)

    @cached_property
    def context(self) -> Context:
        """The numbers of its grains."""
        return Context(self.inputs, GRAINS, readings=self.readings, clock=self.clock)


class Workspace:
    """A performance database, open for questions.

    Parameters
    ----------
    path
        The database.
    seconds
        Time that an answer may take; None for `LONGEST`, and for a question in SQL for that of `plexlens.serve.asked`.
    memory_limit
        What the engine may use before it spills to disk.
    threads
        Threads of a question; the engine's choice by default.
    """

    def __init__(self, path: Path, memory_limit: str, threads: int | None = None, seconds: float | None = None) -> None:
        self.path = path
        self.memory_limit = memory_limit
        self.seconds = seconds
        self._threads = threads
        self._lock = threading.Lock()
        self._pdb = Pdb.open(path)
        self._stamp: object = None
        self._sessions: OrderedDict[Selection, Session] = OrderedDict()
        self._answers: OrderedDict[object, str] = OrderedDict()
        self._reopen()

    @property
    def memory(self) -> str:
        """Memory limit of the engine, as the engine prints it."""
        row = self._connection.execute("select current_setting('memory_limit')").fetchone()
        return str(row[0]) if row else self.memory_limit

    @property
    def threads(self) -> int:
        """Threads of a question."""
        row = self._connection.execute("select current_setting('threads')").fetchone()
        return int(row[0]) if row else 1

    def _reopen(self) -> None:
        stamp = self._manifest_stamp()
        if stamp == self._stamp:
            return
        self._pdb.refresh()
        self._sessions.clear()
        self._answers.clear()
        self._connection: Connection = self._pdb.connect(memory_limit=self.memory_limit, threads=self._threads)
        self.readings = readings_of(self._connection)
        self._intervals = intervals_there(self._connection)
        self.extent: Extent = whole_extent(self._connection, self._intervals)
        self.last_interval = last_interval(self._connection)
        self._stamp = stamp

    @property
    def stamp(self) -> object:
        """Mark of the manifest behind the answers; a later one has another."""
        return self._stamp

    @property
    def sources(self) -> dict[str, str]:
        """Hash of each source's file and time of its reading, by the id of the source."""
        return {ingest.id: f"{ingest.sha256} {ingest.finished_at}" for ingest in self._pdb.ingests}

    def _manifest_stamp(self) -> object:
        try:
            stat = (self.path / "manifest.json").stat()
        except OSError:
            # The error of opening it says more.
            return None
        # Roll-ups are brought up to date after the tables are.
        rollups = self._pdb.rollups
        return stat.st_mtime_ns, stat.st_size, stat.st_ino, tuple(map(rollups.stamp, rollups.grains))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """The engine for one question, which is ended in time."""
        import duckdb

        if not self._lock.acquire(timeout=PATIENCE):
            raise BusyError(file="", what="the server is busy with other queries", remedy="try again later")
        seconds = LONGEST if self.seconds is None else self.seconds
        try:
            self._reopen()
            with ended_after(seconds, self._connections):
                yield
        except OverTimeError as error:
            self._sessions.clear()
            raise BusyError(
                file="",
                what=f"the answer takes longer than {seconds:.0f} seconds",
                remedy="select less time, or fewer systems, or start plexlens serve with more --time-limit",
            ) from error
        except duckdb.OutOfMemoryException as error:
            self._sessions.clear()
            raise BusyError(
                file="",
                what=f"the answer needs more memory than {self.memory}",
                remedy="select less, or start plexlens serve with more --memory",
            ) from error
        finally:
            self._lock.release()

    def _connections(self) -> list[Connection]:
        return [self._connection, *(entry.inputs.connection for entry in list(self._sessions.values()))]

    @contextmanager
    def session(self, selection: Selection = EVERYTHING) -> Iterator[Session]:
        """The session of a part of the data, for one question.

        Raises
        ------
        PlexlensError
            Nothing is selected; the database changed and cannot be read; the answer takes too long.
        """
        with self._alone():
            content = self._sessions.get(selection)
            if content is not None and content.questions >= QUESTIONS:
                self._sessions.pop(selection).inputs.connection.close()
                content = None
            if content is not None:
                self._sessions.move_to_end(selection)
            else:
                self._sessions[selection] = self._made(selection)
                while len(self._sessions) > SESSIONS:
                    self._sessions.popitem(last=False)[1].inputs.connection.close()
            self._sessions[selection].questions += 1
            yield self._sessions[selection]

    @contextmanager
    def fresh(self, selection: Selection = EVERYTHING) -> Iterator[Session]:
        """A session for one question whose temporary tables go with it: a report makes its own."""
        with self._alone():
            result = self._made(selection)
            # An answer that takes too long is interrupted through the list of sessions.
            key = replace(EVERYTHING, systems=("", "fresh"))
            self._sessions[key] = result
            try:
                yield result
            finally:
                self._sessions.pop(key, None)
                result.inputs.connection.close()

    def _made(self, selection: Selection) -> Session:
        connection = session_of(self._connection)
        inputs = Inputs(connection, resolve(selection, connection, str(self.path), self._intervals))
        _ = inputs.places_reports
        return Session(inputs, replace(self.readings, local_reports=local_time.listed(connection)))

    def kept(self, key: object, make: Callable[[], str]) -> str:
        """A page from the cache if the manifest has not changed since; otherwise made now."""
        key = self._manifest_stamp(), key
        text = self._answers.get(key)
        if text is not None:
            self._answers.move_to_end(key)
            return text
        result = make()
        if len(result) <= LONG_ANSWER:
            self._answers[key] = result
        size = sum(map(getsizeof, self._answers.values()))
        while size > ANSWER_BYTES:
            size -= getsizeof(self._answers.popitem(last=False)[1])
        return result


def last_interval(connection: Connection) -> tuple[datetime, datetime] | None:
    """Local start and end of the last interval of a database; None where none is known."""
    local = [
        f"select epoch({start}) + coalesce(utc_offset, 0) as first, epoch({end}) + coalesce(utc_offset, 0) as last"
        f" from {table} where {start} < {end}"
        for table, start, end in timed_tables(connection)
    ]
    if not local:
        return None
    row = connection.execute(f"select max(first), max(last) from ({' union all '.join(local)})").fetchone()
    if row is None or row[0] is None:
        return None
    first, last = (datetime(1970, 1, 1) + timedelta(seconds=round(moment)) for moment in row)
    return first, last
