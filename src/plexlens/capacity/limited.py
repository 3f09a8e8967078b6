"""Waits at a single server with a limited number of requests: M/G/1/K.

A synchronous request to a coupling facility holds an engine of its sender until it is answered, so that no more of them
are at the facility than there are engines. Once the facility is busy, the next request waits for an engine and not for
the facility: the wait there stays below K - 1 services, where a queue without a limit has no end.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

#: Offered loads of the curve: the wait between two of them is on a straight line.
_OFFERED = np.concatenate([np.linspace(0.005, 2.0, 400), np.geomspace(2.05, 50.0, 60)])

#: A limit above this number of concurrent requests makes no noticeable difference.
MOST_LIMIT = 200


def limited_wait(most: int, busy: float, service: float, variation: float) -> float:
    """Mean wait in seconds at one server with arrivals at random and at most ``most`` requests there.

    Parameters
    ----------
    most
        Requests that can be there, with the one that is served.
    busy
        Busy share of the server, below 1.
    service
        Seconds of a service; services are of a gamma distribution.
    variation
        Squared coefficient of variation of services.

    Notes
    -----
    The states at departures follow from those of the queue without a limit (L. Takagi, "Queueing Analysis", volume 2,
    1993; D. Gross and C. Harris, "Fundamentals of Queueing Theory", M/G/1/K). Arrivals that find it full are lost in
    that queue; here they wait for an engine, and the offered load is the one at which the server is as busy as stated.
    """
    if most <= 1 or busy <= 0.0:
        return 0.0
    used, waits = _curve(most, round(variation, 3))
    return float(np.interp(busy, used, waits)) * service


@lru_cache(maxsize=64)
def _curve(most: int, variation: float) -> tuple[np.ndarray, np.ndarray]:
    """Busy share of the server and wait in services, for each offered load."""
    results = [_at(float(offered), most, variation) for offered in _OFFERED]
    return np.array([0.0, *(busy for busy, _ in results)]), np.array([0.0, *(wait for _, wait in results)])


def _at(offered: float, most: int, variation: float) -> tuple[float, float]:
    arrivals = _arrivals(offered, most, variation)
    # Share of services during which more than m requests arrive: sums of positive terms, so that nothing cancels out.
    more = np.maximum(0.0, 1.0 - np.cumsum(arrivals))
    states = np.zeros(most)
    states[0] = 1.0
    for n in range(1, most):
        states[n] = (states[0] * more[n - 1] + states[1:n] @ more[n - 1 : 0 : -1]) / arrivals[0]
        if states[n] > 1e200:
            states /= states[n]
    states /= states.sum()
    idle = states[0] / (states[0] + offered)
    full = 1.0 - 1.0 / (states[0] + offered)
    there = float(np.arange(most) @ states) / (states[0] + offered) + most * full
    busy = 1.0 - idle
    return float(busy), float(max(0.0, there / busy - 1.0))


def _arrivals(offered: float, most: int, variation: float) -> np.ndarray:
    """Share of services during which n requests arrive, n below ``most``: a negative binomial, or Poisson."""
    shares = np.zeros(most)
    if variation <= 1e-6:
        shares[0] = np.exp(-offered)
        for n in range(1, most):
            shares[n] = shares[n - 1] * offered / n
        return shares
    shape = 1.0 / variation
    shares[0] = (shape / (shape + offered)) ** shape
    for n in range(1, most):
        shares[n] = shares[n - 1] * (shape + n - 1) / n * offered / (shape + offered)
    return shares
