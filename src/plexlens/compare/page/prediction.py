"""A prediction compared with its outcome, as a report: whether the work was the same, the change made, the result
right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plexlens import __version__
from plexlens.compare.page.runs import (
    TOP,
    comparability_alerts,
    comparability_section,
    environment_section,
    prediction_table,
    prediction_told,
)
from plexlens.compare.page.runs_json import check_json
from plexlens.compare.runs.prediction_check import CheckTotals, RateCheck, totals
from plexlens.compare.runs.prediction_run import PredictionComparison
from plexlens.compare.runs.significance import LEVEL, METHOD_NONE, METHOD_ONE, reach
from plexlens.metrics.display import NULL, percent
from plexlens.metrics.unit import PER_SECOND
from plexlens.report.model import Block, Column, ColumnKind, Figure, KeyFigures, Level, Note, Report, Section, Table
from plexlens.report.writers.json_object import to_json


def prediction_report(prediction_comparison: PredictionComparison) -> Report:
    """The report of a prediction and its outcome."""
    return Report(
        title=f"{prediction_comparison.name} against {prediction_comparison.came.run.name}",
        alerts=(*_made(prediction_comparison), *comparability_alerts(prediction_comparison.comparability)),
        sections=tuple(
            section for section in (
                _short(prediction_comparison), _settings(prediction_comparison),
                comparability_section(prediction_comparison.comparability),
                _rates("reads", "Read I/Os", "getpages", prediction_comparison.reads, prediction_comparison),
                _rates("writes", "Write I/Os", "buffer updates", prediction_comparison.writes, prediction_comparison),
                _data_sets(prediction_comparison), _method(prediction_comparison),
            ) if section.blocks
        ),
        generator=f"Plexlens {__version__}",
        kind="Prediction check",
        subject=f"Predicted from {', '.join(prediction_comparison.prediction.sources) or 'a trace'}. Measured: "
                f"{prediction_comparison.came.run.description}.",
    )  # fmt: skip


def prediction_json(prediction_comparison: PredictionComparison) -> dict[str, Any]:
    """The check as plain values; rates per second."""
    return {
        "prediction": prediction_comparison.name,
        "came": {
            "name": prediction_comparison.came.run.name,
            "description": prediction_comparison.came.run.description,
            "how": prediction_comparison.came.how,
        },
        "change_made": prediction_comparison.made,
        "comparable": prediction_comparison.comparability.comparable
        if prediction_comparison.comparability.tested
        else None,
        "verdict": prediction_comparison.comparability.verdict,
        "checks": [check_json(check) for check in prediction_comparison.comparability.checks],
        "reads": [_rate_json(read) for read in prediction_comparison.reads],
        "writes": [_rate_json(write) for write in prediction_comparison.writes],
        "data_sets": [_rate_json(data_set) for data_set in prediction_comparison.data_sets],
        "total": _totals_json(totals(prediction_comparison.reads)),
        "engine": {
            "name": prediction_comparison.prediction.engine.name,
            "error": prediction_comparison.prediction.engine.error,
        },
        **to_json(prediction_report(prediction_comparison)),
    }


def _totals_json(sums: CheckTotals) -> dict[str, float | None]:
    return {
        "predicted": sums.predicted, "actual": sums.actual, "load": sums.load, "rest": sums.rest,
        "error": sums.error,
    }  # fmt: skip


def _rate_json(check: RateCheck) -> dict[str, Any]:
    return {
        "object": check.object_name, "base": check.base, "predicted": check.predicted, "actual": check.actual,
        "difference": check.difference, "work_base": check.work_base, "work_new": check.work_new,
        "rescaled": check.rescaled, "load": check.load, "rest": check.rest, "error": check.error,
    }  # fmt: skip


def _made(prediction_comparison: PredictionComparison) -> tuple[Note, ...]:
    if prediction_comparison.made:
        return ()
    return (
        Note(
            "The pools differ from those of the prediction, so the measurement cannot confirm or refute it.",
            Level.WARNING,
            tuple(
                f"{difference.subject}: predicted for {difference.base}, has {difference.new}"
                for difference in prediction_comparison.environments.differences
            ),
        ),
    )


def _short(prediction_comparison: PredictionComparison) -> Section:
    sums = totals(prediction_comparison.reads)
    figures = (
        Figure("came", "Read I/Os measured", sums.actual, PER_SECOND),
        Figure("predicted", "Read I/Os predicted", sums.predicted, PER_SECOND),
        Figure(
            "rescaled",
            "Predicted for the measured getpages",
            sums.predicted + sums.load,
            PER_SECOND,
            detail="" if sums.error is None else f"error {percent(sums.error, signed=True)}",
        ),
    )
    return Section(
        "short",
        "In short",
        (
            KeyFigures("headlines", figures),
            Note(_told(prediction_comparison, sums)),
            Note(prediction_comparison.came.how),
        ),
        "Predicted and measured read I/O of all pools, and the part of the difference that is due to load.",
    )


def _told(prediction_comparison: PredictionComparison, sums: CheckTotals) -> str:
    before = sum(read.base or 0.0 for read in prediction_comparison.reads)
    difference = sums.actual - sums.predicted
    text = (
        f"Before the change the pools read {before:,.2f} I/Os per second; {sums.predicted:,.2f} were predicted, and "
        f"{sums.actual:,.2f} were measured. Of the difference of {difference:+,.2f}, getpages explain "
        f"{sums.load:+,.2f}: the prediction for the measured getpages is {sums.predicted + sums.load:,.2f}. "
        f"{sums.rest:+,.2f} is left"
    )
    text += "." if sums.error is None else f", an error of {percent(sums.error, signed=True)}."
    engine = prediction_comparison.prediction.engine
    if engine.error is not None:
        text += f" The error of the method was {percent(engine.error, signed=True)} when the prediction was made."
    return text


def _settings(prediction_comparison: PredictionComparison) -> Section:
    if prediction_comparison.made and not prediction_comparison.environments.alike:
        return Section(
            "environment", "Pools as predicted for", (Note("The data does not contain the sizes of pools."),)
        )
    if prediction_comparison.made:
        text = f"All {prediction_comparison.environments.alike:,} pools with a recorded size have the predicted size."
        return Section("environment", "Pools as predicted for", (Note(text),))
    return environment_section(prediction_comparison.environments)


def _rates(
    name: str, title: str, work: str, checks: Sequence[RateCheck], prediction_comparison: PredictionComparison
) -> Section:
    if not checks:
        return Section(name, title, ())
    blocks: list[Block] = [prediction_table(checks, "1/s", name)]
    if name == "reads":
        blocks += [Note(prediction_told(check)) for check in sorted(checks, key=lambda check: -abs(check.rest))[:3]]
        blocks += _intervals(checks, prediction_comparison)
    return Section(
        name,
        f"{title}, predicted and measured",
        tuple(blocks),
        f"Each pool separately. Its load is the number of {work} per second.",
    )


def _intervals(checks: Sequence[RateCheck], prediction_comparison: PredictionComparison) -> list[Block]:
    """The prediction rescaled to the measured load, compared with the confidence interval of the measurement."""
    if not prediction_comparison.estimates:
        return [Note(METHOD_NONE)]
    rows = []
    for check in checks:
        spread = prediction_comparison.estimates.get(check.object_name)
        if spread is None:
            continue
        half = reach(spread.freedom) * spread.error
        inside = check.actual - half <= check.rescaled <= check.actual + half
        rows.append(
            (
                check.object_name,
                f"{check.actual:,.2f} /s",
                f"{check.actual - half:,.2f} to {check.actual + half:,.2f} /s",
                f"{check.rescaled:,.2f} /s",
                "within" if inside else "outside",
            )
        )
    heads = ("Object", "Measured", f"{percent(LEVEL, 0)} interval", "Predicted for the measured load", "Result")
    columns = tuple(Column(f"c{number}", head, ColumnKind.TEXT, key=number == 0) for number, head in enumerate(heads))
    table = Table("intervals", "Can chance explain the rest?", columns, tuple(rows), top=TOP, note=METHOD_ONE)
    return [table] if rows else [Note(METHOD_NONE)]


def _data_sets(prediction_comparison: PredictionComparison) -> Section:
    if not prediction_comparison.data_sets:
        return Section("data_sets", "Data sets", ())
    return Section(
        "data_sets",
        "Read I/Os by data set",
        (prediction_table(prediction_comparison.data_sets, "1/s", "data_sets"),),
        "Each data set separately, the largest difference first. Its load is the number of getpages per second.",
    )


def _method(prediction_comparison: PredictionComparison) -> Section:
    engine, bounds = prediction_comparison.prediction.engine, prediction_comparison.comparability.bounds
    error = NULL if engine.error is None else percent(engine.error, signed=True)
    return Section(
        "method",
        "Method",
        (
            Note(
                "A prediction applies to the work that it was made from. Where the work of a pool changed, the "
                "prediction is scaled by new work divided by old work. The difference this makes is the part of the "
                "load; the rest is the error of the prediction and the effect of everything that it did not include."
            ),
            Note(f"Method of the prediction: {engine.text or engine.name}; error of the method {error}."),
            Note(
                f"Bounds of comparability: rates within {percent(bounds.rate, 0)}, at most {percent(bounds.mix, 0)} of "
                f"the work moved, at most {percent(bounds.objects, 0)} by objects that appear on only one side."
            ),
            *(Note(f"The prediction notes: {text}") for text in prediction_comparison.prediction.notes),
            *(Note(f"Measurement: {text}") for text in prediction_comparison.came.run.notes),
        ),
    )
