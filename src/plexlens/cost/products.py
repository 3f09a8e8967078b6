"""Products that registered their use on a system (SMF 30, usage data)."""

from __future__ import annotations

from dataclasses import dataclass

from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import rows_of


@dataclass(frozen=True)
class Registered:
    """A product, and the systems whose address spaces registered its use."""

    product: str
    systems: tuple[str, ...]


def registered(inputs: Inputs) -> tuple[Registered, ...]:
    """The products of usage data; none where there is no usage data.

    SMF 89 sums the same registrations (IFAUSAGE) of a whole system; SMF 30 has them by address space.
    """
    if not inputs.has("smf30_usage"):
        return ()
    rows = inputs.selected("smf30_usage", "smf30upn")
    sql = f"""select trim(smf30upn) as product, list(distinct system order by system) as systems from {rows.source}
        where trim(smf30upn) <> '' and system is not null group by all order by all"""
    return tuple(Registered(row["product"], tuple(row["systems"])) for row in rows_of(inputs.connection, sql))
