"""Performance index: how far a period is from its goal."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.workload.facts import BUCKETS

#: Upper bounds of the buckets as a share of the goal when a record carries no map (z/OS MVS Planning: WLM).
_BOUNDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 2.0, 4.0)


def _cumulative(f: Any, last: int) -> Any:
    return total(*(f[f"bucket_{n}"] for n in range(1, last + 1)))


def _bound(f: Any, n: int) -> Any:
    return ibis.coalesce(f[f"bound_{n}"].nullif(0.0), ibis.literal(_BOUNDS[n - 1]))


def percentile_index(f: Any) -> Any:
    """Performance index of a percentile goal from the 14 buckets.

    The bound of the first bucket at which the share of ended transactions reaches the goal's percentile, as a share of
    the goal; 4.0 when only the open last bucket reaches it (the report shows it so as well).
    """
    ended = _cumulative(f, BUCKETS)
    share = f.goal_percentile / 100.0
    cases = [(ratio(_cumulative(f, n), ended) >= share, _bound(f, n)) for n in range(1, BUCKETS)]
    return ibis.cases((ended.isnull() | (ended == 0), ibis.null("float64")), *cases, else_=ibis.literal(4.0))


def performance_index(f: Any) -> Any:
    """Performance index by kind of goal; null for periods without one."""
    velocity = ratio(f.using_samples, f.using_samples + f.delay_samples)
    return ibis.coalesce(
        ibis.ifelse(f.goal_velocity.notnull(), ratio(f.goal_velocity, velocity), ibis.null("float64")),
        ibis.ifelse(
            f.goal_seconds.notnull() & (f.goal_percentile > 0),
            percentile_index(f),
            ibis.null("float64"),
        ),
        ibis.ifelse(
            f.goal_seconds.notnull() & (f.goal_percentile.fill_null(0.0) == 0),
            ratio(ratio(f.elapsed_seconds, f.transactions), f.goal_seconds),
            ibis.null("float64"),
        ),
    )
