"""Curves of pools: read misses at every size, with the relevant sizes marked, and each object's share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plexlens.metrics.unit import PAGES, PER_SECOND, Unit
from plexlens.pools.curves import PoolCurve
from plexlens.pools.search.sizes import knee
from plexlens.report.model import Block, Note, Section
from plexlens.report.model.fields import Definitions, Field, Subject
from plexlens.report.model.xy import MOST_SERIES, XYChart, XYMark, XYSeries

CURVE = Subject("pool_curve", "Curves of pools", "one buffer pool at one size")

#: Half the width of a band in standard errors: 95 % of a normal distribution.
BAND = 1.96

MISSES = Unit("", "count", 1.0, 0)

_CAVEAT = (
    "Curves are for an LRU pool without prefetch: here a scan misses on each page, but prefetch reads many of these "
    "pages with one I/O. The tables of pools and objects include prefetch."
)


@dataclass(frozen=True)
class _Marked:
    """A pool's curve and the marked sizes; None for unknown sizes."""

    curve: PoolCurve
    seconds: float
    now: int | None
    recommended: int | None
    word: str

    @property
    def knee(self) -> int:
        sizes = [size for size, _, _ in self.curve.points]
        return sizes[knee(sizes, [misses for _, misses, _ in self.curve.points])]

    def at(self, size: int | None) -> float | None:
        """Misses (per second, if the trace has times) at a size, interpolated between neighbouring sizes."""
        if size is None:
            return None
        sizes, misses, _ = (np.asarray(column, np.float64) for column in zip(*self.curve.points, strict=True))
        return self.rate(float(np.interp(size, sizes, misses)))

    def rate(self, misses: float) -> float:
        """Misses per second, or misses if the trace has no times."""
        return misses / self.seconds if self.seconds > 0 else misses

    def marks(self) -> tuple[XYMark, ...]:
        """The sizes by name; coinciding sizes share a mark."""
        named: dict[int, list[str]] = {}
        for size, name in ((self.now, "now"), (self.knee, "knee"), (self.recommended, self.word)):
            if size is not None:
                named.setdefault(size, []).append(name)
        return tuple(
            XYMark(size, f"{', '.join(names)} {size:,}", strong=self.word in names) for size, names in named.items()
        )


def curves_section(
    curves: Sequence[PoolCurve],
    seconds: float,
    definitions: Definitions,
    *,
    now: Mapping[str, int],
    recommended: Mapping[str, int],
    after: Sequence[PoolCurve] = (),
    word: str = "recommended",
    note: str = "",
) -> Section | None:
    """The curve of every pool, and its objects' shares.

    Parameters
    ----------
    curves
        With the objects where they are now.
    seconds
        Seconds of the trace; 0 if it has no times.
    now, recommended
        Buffers of each pool.
    after
        With the objects where they are recommended to be; empty where none moves.
    word
        What the sizes in ``recommended`` are: ``recommended`` or ``asked for``.
    note
        What the curves are of, where it has to be said.
    """
    if not curves:
        return None
    unit = PER_SECOND if seconds > 0 else MISSES
    marked = [_Marked(curve, seconds, now.get(curve.pool), recommended.get(curve.pool), word) for curve in curves]
    moved = {
        curve.pool: _Marked(curve, seconds, now.get(curve.pool), recommended.get(curve.pool), word) for curve in after
    }
    fields = _fields(unit, seconds > 0, word.capitalize())
    misses = definitions.add(fields["misses"])
    size = definitions.add(fields["size"])
    blocks: list[Block] = [Note(note)] if note else []
    for mark in marked:
        blocks.append(_whole(mark, moved.pop(mark.curve.pool, None), unit, misses, size))
        if len(mark.curve.shares) > 1:
            blocks.append(_layers(mark, unit, misses, size))
    blocks += [_whole(mark, None, unit, misses, size) for mark in moved.values()]
    table = definitions.table(
        "curve_sizes",
        "Key sizes",
        list(fields.values())[2:],
        marked,
        note="The knee is the point of the curve's lower hull that is farthest below the line from the first point to "
        "the last: beyond it, a buffer saves less than the average buffer of the curve.",
    )
    if table is not None:
        blocks.insert(0, table)
    if any(error for curve in curves for _, _, error in curve.points):
        blocks.append(
            Note(
                "A curve with a band is estimated, from a sample of its pages or from shards of them; the band is 1.96"
                " standard errors to each side."
            )
        )
    return Section(
        "curves",
        "Curves",
        tuple(blocks),
        "Read misses of each pool at each size, and the objects that cause them.",
    )


