"""An analysis as plain values, for JSON."""

from __future__ import annotations

from typing import Any

from plexlens.compare.analysis.analysis import Analysis
from plexlens.compare.analysis.claims import Claim
from plexlens.compare.analysis.curves import CapacityCurve, Curve
from plexlens.compare.analysis.figures import CurveFigure, Figure
from plexlens.compare.analysis.leave_out import LeaveOut
from plexlens.compare.numbers.scalability import LEVEL


def to_object(analysis: Analysis) -> dict[str, Any]:
    """Question, set-up, figures, curves, checks, findings and claims."""
    return {
        "question": analysis.question,
        "setup": list(analysis.setup),
        "findings": [{"text": finding.text, "worked": list(finding.worked)} for finding in analysis.findings],
        "figures": [_figure(figure) for figure in analysis.figures],
        "curves": [_curve(curve) for curve in analysis.curves],
        "checks": [_check(check) for check in analysis.checks],
        "claims": [_claim(claim) for claim in analysis.claims],
    }


def _figure(figure: Figure) -> dict[str, Any]:
    if isinstance(figure, CurveFigure):
        return {
            "id": figure.id, "title": figure.title, "x": figure.x_title, "x_unit": figure.x_unit, "y": figure.y_title,
            "y_unit": figure.y_unit, "note": figure.note,
            "series": [{"name": line.name, "points": [list(point) for point in line.points]} for line in figure.series],
        }  # fmt: skip
    return {
        "id": figure.id, "title": figure.title, "unit": figure.unit, "note": figure.note, "stacked": figure.stacked,
        "bars": [
            {"name": name, **dict(zip(figure.parts, values, strict=True))} for name, values in figure.bars
        ],
    }  # fmt: skip


def _curve(curve: Curve) -> dict[str, Any]:
    results: dict[str, Any] = {
        "id": curve.id, "title": curve.title, "table": curve.table, "x": curve.x_title, "y": curve.y_title,
        "y_unit": curve.y_unit, "note": curve.note,
    }  # fmt: skip
    if isinstance(curve, CapacityCurve):
        law = curve.law
        return {
            **results,
            "kind": "capacity",
            "one": law.one,
            "serial": law.serial,
            "coherency": law.coherency,
            "fitted": list(law.terms),
            "held_at_zero": list(law.at_bound),
            "standard_errors": law.errors,
            "degrees_of_freedom": law.freedom,
            "peak_processors": law.peak,
            "ceiling": law.ceiling,
            "points": [
                {"label": label, "processors": n, "measured": value, "law": law.at(n), "residual": residual}
                for label, n, value, residual in zip(
                    curve.labels, law.processors, law.throughput, law.residuals, strict=True
                )
            ],
            "interval": "delta method on the logarithm of throughput, Student's t",
            "level": LEVEL,
            "predicted": [
                {"processors": n, "law": value, "low": interval and interval[0], "high": interval and interval[1]}
                for n, value, interval in curve.predicted
            ],
        }
    knee, met = curve.knee, curve.met
    return {
        **results,
        "kind": "load",
        "x_unit": curve.x_unit,
        "points": [{"label": label, "x": x, "y": y} for label, x, y in curve.points],
        "knee": knee
        and {
            "label": curve.points[knee.place][0], "x": knee.x, "y": knee.y, "distance": knee.distance,
            "logarithmic": knee.logarithmic,
        },
        "goal": curve.goal,
        "least_that_meets": None if met is None or met.place is None else _point(curve.points[met.place]),
        "largest_that_fails": None if met is None or met.fails is None else _point(curve.points[met.fails]),
        "crossing_interpolated": None if met is None else met.crossing,
    }  # fmt: skip


def _point(point: tuple[str, float, float]) -> dict[str, Any]:
    return {"label": point[0], "x": point[1], "y": point[2]}


def _check(check: LeaveOut) -> dict[str, Any]:
    return {
        "id": check.id,
        "title": check.title,
        "method": check.method,
        "unit": check.unit,
        "note": check.note,
        "mean_error": check.mean_error,
        "worst_error": check.worst.error,
        "predictions": [
            {
                "label": prediction.label, "model": prediction.model, "inputs": prediction.inputs,
                "predicted": prediction.predicted,
                "printed": prediction.printed, "error": prediction.error,
                "low": prediction.low, "high": prediction.high,
            }
            for prediction in check.predictions
        ],
    }  # fmt: skip


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "text": claim.text,
        "place": claim.place,
        "relation": claim.relation,
        "printed": claim.text_number,
        "computed": None if claim.computed is None else float(claim.computed.value),
        "low": None if claim.computed is None else float(claim.computed.low),
        "high": None if claim.computed is None else float(claim.computed.high),
        "unit": claim.unit,
        "agrees": claim.agrees,
        "arithmetic": claim.arithmetic,
        "note": claim.note,
    }
