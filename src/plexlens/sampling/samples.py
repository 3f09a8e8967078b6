"""Samples of CPU time, read again: CPU seconds of each process, thread and control group between two times."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plexlens.errors import NothingUsableError, UnreadableInputError
from plexlens.sampling.recording import COLUMNS, GROUP, MACHINE, PROCESS, THREAD

_KINDS = (MACHINE, PROCESS, THREAD, GROUP)
Floats = npt.NDArray[np.float64]
_Key = tuple[str, str, str]


@dataclass(frozen=True)
class Samples:
    """Samples of a server.

    Attributes
    ----------
    times
        Seconds since 1970 at which samples were taken, rising.
    counters
        Per process, thread or control group (kind, name) the CPU seconds at each of `times`; there are as many entries
        of a name as processes had it.
    left_out
        Lines that are not used: reason, number, place of the first.
    """

    file: str
    host: str
    times: Floats
    counters: tuple[tuple[str, str, Floats], ...]
    left_out: tuple[tuple[str, int, str], ...]

    def cpu(self, start: float, end: float) -> dict[tuple[str, str], float]:
        """CPU seconds by kind and name between two times, linear between samples."""
        seconds: dict[tuple[str, str], float] = defaultdict(float)
        for kind, name, values in self.counters:
            first, last = np.interp([start, end], self.times, values)
            seconds[kind, name] += float(last - first)
        return dict(seconds)

    def longest_gap(self, start: float, end: float) -> float:
        """The longest time without a sample in a length of time, in seconds."""
        inside = self.times[(self.times > start) & (self.times < end)]
        return float(np.diff(np.concatenate([[start], inside, [end]])).max())


def read_samples(path: Path) -> Samples:
    """Read the file that `plexlens sample` wrote.

    Raises
    ------
    UnreadableInputError
        The file cannot be read, or another program wrote it.
    NothingUsableError
        It holds fewer than two samples, or those of several servers.
    """
    lines = _Lines()
    lost: dict[str, tuple[int, str]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = csv.reader(stream)
            if tuple(next(rows, ())) != COLUMNS:
                raise UnreadableInputError(
                    file=str(path),
                    what=f"its first line is not {','.join(COLUMNS)}",
                    remedy="give a file that plexlens sample wrote",
                )
            for row in rows:
                if reason := lines.take(row):
                    number, first = lost.get(reason, (0, f"line {rows.line_num}"))
                    lost[reason] = (number + 1, first)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableInputError(
            file=str(path), what=f"it cannot be read: {error}", remedy="give a file that plexlens sample wrote"
        ) from error
    if len(lines.hosts) > 1:
        raise NothingUsableError(
            file=str(path),
            what=f"it holds samples of several servers: {', '.join(sorted(lines.hosts))}",
            remedy="give the file of each server with an option --samples of its own",
        )
    times = np.unique(np.array(lines.moments, float))
    if len(times) < 2:
        raise NothingUsableError(
            file=str(path),
            what=f"it holds {len(times)} sample{'' if len(times) == 1 else 's'}, and CPU time is a difference of two",
            remedy="sample for the whole length of the test",
        )
    counters = tuple((key[0], lines.names[key], _at(times, values)) for key, values in lines.counted.items())
    return Samples(
        str(path),
        next(iter(lines.hosts)),
        times,
        counters,
        tuple((what, count, at) for what, (count, at) in lost.items()),
    )


class _Lines:
    """The lines of a file so far."""

    def __init__(self) -> None:
        self.hosts: set[str] = set()
        self.moments: list[float] = []
        self.names: dict[_Key, str] = {}
        self.counted: dict[_Key, list[tuple[float, float]]] = {}

    def take(self, row: list[str]) -> str:
        """Take a line; the reason if it is left out."""
        if len(row) != len(COLUMNS):
            return f"line without {len(COLUMNS)} cells"
        time, host, kind, name, number, started, text = row
        if kind not in _KINDS:
            return "line of an unknown kind"
        try:
            moment, seconds = datetime.fromisoformat(time).astimezone(UTC).timestamp(), float(text)
        except (ValueError, OverflowError):
            moment, seconds = math.nan, math.nan
        if not math.isfinite(moment) or not 0 <= seconds < math.inf:
            return "line without a time or CPU seconds"
        if self.moments and moment < self.moments[-1]:
            return "line before the line above: the clock was set back"
        key = (kind, number or name, started)
        values = self.counted.get(key, [])
        if values and seconds < values[-1][1]:
            return "CPU seconds below those before"
        self.hosts.add(host)
        self.moments.append(moment)
        self.names[key] = name
        values.append((moment, seconds))
        self.counted[key] = values
        return ""


def _at(times: Floats, values: list[tuple[float, float]]) -> Floats:
    """A counter at each time: a counter without a line has not moved; one that comes later began at zero."""
    moments, seconds = np.array(values, float).T
    place = np.searchsorted(moments, times, side="right") - 1
    begun = seconds[0] if moments[0] <= times[0] else 0.0
    return np.asarray(np.where(place < 0, begun, seconds[np.maximum(place, 0)]), float)
