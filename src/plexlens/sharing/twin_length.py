"""Length of a twin's run: warm-up to the state of a group that has run for days, plus a sufficient counting period."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Seconds of a warm-up at most.
_LONGEST_WARM_UP = 600.0


def run_length(values: Mapping[str, Any]) -> dict[str, Any]:
    """Length of a twin's run: some 20,000 transactions, and long enough for its group buffer pools to fill."""
    rate = sum(work_class.get("rate", 0.0) for work_class in values["class"] if work_class.get("references"))
    changes = sum(
        work_class["rate"] * reference["getpages"] * reference.get("update", 0.0)
        for work_class in values["class"]
        for reference in work_class.get("references", [])
    )
    entries = sum(
        pool["group"]["data_entries"] for group in values["db2"] for pool in group["pool"] if pool.get("group")
    )
    physical = max((_filling(values, group) for group in values["db2"]), default=0.0)
    seconds = min(max(20_000 / max(rate, 1e-9), 20.0), 3600.0)
    # Three times what it takes to write every entry once: by then the popular pages are where they belong.
    warm_up = min(max(3.0 * entries / changes if changes else 0.0, physical, 5.0), _LONGEST_WARM_UP)
    return {"seed": 1, "warm_up": round(warm_up, 1), "seconds": round(seconds, 1), "interval": round(seconds, 1)}


def _filling(values: Mapping[str, Any], group: Mapping[str, Any]) -> float:
    """Seconds until members hold their steady-state number of page P-locks: every page has been changed three times."""
    times = [0.0]
    for page_set in group["page_set"]:
        if not page_set.get("index"):
            continue
        changes = sum(
            work_class["rate"] * reference["getpages"] * reference.get("update", 0.0)
            for work_class in values["class"]
            for reference in work_class.get("references", [])
            if reference["page_set"] == page_set["name"] and "access" not in reference
        )
        if changes:
            times.append(3.0 * page_set["pages"] / changes)
    return max(times)
