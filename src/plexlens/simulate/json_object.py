"""Runs of the simulator as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plexlens.simulate.scenario import Simulated


def to_object(runs: Sequence[Simulated], output: Path | None = None, records: int | None = None) -> dict[str, Any]:
    """Runs of one scenario; only JSON types.

    Parameters
    ----------
    runs
        The runs, which differ in their seed. Of several, the responses of each are given, and all else of the first.
    output, records
        The dump written of the first run, and its number of records; None where none was.
    """
    run = runs[0]
    results = run.results
    entries = {
        "scenario": run.scenario.file,
        "dump": None if output is None else str(output),
        "records": records,
        "intervals": len(results["intervals"]),
        "events": results["events"],
        "responses": results["responses"],
        "failures": results["failures"],
        "course": results["course"],
        "laws": results["laws"],
        "saturated": results["saturated"],
    }
    return entries if len(runs) == 1 else entries | {"replications": _replications(runs)}


def _replications(runs: Sequence[Simulated]) -> list[dict[str, Any]]:
    """Seed and responses of each run."""
    return [
        {"seed": run.scenario.values.get("run", {}).get("seed", 1), "responses": run.results["responses"]}
        for run in runs
    ]
