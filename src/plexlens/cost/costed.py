"""From the selected tables of a database to its cost: averages, peaks, contributors, what-ifs, money."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from plexlens.cost.consumption import Consumption, consumption_of
from plexlens.cost.contributors import VIEWS, Contribution, Part, contributions, read_parts
from plexlens.cost.limits import Delay, Group, Rules, Run, delay_of, simulate
from plexlens.cost.peaks import PartitionHours, Peak, charged_by_hour, partition_hours, peak_of
from plexlens.cost.prices import Prices, total
from plexlens.cost.products import Registered, registered
from plexlens.cost.rolling import Series, weights
from plexlens.cost.use import PartitionUse, Use, read_use
from plexlens.cost.what_if import Kind, WhatIf, changed_demand, check, demands
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.opening import explained
from plexlens.progress import Progress, silent

#: Limits that are tried for each machine where nothing is asked, as a share of its peak.
LADDER = (0.95, 0.9, 0.8, 0.7)

#: Share of a class's CPU time whose worth is shown.
TENTH = 0.1


@dataclass(frozen=True)
class Outcome:
    """The result of a what-if.

    Attributes
    ----------
    title
        The change in words.
    average, charged
        Highest four-hour average of each machine, and the highest of what is charged, MSU.
    products
        What is charged for each product of the prices, MSU.
    amount
        Its price per month; None without prices.
    delays
        What waits in each partition that a limit or the machine held back, by machine and partition.
    notes
        What could not be changed.
    """

    title: str
    average: Mapping[str, float]
    charged: Mapping[str, float]
    products: Mapping[str, float]
    amount: float | None
    delays: Mapping[tuple[str, str], Delay]
    notes: tuple[str, ...] = ()

    @property
    def msu(self) -> float:
        """Sum of the charged peaks of all machines."""
        return sum(self.charged.values())


@dataclass(frozen=True)
class MachineCost:
    """A machine.

    Attributes
    ----------
    machine
        Its name.
    hours
        Its partitions by hour.
    charged
        What counts for each partition by hour, MSU.
    peak, charged_peak
        The highest hour of the averages, and of what counts.
    groups
        The peak of each capacity group.
    contributors
        Contributions to the peak by kind.
    attributed
        Sum of the contributions by kind, MSU.
    tenths
        By how much the peak of what counts falls when a service class uses a tenth less, MSU.
    """

    machine: str
    hours: tuple[PartitionHours, ...]
    charged: Mapping[str, Series]
    peak: Peak
    charged_peak: Peak
    groups: Mapping[str, Peak]
    contributors: Mapping[str, list[Contribution]]
    attributed: Mapping[str, float]
    tenths: Mapping[str, float]


@dataclass(frozen=True)
class Costed:
    """All of an answer.

    Attributes
    ----------
    name
        What the user called the data.
    use
        What partitions used.
    machines
        Each machine.
    products
        Peak of each product on each machine, by (product, machine).
    base
        The use under its present limits, simulated as the what-ifs are.
    outcomes
        The what-ifs, each alone, and all together at the end where there are several.
    ladder
        Limits tried for each machine where nothing was asked.
    consumption
        MSU-hours, and their price.
    prices
        The prices; None without a file.
    known_products
        Products that registered their use (SMF 30).
    parts
        Who used the capacity.
    is_of_classes
        Whether only some classes are selected: what their records do not have includes the other classes.
    """

    name: str
    use: Use
    machines: tuple[MachineCost, ...]
    products: Mapping[tuple[str, str], Peak]
    base: Outcome
    outcomes: tuple[Outcome, ...]
    ladder: tuple[Outcome, ...]
    consumption: Consumption
    prices: Prices | None
    known_products: tuple[Registered, ...]
    parts: tuple[Part, ...]
    is_of_classes: bool = False


def costed(
    inputs: Inputs,
    name: str,
    *,
    prices: Prices | None = None,
    changes: Sequence[WhatIf] = (),
    progress: Progress = silent,
) -> Costed:
    """Work out the cost of a database.

    Parameters
    ----------
    inputs
        The selected tables.
    name
        What the user called them.
    prices
        The site's prices.
    changes
        What-ifs.
    progress
        Told each stage.

    Raises
    ------
    NothingUsableError
        As `plexlens.cost.use.read_use`.
    UsageError
        A change names something that is not in the data.
    """
    progress(0, 0, "reading what partitions used")
    with explained(inputs.selection):
        use = read_use(inputs, name)
    progress(0, 0, "reading who used it")
    parts = read_parts(inputs, use)
    for change in changes:
        check(change, use, parts)
    progress(0, 0, "working out peaks")
    machines = tuple(_machine(use, machine, parts) for machine in use.machines)
    listed = registered(inputs)
    wanted_changes: list[tuple[str, tuple[WhatIf, ...]]] = [(change.title, (change,)) for change in changes]
    if len(changes) > 1:
        wanted_changes.append(("All of them together", tuple(changes)))
    progress(0, 0, "simulating limits")
    base = _outcome("As it is", (), use, parts, prices)
    ladder: tuple[Outcome, ...] = ()
    if not changes:
        ladder = tuple(
            _outcome(
                f"All of {cost.machine} under {share * cost.charged_peak.msu:.0f} MSU ({share:.0%} of its peak)",
                (WhatIf(Kind.GROUP, cost.machine, share * cost.charged_peak.msu),),
                use, parts, prices,
            )
            for cost in machines
            for share in LADDER
        )  # fmt: skip
    return Costed(
        name,
        use,
        machines,
        _products(use, machines, prices, listed),
        base,
        tuple(_outcome(title, of_one, use, parts, prices) for title, of_one in wanted_changes),
        ladder,
        consumption_of(use, parts, prices),
        prices,
        listed,
        parts,
        bool(inputs.selection.classes),
    )


def _machine(use: Use, machine: str, parts: Sequence[Part]) -> MachineCost:
    hours = tuple(partition_hours(use, partition) for partition in use.of(machine))
    charged = charged_by_hour(hours)
    averages = {hourly.partition.name: hourly.average for hourly in hours}
    peak = peak_of(averages)
    groups = {
        group: peak_of({hourly.partition.name: hourly.average for hourly in hours if hourly.partition.group == group})
        for group in dict.fromkeys(hourly.partition.group for hourly in hours if hourly.partition.group)
    }
    at = use.hours[peak.hour]
    weighted = {
        hourly.partition.system: weights(at, hourly.partition.samples.covered, hourly.partition.start)
        for hourly in hours
        if hourly.partition.system and math.isfinite(float(hourly.average[peak.hour]))
    }
    contributors, attributed = {}, {}
    for view in VIEWS:
        results = contributions((part for part in parts if part.kind == view.kind), weighted, peak.msu)
        if results:
            contributors[view.kind] = results
            attributed[view.kind] = sum(contribution.msu for contribution in results)
    charged_peak = peak_of(charged)
    tenths = {
        contribution.name: charged_peak.msu - _without(use, hours, parts, contribution.name)
        for contribution in contributors.get(VIEWS[0].kind, [])[:12]
    }
    return MachineCost(machine, hours, charged, peak, charged_peak, groups, contributors, attributed, tenths)


def _without(use: Use, hours: Sequence[PartitionHours], parts: Sequence[Part], name: str) -> float:
    """Highest of what counts for a machine when a service class uses a tenth less."""
    changed = []
    for hourly in hours:
        run = hourly.partition.samples.msu.copy()
        for part in parts:
            if part.kind == VIEWS[0].kind and part.name == name and part.system == hourly.partition.system:
                run = run - TENTH * part.msu
        changed.append(partition_hours(use, hourly.partition, run))
    return peak_of(charged_by_hour(changed)).msu


def _products(
    use: Use, machines: Sequence[MachineCost], prices: Prices | None, listed: Sequence[Registered]
) -> dict[tuple[str, str], Peak]:
    """Peaks of products: those of the price file, else z/OS and what systems registered."""
    where: dict[str, set[tuple[str, str]]] = {}
    everywhere = {(partition.machine, partition.name) for partition in use.partitions}
    if prices is not None and prices.products:
        for product in prices.products:
            where[product.name] = {key for key in everywhere if runs_in(product.partitions, key[1])}
    else:
        where["z/OS"] = {(partition.machine, partition.name) for partition in use.partitions if partition.system}
        for registered in listed:
            where[registered.product] = {
                (partition.machine, partition.name)
                for partition in use.partitions
                if partition.system in registered.systems
            }
    results: dict[tuple[str, str], Peak] = {}
    for product_name, places in where.items():
        for cost in machines:
            values = {name: series for name, series in cost.charged.items() if (cost.machine, name) in places}
            if values:
                results[product_name, cost.machine] = peak_of(values)
    return results


def runs_in(patterns: Sequence[str], partition: str) -> bool:
    """Whether a product with these patterns runs in a partition."""
    return any(fnmatchcase(partition, pattern) for pattern in patterns)


def _outcome(
    title: str, changes: tuple[WhatIf, ...], use: Use, parts: Sequence[Part], prices: Prices | None
) -> Outcome:
    names = demands(use)
    changed, notes = changed_demand(
        {names[partition.machine, partition.name]: partition.samples.msu for partition in use.partitions},
        changes,
        use,
        parts,
    )
    average, charged = {}, {}
    products: dict[str, float] = {}
    delays: dict[tuple[str, str], Delay] = {}
    for machine in use.machines:
        partitions = [_under(partition, changes) for partition in use.of(machine)]
        wanted = np.column_stack([changed[names[machine, partition.name]] for partition in partitions])
        run = simulate(wanted, _rules(use, machine, partitions))
        hours = tuple(partition_hours(use, partition, run.msu[:, place]) for place, partition in enumerate(partitions))
        counted = charged_by_hour(hours)
        average[machine] = peak_of({hourly.partition.name: hourly.average for hourly in hours}).msu
        charged[machine] = peak_of(counted).msu
        for product in prices.products if prices is not None else ():
            values = {name: series for name, series in counted.items() if runs_in(product.partitions, name)}
            if values:
                products[product.name] = products.get(product.name, 0.0) + peak_of(values).msu
        delays |= _delays(machine, partitions, wanted, run)
    amount = None if prices is None or not prices.products else total(prices, products)
    return Outcome(title, average, charged, products, amount, delays, notes)


def _under(partition: PartitionUse, changes: Sequence[WhatIf]) -> PartitionUse:
    """A partition under changed limits."""
    for change in changes:
        if change.kind is Kind.DEFINED and change.name == partition.name:
            partition = replace(partition, defined=np.full_like(partition.defined, change.value))
        elif change.kind is Kind.WEIGHT and change.name == partition.name:
            partition = replace(partition, weight=change.value)
        elif change.kind is Kind.GROUP and change.name == partition.group:
            partition = replace(partition, group_limit=np.full_like(partition.group_limit, change.value))
        elif change.kind is Kind.GROUP and change.name == partition.machine:
            limit = np.full_like(partition.group_limit, change.value)
            partition = replace(partition, group=f"all of {partition.machine}", group_limit=limit)
    return partition


def _rules(use: Use, machine: str, partitions: Sequence[PartitionUse]) -> Rules:
    names = dict.fromkeys(partition.group for partition in partitions if partition.group)
    groups = tuple(
        Group(
            tuple(place for place, partition in enumerate(partitions) if partition.group == name),
            next(partition.group_limit for partition in partitions if partition.group == name),
        )
        for name in names
    )
    measured = float(np.sum([partition.samples.msu for partition in partitions], axis=0).max())
    return Rules(
        np.column_stack([partition.defined for partition in partitions]),
        groups,
        np.array([partition.weight for partition in partitions]),
        np.array([partition.ceiling for partition in partitions]),
        max(use.rated[machine], measured) if machine in use.rated else math.inf,
        np.column_stack([partition.start for partition in partitions]),
    )


def _delays(machine: str, partitions: Sequence[PartitionUse], wanted: Series, run: Run) -> dict[tuple[str, str], Delay]:
    results = {
        (machine, partition.name): delay_of(wanted[:, place], run, place) for place, partition in enumerate(partitions)
    }
    return {key: delay for key, delay in results.items() if delay.hours_capped or delay.delayed > 0}
