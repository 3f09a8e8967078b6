"""The result file: a line per request, written while the test runs, in the form that `plexlens run` reads."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from plexlens.driver.outcome import Outcome

#: Columns of the file (`layouts/load_test`), and after them those that describe the driver and the connection.
HEADS = (
    "transaction", "scheduled", "started", "response_seconds", "status", "error", "message", "bytes_sent",
    "bytes_received", "client", "users", "connect_seconds", "first_byte_seconds", "late_seconds", "tls_seconds",
    "connection", "tls",
)  # fmt: skip
#: Seconds after which lines are handed to the system at the latest: a killed driver loses no more than these.
FLUSHED = 0.5


class Clock:
    """Time of day that never jumps: the system's clock at the start, and after that its counter."""

    def __init__(self) -> None:
        self._offset = time.time() - time.perf_counter()

    def now(self) -> float:
        """Seconds since 1970."""
        return time.perf_counter() + self._offset


@dataclass
class Flight:
    """A request from the time that it is due to its outcome; times are seconds since 1970.

    Attributes
    ----------
    scheduled
        When the test plan wants it to begin; None where there is no plan.
    begun
        When the driver took it up; later than `scheduled` only if the driver is late.
    started
        When it had a place for a connection, and began to connect or to send.
    """

    name: str
    client: str
    scheduled: float | None
    begun: float
    started: float | None = None
    status: str = ""
    sent: int | None = None
    received: int | None = None
    connect_seconds: float | None = None
    tls_seconds: float | None = None
    first_byte_seconds: float | None = None
    connection: str = ""
    tls: str = ""


class RequestLog:
    """Writes a line for each request, and counts outcomes.

    Attributes
    ----------
    outcomes
        Requests by outcome.
    flights
        Requests without an outcome so far.
    """

    def __init__(self, path: Path, clock: Clock, refused: Callable[[OSError], None] | None = None) -> None:
        """Begin the file; `refused` is called when the system takes no more lines, as on a full disk."""
        self.clock = clock
        self._refused = refused
        self.outcomes: dict[Outcome, int] = {}
        self.flights: dict[int, Flight] = {}
        self.users = 0
        self._stream: TextIO | None = path.open("w", encoding="utf-8", newline="")
        self._writer = csv.writer(self._stream, lineterminator="\n")
        self._writer.writerow(HEADS)
        self._stream.flush()
        self._flushed = clock.now()

    @property
    def number(self) -> int:
        """Requests with an outcome."""
        return sum(self.outcomes.values())

    def begin(self, name: str, client: str, scheduled: float | None) -> Flight:
        """Take up a request that is due."""
        flight = Flight(name, client, scheduled, self.clock.now())
        self.flights[id(flight)] = flight
        return flight

    def end(self, flight: Flight, outcome: Outcome, detail: str = "") -> float | None:
        """Write the line of a request; None if it has one already, else its response time in seconds."""
        if self.flights.pop(id(flight), None) is None or self._stream is None:
            return None
        now = self.clock.now()
        # A request that never got a connection has waited since it was due.
        started = flight.started if flight.started is not None else flight.scheduled or flight.begun
        late = None if flight.scheduled is None else max(0.0, flight.begun - flight.scheduled)
        response = max(0.0, now - started)
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        row = (
            flight.name, _time(flight.scheduled), _time(started), f"{response:.6f}", flight.status, outcome.value,
            " ".join(detail.split())[:200], _text(flight.sent), _text(flight.received), flight.client, self.users,
            _text(flight.connect_seconds), _text(flight.first_byte_seconds), _text(late), _text(flight.tls_seconds),
            flight.connection, flight.tls,
        )  # fmt: skip
        try:
            self._writer.writerow(row)
        except OSError as error:
            self._full(error)
        if now - self._flushed > FLUSHED:
            self.flush()
        return response

    def flush(self) -> None:
        """Hand the lines to the system."""
        self._flushed = self.clock.now()
        try:
            if self._stream is not None:
                self._stream.flush()
        except OSError as error:
            self._full(error)

    def _full(self, error: OSError) -> None:
        if self._refused is None:
            raise error
        self._refused(error)

    def close(self) -> None:
        """Give an outcome to each request that has none, and close the file."""
        for flight in list(self.flights.values()):
            self.end(flight, Outcome.CUT if flight.started is not None else Outcome.NOT_SENT)
        self.flush()
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def _time(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.6f}" if isinstance(value, float) else str(value)
