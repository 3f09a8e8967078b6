"""MSU-hours consumed, per year and per transaction, and their price under consumption pricing (Tailored Fit).

Under consumption pricing every MSU-hour counts, not the peak: cost = baseline x price + growth x price of growth, where
growth is what is consumed above the baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plexlens.cost.contributors import VIEWS, Part
from plexlens.cost.prices import Prices, TailoredFit
from plexlens.cost.rolling import OF_HOUR, PERIOD
from plexlens.cost.use import Use

#: Hours of a year.
YEAR = 8760.0


@dataclass(frozen=True)
class Worth:
    """Worth of CPU per transaction of a part.

    Attributes
    ----------
    kind, name
        The part.
    transactions
        Its transactions per year, as in the data.
    cpu
        CPU time on general processors per transaction, seconds.
    msu_hours
        MSU-hours per year.
    percent
        MSU-hours per year that one percent less CPU per transaction saves.
    price
        Price per year of those; None without prices.
    million
        Price of a million transactions; None without prices.
    """

    kind: str
    name: str
    transactions: float
    cpu: float
    msu_hours: float
    percent: float
    price: float | None
    million: float | None


@dataclass(frozen=True)
class Consumption:
    """MSU-hours consumed in the data and per year, their price, and the value of CPU per transaction.

    Attributes
    ----------
    msu_hours
        MSU-hours in the data.
    hours
        Hours of the data in which any partition has data.
    a_year
        MSU-hours per year at that rate.
    missing
        Partition-hours without data.
    baseline, growth
        MSU-hours per year; None without prices of consumption.
    cost
        Price per year; None without prices of consumption.
    worth
        What CPU per transaction is worth, highest consumption first.
    """

    msu_hours: float
    hours: float
    a_year: float
    missing: float
    baseline: float | None
    growth: float | None
    cost: float | None
    worth: tuple[Worth, ...]


def priced(fit: TailoredFit, a_year: float) -> tuple[float, float, float]:
    """Baseline, growth (MSU-hours per year) and price per year of a consumption.

    Growth is what is above the baseline; below it the baseline is paid for all the same.
    """
    baseline = a_year if fit.baseline is None else fit.baseline
    growth = max(0.0, a_year - baseline)
    return baseline, growth, baseline * fit.price + growth * fit.growth_price


def consumption_of(use: Use, parts: Sequence[Part], prices: Prices | None) -> Consumption:
    """Consumption of the data, and what CPU per transaction is worth."""
    used = sum(float(partition.samples.msu.sum()) for partition in use.partitions) / OF_HOUR
    any_ = np.maximum.reduce([partition.samples.covered for partition in use.partitions])
    hours = float(any_.sum()) * PERIOD / 3600
    missing = sum(float((any_ - partition.samples.covered).sum()) for partition in use.partitions) * PERIOD / 3600
    a_year = used / hours * YEAR if hours else 0.0
    fit = prices.tailored_fit if prices is not None else None
    baseline = growth = cost = None
    if fit is not None:
        baseline, growth, cost = priced(fit, a_year)
    rate = {partition.system: partition.msu_per_second for partition in use.partitions}
    results: dict[tuple[str, str], list[float]] = {}
    for part in parts:
        if part.transactions and part.kind != VIEWS[1].kind:
            sums = results.setdefault((part.kind, part.name), [0.0, 0.0, 0.0])
            sums[0] += part.transactions
            sums[1] += part.cpu_seconds
            sums[2] += part.cpu_seconds / 3600 * rate[part.system]
    scale = YEAR / hours if hours else 0.0
    # Growth is what a saving changes, as long as there is some.
    price = None if fit is None else fit.growth_price if growth else fit.price
    worth = [
        Worth(
            kind,
            name,
            done * scale,
            cpu / done,
            msu * scale,
            msu * scale / 100,
            None if price is None else msu * scale / 100 * price,
            None if price is None else msu / done * 1e6 * price,
        )
        for (kind, name), (done, cpu, msu) in results.items()
    ]
    return Consumption(
        used,
        hours,
        a_year,
        missing,
        baseline,
        growth,
        cost,
        tuple(sorted(worth, key=lambda object_worth: -object_worth.msu_hours)),
    )
