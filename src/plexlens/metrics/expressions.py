"""Expressions that metrics share. A ratio with a zero denominator is null, never 0, infinity or an exception."""

from __future__ import annotations

from typing import Any

import ibis


def ratio(numerator: Any, denominator: Any) -> Any:
    """Numerator / denominator in floating point; null where the denominator is zero or either is null."""
    return numerator.cast("float64") / denominator.cast("float64").nullif(0.0)


def total(*parts: Any) -> Any:
    """Sum of the parts that are not null; null where all are null."""
    every = [part.cast("float64") for part in parts]
    known = ibis.coalesce(*every)
    return ibis.ifelse(
        known.isnull(),
        ibis.null("float64"),
        sum((p.fill_null(0.0) for p in every[1:]), every[0].fill_null(0.0)),
    )


def interval_seconds(table: Any) -> Any:
    """Length of the interval of each row in seconds, from its two ends."""
    return table.interval_end.delta(table.interval_start, unit="microsecond").cast("float64") / 1e6
