"""One server with a limit: a chain of states, closed forms and the queue without a limit."""

from __future__ import annotations

import numpy as np
import pytest

from plexlens.capacity.limited import MOST_LIMIT, limited_wait
from plexlens.capacity.lines import Line


def chain(arrivals: float, most: int, phases: int) -> tuple[float, float]:
    """Busy share and mean wait in services at one server with services of some exponential phases, by its states.

    A state is the requests there and the phases left of the one that is served; a service takes 1 on the average.
    """
    states = [(0, 0), *((n, left) for n in range(1, most + 1) for left in range(1, phases + 1))]
    place = {state: number for number, state in enumerate(states)}
    rates = np.zeros((len(states), len(states)))

    def moves(start: tuple[int, int], end: tuple[int, int], rate: float) -> None:
        rates[place[start], place[end]] += rate
        rates[place[start], place[start]] -= rate

    for n, left in states:
        if n < most:
            moves((n, left), (n + 1, left or phases), arrivals)
        if n:
            after = (n, left - 1) if left > 1 else (n - 1, phases if n > 1 else 0)
            moves((n, left), after, phases)
    balance = np.vstack([rates.T, np.ones(len(states))])
    shares = np.linalg.lstsq(balance, np.append(np.zeros(len(states)), 1.0), rcond=None)[0]
    busy = 1.0 - shares[0]
    there = sum(n * share for (n, _), share in zip(states, shares, strict=True))
    # Little's law: what is served goes through at the busy share, services taking 1.
    return float(busy), float(there / busy - 1.0)


@pytest.mark.parametrize("most", [2, 5, 8, 20])
@pytest.mark.parametrize("phases", [1, 2, 5])
@pytest.mark.parametrize("arrivals", [0.2, 0.7, 1.0, 1.6])
def test_against_the_states(most: int, phases: int, arrivals: float) -> None:
    busy, wait = chain(arrivals, most, phases)
    assert limited_wait(most, busy, 1.0, 1.0 / phases) == pytest.approx(wait, rel=2e-3)


def test_exponential_services_by_the_closed_form() -> None:
    """M/M/1/K with an offered load of 1: all K + 1 states are as likely, the server is busy for K / (K + 1)."""
    for most in (3, 10, 40):
        busy = most / (most + 1)
        # Mean number there K / 2, requests served K / (K + 1): a stay of (K + 1) / 2 services.
        assert limited_wait(most, busy, 0.001, 1.0) == pytest.approx(((most + 1) / 2 - 1) * 0.001, rel=1e-3)


@pytest.mark.parametrize("variation", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("busy", [0.1, 0.5, 0.8])
def test_a_distant_limit_is_none(variation: float, busy: float) -> None:
    # Pollaczek and Khinchine.
    assert limited_wait(MOST_LIMIT, busy, 1.0, variation) == pytest.approx(
        busy * (1.0 + variation) / (2.0 * (1.0 - busy)), rel=2e-3
    )


def test_the_wait_stays_below_the_services_of_the_others() -> None:
    waits = [limited_wait(8, busy, 1.0, 0.3) for busy in (0.3, 0.6, 0.9, 0.99, 0.999999)]
    assert waits == sorted(waits)
    assert waits[-1] < 7.0
    assert limited_wait(1, 0.9, 1.0, 0.3) == 0.0


def test_a_facility_that_senders_spin_for() -> None:
    """Twice the engines let more requests be there; the factor is that of services that vary by 0.5."""
    open_line = Line("coupling facility", "CF1", 1, 0.5, 0.0001, factor=0.75)
    line = Line("coupling facility", "CF1", 1, 0.5, 0.0001, factor=0.75, most=4)
    assert line.wait(1.8) == pytest.approx(limited_wait(4, 0.9, 0.0001, 0.5))
    assert line.wait(1.8, 1.0, 2.0) == pytest.approx(limited_wait(8, 0.9, 0.0001, 0.5))
    assert (line.wait(1.8) or 0) < (line.wait(1.8, 1.0, 2.0) or 0) < (open_line.wait(1.8) or 0)
    assert line.wait(2.0) is None
