"""Shares of a whole: a value above the ceiling of its unit cannot be, and is null.

Which metrics are shares their unit says (`Unit.ceiling`): `FRACTION` is one, `PERCENTAGE` is none.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Grain, Metric

TOLERANCE = 0.01
"""How far above its ceiling, as a fraction of it, a share may lie: reports round to tenths of a percent, and numerator
and denominator are read one after the other."""


def shares(grain: Grain) -> tuple[Metric, ...]:
    """The metrics that have a ceiling."""
    return tuple(metric for metric in grain.metrics if metric.unit.ceiling is not None)


def limit(metric: Metric) -> float:
    """The greatest value that a share is shown with."""
    if metric.unit.ceiling is None:
        raise ValueError(f"{metric.name} has no ceiling")
    return metric.unit.ceiling * (1.0 + TOLERANCE)


def below_ceiling(table: Any, grain: Grain) -> Any:
    """The table with null for every share above its limit.

    Parameters
    ----------
    table
        An Ibis table with the grain's metrics.
    grain
        The grain.
    """
    null = ibis.null("float64")
    replaced = {m.name: ibis.ifelse(table[m.name] <= limit(m), table[m.name], null) for m in shares(grain)}
    return table.mutate(**replaced) if replaced else table


def above_ceiling(table: Any, grain: Grain) -> Any:
    """How many rows of facts have a share above its limit, and the greatest of them.

    Returns
    -------
    ibis.expr.types.Table or None
        One row with ``NAME_rows`` and ``NAME_greatest`` for each share; None where the grain has none.
    """
    bounded = shares(grain)
    if not bounded:
        return None
    values = table.select(**{m.name: m.expression(table).cast("float64") for m in bounded})
    return values.aggregate(
        **{f"{m.name}_rows": (values[m.name] > limit(m)).sum() for m in bounded},
        **{f"{m.name}_greatest": values[m.name].max() for m in bounded},
    )
