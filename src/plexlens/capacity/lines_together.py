"""All lines of a system at once, as arrays: busy shares and waits are those of `Line.used` and `Line.wait`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from plexlens._core import erlang_c
from plexlens.capacity.lines import FULL, Holds, Law, Line, Wait

Floats = npt.NDArray[np.float64]


class LinesTogether:
    """The lines of a system.

    Parameters
    ----------
    lines
        By name.
    classes
        Names of the classes, in the order of arrays by class.

    Attributes
    ----------
    names
        In the order of arrays by line.
    measured_wait
        Seconds that a request waits at the measured load, by line.
    """

    def __init__(self, lines: Mapping[str, Line], classes: Sequence[str]) -> None:
        all_lines = list(lines.values())
        self.names = tuple(lines)
        self._lines = all_lines
        self.measured_wait = np.array([line.wait(1.0) or 0.0 for line in all_lines])
        self._shares = np.array([[line.shares.get(name, 0.0) for name in classes] for line in all_lines])
        self._shares.shape = (len(all_lines), len(classes))
        # Classes outside of the model bring their shares as the work of all classes grows.
        listed = set(classes)
        others = [sum(s for name, s in line.shares.items() if name not in listed) for line in all_lines]
        known = np.array([sum(line.shares.values()) for line in all_lines])
        self._others = np.array(others) + np.maximum(0.0, 1.0 - known)
        self._shared = np.array([line.shared for line in all_lines], dtype=bool)
        self._held: dict[Holds, tuple[npt.NDArray[np.intp], Floats, Floats]] = {}
        for holds in (Holds.ENGINES, Holds.RESPONSE):
            rows = np.array([n for n, line in enumerate(all_lines) if line.holds is holds and known[n]], dtype=np.intp)
            outside = np.array(others)[rows] / known[rows]
            self._held[holds] = rows, self._shares[rows] / known[rows, None], outside
        self._busy, self._service, self._factor = (
            np.array([getattr(line, name) for line in all_lines]) for name in ("busy", "service", "factor")
        )
        self._of_law = {law: np.array([line.law is law for line in all_lines], dtype=bool) for law in Law}
        self._servers = np.array([line.servers for line in all_lines], dtype=np.intp)
        self._erlang = self._of_law[Law.QUEUE] & np.array([line.most is None for line in all_lines], dtype=bool)
        # Logs and queues with a limit are few, and asked one by one.
        alone = self._of_law[Law.GATE] | (self._of_law[Law.QUEUE] & ~self._erlang)
        self._alone = np.flatnonzero(alone).tolist()

    def load(self, growth: Floats, whole: float, spread: float) -> Floats:
        """Requests of each line over the measured ones.

        Parameters
        ----------
        growth
            Transactions of each class over the measured ones.
        whole
            The same of all work.
        spread
            Share of the systems' work that this system has; what systems share is used by all of them.
        """
        result: Floats = self._shares @ growth + self._others * whole
        if spread > 0:
            result[self._shared] /= spread
        return result

    def hold(self, stretch: Floats, response: Floats) -> Floats:
        """Time that a request of each line holds it over the measured one, from the same of engines and responses."""
        result = np.ones(len(self.names))
        for holds, longer in ((Holds.ENGINES, stretch), (Holds.RESPONSE, response)):
            rows, weights, outside = self._held[holds]
            result[rows] = weights @ longer + outside
        return result

    def used(self, load: Floats, hold: Floats) -> Floats:
        """Busy share of each line (`Line.used`)."""
        result = self._busy * load * hold
        for n in np.flatnonzero(self._of_law[Law.GATE]):
            result[n] = self._lines[n].used(load[n], hold[n])
        return result

    def most_load(self, load: Floats, hold: Floats, busy: float) -> Floats:
        """The load of each line, of queues as much as makes them this busy."""
        full = self._of_law[Law.QUEUE] & (self._busy * load * hold >= busy)
        if not full.any():
            return load
        result = load.copy()
        result[full] = busy / (self._busy[full] * hold[full])
        return result

    def wait(self, load: Floats, hold: Floats, senders: float) -> tuple[Floats, bool]:
        """Seconds that a request of each line waits (`Line.wait`), 0 where it is full; and whether any line is full."""
        busy = self._busy * load * hold
        result = self._service.copy()
        linear = self._of_law[Law.LINEAR]
        result[linear] *= (load * hold)[linear]
        queues = self._erlang | self._of_law[Law.LOCKS]
        result[queues] = 0.0
        is_busy = busy > 0.0
        is_open = busy < FULL
        open_ones = queues & is_open & is_busy
        result[open_ones] = (self._factor * self._service * hold)[open_ones] / (1.0 - busy[open_ones])
        locks = open_ones & self._of_law[Law.LOCKS]
        result[locks] *= busy[locks]
        erlang = open_ones & self._erlang
        servers = self._servers[erlang]
        delayed = map(erlang_c, servers.tolist(), (busy[erlang] * servers).tolist())
        result[erlang] *= np.array(list(delayed)) / servers
        is_full = bool((queues & ~is_open).any())
        for n in self._alone:
            seconds = self._lines[n].wait(float(load[n]), float(hold[n]), senders)
            is_full = is_full or seconds is None
            result[n] = seconds or 0.0
        return result, is_full


class WaitsTogether:
    """Waits of the transactions of all classes, kind by kind.

    Parameters
    ----------
    waits
        Of each class.
    names
        Names of the lines, in their order.
    entering
        Kinds of waits before anything is held.
    """

    def __init__(self, waits: Sequence[Sequence[Wait]], names: Sequence[str], entering: Sequence[str]) -> None:
        place = {name: n for n, name in enumerate(names)}
        rows = [(number, wait) for number, own in enumerate(waits) for wait in own]
        self._seconds = np.array([wait.seconds for _, wait in rows])
        self._has_lines = np.array([bool(wait.lines) for _, wait in rows], dtype=bool)
        self._requests = np.zeros((len(rows), len(names)))
        self._of_class, self._entering = (np.zeros((len(waits), len(rows))) for _ in range(2))
        for n, (number, wait) in enumerate(rows):
            self._of_class[number, n] = 1.0
            self._entering[number, n] = float(wait.kind in entering)
            for name, share in wait.lines.items():
                if name in place:
                    self._requests[n, place[name]] += wait.requests * share

    def seconds(self, more: Floats, unknown: float) -> tuple[Floats, Floats]:
        """Seconds that a transaction of each class waits, and those of them before anything is held.

        Parameters
        ----------
        more
            Seconds that a request waits at each line more than measured.
        unknown
            Factor on waits that no line explains.
        """
        at_lines = np.maximum(0.0, self._seconds + self._requests @ more)
        each = np.where(self._has_lines, at_lines, self._seconds * unknown)
        return self._of_class @ each, self._entering @ each
