"""zIIP-eligible work that overflows to general processors.

z/OS lets general processors help when work has waited for a zIIP for some time. Where `servers` zIIPs have `busy`
engines' worth of work, the share of arrivals that waits longer than `t` mean services is

    C(servers, busy) x exp(-(servers - busy) x t)

(C: Erlang's formula; Kleinrock, "Queueing Systems", volume 1, 1975). That share is taken to be the overflow. `t` is the
one unknown, and follows from the overflow measured. Where more overflowed than has to wait at all, the formula is
scaled instead. Where nothing overflowed, help is taken to be off, and zIIPs can saturate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.optimize import brentq

from plexlens._core import erlang_c


@dataclass(frozen=True)
class Overflow:
    """The overflow law of a system.

    Attributes
    ----------
    patience
        Mean services that work waits before general processors help; None where they never do.
    scale
        Factor on the formula; above 1 where more overflows than has to wait.
    measured
        Share of eligible work that overflowed.
    """

    patience: float | None
    scale: float
    measured: float

    @classmethod
    def fitted(cls, engines: int, busy: float, measured: float) -> Overflow:
        """The law through a single measured point.

        Parameters
        ----------
        engines
            zIIPs; 0 where there are none, so that all eligible work overflows.
        busy
            zIIPs kept busy.
        measured
            Share of eligible work that ran on general processors.
        """
        if engines == 0:
            return cls(0.0, 1.0, 1.0)
        if measured <= 0:
            return cls(None, 1.0, 0.0)
        waiting = erlang_c(engines, busy)
        if busy >= engines or waiting <= measured:
            return cls(0.0, measured / waiting if waiting > 0 else math.inf, measured)
        return cls(math.log(waiting / measured) / (engines - busy), 1.0, measured)

    def share(self, engines: int, offered: float) -> float:
        """Share of eligible work that overflows if `offered` engines' worth of it arrives.

        The zIIPs run what does not overflow, so the share is the one at which both agree.
        """
        if engines == 0:
            return 1.0
        if self.patience is None or offered <= 0:
            return 0.0
        return float(brentq(lambda share: self._waiting(engines, offered * (1.0 - share)) - share, 0.0, 1.0))

    def _waiting(self, engines: int, busy: float) -> float:
        if busy >= engines:
            return 1.0
        waiting = erlang_c(engines, busy)
        if waiting <= 0:
            return 0.0
        return min(1.0, self.scale * waiting * math.exp(-(engines - busy) * (self.patience or 0.0)))
