"""Findings by day: the rules are evaluated for each day separately.

The findings of a day are kept in memory and in a file of the user's cache. The name of the file is a hash of what they
follow from: the sources with data of that day, the rules, the catalogue, and the version of Plexlens. So what is kept
is never of something else, and a source that comes in makes only its own days be judged again.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path

from plexlens import __version__
from plexlens.errors import PlexlensError
from plexlens.findings.reading import SHIPPED
from plexlens.json_text import json_text
from plexlens.metrics import GRAINS
from plexlens.metrics.selection.raw import timed_tables
from plexlens.pdb.engine import Connection
from plexlens.serve.judged import Judged, judged_of, plain
from plexlens.serve.judging import judged_days
from plexlens.serve.workspace import Workspace
from plexlens.whole_file import write

#: Files of the cache at most; the oldest go first.
_FILES = 4000

_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Day:
    """A day with data.

    Attributes
    ----------
    date
        By the local time of each system.
    systems
        Systems with data of it.
    names
        Systems, sysplexes and subsystems with data of it.
    key
        Hash of what its findings follow from.
    """

    date: date
    systems: frozenset[str]
    names: frozenset[str]
    key: str


class History:
    """The findings of each day of a database, judged in the background.

    Parameters
    ----------
    workspace
        The database.
    folder
        Where judged days are kept; None for memory alone.
    """

    def __init__(self, workspace: Workspace, folder: Path | None) -> None:
        self._workspace = workspace
        self._folder = folder
        self._judged: dict[str, Judged] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._days: tuple[object, tuple[Day, ...]] = (None, ())
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    def days(self) -> tuple[Day, ...]:
        """The days with data, the latest first."""
        with self._workspace.session() as session:
            stamp = self._workspace.stamp
            if self._days[0] != stamp:
                self._days = (stamp, days_of(session.inputs.connection, self._workspace.sources))
            return self._days[1]

    def judged(self, days: Sequence[Day]) -> dict[date, Judged]:
        """Findings of the days that are judged; the others are judged in the background, the latest first."""
        results = {}
        missing = []
        for day in days:
            content = self._held(day)
            if content is None:
                missing.append(day)
            else:
                results[day.date] = content
        if missing:
            self._start(missing)
        return results

    def wait(self, seconds: float) -> None:
        """Wait for the background to be done, at most so long."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _held(self, day: Day) -> Judged | None:
        content = self._judged.get(day.key)
        if content is None and self._folder is not None:
            content = _read(self._folder / f"{day.key}.json")
            if content is not None:
                self._judged[day.key] = content
        return content

    def _start(self, days: Sequence[Day]) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._judge, args=(days,), daemon=True, name="findings by day")
                self._thread.start()

    def _judge(self, days: Sequence[Day]) -> None:
        by_date = {day.date: day for day in days}
        try:
            for moment, result in judged_days(
                self._workspace.path, list(by_date), self._workspace.memory_limit, self._running
            ):
                key = by_date.pop(moment).key
                self._judged[key] = result
                if self._folder is not None and not result.problem:
                    _keep(self._folder, f"{key}.json", result)
        except (OSError, ValueError, KeyError) as error:
            self._failed(by_date.values(), str(error))
        else:
            self._failed(by_date.values(), "the process that judges days ended before its time")

    def _failed(self, days: Iterable[Day], why: str) -> None:
        """Note why days are not judged; they are tried again when their data or the server change."""
        for day in days:
            self._judged[day.key] = Judged((), frozenset(), problem=why)

    def _running(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def close(self) -> None:
        """End the process that judges days."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.kill()


def days_of(connection: Connection, sources: Mapping[str, str]) -> tuple[Day, ...]:
    """The days of a database, the latest first.

    Parameters
    ----------
    connection
        To the raw tables.
    sources
        What identifies the contents of each source, by its id.
    """
    selects = [
        "select distinct source_id, system, sysplex, subsystem, floor((epoch"
        f"(coalesce({start}, {end})) + coalesce(utc_offset, 0)) / 86400) as day from {table}"
        for table, start, end in timed_tables(connection)
    ]
    if not selects:
        return ()
    rows = connection.execute(
        f"select distinct * from ({' union all '.join(selects)}) where day is not null"
    ).fetchall()
    names: dict[int, list[tuple[str | None, ...]]] = {}
    for *row, day in rows:
        names.setdefault(int(day), []).append(tuple(row))
    return tuple(_day(number, of, sources) for number, of in sorted(names.items(), reverse=True))


def _day(number: int, rows: Sequence[tuple[str | None, ...]], sources: Mapping[str, str]) -> Day:
    """A day since 1970, from source, system, sysplex and subsystem of its records."""
    day = _EPOCH + timedelta(days=number)
    systems = frozenset(row[1] for row in rows if row[1])
    names = frozenset(name for row in rows for name in row[1:] if name)
    return Day(day, systems, names, _key(day, {sources.get(str(row[0]), str(row[0])) for row in rows}))


def _key(day: date, sources: set[str]) -> str:
    names = [__version__, _rules(), GRAINS.catalogue.fingerprint, day.isoformat(), *sorted(sources)]
    return sha256(json.dumps(names).encode()).hexdigest()


@cache
def _rules() -> str:
    result = sha256()
    for path in sorted(SHIPPED.glob("*.toml")):
        result.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return result.hexdigest()


def cache_folder() -> Path | None:
    """The folder of the user's cache for judged days; None where the user has no folder."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "plexlens" / "findings"
    except RuntimeError:
        return None


def _read(path: Path) -> Judged | None:
    """A judged day; None if it is not there, or cannot be read."""
    try:
        return judged_of(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _keep(folder: Path, name: str, judged: Judged) -> None:
    """Keep a judged day, and drop the oldest of too many; a cache that cannot be written is done without."""
    with suppress(OSError, PlexlensError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write(folder / name, json_text(plain(judged)))
        paths = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in paths[:-_FILES]:
            path.unlink(missing_ok=True)
