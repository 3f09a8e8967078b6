"""Transactions as measured, and the lines and waits made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from plexlens.capacity.accounts import Account, Waited
from plexlens.capacity.attribution import matching
from plexlens.capacity.lines import Line, Wait
from plexlens.capacity.measured import Facts

#: Seconds of a wait per transaction below which it is not there.
NOTHING = 1e-9


@dataclass
class Queues:
    """Lines and waits of a system under construction.

    Attributes
    ----------
    lines
        By name.
    waits
        By class period.
    io_service
        Seconds of I/O operations of a transaction that only SMF 101 tells, by class period.
    known
        Class periods whose waits are all recorded: what is left of the response they spent at engines.
    spins
        Synchronous requests per second of the system by the names of the lines that make them longer.
    unseen
        Class periods of regions without SMF 110, with the load at which a QR TCB that did all their work would be full.
    """

    lines: dict[str, Line] = field(default_factory=dict)
    waits: dict[str, list[Wait]] = field(default_factory=dict)
    io_service: dict[str, float] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    spins: list[tuple[float, tuple[str, ...]]] = field(default_factory=list)
    unseen: dict[str, float] = field(default_factory=dict)

    def add(self, line: Line) -> None:
        """Add a line."""
        self.lines[line.text] = line

    def wait(self, name: str, wait: Wait) -> None:
        """Add a wait of a class."""
        if wait.seconds > NOTHING or wait.requests > NOTHING:
            self.waits.setdefault(name, []).append(wait)


@dataclass(frozen=True)
class Seen:
    """Measured transactions of a system."""

    system: str
    seconds: float
    facts: Mapping[str, Facts]
    #: Ended transactions of each class period that has a response time.
    ended: Mapping[str, float]
    #: Accounts by kind of record and service class.
    of: Mapping[str, Mapping[str, Account]]

    def periods(self, name: str) -> list[str]:
        """Class periods of a service class that ended transactions."""
        return sorted(period for period in matching(self.ended, name) if self.ended[period])

    def count(self, name: str) -> float:
        """Ended transactions of a service class."""
        return sum(self.ended[period] for period in self.periods(name))


def per_transaction(seen: Seen, name: str, waited: Waited) -> tuple[float, float]:
    """Seconds and number of waits per transaction of a service class."""
    count = seen.count(name)
    return (waited.seconds / count, waited.count / count) if count else (0.0, 0.0)


def by_period(seen: Seen, amounts: Mapping[str, float]) -> dict[str, float]:
    """Class periods' shares of the service classes' amounts."""
    whole = sum(amounts.values())
    results = {}
    for name, amount in amounts.items():
        count = seen.count(name)
        for period in seen.periods(name):
            results[period] = amount / whole * seen.ended[period] / count if whole else 0.0
    return results
