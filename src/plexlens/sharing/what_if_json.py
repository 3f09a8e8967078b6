"""A twin and the results of changes, as plain values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from plexlens.sharing.twin_calibrate import Twin
from plexlens.sharing.what_if import WhatIf
from plexlens.simulate.estimates import Estimate


def what_if_object(twin: Twin, answers: Sequence[WhatIf], tolerance: float) -> dict[str, Any]:
    """The numbers of a what-if: rates per second, seconds, shares, engines."""
    threshold = twin.fit.threshold
    return {
        "tolerance": tolerance,
        "seeds": list(twin.seeds),
        "threshold": {
            "seconds": threshold.seconds,
            "low": threshold.low,
            "high": threshold.high if math.isfinite(threshold.high) else None,
            "source": threshold.source,
        },
        "twin": [
            {
                "number": check.key.what,
                "of": check.key.of,
                "measured": check.measured,
                "twin": _estimate(check.twin),
                "error": None if math.isnan(check.error) else check.error,
                "calibrated": check.calibrated,
                "off": check.is_off(tolerance),
            }
            for check in twin.checks
        ],
        "changes": [
            {
                "title": answer.title,
                "changes": [{"option": change.kind.value, "value": change.text} for change in answer.changes],
                "numbers": [
                    {
                        "number": outcome.key.what,
                        "of": outcome.key.of,
                        "measured": outcome.measured,
                        "before": _estimate(outcome.before),
                        "after": _estimate(outcome.after),
                        "answer": {
                            "value": outcome.answer.value,
                            "low": outcome.answer.low,
                            "high": outcome.answer.high,
                            "events": outcome.answer.events,
                        },
                        "verdict": outcome.verdict.value,
                        "because": outcome.why,
                    }
                    for outcome in answer.outcomes
                ],
                "notes": list(answer.notes),
            }
            for answer in answers
        ],
        "notes": list(twin.notes),
    }


def _estimate(estimate: Estimate) -> dict[str, float | None]:
    half = None if math.isnan(estimate.half_width) else estimate.half_width
    return {"mean": estimate.mean, "half_width": half}
