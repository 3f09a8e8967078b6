"""Metric definitions: one module a family, one definition a metric.

A family is a module of this package with a tuple ``GRAINS``; it is found by being there.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from plexlens.metrics.definition import Grain

#: Modules that hold the frame, not a family.
_FRAME = {
    "ceiling",
    "changed_settings",
    "cumulative",
    "deltas",
    "legacy_metric",
    "query",
    "raw_tables",
    "relations",
    "source_sql",
    "source_text",
    "definition",
    "display",
    "evaluate",
    "engine_table",
    "expressions",
    "fields",
    "inputs",
    "percentile",
    "left_out",
    "local_time",
    "reduction",
    "reference",
    "required",
    "over_time",
    "rollup",
    "selection",
    "slices",
    "unit",
    "variants",
}

#: Names of the families: every other module of this package.
FAMILIES: tuple[str, ...] = tuple(sorted(m.name for m in iter_modules(__path__) if m.name not in _FRAME))


def _grains() -> dict[str, Grain]:
    found: dict[str, Grain] = {}
    for family in FAMILIES:
        for grain in import_module(f"{__name__}.{family}").GRAINS:
            if grain.name in found:
                raise RuntimeError(f"grain {grain.name} is defined twice, the second time in metrics.{family}")
            found[grain.name] = grain
    return found


#: Every grain by name.
GRAINS: dict[str, Grain] = _grains()

__all__ = ["FAMILIES", "GRAINS"]
