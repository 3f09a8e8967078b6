"""Samples of CPU time, written to a file while they are taken: a line for each counter that has moved."""

from __future__ import annotations

import contextlib
import csv
import fnmatch
import platform
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from plexlens.errors import NothingUsableError, OutputError, UsageError
from plexlens.sampling.counters import (
    GROUPS,
    PROC,
    ControlGroup,
    Task,
    cpu_of_machine,
    cpu_of_process,
    cpu_of_thread,
    task_in,
    tasks,
)
from plexlens.signals import ended_by_signals

#: Heads of the file. `started` tells processes apart that had the same number one after the other.
COLUMNS = ("time", "host", "kind", "name", "number", "started", "cpu_seconds")
MACHINE, PROCESS, THREAD, GROUP = "machine", "process", "thread", "control group"

#: Seconds so far.
Tell = Callable[[float], None]


@dataclass(frozen=True)
class Wanted:
    """Selection of what to sample.

    Attributes
    ----------
    processes
        Patterns of names, and process numbers as digits; all processes if there are none.
    threads
        Whether their threads are sampled too.
    groups
        Control groups, with the name that each has in the file.
    """

    processes: tuple[str, ...] = ()
    threads: bool = False
    groups: tuple[tuple[str, ControlGroup], ...] = ()

    def takes(self, task: Task) -> bool:
        """Whether a process is sampled."""
        return not self.processes or any(
            task.number == int(word) if word.isdigit() else fnmatch.fnmatchcase(task.name, word)
            for word in self.processes
        )


@dataclass
class Recorded:
    """Counts of what was written.

    Attributes
    ----------
    missed
        Samples that were due while an earlier one was still being taken, or the machine gave no time.
    seen
        Processes by name.
    """

    file: Path
    samples: int = 0
    missed: int = 0
    lines: int = 0
    seconds: float = 0.0
    seen: dict[str, int] = field(default_factory=dict)
    stopped: bool = False


def wanted(processes: tuple[str, ...], threads: bool, groups: tuple[str, ...]) -> Wanted:
    """Check what is to be sampled.

    Raises
    ------
    UsageError
        This is not Linux, or there is no such process number or control group.
    """
    if not sys.platform.startswith("linux"):
        raise UsageError(
            file="", what="CPU times are read from /proc of Linux", remedy="run the command on the Linux server"
        )
    for word in processes:
        if word.isdigit() and task_in(PROC / word) is None:
            raise UsageError(
                file="", what=f"there is no process {word}", remedy="list processes with ps -e, or name one by its name"
            )
    return Wanted(processes, threads, tuple((name, _group(name)) for name in groups))


def _group(name: str) -> ControlGroup:
    folder = GROUPS / name.removeprefix(str(GROUPS)).lstrip("/")
    group = ControlGroup.of(folder)
    if group is None:
        what = "holds no CPU time" if folder.is_dir() else "is not there"
        raise UsageError(
            file="",
            what=f"the control group {folder} {what}",
            remedy=f"name a folder below {GROUPS} that has cpu.stat or cpuacct.usage; systemd-cgls lists them",
        )
    return group


class _Writer:
    """Takes samples, and writes what has changed."""

    def __init__(self, stream: IO[str], wanted: Wanted, recorded: Recorded) -> None:
        self._stream = stream
        self._lines = csv.writer(stream, lineterminator="\n")
        self._lines.writerow(COLUMNS)
        self._wanted = wanted
        self.recorded = recorded
        self._host = platform.node()
        self._last: dict[tuple[str, int | str, int], float] = {}

    def sample(self) -> None:
        """Take a sample now."""
        moment = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
        for kind, name, number, started, seconds in self._counters():
            key = (kind, number or name, started)
            before = self._last.get(key)
            # The machine's line says that a sample was taken, whether or not it has moved.
            if before == seconds and kind != MACHINE:
                continue
            if before is None and kind == PROCESS:
                self.recorded.seen[name] = self.recorded.seen.get(name, 0) + 1
            self._last[key] = seconds
            self.recorded.lines += 1
            self._lines.writerow((moment, self._host, kind, name, number or "", started or "", f"{seconds:.6f}"))
        self.recorded.samples += 1
        self._stream.flush()

    def _counters(self) -> Iterator[tuple[str, str, int, int, float]]:
        yield MACHINE, "", 0, 0, cpu_of_machine()
        for name, group in self._wanted.groups:
            with contextlib.suppress(OSError, ValueError):
                yield GROUP, name, 0, 0, group.cpu()
        for task in tasks():
            if not self._wanted.takes(task):
                continue
            with contextlib.suppress(OSError):
                yield PROCESS, task.name, task.number, task.started, cpu_of_process(task.number)
                if self._wanted.threads:
                    folder = PROC / str(task.number) / "task"
                    for thread in tasks(folder):
                        seconds = cpu_of_thread(folder / str(thread.number), thread.ticks)
                        yield THREAD, f"{task.name}/{thread.name}", thread.number, thread.started, seconds


def record(
    output: Path, wanted: Wanted, every: float, seconds: float | None, tell: Tell = lambda seconds: None
) -> Recorded:
    """Sample until the time is over; Ctrl-C and SIGTERM end it early, and what was sampled is kept.

    Parameters
    ----------
    output
        The file, written while samples are taken.
    every
        Seconds between samples.
    seconds
        Length; None to go on until Ctrl-C.

    Raises
    ------
    OutputError
        The file cannot be written.
    NothingUsableError
        No process was there that has a name wanted.
    """
    recorded = Recorded(output)
    ended = threading.Event()
    try:
        with ended_by_signals(ended.set), output.open("w", encoding="utf-8", newline="") as stream:
            _sample(_Writer(stream, wanted, recorded), ended, every, seconds, tell)
    except OSError as error:
        raise OutputError(
            file=str(output),
            what=f"it cannot be written: {error.strerror or error}",
            remedy=f"name another file, or free space in {output.absolute().parent}; samples before are in the file",
        ) from error
    if wanted.processes and not recorded.seen:
        raise NothingUsableError(
            file=str(output),
            what=f"no process {' or '.join(wanted.processes)} was there in {recorded.seconds:.0f} s",
            remedy="list the names with ps -eo comm; a pattern such as 'java*' matches several",
        )
    return recorded


def _sample(writer: _Writer, ended: threading.Event, every: float, seconds: float | None, tell: Tell) -> None:
    recorded = writer.recorded
    begun = time.monotonic()
    due = 0.0
    while True:
        writer.sample()
        recorded.seconds = time.monotonic() - begun
        tell(recorded.seconds)
        if seconds is not None and recorded.seconds >= seconds:
            return
        due += every
        passed = time.monotonic() - begun
        if passed > due:
            late = int((passed - due) // every) + 1
            recorded.missed += late
            due += late * every
        end = due if seconds is None else min(due, seconds)
        if ended.wait(max(0.0, end - (time.monotonic() - begun))):
            writer.sample()
            recorded.seconds = time.monotonic() - begun
            recorded.stopped = True
            return
