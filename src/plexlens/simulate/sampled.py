"""Runs of which only a part of each interval is simulated (`run.sample`): what was measured, for the whole interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: What does not grow with the length of an interval: numbers of things, means and maxima.
_LEVELS = frozenset(
    {
        *("number", "volume", "engines", "dispatchable", "changed_in_group"),
        *("most_inside", "most_queued", "most_threads", "most_open_tcbs", "most_open_tcb_queue"),
    }
)


def factor(values: Mapping[str, Any]) -> int:
    """Seconds that each simulated second represents; 1 if everything is simulated.

    Parameters
    ----------
    values
        The scenario's tables, as the simulator accepted them: an interval is a whole multiple of its sample.
    """
    run = values.get("run", {})
    return round(run.get("interval", 60.0) / run["sample"]) if "sample" in run else 1


def sampling_text(values: Mapping[str, Any]) -> str:
    """Part of a run that was simulated, as a sentence for its reader; empty where everything was."""
    times = factor(values)
    if times == 1:
        return ""
    run = values["run"]
    interval = run.get("interval", 60.0)
    return (
        f"{run['sample']:g} s of each interval of {interval:g} s were simulated; counts and times of the records are "
        f"multiplied by {times}"
    )


def for_whole_intervals(results: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Results of a run, scaled from the simulated part of each interval to the whole interval.

    Every count and every time of an interval is multiplied by `factor`, its beginning and end too, and so is the moment
    of each failure: rates per second, shares, means and the spread of response times stay. Responses with their
    confidence intervals, laws and utilisations over the run remain those of the simulated transactions.

    Parameters
    ----------
    results
        Results as the simulator gave them.
    values
        The scenario's tables.
    """
    times = factor(values)
    if times == 1:
        return results
    return results | {
        "intervals": [_multiplied(interval, times) for interval in results["intervals"]],
        "course": [course | {"at": course["at"] * times} for course in results["course"]],
    }


def _multiplied(value: Any, times: int) -> Any:
    if isinstance(value, Mapping):
        return {key: inner if key in _LEVELS else _multiplied(inner, times) for key, inner in value.items()}
    if isinstance(value, list):
        return [_multiplied(inner, times) for inner in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return value * times
