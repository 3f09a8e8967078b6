"""The cost of data sharing in closed form: contention of a hashed lock table, service times, conversion.

Rates are a second, times seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.optimize import brentq

#: Seconds of light in a kilometre of fibre, one way (refractive index of some 1.5).
FIBRE = 5e-6


def false_contention(value: float, entries: float) -> float:
    """Share of lock requests that collide with another resource in their lock table entry.

    Each of the incompatible locks that other members hold lies in any of the entries with the same probability, so the
    entry of a request is free of all of them with (1 - 1/entries)^held ("Data Sharing in a Nutshell", SG24-7322: false
    contention falls as the number of entries grows).

    Parameters
    ----------
    value
        Resources that other members have an incompatible interest in, mean.
    entries
        Entries of the lock table.
    """
    if entries < 1:
        raise ValueError(f"a lock table of {entries} entries")
    if entries == 1:
        return 1.0 if value > 0 else 0.0
    return -math.expm1(value * math.log1p(-1.0 / entries))


def held_of_contention(fraction: float, entries: float) -> float:
    """Number of locks held by others that explains a measured false contention: the inverse of `false_contention`."""
    if not 0 <= fraction < 1:
        raise ValueError(f"a share of {fraction}")
    if entries <= 1:
        return 0.0
    return math.log1p(-fraction) / math.log1p(-1.0 / entries)


def held_by_little(rate: float, seconds: float) -> float:
    """Average number of locks held: lock rate times holding time (Little's law)."""
    return rate * seconds


def facility_wait(requests: float, execution: float, squares: float, engines: float) -> float:
    """Mean wait of a request for an engine of the coupling facility.

    Pollaczek and Khinchine for one engine; for several, Erlang's probability of waiting with the variability of service
    times as Allen and Cunneen have it (R. Jain, "The Art of Computer Systems Performance Analysis", 1991, chapter 31).

    Parameters
    ----------
    requests
        Requests per second.
    execution, squares
        Mean of the execution time, and mean of its square.
    engines
        Engines.

    Returns
    -------
    float
        Seconds; infinite where the engines cannot keep up.
    """
    load = requests * execution
    if requests <= 0 or execution <= 0:
        return 0.0
    count = max(round(engines), 1)
    if load >= count:
        return math.inf
    term, total = 1.0, 1.0
    for k in range(1, count):
        term *= load / k
        total += term
    last = term * load / count / (1.0 - load / count)
    waiting = last / (total + last)
    variability = squares / execution**2 / 2.0
    return waiting * execution / (count - load) * variability


@dataclass(frozen=True)
class Path:
    """The path of a request to a structure.

    Attributes
    ----------
    execution
        Seconds of a coupling facility engine.
    wait
        Seconds of waiting for it.
    link
        Seconds on links and adapters, both ways.
    """

    execution: float
    wait: float
    link: float

    @property
    def service(self) -> float:
        """Seconds from sending the request to receiving the answer."""
        return self.execution + self.wait + self.link

    def changed(self, *, speed: float = 1.0, wait: float | None = None, kilometres: float = 0.0) -> Path:
        """The path with a faster facility or a longer link; distance adds transit time to the link."""
        return Path(
            self.execution / speed,
            self.wait / speed if wait is None else wait,
            self.link + 2.0 * FIBRE * kilometres,
        )


@dataclass(frozen=True)
class Sending:
    """Host processor cost of sending a request.

    Attributes
    ----------
    sync_host, async_host
        Processor seconds of a synchronous request besides the spin, and of an asynchronous one.
    threshold
        Service time above which requests are sent asynchronously; None: never.
    """

    sync_host: float
    async_host: float
    threshold: float | None

    def is_converted(self, service: float) -> bool:
        """Whether a request with this service time is sent asynchronously."""
        return self.threshold is not None and service > self.threshold

    def cpu(self, service: float) -> float:
        """Processor seconds of a request: the processor spins until a synchronous request is answered."""
        return self.async_host if self.is_converted(service) else self.sync_host + service


def crossing(rising: Callable[[float], float], low: float, high: float, *, within: float = 1e-3) -> float:
    """Root of a rising function of a positive number; an end of the range if it is positive, or negative, throughout.

    Parameters
    ----------
    rising
        What rises.
    low, high
        Between which numbers; both above 0.
    within
        Part of the number to which it is found.
    """
    if rising(low) >= 0:
        return low
    if rising(high) <= 0:
        return high
    result = brentq(lambda x: rising(math.exp(x)), math.log(low), math.log(high), xtol=within)
    return math.exp(float(result))


def break_even(sync_host: float, async_host: float) -> float:
    """Service time above which an asynchronous request costs less processor time than a synchronous request.

    z/OS converts by comparing the two (z/OS documentation, "Understanding the synchronous/asynchronous conversion").
    """
    return max(async_host - sync_host, 0.0)
