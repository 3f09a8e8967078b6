"""SQL of a metric whose expression is Ibis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ibis

from plexlens.metrics.definition import Grain, Metric
from plexlens.metrics.required import shape

_BACKEND: list[Any] = []


def metric_sql(grain: Grain, metric: Metric, column: Callable[[str], str]) -> str:
    """The SQL; ``column`` gives the SQL of a fact."""
    import re

    if not _BACKEND:
        _BACKEND.append(ibis.duckdb.connect())
    table = shape(grain)
    sql = str(_BACKEND[0].compile(table.select(value=metric.expression(table).cast("float64"))))
    inner = sql[len("SELECT ") : sql.rindex(' AS "value" FROM')]
    return re.sub(r'"t0"\."(\w+)"', lambda found: column(found[1]), inner)
