"""Products, and the hours in which each ran on a system: SMF 89 (usage by hour), or SMF 30 (usage by address space).

SCRT determines for each hour the four-hour average by partition and which products were active in each partition, and
takes the highest combined average of the partitions in which a product executes (z/OS MVS, About the Sub-Capacity
Reporting Tool; z/OS Planning for Sub-Capacity Pricing, SA23-2301).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plexlens.cost.prices import Product
from plexlens.cost.rolling import PERIOD, Hour
from plexlens.cost.use import PartitionUse, Use
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import rows_of

Hours: TypeAlias = NDArray[np.bool_]

#: Seconds of an hour that a usage interval has to cover to count in it: systems close their intervals that much apart.
SLACK = 2.0


@dataclass(frozen=True)
class Registered:
    """A product, and where its use was registered.

    Attributes
    ----------
    product, product_id
        Name (SMF89UPN, SMF30UPN) and id (SMF89UPI); the id is empty in SMF 30.
    systems
        Systems on which it was registered.
    hours
        The hours of the data in which SMF 89 has its usage, by system; empty where only SMF 30 has it.
    """

    product: str
    systems: tuple[str, ...]
    product_id: str = ""
    hours: Mapping[str, Hours] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Registrations:
    """All registrations of the data.

    Attributes
    ----------
    products
        By name and id.
    known
        Hours of which SMF 89 has any usage record, by system; systems without SMF 89 are not in it.
    """

    products: tuple[Registered, ...] = ()
    known: Mapping[str, Hours] = field(default_factory=dict)

    def title(self, product: Registered) -> str:
        """Name of a product on the page; with its id where two products have the name."""
        same = sum(other.product == product.product for other in self.products)
        return product.product if same == 1 or not product.product_id else f"{product.product} {product.product_id}"

    def matching(self, patterns: Sequence[str]) -> tuple[Registered, ...]:
        """The products whose name or id is one of the patterns."""
        return tuple(
            product
            for product in self.products
            if any(fnmatchcase(name, pattern) for pattern in patterns for name in (product.product, product.product_id))
        )


def registrations(inputs: Inputs, use: Use) -> Registrations:
    """The products of usage data; none where there is no usage data.

    SMF 89 sums the registrations (IFAUSAGE) of a system by hour; SMF 30 has them by address space, without the hours
    of services that run for long. A product is taken from SMF 30 only on systems without SMF 89.
    """
    known: dict[str, Hours] = {}
    by_product: dict[tuple[str, str], dict[str, Hours]] = {}
    begins = np.array([_clock(use, hour) for hour in use.hours])
    ends = begins + np.array([len(hour.periods) * PERIOD for hour in use.hours])
    hours_of: dict[tuple[float, float], Hours] = {}
    for row in _usage(inputs):
        span = (row["local_start"], row["local_end"])
        if span not in hours_of:
            # When the clock is put back, an interval in the hour that occurs twice counts in both: SMF 89 has local
            # time alone.
            hours_of[span] = np.minimum(span[1], ends) - np.maximum(span[0], begins) > SLACK
        during, system = hours_of[span], row["system"]
        known[system] = known.get(system, _none(use)) | during
        of_product = by_product.setdefault((row["product"], row["product_id"]), {})
        of_product[system] = of_product.get(system, _none(use)) | during
    results = [
        Registered(product, tuple(sorted(of_product)), product_id, of_product)
        for (product, product_id), of_product in sorted(by_product.items())
    ]
    for product, systems in _of_address_spaces(inputs):
        rest = tuple(system for system in systems if system not in known)
        if rest:
            results.append(Registered(product, rest))
    return Registrations(tuple(results), known)


def _none(use: Use) -> Hours:
    return np.zeros(len(use.hours), dtype=bool)


def _usage(inputs: Inputs) -> list[dict[str, Any]]:
    """Usage intervals of products by local clock, seconds since 1970 on that clock."""
    if not (inputs.has("smf89_1_usage") and inputs.has("smf89_1_system")):
        return []
    usage = inputs.selected("smf89_1_usage", "smf89upn", "smf89upi")
    times = inputs.selected("smf89_1_system", "smf89usd", "smf89ust", "smf89ued", "smf89uet")
    sql = f"""select distinct u.system, trim(u.smf89upn) as product, coalesce(trim(u.smf89upi), '') as product_id,
            epoch(s.smf89usd::timestamp) + s.smf89ust as local_start,
            epoch(s.smf89ued::timestamp) + s.smf89uet as local_end
        from {usage.source} u join {times.source} s using (source_id, record_no)
        where trim(u.smf89upn) <> '' and u.system is not null and local_end > local_start order by all"""
    return rows_of(inputs.connection, sql)


def _clock(use: Use, hour: Hour) -> float:
    moment: datetime = use.clock(hour)
    return moment.replace(tzinfo=UTC).timestamp()


def _of_address_spaces(inputs: Inputs) -> list[tuple[str, tuple[str, ...]]]:
    if not inputs.has("smf30_usage"):
        return []
    rows = inputs.selected("smf30_usage", "smf30upn")
    sql = f"""select trim(smf30upn) as product, list(distinct system order by system) as systems from {rows.source}
        where trim(smf30upn) <> '' and system is not null group by all order by all"""
    return [(row["product"], tuple(row["systems"])) for row in rows_of(inputs.connection, sql)]


@dataclass(frozen=True)
class Running:
    """A product and the hours in which it counts.

    Attributes
    ----------
    title
        Its name.
    hours
        Hours in which a partition counts, by machine and partition.
    assumed
        Partition-hours that count although no SMF 89 record says whether it ran.
    rule
        Origin of the hours, for the reader.
    """

    title: str
    hours: Mapping[tuple[str, str], Hours]
    assumed: int
    rule: str


def always(use: Use, title: str, partitions: Sequence[PartitionUse], rule: str) -> Running:
    """A product that counts in all hours of some partitions."""
    return Running(title, {(entry.machine, entry.name): ~_none(use) for entry in partitions}, 0, rule)


def running(use: Use, title: str, usage: Sequence[Registered], known: Mapping[str, Hours],
            partitions: Sequence[PartitionUse]) -> Running:  # fmt: skip
    """The hours of a product by its registrations.

    A partition counts in an hour in which the product was registered on its system. In an hour of which a system has no
    SMF 89 record, and on a system with SMF 30 alone, the product is assumed to run: the figure is then an upper bound.
    """
    hours: dict[tuple[str, str], Hours] = {}
    assumed = 0
    for entry in partitions:
        of_system = [product for product in usage if entry.system and entry.system in product.systems]
        if not of_system:
            continue
        seen = np.logical_or.reduce([product.hours.get(entry.system, _none(use)) for product in of_system])
        unknown = ~known.get(entry.system, _none(use)) & np.array(
            [entry.samples.covered[hour.periods.start : hour.periods.stop].any() for hour in use.hours]
        )
        assumed += int(unknown.sum())
        hours[entry.machine, entry.name] = seen | unknown
    return Running(title, hours, assumed, "SMF 89" if any(product.hours for product in usage) else "SMF 30")


def products_of(use: Use, usage: Registrations, priced: Sequence[Product]) -> tuple[Running, ...]:
    """The products of a price file with the hours in which each counts; without a price file z/OS and those registered.

    A product of the price file that names what it registers as (``registered``) counts in the hours in which that ran;
    another one counts in all hours of its partitions.
    """
    if not priced:
        named = [entry for entry in use.partitions if entry.system]
        listed = [always(use, "z/OS", named, "every partition with a system")]
        return (
            *listed,
            *(
                running(use, usage.title(product), [product], usage.known, use.partitions)
                for product in usage.products
                if usage.title(product) != "z/OS"
            ),
        )
    results = []
    for product in priced:
        places = [entry for entry in use.partitions if runs_in(product.partitions, entry.name)]
        if product.registered:
            results.append(running(use, product.name, usage.matching(product.registered), usage.known, places))
        else:
            results.append(always(use, product.name, places, "price file"))
    return tuple(results)


def runs_in(patterns: Sequence[str], partition: str) -> bool:
    """Whether a product with these patterns runs in a partition."""
    return any(fnmatchcase(partition, pattern) for pattern in patterns)
