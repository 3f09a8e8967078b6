"""Runs made by hand for tests."""

from __future__ import annotations

from collections.abc import Mapping

from plexlens.compare.runs.run import Activity, Better, Estimate, Group, Measure, Reading, Run, Setting
from plexlens.metrics.unit import MILLISECONDS, PER_SECOND, Unit

UNITS: dict[str, Unit] = {"rate": PER_SECOND, "time": MILLISECONDS}


def measure(name: str, unit: str = "rate", *, better: Better = Better.LOWER, group: Group = Group.IO) -> Measure:
    return Measure(name, name.capitalize(), UNITS[unit], group, better, "Things", "one thing")


def run(
    name: str = "run",
    values: Mapping[tuple[str, str], float | None] | None = None,
    *,
    work: Mapping[str, Mapping[str, float]] | None = None,
    settings: Mapping[str, str] | None = None,
    errors: Mapping[tuple[str, str], float] | None = None,
    family: str = "database",
    better: Better = Better.LOWER,
) -> Run:
    """A run with readings by (measure, object), activities by name, settings of the subject ``system``."""
    values = values or {}
    errors = errors or {}
    return Run(
        name,
        f"the run {name}",
        family,
        tuple(Setting("system", key, value) for key, value in (settings or {}).items()),
        tuple(Activity(key, key, "things", amounts) for key, amounts in (work or {}).items()),
        {key: measure(key, better=better) for key, _ in values},
        {
            key: Reading(value, estimate=Estimate(errors[key], 9, 10, 10) if key in errors else None)
            for key, value in values.items()
        },
    )
