"""Curves and checks in words, for pages and the reference."""

from __future__ import annotations

from functools import partial

from plexlens.compare.analysis.curves import CapacityCurve, LoadCurve
from plexlens.compare.analysis.leave_out import LeaveOut
from plexlens.compare.numbers.scalability import LEVEL
from plexlens.metrics.display import significant

#: Formats a number with five significant digits, and all digits before the point.
number = partial(significant, digits=5)


def law_sentence(curve: CapacityCurve) -> str:
    """The law and its interpretation in words."""
    law = curve.law

    def term(name: str, value: float) -> str:
        if name in law.at_bound:
            return f"{name} term held at 0 (the fit would make it negative)"
        if name not in law.terms:
            return f"{name} term not fitted ({len(law.processors)} points)"
        error = law.errors.get(name)
        return f"{name} term {value:.5f}" + (f" (standard error {error:.5f})" if error is not None else "")

    text = (
        f"{curve.title}: one processor does {law.one:,.2f} {curve.y_unit}; {term('serial', law.serial)}; "
        f"{term('coherency', law.coherency)}. "
    )
    if max(map(abs, law.residuals)) < 1e-6:
        text += "The law passes through every point, so the points do not show how well it fits."
    else:
        text += f"The points lie {100 * min(law.residuals):+.1f} % to {100 * max(law.residuals):+.1f} % off the law."
    if law.peak is not None:
        text += f" By the law, throughput falls beyond {law.peak:.0f} processors."
    if law.ceiling is not None:
        text += f" By the law, throughput is at most {law.ceiling:,.0f} {curve.y_unit} with any number of processors."
    for n, value, interval in curve.predicted:
        text += f" Predicted for {n:g} processors: {value:,.1f} {curve.y_unit}"
        text += (
            f" ({LEVEL:.0%} interval {interval[0]:,.1f} to {interval[1]:,.1f})." if interval else
            " (no interval: no degree of freedom is left)."
        )  # fmt: skip
    return text


def _at(curve: LoadCurve, place: int) -> str:
    """A point's x, with the point's name if it differs from the number."""
    label, x, _ = curve.points[place]
    shown = f"{number(x)} {curve.x_unit}".rstrip()
    try:
        named = float(label.replace(",", "")) != x
    except ValueError:
        named = True
    return f"{shown} ({label})" if named else shown


def load_sentence(curve: LoadCurve) -> str:
    """Knee and goal of a curve in words."""
    points, unit = curve.points, curve.y_unit
    if curve.knee is None:
        text = f"{curve.title}: no knee between {_at(curve, 0)} and {_at(curve, len(points) - 1)}."
    else:
        text = f"{curve.title}: the knee is at {_at(curve, curve.knee.place)}, with {number(curve.knee.y)} {unit}"
        text += ", on a logarithmic scale." if curve.knee.logarithmic else "."
    if curve.met is None or curve.goal is None:
        return text
    goal, met = f"{curve.goal:g} {unit}", curve.met
    if met.place is None:
        return f"{text} No measured point meets the goal of {goal}."
    reached = number(points[met.place][2])
    text += (
        f" The smallest measured point that meets the goal of {goal} is {_at(curve, met.place)}, with {reached} {unit}"
    )
    if met.fails is None or met.crossing is None:
        return f"{text}; nothing smaller was measured."
    missed = number(points[met.fails][2])
    return (
        f"{text}; {_at(curve, met.fails)} fails it with {missed} {unit}. By interpolation the goal is reached at "
        f"about {number(round(met.crossing, 1))} {curve.x_unit}, which was not measured."
    )


def check_sentence(check: LeaveOut) -> str:
    """The error of a check in words."""
    counted = check.counted
    if len(counted) == 1:
        only = counted[0]
        text = (
            f"{check.title}: predicted {number(only.predicted)} {check.unit}, printed {number(only.printed)}, "
            f"an error of {only.error:+.1%}"
        )
    else:
        text = (
            f"{check.title}: {len(counted)} predictions are off by {check.mean_error:.1%} on average, at worst by "
            f"{check.worst.error:+.1%} ({check.worst.label})"
        )
    others = [prediction for prediction in check.predictions if prediction.model != counted[0].model]
    names = [f"{other.label}, {other.model}: {other.error:+.1%}" for other in others]
    return f"{text}. Beside it: {'; '.join(names)}." if names else f"{text}."
