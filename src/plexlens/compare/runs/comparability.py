"""Comparability: whether two runs did the same work, tested before their numbers are compared.

The first question of every before-and-after is whether the workloads were reasonably alike: the same objects, the same
mix, the same rates. What is not alike within the bounds makes the runs not comparable. Their numbers are still shown,
with what they cannot be used for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from plexlens.compare.runs.run import Activity, Run
from plexlens.compare.runs.wording import capital, within_a_sentence
from plexlens.metrics.display import percent

#: Column of a study in which `plexlens run` records criteria, and the word for those that a run breaks.
_CRITERIA, _BROKEN = "criteria", ": broken"


@dataclass(frozen=True)
class Bounds:
    """Allowed differences of comparable runs, as fractions.

    Attributes
    ----------
    rate
        By how much a rate of NEW may be above or below that of BASE.
    mix
        Share of the work that may have moved from some objects to others.
    objects
        Share of the work that objects may do that are in one run only.
    lengths
        How many times as many intervals one run may have as the other.
    """

    rate: float = 0.05
    mix: float = 0.05
    objects: float = 0.01
    lengths: float = 2.0


class Outcome(StrEnum):
    """Result of a check."""

    ALIKE = "alike"
    DIFFERS = "differs"
    UNKNOWN = "cannot be tested"


@dataclass(frozen=True)
class Check:
    """A quantity that must agree in both runs.

    Attributes
    ----------
    id
        The activity and what was asked of it: ``db2_pool.getpages: rate``.
    title
        What was compared.
    base, new
        The two numbers, or counts, in words with their unit.
    measured, bound
        How far they are apart, and how far they may be, as fractions; None where nothing can be said.
    text
        What was found, as a sentence.
    consequence
        What the numbers cannot be used for; empty where they are alike.
    details
        The objects concerned, one a line.
    """

    id: str
    title: str
    base: str
    new: str
    measured: float | None
    bound: float | None
    outcome: Outcome
    text: str
    consequence: str = ""
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparability:
    """The checks and their conclusion."""

    checks: tuple[Check, ...]
    bounds: Bounds

    @property
    def differing(self) -> list[Check]:
        """Checks in which the runs differ."""
        return [check for check in self.checks if check.outcome is Outcome.DIFFERS]

    @property
    def tested(self) -> bool:
        """Whether any work could be tested at all."""
        work = (
            check for check in self.checks if check.id != "intervals: count" and not check.id.startswith("criteria")
        )
        return any(check.outcome is not Outcome.UNKNOWN for check in work)

    @property
    def comparable(self) -> bool:
        """Whether at least one check was possible, and the runs agree in every possible check."""
        return self.tested and not self.differing

    @property
    def verdict(self) -> str:
        """The conclusion as a sentence."""
        if not self.tested and not self.differing:
            return "Comparability cannot be tested: neither run records how much work it did."
        if self.comparable:
            return "The runs are comparable: rates, objects and mix of the work are alike within the bounds."
        reasons = "; ".join(within_a_sentence(check.text.rstrip(".")) for check in self.differing[:3])
        more = f"; and {len(self.differing) - 3} more" if len(self.differing) > 3 else ""
        return f"The runs are not comparable: {reasons}{more}."


def comparability(base: Run, new: Run, bounds: Bounds | None = None) -> Comparability:
    """Test whether two runs did the same work.

    Parameters
    ----------
    base, new
        The runs.
    bounds
        How far they may differ; see `Bounds` for what is taken otherwise.
    """
    bounds = bounds or Bounds()
    before = {activity.id: activity for activity in base.activities}
    after = {activity.id: activity for activity in new.activities}
    checks: list[Check] = [*_validity("BASE", base), *_validity("NEW", new)]
    for name in dict.fromkeys((*before, *after)):
        if name in before and name in after:
            checks += _checks(before[name], after[name], bounds)
        else:
            checks.append(_one_sided(before.get(name) or after[name], in_base=name in before))
    checks += _intervals(base, new, bounds.lengths)
    return Comparability(tuple(checks), bounds)


def _validity(side: str, run: Run) -> list[Check]:
    """Whether a load test broke criteria of its benchmark, as ``plexlens run --study`` recorded it."""
    broken = [setting.value for setting in run.settings if setting.name == _CRITERIA and _BROKEN in setting.value]
    text = f"{side} breaks criteria that valid runs meet"
    consequence = "No number of a run that is not valid can be compared: measure it again."
    return [
        Check(
            f"criteria: {side}", f"Criteria of {side}", *((value, "") if side == "BASE" else ("", value)), None, None,
            Outcome.DIFFERS, f"{text}: {value}.", consequence,
        )
        for value in broken
    ]  # fmt: skip


def _intervals(base: Run, new: Run, bound: float) -> list[Check]:
    """Whether both runs have about the same number of intervals, for the kind of data that differs most."""
    counts = {kind: (count, new.intervals[kind]) for kind, count in base.intervals.items() if kind in new.intervals}
    if base.family != "database" or not counts:
        return []
    kind, (before, after) = max(counts.items(), key=lambda count: max(count[1]) / min(count[1]))
    times = max(before, after) / min(before, after)
    alike = times <= bound
    text = (
        f"{'BASE' if before > after else 'NEW'} has {times:.1f} times as many intervals of {within_a_sentence(kind)}; "
        f"{_side(alike)} the allowed factor of {bound:g}."
        if before != after
        else f"Both have {before:,} intervals of {within_a_sentence(kind)}."
    )
    return [
        Check(
            "intervals: count", "Number of intervals", f"{before:,}", f"{after:,}", None, None,
            Outcome.ALIKE if alike else Outcome.DIFFERS, text,
            "" if alike else "A short run may cover a peak or a lull of the long run: compare times of similar length.",
        )
    ]  # fmt: skip


def _one_sided(activity: Activity, *, in_base: bool) -> Check:
    have, lack = ("BASE", "NEW") if in_base else ("NEW", "BASE")
    if activity.only_objects:
        name, title, amount = "objects", f"{capital(activity.kind)} with {activity.title}", f"{len(activity.amounts):,}"
    else:
        name, title, amount = "rate", f"Rate of {activity.title}", f"{activity.total:,.2f}/s"
    return Check(
        f"{activity.id}: {name}",
        title,
        amount if in_base else "not recorded",
        "not recorded" if in_base else amount,
        None,
        None,
        Outcome.UNKNOWN,
        f"Only {have} records its {activity.title}{_by(activity)}; {lack} does not.",
    )


def _by(activity: Activity) -> str:
    return f" by {activity.kind}" if activity.only_objects else ""


def _checks(base: Activity, new: Activity, bounds: Bounds) -> list[Check]:
    if base.only_objects or new.only_objects:
        return [_objects(base, new, bounds.objects)]
    checks = [] if base.exclusive else [_rate(base, new, bounds.rate)]
    divided = set(base.amounts) | set(new.amounts) != {""}
    if divided and not base.exclusive:
        checks.append(_objects(base, new, bounds.objects))
    if divided and len(set(base.amounts) | set(new.amounts)) > 1:
        checks.append(_mix(base, new, bounds.mix))
    return checks


def _rate(base: Activity, new: Activity, bound: float) -> Check:
    before, after = base.total, new.total
    if before <= 0 or after <= 0:
        alike = before == after
        apart = None
        text = (
            f"Neither run did any {base.title}."
            if alike
            else f"Only {'NEW' if after > 0 else 'BASE'} did any {base.title}."
        )
    else:
        apart = after / before - 1
        # Within a rounding of floating point, so that a bound of 5 % takes 5 %.
        alike = abs(apart) <= bound + 1e-9
        way = "higher" if apart > 0 else "lower"
        # Enough digits to distinguish a rate just beyond the bound from the bound.
        digits = 2 if percent(abs(apart)) == percent(bound) else 1
        text = (
            f"The rate of {base.title} is {percent(abs(apart), digits)} {way}, {_side(alike)} the allowed "
            f"{percent(bound, 0)}."
            if apart
            else f"The rate of {base.title} is the same."
        )
    return Check(
        f"{base.id}: rate",
        f"Rate of {base.title}",
        f"{before:,.2f}/s",
        f"{after:,.2f}/s",
        apart,
        bound,
        Outcome.ALIKE if alike else Outcome.DIFFERS,
        text,
        "" if alike else "Totals, rates and utilisations change with the load; compare only numbers per unit of work.",
    )


def _objects(base: Activity, new: Activity, bound: float) -> Check:
    vanished = {object_name: amount for object_name, amount in base.amounts.items() if object_name not in new.amounts}
    appeared = {object_name: amount for object_name, amount in new.amounts.items() if object_name not in base.amounts}
    share = max(_share(vanished, base), _share(appeared, new))
    alike = share <= bound + 1e-9
    texts = []
    if appeared:
        texts.append(
            f"{_counted(len(appeared), 'appeared')}, with {_percent(_share(appeared, new))} of NEW's {base.title}"
        )
    if vanished:
        texts.append(
            f"{_counted(len(vanished), 'vanished')}, with {_percent(_share(vanished, base))} of BASE's {base.title}"
        )
    text = (
        f"{capital(base.kind)}: {' and '.join(texts)}, {_side(alike)} the {percent(bound, 0)} allowed."
        if texts
        else f"{capital(base.kind)}: the same {len(base.amounts):,} in both."
    )
    details = [
        f"appeared: {object_name}, {amount:,.2f} {base.title} per second" for object_name, amount in _largest(appeared)
    ]
    details += [
        f"vanished: {object_name}, {amount:,.2f} {base.title} per second" for object_name, amount in _largest(vanished)
    ]
    return Check(
        f"{base.id}: objects",
        f"{capital(base.kind)} with {base.title}",
        f"{len(base.amounts):,}",
        f"{len(new.amounts):,}",
        share,
        bound,
        Outcome.ALIKE if alike else Outcome.DIFFERS,
        text,
        "" if alike else "Part of the work was done in only one run; totals include it.",
        tuple(details),
    )


def _mix(base: Activity, new: Activity, bound: float) -> Check:
    before, after = base.total, new.total
    if before <= 0 or after <= 0:
        return Check(
            f"{base.id}: mix", f"Mix of {base.title}", "", "", None, bound, Outcome.UNKNOWN,
            f"The mix of {base.title} cannot be tested, because a run did none.",
        )  # fmt: skip
    shifts = {
        object_name: new.amounts.get(object_name, 0.0) / after - base.amounts.get(object_name, 0.0) / before
        for object_name in dict.fromkeys((*base.amounts, *new.amounts))
    }
    moved = sum(abs(shift) for shift in shifts.values()) / 2
    alike = moved <= bound + 1e-9
    largest = [
        shift for shift in sorted(shifts.items(), key=lambda shift: -abs(shift[1]))[:5] if abs(shift[1]) >= 0.0005
    ]
    text = f"{_percent(moved)} of the {base.title} moved between {base.kind}, " + (
        f"{_side(alike)} the {percent(bound, 0)} allowed."
    )
    return Check(
        f"{base.id}: mix",
        f"Mix of {base.title}",
        _shares(base),
        _shares(new),
        moved,
        bound,
        Outcome.ALIKE if alike else Outcome.DIFFERS,
        text,
        "" if alike else "Means over all objects change with the mix; compare object by object.",
        tuple(
            f"{object_name}: {percent(base.amounts.get(object_name, 0.0) / before)} of BASE, "
            f"{percent(new.amounts.get(object_name, 0.0) / after)} of NEW"
            for object_name, _ in largest
        ),
    )


def _shares(activity: Activity) -> str:
    if not activity.exclusive:
        return f"{len(activity.amounts):,} {activity.kind}"
    return ", ".join(
        f"{object_name} {percent(amount / activity.total)}" for object_name, amount in activity.amounts.items()
    )


def _share(part: Mapping[str, float], activity: Activity) -> float:
    return sum(part.values()) / activity.total if activity.total > 0 else 0.0


def _largest(amounts: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(amounts.items(), key=lambda amount: (-amount[1], amount[0]))


def _percent(share: float) -> str:
    return "less than 0.1 %" if 0 < share < 0.001 else percent(share)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}"


def _side(alike: bool) -> str:
    return "within" if alike else "beyond"
