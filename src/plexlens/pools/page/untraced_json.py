"""The answer without a page trace as plain values, in base units."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from plexlens.pools.untraced.advice import LONG, Effect, Step, wanted
from plexlens.pools.untraced.seen import Seen


def pool_json(pool: Seen) -> dict[str, Any]:
    """A pool as plain values."""
    five, fifteen = wanted(pool), wanted(pool, LONG)
    return {
        "pool": pool.name,
        "buffers": pool.settings.size,
        "seconds": pool.seconds,
        "intervals": pool.intervals,
        "getpages_per_second": pool.getpages_per_second,
        "read_ios_per_second": pool.reads_per_second,
        "pages_read_per_second": pool.pages_per_second,
        "residency_at_most": pool.residency,
        "measured": [asdict(point) for point in pool.points],
        "buffers_for_five_minutes": None if five is None else asdict(five),
        "buffers_for_fifteen_minutes": None if fifteen is None else asdict(fifteen),
    }


def effect_json(entry: Effect) -> dict[str, Any]:
    """A pool at another size as plain values."""
    return {
        "pool": entry.pool.name,
        "buffers": entry.size,
        "read_ios_per_second_possible": asdict(entry.possible),
        "read_ios_per_second_likely": None if entry.likely is None else asdict(entry.likely),
    }


def step_json(step: Step) -> dict[str, Any]:
    """A step as plain values."""
    return {
        "title": step.title,
        "why": step.why,
        "objects": list(step.objects),
        "read_ios_per_second_saved_likely": asdict(step.saved),
        "read_ios_per_second_saved_possible": asdict(step.possibly_saved),
        "sizes": [effect_json(entry) for entry in step.effects],
        "commands": list(step.script.change),
        "reverse": list(step.script.reverse),
    }
