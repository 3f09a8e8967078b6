"""Times of requests to a server: once per interval, and less and less often while it does not answer."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from plexlens.watch.dds.answer import Interval

#: Seconds after the end of an interval until every system has delivered it.
#: Source: IBM RMF for Grafana, which waits as long.
_DELIVERY = 5.0
_FIRST_WAIT, _LONGEST_WAIT = 5.0, 900.0
_BETWEEN_BATCHES = 2.0


@dataclass(frozen=True)
class Pace:
    """Waits.

    Attributes
    ----------
    factor
        What all waits are multiplied by; below 1 in tests that replay a day.
    clock
        Seconds of a clock that is never set.
    chance
        A number from 0 to 1, so that many watches do not ask at once.
    """

    factor: float = 1.0
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random

    def after(self, seconds: float) -> float:
        """The moment of the clock that is this number of seconds away."""
        return self.clock() + seconds * self.factor

    def next_interval(self, newest: Interval, length: timedelta, server: datetime | None) -> float:
        """Seconds until the next interval is there.

        Parameters
        ----------
        newest
            The newest interval that the server has.
        length
            Length of its intervals.
        server
            The clock of the server; None if it is unknown: then half an interval is waited.
        """
        whole = length.total_seconds()
        age = (server - newest.end).total_seconds() if server is not None else -1.0
        if not 0.0 <= age < 10 * whole:
            return max(whole / 2, _FIRST_WAIT)
        jitter = self.chance() * min(_DELIVERY, whole / 20)
        wait = whole - age + _DELIVERY + jitter
        # It should be there already: a system is late, and is asked again soon, but not without a pause.
        return min(max(wait, whole / 10, _FIRST_WAIT), _LONGEST_WAIT)

    def next_batch(self) -> float:
        """Seconds until the next request for missed reports."""
        return _BETWEEN_BATCHES

    def late(self, length: timedelta) -> float:
        """Seconds until the next request for a late report."""
        return max(length.total_seconds() / 10, _FIRST_WAIT)

    def failed(self, failures: int) -> float:
        """Seconds to wait after this number of failures in a row."""
        longest = min(_FIRST_WAIT * 2.0 ** min(failures - 1, 20), _LONGEST_WAIT)
        return longest * (0.5 + self.chance() / 2)

    def refused(self) -> float:
        """Seconds after the user was not accepted."""
        return _LONGEST_WAIT
