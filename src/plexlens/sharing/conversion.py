"""The service time above which requests become asynchronous, derived from measurements.

Each use of a structure by a system says on which side of the threshold its service time lies: SMF 74-4 counts the
requests that were sent synchronously (R744SSRC), with their service time, and the asynchronous ones (R744SARC), with
theirs. The threshold lies between. Asynchronous for another reason, and left out, are requests that found no subchannel
(R744SSTA; requests that z/OS converts for their service time are not among them: z/OS MVS Setting Up a Sysplex, "CHNGD
requests") and castouts. What the processor would have done while it waited is a path length of the host, so that the
threshold is that of an engine of speed 1, divided by the speed of the engine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from plexlens.sharing.assumptions import Assumptions
from plexlens.sharing.closed_form import break_even
from plexlens.sharing.twin_group import SharingMeasured, pool_structure

#: Requests of a use below which it says nothing.
_FEW = 30.0

#: Share of converted requests up to which, and from the rest of which on, a use lies on one side of the threshold.
_MOST_OTHER = 0.1

#: How far above the longest service time of synchronous requests a threshold is taken to lie at least.
_ABOVE = 1.2


@dataclass(frozen=True)
class Threshold:
    """A threshold on an engine of speed 1, in seconds.

    Attributes
    ----------
    seconds
        What is taken; 0: no request is converted.
    low, high
        Between what the measurement says it lies; 0 and infinity where it does not say.
    source
        ``stated``, ``measured`` between two service times, or ``assumed``.
    note
        What the measurement cannot tell; empty where it tells.
    """

    seconds: float
    low: float
    high: float
    source: str
    note: str = ""

    def others(self) -> tuple[float, ...]:
        """Thresholds at the ends of the possible range; none if the threshold is stated."""
        if self.source == "stated":
            return ()
        low = self.low * 1.05 if self.low else min(self.seconds, self.high) / 2.0
        return low, 0.0 if math.isinf(self.high) else self.high / 1.05


def threshold_of(measured: SharingMeasured, assumptions: Assumptions, *, stated: float | None = None) -> Threshold:
    """The threshold that explains which requests were converted to asynchronous.

    Parameters
    ----------
    measured
        Structures as systems used them, and what members cast out.
    assumptions
        Speeds of the engines; path lengths of the host, from which the threshold follows where nothing was measured.
    stated
        Service time on these engines, if it is known; 0: no request is converted.
    """
    if stated is not None:
        return Threshold(stated * assumptions.speed, 0.0, math.inf, "stated")
    low, high = 0.0, math.inf
    castouts = _castouts(measured)
    for use in measured.uses:
        # Each page is read, and every third request is one that unlocks.
        others = use.changed + castouts.get((use.structure, use.system), 0.0) * 4.0 / 3.0
        converted = max(use.asynchronous - others, 0.0)
        count = use.sync + converted
        if count * use.seconds < _FEW:
            continue
        speed = assumptions.speed_of(use.system)
        # A use that lies at the threshold has requests of both kinds, and is on neither side.
        if converted <= (1.0 - _MOST_OTHER) * count:
            low = max(low, use.sync_service * speed)
        if converted >= _MOST_OTHER * count:
            high = min(high, use.async_service * speed)
    even = break_even(assumptions.sync_path, assumptions.async_path)
    if math.isinf(high):
        note = (
            f"No request was converted, so the threshold is above {low * 1e6:.1f} µs. If a change raises a service "
            "time beyond that, its error bar covers both conversion and no conversion (--convert-above sets the "
            "threshold)."
        )
        return Threshold(max(even, _ABOVE * low), low, high, "assumed", note)
    if low == 0.0:
        note = f"All requests were converted, so the threshold is below {high * 1e6:.1f} µs (--convert-above sets it)."
        return Threshold(min(even, high / _ABOVE), low, high, "assumed", note)
    if low > high:
        note = (
            f"Requests of {high * 1e6:.1f} µs were converted and others of {low * 1e6:.1f} µs were not: systems or "
            "structures have different thresholds, and the twin uses their mean."
        )
        return Threshold(math.sqrt(low * high), high, low, "measured", note)
    return Threshold(math.sqrt(low * high), low, high, "measured")


def _castouts(measured: SharingMeasured) -> dict[tuple[str, str], float]:
    """Pages cast out per second, by structure and system."""
    return {
        (pool_structure(group.name, pool), member.system): used.castouts
        for group in measured.groups
        for member in group.members
        for pool, used in member.group_pools.items()
    }
