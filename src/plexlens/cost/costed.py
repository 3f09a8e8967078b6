"""From the selected tables of a database to its cost: averages, peaks, contributors, what-ifs, money."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plexlens.cost.configuration import PartitionSetting, configuration
from plexlens.cost.consumption import Consumption, consumption_of
from plexlens.cost.contributors import VIEWS, Contribution, Part, contributions, read_parts
from plexlens.cost.goals import Goals, judge
from plexlens.cost.limits import Delay, Group, Pressed, Rules, Run, delay_of, pressed_of, simulate
from plexlens.cost.peaks import PartitionHours, Peak, charged_by_hour, partition_hours, peak_of
from plexlens.cost.prices import Prices, total
from plexlens.cost.products import Registered, Running, products_of, registrations
from plexlens.cost.rolling import Series, weights
from plexlens.cost.use import PartitionUse, Use, read_use
from plexlens.cost.what_if import Kind, WhatIf, changed_demand, check, demands, resolved
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
    pressed
        The capped time of each partition that a cap held back, by machine and partition.
    notes
        What could not be changed.
    """

    title: str
    average: Mapping[str, float]
    charged: Mapping[str, float]
    products: Mapping[str, float]
    amount: float | None
    delays: Mapping[tuple[str, str], Delay]
    pressed: Mapping[tuple[str, str], Pressed]
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
        Products that registered their use (SMF 89, else SMF 30).
    running
        The products, and the hours in which each counts.
    parts
        Who used the capacity.
    settings
        Processors and weights of each partition.
    is_of_classes
        Whether only some classes are selected: what their records do not have includes the other classes.
    goals
        Goals under the caps; None where they were not asked for.
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
    running: tuple[Running, ...]
    parts: tuple[Part, ...]
    settings: tuple[PartitionSetting, ...]
    is_of_classes: bool = False
    goals: Goals | None = None


def costed(
    inputs: Inputs,
    name: str,
    *,
    prices: Prices | None = None,
    changes: Sequence[WhatIf] = (),
    goals: bool = False,
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
    goals
        Whether the goals under caps are judged.
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
    changes = [resolved(change, use, parts) for change in changes]
    progress(0, 0, "working out peaks")
    machines = tuple(_machine(use, machine, parts) for machine in use.machines)
    usage = registrations(inputs, use)
    listed = products_of(use, usage, prices.products if prices is not None else ())
    wanted_changes: list[tuple[str, tuple[WhatIf, ...]]] = [(change.title, (change,)) for change in changes]
    if len(changes) > 1:
        wanted_changes.append(("All of them together", tuple(changes)))
    given = _Given(use, parts, prices, listed)
    progress(0, 0, "simulating limits")
    base = _outcome("As it is", (), given)
    ladder: tuple[Outcome, ...] = ()
    if not changes:
        ladder = tuple(
            _outcome(
                f"All of {cost.machine} under {share * cost.charged_peak.msu:.0f} MSU ({share:.0%} of its peak)",
                (WhatIf(Kind.GROUP, cost.machine, share * cost.charged_peak.msu),),
                given,
            )
            for cost in machines
            for share in LADDER
        )  # fmt: skip
    outcomes = tuple(_outcome(title, of_one, given) for title, of_one in wanted_changes)
    judged = None
    if goals:
        progress(0, 0, "judging goals under caps")
        tried = ((outcome.title, outcome.pressed, outcome.delays) for outcome in (base, *(outcomes or ladder)))
        judged = judge(inputs, name, use, tried)
    return Costed(
        name,
        use,
        machines,
        _products(machines, listed),
        base,
        outcomes,
        ladder,
        consumption_of(use, parts, prices),
        prices,
        usage.products,
        listed,
        parts,
        configuration(inputs, use),
        bool(inputs.selection.classes),
        judged,
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


def _products(machines: Sequence[MachineCost], listed: Sequence[Running]) -> dict[tuple[str, str], Peak]:
    """Peak of each product on each machine on which it ran."""
    results: dict[tuple[str, str], Peak] = {}
    for product in listed:
        for cost in machines:
            values = _while_running(product, cost.machine, cost.charged)
            if values:
                results[product.title, cost.machine] = peak_of(values)
    return results


def _while_running(product: Running, machine: str, charged: Mapping[str, Series]) -> dict[str, Series]:
    """MSU that count for the partitions of a machine in the hours in which a product runs in them."""
    return {
        name: np.where(product.hours[machine, name], series, np.nan)
        for name, series in charged.items()
        if (machine, name) in product.hours and product.hours[machine, name].any()
    }


@dataclass(frozen=True)
class _Given:
    """Data that every what-if starts from."""

    use: Use
    parts: Sequence[Part]
    prices: Prices | None
    listed: Sequence[Running]


def _outcome(title: str, changes: tuple[WhatIf, ...], given: _Given) -> Outcome:
    use, prices = given.use, given.prices
    names = demands(use)
    changed, notes = changed_demand(
        {names[partition.machine, partition.name]: partition.samples.msu for partition in use.partitions},
        changes,
        use,
        given.parts,
    )
    average, charged = {}, {}
    products: dict[str, float] = {}
    delays: dict[tuple[str, str], Delay] = {}
    pressed: dict[tuple[str, str], Pressed] = {}
    for machine in use.machines:
        partitions = [_under(partition, changes) for partition in use.of(machine)]
        wanted = np.column_stack([changed[names[machine, partition.name]] for partition in partitions])
        run = simulate(wanted, _rules(use, machine, partitions))
        hours = tuple(partition_hours(use, partition, run.msu[:, place]) for place, partition in enumerate(partitions))
        counted = charged_by_hour(hours)
        average[machine] = peak_of({hourly.partition.name: hourly.average for hourly in hours}).msu
        charged[machine] = peak_of(counted).msu
        for product in given.listed if prices is not None and prices.products else ():
            values = _while_running(product, machine, counted)
            if values:
                products[product.title] = products.get(product.title, 0.0) + peak_of(values).msu
        delays |= _delays(machine, partitions, wanted, run)
        for place, partition in enumerate(partitions):
            press = pressed_of(wanted[:, place], run, place)
            if press is not None:
                pressed[machine, partition.name] = press
    amount = None if prices is None or not prices.products else total(prices, products)
    return Outcome(title, average, charged, products, amount, delays, pressed, notes)


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
