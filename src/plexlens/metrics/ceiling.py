"""Shares of a whole: a value above the ceiling of its unit is impossible and becomes null.

The unit determines whether a metric is a share (`Unit.ceiling`): `FRACTION` is a share, `PERCENTAGE` is not.
"""

from __future__ import annotations

from collections.abc import Callable

from plexlens.metrics.definition import Grain, Metric
from plexlens.metrics.query import Query
from plexlens.pdb.engine import quoted

TOLERANCE = 0.01
"""How far above its ceiling, as a fraction of it, a share may lie: reports round to tenths of a percent, and numerator
and denominator are read one after the other."""


def shares(grain: Grain) -> tuple[Metric, ...]:
    """The metrics that have a ceiling."""
    return tuple(metric for metric in grain.metrics if metric.unit.ceiling is not None)


def limit(metric: Metric) -> float:
    """The greatest value at which a share is shown."""
    if metric.unit.ceiling is None:
        raise ValueError(f"{metric.name} has no ceiling")
    return metric.unit.ceiling * (1.0 + TOLERANCE)


def below_ceiling(grain: Grain) -> dict[str, str]:
    """SQL of each share of a grain from its column: null above its limit."""
    return {
        m.name: f"case when {quoted(m.name)} <= {limit(m)!r}::double then {quoted(m.name)} end as {quoted(m.name)}"
        for m in shares(grain)
    }


def above_ceiling(rows: Query, grain: Grain, value: Callable[[Metric], str]) -> dict[str, tuple[int, float]]:
    """Number of fact rows whose share exceeds its limit, and the greatest value, by metric.

    Parameters
    ----------
    rows
        The facts.
    grain
        The grain.
    value
        From a metric to its SQL.
    """
    bounded = shares(grain)
    if not bounded:
        return {}
    texts = {f"v_{number}": f"({value(metric)})::double" for number, metric in enumerate(bounded)}
    counts = {f"rows_{n}": f"sum((v_{n} > {limit(metric)!r}::double)::bigint)" for n, metric in enumerate(bounded)}
    greatest = {f"greatest_{n}": f"max(v_{n})" for n, _ in enumerate(bounded)}
    (row,) = rows.select(**texts).grouped((), counts | greatest).rows()
    return {
        metric.name: (int(row[f"rows_{n}"]), row[f"greatest_{n}"])
        for n, metric in enumerate(bounded)
        if row[f"rows_{n}"]
    }
