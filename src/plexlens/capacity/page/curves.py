"""Charts of a plan: utilisation and response over load, as modelled, simulated and measured."""

from __future__ import annotations

from collections.abc import Sequence

from plexlens.capacity.model import ClassModel
from plexlens.capacity.network import SystemResult
from plexlens.capacity.plan import Curve, Plan
from plexlens.capacity.validate import SystemCheck
from plexlens.metrics.unit import FRACTION, MILLISECONDS, UNITS
from plexlens.report.model import Block, Note, Section
from plexlens.report.model.xy import Point, XYChart, XYMark, XYSeries, XYStyle

#: Load in multiples of what was measured.
LOAD = UNITS["load"]

#: Times the measured response, or the mean at the goal, at which response curves end: near saturation they have no end.
HIGHEST = 3.0

#: Classes of a system that get a chart.
MOST_CHARTS = 6


def _rising(points: Sequence[tuple[float, float | None]]) -> tuple[Point, ...]:
    """Points in ascending order; points with the same x are averaged."""
    places: dict[float, list[float]] = {}
    for x, y in points:
        if y is not None:
            places.setdefault(round(x, 6), []).append(y)
    return tuple((x, sum(values) / len(values)) for x, values in sorted(places.items()))


def curves(plan: Plan, curve: Curve) -> Section:
    """Utilisation, and the response of the busiest classes, of a system."""
    check = next(check for check in plan.checks if check.system == curve.system)
    system = next(system for system in plan.model.systems if system.name == curve.system)
    marks: tuple[XYMark, ...] = (XYMark(1.0, "measured"),)
    if plan.asked.scale not in (0.0, 1.0):
        marks += (XYMark(plan.asked.scale, "asked for", strong=True),)
    name = _runs_name(plan)
    blocks: list[Block] = [_utilisation(curve, check, marks, name)]
    busiest = sorted(
        (class_model for class_model in system.classes if not class_model.background),
        key=lambda entry: -entry.rate * (entry.general + entry.eligible),
    )
    shown = [
        chart
        for class_model in busiest[:MOST_CHARTS]
        if (chart := _response(curve, check, class_model, marks, name)) is not None
    ]
    blocks += shown
    if len(busiest) > MOST_CHARTS:
        blocks.append(Note(f"{len(busiest) - MOST_CHARTS} classes with less processor time have no chart."))
    if not busiest:
        blocks.append(Note("No class has enough ended transactions for a response time curve."))
    how = f"Lines: mean value analysis, up to saturation or {HIGHEST:g} times the response. Points: measured intervals"
    if plan.simulation is not None:
        how += f", and the sysplex simulator with the scenario {plan.simulation.file}, bands 95 % confidence."
    elif curve.runs:
        how += (
            ", and general engines and zIIPs simulated event by event, bands 95 % confidence. Waits at other queues "
            "are those of the formula there too."
        )
    else:
        how += "; --careful adds the engines simulated event by event, --scenario the sysplex simulator."
    return Section(f"curves-{curve.system}", f"Over load: {curve.system}", tuple(blocks), how)


def _runs_name(plan: Plan) -> str:
    return "simulator" if plan.simulation is not None else "event by event"


def _carried(system_result: SystemResult) -> float | None:
    """Busy share of general engines at a load that the system can carry."""
    return None if system_result.saturated else system_result.busy


def _utilisation(curve: Curve, check: SystemCheck, marks: tuple[XYMark, ...], runs: str) -> XYChart:
    series = [
        XYSeries(
            "general engines",
            _rising(
                [
                    (load, _carried(system_result))
                    for load, system_result in zip(curve.loads, curve.results, strict=True)
                ]
            ),
        ),
        XYSeries(
            "general engines, measured", _rising([(point.load, point.busy) for point in check.points]), XYStyle.POINTS
        ),
    ]
    if curve.plain:
        plain = [(load, _carried(system_result)) for load, system_result in zip(curve.loads, curve.plain, strict=True)]
        series.append(XYSeries("general engines, measured number", _rising(plain)))
    if any(system_result.ziip_busy is not None for system_result in curve.results):
        series += [
            XYSeries(
                "zIIPs",
                _rising(
                    [
                        (load, system_result.ziip_busy)
                        for load, system_result in zip(curve.loads, curve.results, strict=True)
                    ]
                ),
            ),
            XYSeries(
                "zIIPs, measured", _rising([(point.load, point.ziip_busy) for point in check.points]), XYStyle.POINTS
            ),
        ]
    if curve.runs:
        for kind, points in (
            ("general engines", [(load, system_result.busy) for load, system_result in curve.runs]),
            ("zIIPs", [(load, system_result.ziip_busy) for load, system_result in curve.runs]),
        ):
            series.append(XYSeries(f"{kind}, {runs}", _rising(points), XYStyle.POINTS))
    return XYChart(
        f"plan-busy-{curve.system}", "Engines busy", "Load", "Busy",
        tuple(entry for entry in series if entry.points), marks,
        LOAD, FRACTION, "plan.busy", "plan.load",
    )  # fmt: skip


def _response(
    curve: Curve, check: SystemCheck, class_model: ClassModel, marks: tuple[XYMark, ...], name: str
) -> XYChart | None:
    goal = class_model.goal
    bound = goal.value if goal.kind == "average" else None
    if goal.kind == "percentile" and goal.quantile:
        bound = goal.value / goal.quantile
    ceiling = HIGHEST * max(bound or 0.0, class_model.response or 0.0)

    def rising(points: Sequence[tuple[float, float | None]]) -> tuple[Point, ...]:
        return _rising([(load, y) for load, y in points if y is not None and y <= ceiling])

    solved = rising(
        [
            (load, system_result.classes[class_model.name].response)
            for load, system_result in zip(curve.loads, curve.results, strict=True)
        ]
    )
    if not solved:
        return None
    series = [
        XYSeries("model, requested configuration" if curve.plain else "model", solved),
        XYSeries(
            "measured",
            _rising([(point.load, point.responses.get(class_model.name)) for point in check.points]),
            XYStyle.POINTS,
        ),
    ]
    plain = [
        (load, system_result.classes[class_model.name].response)
        for load, system_result in zip(curve.loads, curve.plain, strict=False)
    ]
    if curve.plain:
        series.insert(1, XYSeries("model, measured configuration", rising(plain)))
    runs = [
        (load, system_result.classes[class_model.name])
        for load, system_result in curve.runs
        if class_model.name in system_result.classes
    ]
    points = rising([(load, class_result.response) for load, class_result in runs])
    band = tuple(
        (
            round(load, 6),
            class_result.response - class_result.half_width,
            class_result.response + class_result.half_width,
        )
        for load, class_result in runs
        if class_result.response is not None
        and class_result.response <= ceiling
        and class_result.half_width is not None
    )
    if points:
        series.append(XYSeries(name, points, XYStyle.POINTS, band))
    if bound is not None and bound < 3 * max(y or 0.0 for _, y in solved):
        series.append(XYSeries("mean at the goal", ((solved[0][0], bound), (solved[-1][0], bound))))
    about = next(class_check for class_check in check.classes if class_check.name == class_model.name)
    return XYChart(
        f"plan-response-{curve.system}-{class_model.name}",
        f"Response time of {class_model.name} (goal: {goal.text})", "Load",
        "Response time", tuple(result for result in series if result.points), marks, LOAD, MILLISECONDS,
        "plan.response",
        "plan.load", note="" if about.reproduced else f"Not reproduced: {about.reason}.",
    )  # fmt: skip
