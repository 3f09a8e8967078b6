"""Storage that pools can still take without paging (SMF 71).

A pool that is paged is worse than a smaller one: its buffers are the first to be missed, and its I/O waits for page-ins
too. So pools may grow by what was free when least was, less a reserve; and not at all where the system pages already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plexlens.metrics import GRAINS
from plexlens.metrics.display import storage_size
from plexlens.metrics.evaluate import available, rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import Connection

#: Share of the frames online that stays free (chosen: z/OS begins to steal when fewer than a few hundredths are).
RESERVE = 0.05

#: Page faults per second above which a system is held to be paging, as in the rule paging.demand.
PAGING = 1.0

_FRAME = 4096


@dataclass(frozen=True)
class Headroom:
    """Storage of a system that pools may still take.

    Attributes
    ----------
    system
        The system.
    growth
        Bytes that pools may grow by.
    least_available
        Bytes free when least were.
    page_faults
        Page faults per second in the interval that had most.
    intervals
        Intervals looked at.
    """

    system: str
    growth: int
    least_available: int
    page_faults: float
    intervals: int

    @property
    def is_paging(self) -> bool:
        """Whether the system pages, so that no pool should grow."""
        return self.page_faults > PAGING

    def __str__(self) -> str:
        """The headroom as a sentence."""
        free = f"{self.system}: at least {storage_size(self.least_available)} were free"
        if self.is_paging:
            return f"{free}, and up to {self.page_faults:.1f} page faults per second: pools cannot grow"
        return f"{free}: pools can grow by {storage_size(self.growth)} (SMF 71, {self.intervals} intervals)"


def headroom_of(connection: Connection, *, system: str | None = None) -> Headroom | None:
    """Free storage according to a database; None if it has no paging data.

    Of several systems the one with the least counts: which of them the Db2 runs on is not in a trace.

    Parameters
    ----------
    connection
        What `Pdb.connect` gives.
    system
        The system that the Db2 runs on; None for any.
    """
    inputs = Inputs(connection)
    if not available(inputs, GRAINS["paging_storage"]):
        return None
    rows = [
        row
        for row in rolled_up(inputs, GRAINS["paging_storage"])
        if row["frames"] and row["available_frames"] is not None and system in (None, row["system"])
    ]
    results = []
    for name in sorted({row["system"] for row in rows}):
        own = [row for row in rows if row["system"] == name]
        free = min(_free(row) for row in own)
        faults = max(row["page_faults_per_second"] or 0.0 for row in own)
        kept = RESERVE * max(row["frames"] for row in own)
        growth = 0 if faults > PAGING else max(int((free - kept) * _FRAME), 0)
        results.append(Headroom(name, growth, int(free * _FRAME), faults, len(own)))
    return min(results, key=lambda headroom: (headroom.growth, headroom.system), default=None)


def _free(row: dict[str, Any]) -> float:
    """Minimum of free frames; the mean if the minimum is not recorded."""
    lowest = row["lowest_available_fraction"]
    return float(row["available_frames"] if lowest is None else min(lowest * row["frames"], row["available_frames"]))
