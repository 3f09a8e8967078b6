"""What requests to group buffer pools cost, beside I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import facts
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import MICROSECONDS
from plexlens.pools.cost import Assumption, IoCost, Origin, default_cost

#: Taken where the site's data does not say it.
REQUEST = Assumption(
    "CPU of a request to a group buffer pool",
    10e-6,
    MICROSECONDS,
    Origin.STATED,
    "chosen, of the order of a synchronous request to a near coupling facility; SMF 74-4 of the site tells its own",
)


@dataclass(frozen=True)
class GroupCost:
    """Prices of a group.

    Attributes
    ----------
    io
        Prices of I/O.
    request
        CPU seconds of a request to a group buffer pool: the processor waits for a synchronous one.
    """

    io: IoCost = field(default_factory=default_cost)
    request: Assumption = REQUEST

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """All the numbers."""
        return (*self.io.assumptions, self.request)

    def to_json(self) -> dict[str, Any]:
        """The numbers with their origins."""
        one = self.request
        request = {"value": one.value, "unit": one.unit.base, "origin": str(one.origin), "source": one.source}
        return self.io.to_json() | {"group_request": request | {"low": one.low, "high": one.high}}


def measured_request(inputs: Inputs) -> Assumption:
    """The mean service time of synchronous requests to group buffer pools in SMF 74-4; the stated one without these."""
    found = facts(inputs, GRAINS["coupling_structure"])
    if found is None:
        return REQUEST
    rows = found.select("structure", "sync_requests", "sync_seconds").rows()
    own = [row for row in rows if "_GBP" in (row["structure"] or "") and row["sync_requests"] and row["sync_seconds"]]
    requests = sum(row["sync_requests"] for row in own)
    if not requests:
        return REQUEST
    return Assumption(
        REQUEST.title,
        sum(row["sync_seconds"] for row in own) / requests,
        REQUEST.unit,
        Origin.MEASURED,
        f"SMF 74-4: service time of {requests:,.0f} synchronous requests to {len({row['structure'] for row in own})} "
        "group buffer pools",
    )