def _fields(unit: Unit, timed: bool, word: str) -> dict[str, Field[_Marked]]:
    what = "Read misses" if timed else "Read misses in the trace"
    formula = "misses of an LRU pool / seconds of the trace" if timed else "misses of an LRU pool"
    source = "Stack distances of the trace's getpages (Mattson and others, 1970)"

    fields: list[Field[_Marked]] = [
        Field(CURVE, "misses", what, lambda row: None, unit, formula, source, _CAVEAT),
        Field(CURVE, "size", "Pool size", lambda row: None, PAGES, "", "VPSIZE"),
        Field(CURVE, "pool", "Pool", lambda row: row.curve.pool, key=True),
        Field(
            CURVE, "distinct_pages", "Pages referenced", lambda row: row.curve.distinct_pages, PAGES, "",
            "The trace; estimated where pages are sampled",
        ),
        Field(CURVE, "now_size", "Size", lambda row: row.now, PAGES, "", "Settings of the pool", group="Now"),
        Field(
            CURVE, "now_misses", "Misses", lambda row: row.at(row.now), unit, f"{formula} at the present size", source,
            _CAVEAT, group="Now",
        ),
        Field(
            CURVE, "knee_size", "Size", lambda row: row.knee, PAGES,
            "point of the lower hull of the curve that is farthest below its chord, both axes scaled to their span",
            "Satopaa and others, Finding a kneedle in a haystack (2011)", group="Knee",
        ),
        Field(
            CURVE, "knee_misses", "Misses", lambda row: row.at(row.knee), unit, f"{formula} at the size of the knee",
            source, _CAVEAT, group="Knee",
        ),
        Field(
            CURVE, "recommended_size", "Size", lambda row: row.recommended, PAGES, "", "The change",
            group=word,
        ),
        Field(
            CURVE, "recommended_misses", "Misses", lambda row: row.at(row.recommended), unit,
            f"{formula} at the size after the change", source,
            f"With the objects that are in the pool now. {_CAVEAT}", group=word,
        ),
        Field(
            CURVE, "enough", "Size without repeated misses", lambda row: row.curve.enough or None, PAGES,
            "smallest size at which only first references miss", source,
        ),
    ]  # fmt: skip
    return {field.name: field for field in fields}


def _series(name: str, marked: _Marked) -> XYSeries:
    points = tuple((float(size), marked.rate(misses)) for size, misses, _ in marked.curve.points)
    band: tuple[tuple[float, float, float], ...] = ()
    if any(error for _, _, error in marked.curve.points):
        band = tuple(
            (float(size), max(marked.rate(misses - BAND * error), 0.0), marked.rate(misses + BAND * error))
            for size, misses, error in marked.curve.points
        )
    return XYSeries(name, points, band=band)


def _whole(marked: _Marked, moved: _Marked | None, unit: Unit, misses: str, size: str) -> XYChart:
    pool = marked.curve.pool
    series = [_series("objects, present pools", marked)]
    if moved is not None and moved.curve.points != marked.curve.points:
        series.append(_series(f"objects as {moved.word}", moved))
    return XYChart(
        f"curve_{pool}",
        f"{pool}: read misses at every size",
        "Pool size",
        "Read misses",
        tuple(series),
        marked.marks(),
        x_unit=PAGES,
        y_unit=unit,
        definition=misses,
        x_definition=size,
        log_x=True,
    )


def _layers(marked: _Marked, unit: Unit, misses: str, size: str) -> XYChart:
    """Shares by object, with all its partitions; the largest shares at the present size, the rest in a single layer."""
    objects: dict[int, tuple[str, np.ndarray[tuple[int], np.dtype[np.float64]]]] = {}
    for share in marked.curve.shares:
        name = share.name.removesuffix(f".{share.partition}") if share.partition else share.name
        before = objects.get(share.object, (name, np.zeros(len(marked.curve.points))))
        objects[share.object] = name, before[1] + np.asarray(share.misses)
    sizes = [size for size, _, _ in marked.curve.points]
    middle = marked.knee if marked.now is None else marked.now
    at = int(np.argmin([abs(np.log(size / middle)) for size in sizes]))
    order = sorted(objects.values(), key=lambda content: (-content[1][at], content[0]))
    kept = order if len(order) <= MOST_SERIES else order[: MOST_SERIES - 1]
    layers = list(kept)
    if len(order) > len(kept):
        rest = np.sum([values for _, values in order[len(kept) :]], axis=0)
        layers.append((f"{len(order) - len(kept)} other objects", rest))
    return XYChart(
        f"shares_{marked.curve.pool}",
        f"{marked.curve.pool}: misses by object",
        "Pool size",
        "Read misses",
        tuple(
            XYSeries(
                name, tuple((float(size), marked.rate(float(miss))) for size, miss in zip(sizes, values, strict=True))
            )
            for name, values in layers
        ),
        marked.marks(),
        x_unit=PAGES,
        y_unit=unit,
        definition=misses,
        x_definition=size,
        log_x=True,
        stacked=True,
        note="The object with the most misses at the present size is at the bottom.",
    )
