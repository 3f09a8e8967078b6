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
                        "class": one.name,
                        "background": one.background,
                        "importance": one.importance,
                        "goal": one.goal.text,
                        "transactions_per_second": None if one.background else one.rate,
                        "general_seconds": one.general,
                        "ziip_eligible_seconds": one.eligible,
                        "overflow": one.overflow,
                        "io_seconds": one.io_service + one.waited("volume"),
                        "io_requests": one.io_requests,
                        "visits": one.visits,
                        "waits": [{"kind": wait.kind, "seconds": wait.seconds} for wait in one.waits],
                        "engine_wait_factor": one.engine_factor,
                        "other_seconds": one.other,
                        "other_from": one.other_from,
                        **{
                            name: getattr(found, name)
                            for name in (
                                "measured", "modelled", "error", "velocity", "velocity_modelled", "interval_error",
                                "held_out_error", "reproduced", "reason",
                            )
                        },
                    }
                    for one, found in zip(system.classes, check.classes, strict=True)
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
            "classes": [asdict(one) for one in plan.tried.classes],
        },
        "kinds_of_intervals": [
            {"intervals": [time.isoformat() for time in kind.intervals], "engines": kind.engines, "mix": kind.mix}
            for kind in plan.kinds
        ],
        "asked": asdict(plan.asked),
        "simulation": None
        if plan.simulation is None
        else {"scenario": plan.simulation.file, "notes": list(plan.simulation.notes)},
        "outlooks": [_outlook(one) for one in plan.outlooks],
        "curves": [
            {
                "system": curve.system,
                "solved": [
                    {"load": load, **_result(found)} for load, found in zip(curve.loads, curve.results, strict=True)
                ],
                "run": [{"load": load, **_result(found)} for load, found in curve.runs],
            }
            for curve in plan.curves
        ],
    }  # fmt: skip


def _outlook(one: Outlook) -> dict[str, Any]:
    return {
        "title": one.title,
        "change": asdict(one.change),
        "systems": {name: _result(found) for name, found in one.results.items()},
        "saturates": None
        if one.limit is None
        else {"load": one.limit[0], "station": one.limit[1], "system": one.limit[2]},
        "goals_break": [
            {"system": b.system, "class": b.name, "load": b.load, "busy": b.busy, "unknown_beyond": b.beyond}
            for b in one.breakings
        ],
    }


def _result(found: SystemResult) -> dict[str, Any]:
    return {
        "busy": found.busy,
        "ziip_busy": found.ziip_busy,
        "overflow": found.overflow,
        "saturated": found.saturated or None,
        "queues_busy": dict(found.used),
        "classes": {
            name: {
                "transactions_per_second": one.rate,
                "response": one.response,
                "half_width": one.half_width,
                "velocity": one.velocity,
                # A velocity of zero misses its goal without bounds.
                "performance_index": one.index if one.index is not None and math.isfinite(one.index) else None,
            }
            for name, one in found.classes.items()
        },
    }
