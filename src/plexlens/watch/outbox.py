"""Findings that a receiver did not take: kept in the database, given again, also after a restart."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from plexlens.json_text import json_text
from plexlens.whole_file import write

#: File in the database with the findings that were not taken.
STATE = "watch-unsent.json"

#: Findings that are kept; seconds before one is given again, twice as many after each failure, up to an hour.
KEPT = 10_000
_FIRST_WAIT, _LONGEST_WAIT = 60.0, 3600.0


@dataclass
class Unsent:
    """A finding that waits.

    Attributes
    ----------
    receiver
        ``command`` or ``webhook``.
    finding
        Plain values.
    why
        What the receiver answered.
    tries
        Rounds in which it did not take it.
    """

    receiver: str
    finding: dict[str, Any]
    why: str
    tries: int = 1


class Outbox:
    """Findings that wait for their receiver.

    Parameters
    ----------
    folder
        The database.
    tell
        Told what is lost, and what cannot be read.
    clock
        Seconds of a clock that is never set.
    """

    def __init__(self, folder: Path, tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._path = folder / STATE
        self._tell = tell
        self._clock = clock
        self._due = clock()
        self._failures = 0
        self.lost = 0
        self._waiting = self._read()

    def __len__(self) -> int:
        return len(self._waiting)

    def waits_for(self, receiver: str) -> bool:
        """Whether findings wait for a receiver."""
        return any(unsent.receiver == receiver for unsent in self._waiting)

    def add(self, receiver: str, finding: dict[str, Any], why: str) -> None:
        """Keep a finding that a receiver did not take."""
        self._waiting.append(Unsent(receiver, finding, why))
        if len(self._waiting) > KEPT:
            dropped = self._waiting[: len(self._waiting) - KEPT]
            self._waiting = self._waiting[len(dropped) :]
            self.lost += len(dropped)
            self._tell(
                f"{KEPT:,} findings wait for their receivers: the oldest one is given up ({self.lost} in all); it was "
                "on standard output"
            )
        self._write()
        self._wait()

    def give(self, receivers: dict[str, Callable[[dict[str, Any]], str]], *, now: bool = False) -> None:
        """Give what waits to the receivers, in the order of finding.

        Parameters
        ----------
        receivers
            What gives a finding to a receiver, and returns what went wrong, or nothing. Findings for others keep
            waiting.
        now
            Whether the wait after the last failure does not count.
        """
        if not self._waiting or (self._clock() < self._due and not now):
            return
        kept: list[Unsent] = []
        failing: set[str] = set()
        for unsent in self._waiting:
            give = receivers.get(unsent.receiver)
            if give is None or unsent.receiver in failing:
                kept.append(unsent)
                continue
            wrong = give(unsent.finding)
            if wrong:
                # The others of this receiver wait for the next round too.
                failing.add(unsent.receiver)
                unsent.why, unsent.tries = wrong, unsent.tries + 1
                kept.append(unsent)
        taken = len(self._waiting) - len(kept)
        self._waiting = kept
        if taken:
            self._tell(f"{taken} findings that waited were taken; {len(kept)} still wait")
        self._write()
        if failing:
            self._wait()
        else:
            self._failures = 0

    def _wait(self) -> None:
        self._failures += 1
        self._due = self._clock() + min(_FIRST_WAIT * 2 ** min(self._failures - 1, 10), _LONGEST_WAIT)

    def _write(self) -> None:
        if self._waiting or self._path.exists():
            write(self._path, json_text([asdict(unsent) for unsent in self._waiting]))

    def _read(self) -> list[Unsent]:
        if not self._path.exists():
            return []
        try:
            return [Unsent(**entry) for entry in json.loads(self._path.read_text(encoding="utf-8"))]
        except (OSError, ValueError, TypeError) as error:
            aside = self._path.with_suffix(".damaged")
            self._path.replace(aside)
            self._tell(
                f"{self._path.name} cannot be read ({error}); it is now {aside.name}, and its findings are not given"
            )
            return []
