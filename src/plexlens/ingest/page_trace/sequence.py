"""Lost records, detected by Db2's sequence numbers (QWHSISEQ, counted separately for each IFCID)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

#: A fall by more than this is a new beginning; a smaller one is a record written a little late.
_LATE = 10_000

_WRAP = 1 << 32


@dataclass
class Sequence:
    """The sequence numbers of an IFCID of a Db2.

    Numbers are counted up by one with each record. They begin anew when Db2 starts or the trace does: a fall to 0 or 1,
    or a deep one, is not a loss. If all are zero, losses cannot be detected.

    Attributes
    ----------
    records
        Records seen.
    repeated
        Records with the number of the one before: the same record twice.
    begun
        How often they began anew.
    first, last
        Times of the first and the last record, in microseconds.
    """

    records: int = 0
    repeated: int = 0
    begun: int = 0
    first: int = 0
    last: int = 0
    _missing: int = 0
    _last: int | None = field(default=None, repr=False)
    _nothing: bool = field(default=True, repr=False)

    @property
    def lost(self) -> int:
        """Number of missing records."""
        return 0 if self._nothing else max(self._missing, 0)

    def add(self, numbers: npt.NDArray[np.uint32], times: npt.NDArray[np.int64]) -> None:
        """Count the next records.

        Parameters
        ----------
        numbers
            Their sequence numbers.
        times
            When they were built, in microseconds; records are taken in this order.
        """
        if not len(numbers):
            return
        self.first = min(self.first, int(times.min())) if self.records else int(times.min())
        self.last = max(self.last, int(times.max()))
        self.records += len(numbers)
        if self._nothing and not numbers.any():
            return
        self._nothing = False
        inside = numbers.astype(np.int64)
        if (times[1:] < times[:-1]).any() or (inside[1:] < inside[:-1]).any():
            inside = inside[np.lexsort((inside, times))]
        if self._last is None:
            self.begun += 1
        steps = np.diff(inside, prepend=inside[0] - 1 if self._last is None else self._last)
        steps[steps < -_WRAP // 2] += _WRAP
        anew = (steps < 0) & ((inside <= 1) | (steps < -_LATE))
        same = steps == 0
        self.begun += int(np.count_nonzero(anew))
        self.repeated += int(np.count_nonzero(same))
        # A record that is late takes back what the gap before it counted.
        self._missing += int(np.sum(steps[~anew & ~same] - 1))
        self._last = int(inside[-1])
