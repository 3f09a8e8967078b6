"""A plan as plain values."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from plexlens.capacity.network import SystemResult
from plexlens.capacity.plan import Outlook, Plan


def to_object(plan: Plan) -> dict[str, Any]:
    """The numbers of a plan: seconds, fractions, and loads as multiples of the measured load."""
    return {
        "source": plan.name,
        "intervals": [time.isoformat() for time in plan.measured.intervals],
        "class_kind": plan.model.kind,
        "tolerance": plan.tolerance,
        "notes": list(plan.model.notes),
        "systems": [
            {
                "system": system.name,
                "engines": system.engines,
                "ziips": system.ziips,
                "busy": check.busy,
                "busy_modelled": check.busy_modelled,
                "ziip_busy": check.ziip_busy,
                "ziip_busy_modelled": check.ziip_busy_modelled,
                "capture_ratio": system.capture,
                "ziip_capture_ratio": system.ziip_capture,
                "ziip_factor": system.ziip_factor,
                "entitled_engines": system.entitled,
                "classes": [
                    {
                        "class": class_model.name,
                        "background": class_model.background,
                        "importance": class_model.importance,
                        "goal": class_model.goal.text,
                        "transactions_per_second": None if class_model.background else class_model.rate,
                        "general_seconds": class_model.general,
                        "ziip_eligible_seconds": class_model.eligible,
                        "overflow": class_model.overflow,
                        "io_seconds": class_model.io_service + class_model.waited("volume"),
                        "io_requests": class_model.io_requests,
                        "visits": class_model.visits,
                        "waits": [{"kind": wait.kind, "seconds": wait.seconds} for wait in class_model.waits],
                        "engine_wait_factor": class_model.engine_factor,
                        "other_seconds": class_model.other,
                        "other_from": class_model.other_from,
                        **{
                            name: getattr(class_check, name)
                            for name in (
                                "measured", "modelled", "error", "velocity", "velocity_modelled", "interval_error",
                                "held_out_error", "reproduced", "reason",
                            )
                        },
                    }
                    for class_model, class_check in zip(system.classes, check.classes, strict=True)
                ],
                "queues": [
                    {
                        "queue": line.text,
                        "servers": line.servers,
                        "busy": line.used(1.0),
                        "wait_seconds": line.wait(1.0),
                        "law": line.law.value,
                    }
                    for line in system.lines.values()
                ],
                "points": [{**asdict(point), "time": point.time.isoformat()} for point in check.points],
            }
            for system, check in zip(plan.model.systems, plan.checks, strict=True)
        ],
        "self_trial": None
        if plan.tried is None
        else {
            "calibrated_from": [time.isoformat() for time in plan.tried.calibrated],
            "tried_on": [time.isoformat() for time in plan.tried.tried],
            "loads": plan.tried.loads,
            "busy_error": plan.tried.busy,
            "classes": [asdict(class_trial) for class_trial in plan.tried.classes],
        },
        "kinds_of_intervals": [
            {"intervals": [time.isoformat() for time in kind.intervals], "engines": kind.engines, "mix": kind.mix}
            for kind in plan.kinds
        ],
        "asked": asdict(plan.asked),
        "simulation": None
        if plan.simulation is None
        else {"scenario": plan.simulation.file, "notes": list(plan.simulation.notes)},
        "outlooks": [_outlook(outlook) for outlook in plan.outlooks],
        "curves": [
            {
                "system": curve.system,
                "solved": [
                    {"load": load, **_result(system_result)} for load, system_result in zip(curve.loads,
                    curve.results, strict=True)
                ],
                "run": [{"load": load, **_result(system_result)} for load, system_result in curve.runs],
            }
            for curve in plan.curves
        ],
    }  # fmt: skip


def _outlook(outlook: Outlook) -> dict[str, Any]:
    return {
        "title": outlook.title,
        "change": asdict(outlook.change),
        "systems": {name: _result(system_result) for name, system_result in outlook.results.items()},
        "saturates": None
        if outlook.limit is None
        else {"load": outlook.limit[0], "station": outlook.limit[1], "system": outlook.limit[2]},
        "goals_break": [
            {"system": b.system, "class": b.name, "load": b.load, "busy": b.busy, "unknown_beyond": b.beyond}
            for b in outlook.breakings
        ],
    }


def _result(system_result: SystemResult) -> dict[str, Any]:
    return {
        "busy": system_result.busy,
        "ziip_busy": system_result.ziip_busy,
        "overflow": system_result.overflow,
        "saturated": system_result.saturated or None,
        "queues_busy": dict(system_result.used),
        "classes": {
            name: {
                "transactions_per_second": class_result.rate,
                "response": class_result.response,
                "half_width": class_result.half_width,
                "velocity": class_result.velocity,
                # A velocity of zero misses its goal without bounds.
                "performance_index": class_result.index
                if class_result.index is not None and math.isfinite(class_result.index)
                else None,
            }
            for name, class_result in system_result.classes.items()
        },
    }
