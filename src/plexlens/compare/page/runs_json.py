"""Comparison of two runs as JSON."""

from __future__ import annotations

from typing import Any

from plexlens.compare.comparison.comparison import Comparison
from plexlens.compare.page.runs import compare_report
from plexlens.compare.runs.comparability import Check
from plexlens.compare.runs.deltas import Delta
from plexlens.report.writers.json_object import to_json


def compare_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain values: verdict, checks and deltas as numbers, and the page's tables."""
    return {
        "base": {"name": comparison.base.name, "description": comparison.base.description},
        "new": {"name": comparison.new.name, "description": comparison.new.description},
        "comparable": comparison.comparability.comparable if comparison.comparability.tested else None,
        "verdict": comparison.comparability.verdict,
        "environment": [
            {"subject": difference.subject, "name": difference.name, "base": difference.base, "new": difference.new}
            for difference in comparison.environments.differences
        ],
        "checks": [check_json(check) for check in comparison.comparability.checks],
        "method": comparison.method,
        "deltas": [_delta_json(delta) for delta in comparison.deltas],
        "explanations": [
            {"title": explanation.title, "object": explanation.object_name or None, "unit": explanation.unit.base,
            "base": explanation.base, "new": explanation.new,
             "text": explanation.text, "parts": [
                 {"title": part.title, "kind": str(part.kind), "base": part.base, "new": part.new,
                  "change": part.change, "share": part.share} for part in explanation.parts]}
            for explanation in comparison.explanations
        ],
        "load": [
            {"title": explanation.title, "work": explanation.work, "unit": explanation.unit.base,
            "change": explanation.change, "load": explanation.load,
             "rest": explanation.rest, "text": explanation.text, "objects": [
                 {"object": split.object_name, "base": split.base, "new": split.new, "work_base": split.work_base,
                  "work_new": split.work_new, "load": split.load, "rest": split.rest} for split in explanation.objects]}
            for explanation in comparison.loads
        ],
        **to_json(compare_report(comparison)),
    }  # fmt: skip


def check_json(check: Check) -> dict[str, Any]:
    """A check of comparability as plain values."""
    return {
        "id": check.id, "title": check.title, "base": check.base, "new": check.new, "measured": check.measured,
        "bound": check.bound, "outcome": str(check.outcome), "text": check.text,
        "consequence": check.consequence or None,
        "details": list(check.details),
    }  # fmt: skip


def _delta_json(delta: Delta) -> dict[str, Any]:
    interval = delta.interval
    return {
        "measure": delta.measure.id,
        "title": delta.measure.title,
        "group": str(delta.measure.group),
        "object": delta.object_name or None,
        "unit": delta.measure.unit.base,
        "better": str(delta.measure.better) or None,
        "base": None if delta.base is None else delta.base.value,
        "new": None if delta.new is None else delta.new.value,
        "difference": delta.difference,
        "ratio": delta.ratio,
        "printed_digits": None if delta.low is None else {"low": delta.low, "high": delta.high},
        "confidence": None
        if interval is None
        else {
            "low": interval.low,
            "high": interval.high,
            "ratio_low": interval.ratio_low,
            "ratio_high": interval.ratio_high,
            "freedom": interval.freedom,
        },
        "says": str(delta.judgement),
    }
