"""Read misses of every pool size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plexlens import _core
from plexlens.errors import UnreadableInputError, UsageError
from plexlens.ingest import page_trace

#: Sizes shown where none are asked for: so many, by equal factors up to the size beyond which nothing is gained.
SIZES = 20


@dataclass(frozen=True)
class PoolCurve:
    """One pool's curve.

    Attributes
    ----------
    pool
        Its name.
    getpages
        Getpages in the trace.
    distinct_pages
        Pages referenced; estimated from a sample.
    points
        Pool size in pages, read misses of an LRU pool of that size without prefetch, their standard error (0: exact).
    """

    pool: str
    getpages: int
    distinct_pages: float
    points: tuple[tuple[int, float, float], ...]


def curves_of(
    traces: Sequence[Path],
    *,
    sizes: Sequence[int] = (),
    sample: float | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[PoolCurve]:
    """Curves of all pools of a trace.

    Parameters
    ----------
    traces
        Files of one trace in their order.
    sizes
        Pool sizes in pages; empty for a choice up to the size beyond which nothing is gained.
    sample
        Share of the pages to look at; None for all.
    progress
        Told bytes done, bytes in all and the file.

    Raises
    ------
    UsageError
        An impossible size or share.
    UnreadableInputError
        A file that is no trace.
    """
    wrong = next((size for size in sizes if size < 1), None)
    if wrong is not None:
        raise UsageError(file="", what=f"a pool of {wrong} pages is not possible", remedy="give sizes of at least 1")
    try:
        curves = _core.PoolCurves(sample=sample)
    except _core.PoolError as error:
        what, _, remedy = str(error).partition("; ")
        raise UsageError(file="", what=what, remedy=remedy) from error
    total = sum(path.stat().st_size for path in traces if path.is_file())
    done = 0
    for path in traces:
        if progress:
            progress(done, total, f"reading {path.name}")
        for batch in page_trace.read(path):
            try:
                curves.add(batch)
            except _core.PoolError as error:
                what, _, remedy = str(error).partition("; ")
                raise UnreadableInputError(
                    file=str(path), what=what, remedy=remedy or f"codes mean {_core.TRACE_FUNCTIONS}, from 0"
                ) from error
        done += path.stat().st_size
    return [_curve(curves, pool, sizes) for pool in curves.pools()]


def _curve(curves: _core.PoolCurves, pool: int, sizes: Sequence[int]) -> PoolCurve:
    chosen = sorted(set(sizes)) or _choice(curves.enough(pool))
    misses = curves.read_misses(pool, chosen)
    return PoolCurve(
        pool=page_trace.pool_name(pool),
        getpages=curves.events(pool)["getpage"],
        distinct_pages=curves.distinct_pages(pool),
        points=tuple((size, read, error) for size, (read, error) in zip(chosen, misses, strict=True)),
    )


def _choice(enough: int) -> list[int]:
    """Sizes by equal factors from a thousandth of the last to the last."""
    last = max(enough, 1)
    first = max(last / 1000, 1.0)
    return sorted({round(first * (last / first) ** (step / (SIZES - 1))) for step in range(SIZES)})


def to_json(curves: Sequence[PoolCurve], *, sample: float | None = None) -> dict[str, Any]:
    """``{"pools": {"BP2": {"getpages", "distinct_pages", "curve": [{"pages", "read_misses"}]}}}``.

    Of a sample also the rate, and a standard error with each point.
    """
    pools = {}
    for curve in curves:
        points = []
        for size, misses, error in curve.points:
            point: dict[str, int | float] = {"pages": size, "read_misses": round(misses)}
            if sample is not None:
                point["standard_error"] = error
            points.append(point)
        pools[curve.pool] = {
            "getpages": curve.getpages,
            "distinct_pages": round(curve.distinct_pages),
            "curve": points,
        }
    made: dict[str, Any] = {"pools": pools}
    if sample is not None:
        made["sample"] = sample
    return made
