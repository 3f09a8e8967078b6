"""Page P-locks in closed form: locks held by each member, and the rates of grants, negotiations and releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plexlens.sharing.closed_form_pages import zipf_classes

#: Exponent beyond which a page never leaves its pool.
_FOREVER = 500.0


@dataclass(frozen=True)
class PageLockRates:
    """Rates of page P-lock events due to changes of physically locked pages, per second.

    Attributes
    ----------
    granted
        Requests for a lock that nobody holds; as many locks are given back with their buffers.
    negotiated
        Requests for a lock that another member holds: both lock managers settle it.
    held
        Locks that each member holds, mean.
    """

    granted: float
    negotiated: float
    held: tuple[float, ...]

    @property
    def requests(self) -> float:
        """Requests of either kind; a member that holds the lock makes no request."""
        return self.granted + self.negotiated


def page_lock_rates(
    pages: int, skew: float, updates: Sequence[float], getpages: Sequence[float], stays: Sequence[float]
) -> PageLockRates:
    """Page P-locks of a page set.

    The lock of a page goes to whoever changes it, and stays there until another member changes the page, or until its
    buffer is stolen: where references are at random, after a pause of the time that an unused page stays in the pool
    (Che's approximation). The share of the time that member i holds it is then u / (U + d), with its own changes u, all
    members' U, and the rate d at which its buffer is stolen.

    Parameters
    ----------
    pages, skew
        Pages, and the exponent of Zipf's law of their use.
    updates, getpages
        Changes and getpages per second, by member.
    stays
        Seconds that an unused page stays in the pool, by member.
    """
    counts, chance = zipf_classes(max(pages, 1), skew)
    u = np.outer(np.asarray(updates, dtype=np.float64), chance)
    g = np.outer(np.asarray(getpages, dtype=np.float64), chance)
    pause = np.clip(g * np.asarray(stays, dtype=np.float64)[:, None], 1e-12, _FOREVER)
    stolen = g / np.expm1(pause)
    changes = u.sum(axis=0)
    content = np.divide(u, changes + stolen, out=np.zeros_like(u), where=u > 0)
    free = np.clip(1.0 - content.sum(axis=0), 0.0, 1.0)
    negotiated = u * (content.sum(axis=0) - content)
    return PageLockRates(
        float((changes * free) @ counts),
        float(negotiated.sum(axis=0) @ counts),
        tuple(float(value) for value in content @ counts),
    )
