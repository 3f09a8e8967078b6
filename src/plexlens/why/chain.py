"""A whole and the parts that add up to it, in both periods (`plexlens.metrics.causes`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plexlens.metrics import GRAINS
from plexlens.metrics.causes import EVENTS, REST, Whole, WholePart
from plexlens.metrics.unit import Unit
from plexlens.why.decomposition import Amount, amount, difference, tested
from plexlens.why.measured import Period, Replicated

#: A whole that changes by less than this share of itself is not divided.
LEAST = 1e-4


@dataclass(frozen=True)
class Split:
    """A part as events x time of an event: what each of the two moved, by the midpoint rule."""

    events: Amount
    each: Amount
    events_before: float
    events_after: float
    each_before: float
    each_after: float


@dataclass(frozen=True)
class PartOfWhole:
    """A part in both periods.

    Attributes
    ----------
    name
        The part's metric, or the whole's name with `REST`.
    share
        Its part of the whole's change.
    split
        Number and length of its events; None where they are not counted.
    """

    name: str
    title: str
    before: float
    after: float
    all: Amount
    share: float
    split: Split | None = None
    each: str = ""


@dataclass(frozen=True)
class Chain:
    """A whole and its parts, the largest change first."""

    title: str
    unit: Unit
    before: float
    after: float
    parts: tuple[PartOfWhole, ...]


def chain_of(base: Period, new: Period, whole: Whole, where: str = "", *, is_scaled: bool = False) -> Chain | None:
    """The parts of a whole; None where a period has no whole, or it hardly changed.

    Parameters
    ----------
    base, new
        The periods.
    whole
        The whole.
    where
        SQL of a condition on objects.
    is_scaled
        Whether the whole is divided by its scale.
    """
    grain, _, column = whole.metric.partition(".")
    metric = GRAINS[grain].column(column)
    names = [column, *(part.metric.partition(".")[2] for part in whole.parts)]
    names += [part.each.partition(".")[2] for part in whole.parts if part.each]
    scale = whole.scale.partition(".")[2] if is_scaled else ""
    rows = [period.rows(grain, (*names, *([scale] if scale else [])), (), where).get((), {}) for period in (base, new)]
    scaled = [{name: _over(row[name], row[scale]) if scale else row[name] for name in row} for row in rows]
    if any(row.get(column, Replicated(None)).value is None for row in scaled):
        return None
    before, after = (float(row[column].value or 0.0) for row in scaled)
    if abs(after - before) <= LEAST * max(abs(before), abs(after)):
        return None
    parts = [_part(part, rows, scaled, after - before) for part in whole.parts]
    known = [part for part in parts if part is not None and (part.before or part.after)]
    if not known:
        return None
    if whole.rest:
        columns = [part.name.partition(".")[2] for part in known]
        rest = [_less(row[column], [row[name] for name in columns]) for row in scaled]
        change = _difference(rest[0], rest[1])
        known.append(
            PartOfWhole(
                whole.metric + REST, whole.rest, rest[0].value or 0.0, rest[1].value or 0.0, change,
                change.value / (after - before),
            )
        )  # fmt: skip
    title = whole.scaled_title if is_scaled else metric.title
    return Chain(title, metric.unit, before, after, tuple(sorted(known, key=lambda part: -abs(part.all.value))))


def _part(
    part: WholePart, rows: Sequence[dict[str, Replicated]], scaled: Sequence[dict[str, Replicated]], change: float
) -> PartOfWhole | None:
    column = part.metric.partition(".")[2]
    first, second = (row[column] for row in scaled)
    if first.value is None and second.value is None:
        return None
    moved = _difference(first, second)
    split = None
    if part.each:
        each = part.each.partition(".")[2]
        lengths = [row[each] for row in rows]
        if all(number.value for number in lengths) and first.value and second.value:
            split = _split((first, second), (lengths[0], lengths[1]))
    return PartOfWhole(
        part.metric, part.title, first.value or 0.0, second.value or 0.0, moved, moved.value / change, split, part.each
    )


def _split(parts: tuple[Replicated, Replicated], lengths: tuple[Replicated, Replicated]) -> Split:
    events = [_over(part, length) for part, length in zip(parts, lengths, strict=True)]

    def moved(n: Sequence[float], t: Sequence[float]) -> tuple[float, float]:
        return (n[1] - n[0]) * (t[0] + t[1]) / 2, (t[1] - t[0]) * (n[0] + n[1]) / 2

    n = [number.value or 0.0 for number in events]
    t = [number.value or 0.0 for number in lengths]
    by_events, by_each = moved(n, t)
    without: list[list[tuple[float, float] | None]] = [[], []]
    for period in (0, 1):
        for count, length in zip(events[period].without, lengths[period].without, strict=True):
            if count is None or length is None:
                without[period].append(None)
                continue
            counts, times = list(n), list(t)
            counts[period], times[period] = count, length
            without[period].append(moved(counts, times))
    amounts = [
        amount(value, ([None if w is None else w[place] for w in without[0]],
                       [None if w is None else w[place] for w in without[1]]))
        for place, value in enumerate((by_events, by_each))
    ]  # fmt: skip
    by_events_p, by_each_p = tested(amounts[0], difference(*events)), tested(amounts[1], difference(*lengths))
    return Split(by_events_p, by_each_p, n[0], n[1], t[0], t[1])


def _difference(first: Replicated, second: Replicated) -> Amount:
    """The change of a part; one that a period does not have is zero there."""
    a, b = (
        Replicated(number.value or 0.0, *(tuple(value or 0.0 for value in of) for of in (number.without, number.alone)))
        for number in (first, second)
    )
    return difference(a, b) or Amount((second.value or 0.0) - (first.value or 0.0))


def _over(number: Replicated, scale: Replicated) -> Replicated:
    def quotient(a: float | None, b: float | None) -> float | None:
        return None if a is None or not b else a / b

    without, alone = (
        tuple(quotient(a, b) for a, b in zip(first, second, strict=True))
        for first, second in ((number.without, scale.without), (number.alone, scale.alone))
    )
    return Replicated(quotient(number.value, scale.value), without, alone)


def _less(whole: Replicated, parts: Sequence[Replicated]) -> Replicated:
    value = (whole.value or 0.0) - sum(part.value or 0.0 for part in parts)
    without = tuple(
        None if each is None else each - sum((part.without[group] or 0.0) for part in parts)
        for group, each in enumerate(whole.without)
    )
    alone = tuple(
        None if each is None else each - sum((part.alone[group] or 0.0) for part in parts)
        for group, each in enumerate(whole.alone)
    )
    return Replicated(value, without, alone)


__all__ = ["EVENTS", "LEAST", "Chain", "PartOfWhole", "Split", "chain_of"]
