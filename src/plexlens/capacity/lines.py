"""Queues other than engines: volumes, TCBs of CICS, threads, coupling facilities, the log, locks.

A line is a place with servers. It is known how busy it was, and what a request waited there; its law says what a
request waits at another load. A class is asked what it waited, as measured, and is given the difference: the measured
load is right by construction, whatever the law.

Laws
----
queue
    M/M/c: C(c, a) s / (c - a), times what was measured over that at the measured load. C is Erlang's formula
    (Kleinrock, "Queueing Systems", volume 1, 1975). How much services vary is in that factor, which is taken to stay.
    With a limited number of requests (``most``), M/G/1/K (`plexlens.capacity.limited`).
gate
    A log whose write contains all requests that arrived during the previous write: a write takes L, and a request that
    arrives during a write waits for its end, L / 2 on average, and for the next. The server is busy for the share
    e^(rL) / (e^(rL) + 1 / (rL)) of the time at r requests per second, since a busy period ends when nothing arrives
    during a write. L follows from the measured wait.
locks
    One resource that a holder keeps for H (M/G/1): the wait grows as rH x H / (1 - rH). The share of transactions that
    had to wait is taken for rH at the measured load, because arrivals at random see the mean state.
linear
    The wait grows as the requests and as the time for which they hold: contention that another holder of the same hash
    entry causes.
fixed
    The wait of a request stays: negotiation of a page P-lock. How often another member changed the page last depends on
    how the members divide the work, not on how much it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from scipy.optimize import brentq

from plexlens._core import erlang_c
from plexlens.capacity.limited import limited_wait

#: Waits that the formula counts as if they had been measured: a factor from few waits would be chance.
_PRIOR = 20.0

#: Busy share from which a line counts as full.
FULL = 1.0 - 1e-9


class Law(Enum):
    """Growth law of a wait."""

    QUEUE = "queue"
    GATE = "gate"
    LOCKS = "locks"
    LINEAR = "linear"
    FIXED = "fixed"


class Holds(Enum):
    """Cause of longer holding times of a server."""

    NOTHING = "nothing"
    ENGINES = "engines"
    RESPONSE = "response"


@dataclass(frozen=True)
class Line:
    """A resource at which requests queue.

    Attributes
    ----------
    kind
        ``volume``, ``QR TCB``, ``threads``, ``open TCBs``, ``coupling facility``, ``subchannels``, ``log``,
        ``locks``, ``contention``, ``page P-locks``.
    name
        Of the resource, as the data have it.
    servers
        Requests that are served at the same time.
    busy
        Busy share of the servers at the measured load.
    service
        Seconds of a request at a server.
    factor
        Measured wait over that of the formula.
    rate
        Requests per second.
    shares
        Share of the load that each class brings; the rest grows as the work of all classes.
    shared
        Whether other systems use it too, whose load grows as that of this one.
    most
        Maximum number of requests, including the request in service; None without a limit. For a single server.
    """

    kind: str
    name: str
    servers: int
    busy: float
    service: float
    law: Law = Law.QUEUE
    factor: float = 1.0
    rate: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)
    holds: Holds = Holds.NOTHING
    shared: bool = False
    most: int | None = None

    @property
    def text(self) -> str:
        """Kind and name: ``volume 1003``."""
        return f"{self.kind} {self.name}"

    def used(self, load: float, hold: float = 1.0) -> float:
        """Busy share of the servers at a multiple of the measured requests and of their holding time."""
        if self.law is Law.GATE:
            return _gate_busy(load * self.rate, self.service)
        return self.busy * load * hold

    def wait(self, load: float, hold: float = 1.0, senders: float = 1.0) -> float | None:
        """Seconds that a request waits; None if the line is saturated.

        ``senders`` is a multiple of the requests that can be there at a time.
        """
        if self.law is Law.GATE:
            return self.service * (1.0 + _gate_busy(load * self.rate, self.service) / 2)
        if self.law in (Law.LINEAR, Law.FIXED):
            return self.service * (load * hold if self.law is Law.LINEAR else 1.0)
        busy = self.used(load, hold)
        if busy >= FULL:
            return None
        if self.law is Law.LOCKS:
            return self.factor * self.service * hold * busy / (1.0 - busy)
        if self.most is not None:
            # The factor is that of Pollaczek and Khinchine, (1 + variation) / 2.
            most = max(1, round(self.most * senders))
            return limited_wait(most, busy, self.service * hold, max(0.0, 2.0 * self.factor - 1.0))
        return self.factor * queue_wait(self.servers, busy, self.service * hold)


@dataclass(frozen=True)
class Wait:
    """Wait of a class's transaction at lines of a kind.

    Attributes
    ----------
    kind
        Of the lines.
    lines
        Names of the lines, with the share of the requests that each has; empty for a wait that no line explains, which
        grows as waiting at the busiest resource measured.
    requests
        Of a transaction.
    seconds
        That a transaction waited, as measured.
    """

    kind: str
    lines: Mapping[str, float]
    requests: float
    seconds: float


def queue_wait(servers: int, busy: float, service: float) -> float:
    """Mean wait of M/M/c in seconds."""
    if busy <= 0.0:
        return 0.0
    return erlang_c(servers, busy * servers) * service / (servers * (1.0 - busy))


def queue_factor(servers: int, busy: float, service: float, requests: float, waited: float) -> float:
    """Ratio of the measured wait to that of M/M/c.

    Parameters
    ----------
    requests
        Requests measured.
    waited
        Seconds that they waited, all together.
    """
    if not 0.0 < busy < FULL or service <= 0.0:
        return 1.0
    formula = requests * queue_wait(servers, busy, service)
    prior = _PRIOR * service / (servers * (1.0 - busy))
    return (waited + prior) / (formula + prior)


def servers_for(offered: float, service: float, wait: float, *, most: int = 1000) -> int | None:
    """Number of M/M/c servers at which requests wait ``wait`` seconds for this load; None if no number fits within a
    factor of 4.

    Waits of services that vary less than exponential ones are down to half of the formula: the fit aims at 0.7 of it.
    """
    if offered <= 0.0 or service <= 0.0 or wait <= 0.0:
        return None
    best: tuple[float, int] | None = None
    for servers in range(math.floor(offered) + 1, most + 1):
        formula = 0.7 * queue_wait(servers, offered / servers, service)
        if formula <= 0.0:
            break
        apart = abs(math.log(wait / formula))
        if best is not None and apart > best[0]:
            break
        best = apart, servers
    return best[1] if best is not None and best[0] < math.log(4.0) else None


def gate_length(rate: float, wait: float) -> float:
    """Seconds per log write that explain a wait at this request rate."""
    if wait <= 0.0:
        return 0.0
    # A wait is one write, and at most half of one more.
    return float(brentq(lambda write: write * (1.0 + _gate_busy(rate, write) / 2) - wait, 0.66 * wait, wait))


def _gate_busy(rate: float, write: float) -> float:
    load = rate * write
    if load <= 0.0:
        return 0.0
    return 1.0 / (1.0 + math.exp(-load) / load)
