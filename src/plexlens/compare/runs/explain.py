"""Reasons why a number changed: its parts, and the share of a change that the load explains.

Three kinds of explanation are made. A time is split into its parts (`plexlens.compare.runs.compositions`): processor,
I/O, waits. A rate that follows the work, such as I/Os the getpages, is split object by object into what the load did
and what each unit of work did. What objects add up to is split into the objects.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from plexlens.compare.runs.compositions import (
    ADDED,
    CAUSED,
    CICS_TOTAL,
    VM,
    Composition,
    Kind,
    Part,
    database_compositions,
)
from plexlens.compare.runs.run import Measure, Run
from plexlens.metrics.display import percent, with_symbol
from plexlens.metrics.unit import Unit

#: Objects of one measure whose change is explained; those with the largest change.
MOST_EXPLAINED = 6

#: A change of less than this share of the whole is too small to be divided.
LEAST_CHANGE = 0.001


@dataclass(frozen=True)
class PartChange:
    """A part of a whole in both runs.

    Attributes
    ----------
    base, new, change
        In the base unit of the whole.
    share
        Share of the whole's change; None where the whole did not change enough to be divided.
    """

    title: str
    kind: Kind
    base: float
    new: float
    change: float
    share: float | None


@dataclass(frozen=True)
class Explanation:
    """A change and its parts.

    Attributes
    ----------
    title
        The number that changed, of what object.
    unit
        Unit of all numbers.
    text
        The explanation in sentences.
    arithmetic
        How the parts were found.
    """

    title: str
    object_name: str
    unit: Unit
    base: float
    new: float
    parts: tuple[PartChange, ...]
    text: str
    arithmetic: str

    @property
    def change(self) -> float:
        """NEW minus BASE."""
        return self.new - self.base


@dataclass(frozen=True)
class LoadSplit:
    """A rate that follows the work, for a single object.

    Attributes
    ----------
    base, new
        The rate.
    work_base, work_new
        The work that causes it, a second.
    load
        (NEW work - BASE work) x BASE rate per work: what the load alone would have changed.
    rest
        The rest of the change: NEW work x the change of the rate per work.
    """

    object_name: str
    base: float
    new: float
    work_base: float
    work_new: float
    load: float
    rest: float


@dataclass(frozen=True)
class LoadExplanation:
    """The part of a rate's change that the load explains.

    Attributes
    ----------
    title, work
        The rate, and the work that causes it.
    objects
        The split of each object.
    """

    title: str
    work: str
    unit: Unit
    objects: tuple[LoadSplit, ...]
    text: str

    @property
    def change(self) -> float:
        """Change of the rate over all objects."""
        return math.fsum(split.new - split.base for split in self.objects)

    @property
    def load(self) -> float:
        """The part of the change that the load explains."""
        return math.fsum(split.load for split in self.objects)

    @property
    def rest(self) -> float:
        """The part of the change that the load does not explain."""
        return math.fsum(split.rest for split in self.objects)


def explanations(base: Run, new: Run) -> tuple[Explanation, ...]:
    """The changes between two runs divided into parts, the largest change of each measure first."""
    results: list[Explanation] = []
    for composition in (*database_compositions(), *VM, *_address_spaces(base, new)):
        results += _composed(base, new, composition)
    for name in ADDED:
        results += _added(base, new, name)
    return tuple(results)


def load_explanations(base: Run, new: Run) -> tuple[LoadExplanation, ...]:
    """The part that the work explains, for each changed rate that follows the work."""
    result = (_caused(base, new, rate, work) for rate, work in CAUSED)
    return tuple(split for split in result if split is not None)


def _measure(base: Run, new: Run, name: str) -> Measure | None:
    return base.measures.get(name) or new.measures.get(name)


def _address_spaces(base: Run, new: Run) -> list[Composition]:
    """The total of a table of the CICS study over its address spaces."""
    names = [name for name in {**base.measures, **new.measures} if name.startswith("part: ")]
    if not names:
        return []
    parts = []
    for name in names:
        measure = _measure(base, new, name)
        title = measure.title.partition(": ")[2] if measure is not None else name
        parts.append(Part(name, Kind.CPU, title=title))
    return [Composition(CICS_TOTAL, tuple(parts))]


def _composed(base: Run, new: Run, composition: Composition) -> list[Explanation]:
    whole = _measure(base, new, composition.whole)
    if whole is None:
        return []
    object_names = [
        object_name
        for object_name in base.objects(composition.whole)
        if new.value(composition.whole, object_name) is not None
    ]
    explanations = [
        explanation
        for object_name in object_names
        if (explanation := _of_object(base, new, composition, whole, object_name)) is not None
    ]
    explanations.sort(key=lambda explanation: -abs(explanation.change))
    return explanations[:MOST_EXPLAINED]


def _of_object(base: Run, new: Run, composition: Composition, whole: Measure, object_name: str) -> Explanation | None:
    scales = _scales(base, new, composition, object_name)
    before, after = base.value(whole.id, object_name), new.value(whole.id, object_name)
    if before is None or after is None or scales is None:
        return None
    before, after = before / scales[0], after / scales[1]
    parts = []
    for part in composition.parts:
        measure = _measure(base, new, part.measure)
        values = (base.value(part.measure, object_name), new.value(part.measure, object_name))
        if measure is None or values == (None, None):
            continue
        old, now = ((value or 0.0) * part.factor / scale for value, scale in zip(values, scales, strict=True))
        if old or now:
            title = part.title or measure.title
            parts.append(PartChange(title, part.kind, old, now, now - old, _share(now - old, before, after)))
    if not parts:
        return None
    if composition.rest:
        old = before - math.fsum(part.base for part in parts)
        now = after - math.fsum(part.new for part in parts)
        parts.append(
            PartChange(composition.rest, composition.rest_kind, old, now, now - old, _share(now - old, before, after))
        )
    title = composition.scaled_title or whole.title
    explained = Explanation(
        title, object_name, whole.unit, before, after, tuple(sorted(parts, key=lambda part: -abs(part.change))), "",
        "the whole less its other parts is the last part" if composition.rest else "the parts add up to the whole",
    )  # fmt: skip
    return replace(explained, text=_told(explained))


def _scales(base: Run, new: Run, composition: Composition, object_name: str) -> tuple[float, float] | None:
    if not composition.scale:
        return 1.0, 1.0
    results = (base.value(composition.scale, object_name), new.value(composition.scale, object_name))
    return (results[0], results[1]) if results[0] and results[1] else None


def _share(change: float, before: float, after: float) -> float | None:
    whole = after - before
    return None if abs(whole) <= LEAST_CHANGE * max(abs(before), abs(after)) else change / whole


def _told(explanation: Explanation) -> str:
    """The explanation in sentences: the change, the parts that made it, and the kinds of time if there are several."""
    name = explanation.title + (f" of {explanation.object_name}" if explanation.object_name else "")
    from_to = (
        f"from {with_symbol(explanation.base, explanation.unit)} to {with_symbol(explanation.new, explanation.unit)}"
    )
    if _share(0.0, explanation.base, explanation.new) is None:
        return f"{name} hardly changed, {from_to}, so the change is not divided."
    relative = f" ({percent(abs(explanation.change / explanation.base))})" if explanation.base else ""
    text = (
        f"{name} {_went(explanation.change)} by {with_symbol(abs(explanation.change), explanation.unit)}{relative}, "
        f"{from_to}."
    )
    moved = [part for part in explanation.parts if part.share is not None and abs(part.share) >= 0.05]
    names = [
        f"{part.title} {_went(part.change)} by {with_symbol(abs(part.change), explanation.unit)}, "
        + (
            f"{percent(part.share, 0)} of the change"
            if part.share and part.share > 0
            else f"{_against(part, explanation)}"
        )
        for part in moved[:4]
    ]
    if names:
        text += f" {'; '.join(names)[:1].upper()}{'; '.join(names)[1:]}."
    kinds = {part.kind for part in explanation.parts}
    if len(kinds) > 1:
        shares = {
            kind: math.fsum(part.share or 0.0 for part in explanation.parts if part.kind is kind)
            for kind in Kind
            if kind in kinds
        }
        text += (
            " By kind: "
            + ", ".join(f"{kind} {percent(share, 0)}" for kind, share in shares.items())
            + " of the change."
        )
    return text


def _against(part: PartChange, explanation: Explanation) -> str:
    return f"in the opposite direction ({percent(abs(part.share or 0.0), 0)} of the change)"


def _went(change: float) -> str:
    return "rose" if change > 0 else "fell"


def _added(base: Run, new: Run, name: str) -> list[Explanation]:
    """Explanations of sums by their objects."""
    measure = _measure(base, new, name)
    if measure is None:
        return []
    object_names = list(dict.fromkeys((*base.objects(name), *new.objects(name))))
    if len(object_names) < 2:
        return []
    values = {
        object_name: (base.value(name, object_name) or 0.0, new.value(name, object_name) or 0.0)
        for object_name in object_names
    }
    before = math.fsum(old for old, _ in values.values())
    after = math.fsum(now for _, now in values.values())
    parts = [
        PartChange(object_name, Kind.CPU, old, now, now - old, _share(now - old, before, after))
        for object_name, (old, now) in values.items()
    ]
    explanation = Explanation(
        f"{measure.title}, all {measure.kind[:1].lower()}{measure.kind[1:]} together", "", measure.unit, before, after,
        tuple(sorted(parts, key=lambda part: -abs(part.change))), "", "the objects add up to the whole",
    )  # fmt: skip
    return [replace(explanation, text=_told(explanation))]


def _caused(base: Run, new: Run, rate: str, work: str) -> LoadExplanation | None:
    measure, cause = _measure(base, new, rate), _measure(base, new, work)
    if measure is None or cause is None:
        return None
    object_names = [
        object_name for object_name in dict.fromkeys((*base.objects(rate), *new.objects(rate))) if object_name
    ]
    splits = [split_by_load(object_name, *_four(base, new, rate, work, object_name)) for object_name in object_names]
    if not splits or not any(split.base or split.new for split in splits):
        return None
    load_explanation = LoadExplanation(measure.title, cause.title, measure.unit, tuple(splits), "")
    return replace(load_explanation, text=_load_told(load_explanation))


def _four(base: Run, new: Run, rate: str, work: str, object_name: str) -> tuple[float, float, float, float]:
    values: Sequence[float] = [run.value(name, object_name) or 0.0 for name in (rate, work) for run in (base, new)]
    return values[0], values[1], values[2], values[3]


def split_by_load(object_name: str, base: float, new: float, work_base: float, work_new: float) -> LoadSplit:
    """The change of a rate, split into the effect of the load and the effect of the rate per unit of work.

    With rate = work x rate per work, the change is (work_new - work_base) x base / work_base, the load's part, and
    work_new x (new / work_new - base / work_base), the rest. Where an object had no work before, all of its change is
    the load's.

    Examples
    --------
    >>> split = split_by_load("BP2", base=100.0, new=90.0, work_base=1000.0, work_new=800.0)
    >>> split.load, split.rest
    (-20.0, 10.0)
    """
    load = (work_new - work_base) * base / work_base if work_base > 0 else new - base
    return LoadSplit(object_name, base, new, work_base, work_new, load, new - base - load)


def _load_told(explanation: LoadExplanation) -> str:
    before = math.fsum(split.base for split in explanation.objects)
    work_before, work_after = (
        math.fsum(getattr(split, name) for split in explanation.objects) for name in ("work_base", "work_new")
    )
    text = (
        f"{explanation.title} {_went(explanation.change)} by "
        f"{with_symbol(abs(explanation.change), explanation.unit)}, from "
        f"{with_symbol(before, explanation.unit)} to {with_symbol(before + explanation.change, explanation.unit)}."
    )
    if work_before > 0:
        text += (
            f" {explanation.work} {_went(work_after - work_before)} by {percent(abs(work_after / work_before - 1))}."
            " At BASE's rate per unit of work, object by object, the load accounts for "
            f"{_signed(explanation.load, explanation.unit)}; everything else accounts for "
            f"{_signed(explanation.rest, explanation.unit)}."
        )
        if abs(explanation.change) > LEAST_CHANGE * abs(before):
            text += f" The load explains {percent(explanation.load / explanation.change, 0)} of the change."
    return text


def _signed(value: float, unit: Unit) -> str:
    return ("+" if value > 0 else "") + with_symbol(value, unit)
