"""A prediction compared with its outcome, as a report: whether the work was the same, the change made, the result
right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plexlens import __version__
from plexlens.compare.page.runs import (
    TOP,
    check_json,
    comparability_alerts,
    comparability_section,
    environment_section,
    prediction_table,
    prediction_told,
)
from plexlens.compare.runs.prediction_check import CheckTotals, RateCheck, totals
from plexlens.compare.runs.prediction_run import PredictionComparison
from plexlens.compare.runs.significance import LEVEL, METHOD_NONE, METHOD_ONE, reach
from plexlens.metrics.display import NULL, percent
from plexlens.metrics.unit import PER_SECOND
from plexlens.report.model import Block, Column, ColumnKind, Figure, KeyFigures, Level, Note, Report, Section, Table
from plexlens.report.writers.json_object import to_json


def prediction_report(made: PredictionComparison) -> Report:
    """The report of a prediction and its outcome."""
    return Report(
        title=f"{made.name} against {made.came.run.name}",
        systems=(),
        sysplexes=(),
        start=None,
        end=None,
        utc_offset=None,
        time_note="",
        alerts=(*_made(made), *comparability_alerts(made.comparability)),
        sections=tuple(
            section for section in (
                _short(made), _settings(made), comparability_section(made.comparability),
                _rates("reads", "Read I/Os", "getpages", made.reads, made),
                _rates("writes", "Write I/Os", "buffer updates", made.writes, made),
                _data_sets(made), _method(made),
            ) if section.blocks
        ),
        generator=f"Plexlens {__version__}",
        kind="Prediction check",
        subject=f"Predicted from {', '.join(made.prediction.sources) or 'a trace'}. Came: {made.came.run.description}.",
    )  # fmt: skip


def prediction_json(made: PredictionComparison) -> dict[str, Any]:
    """The check as plain values; rates per second."""
    return {
        "prediction": made.name,
        "came": {"name": made.came.run.name, "description": made.came.run.description, "how": made.came.how},
        "change_made": made.made,
        "comparable": made.comparability.comparable if made.comparability.tested else None,
        "verdict": made.comparability.verdict,
        "checks": [check_json(check) for check in made.comparability.checks],
        "reads": [_rate_json(read) for read in made.reads],
        "writes": [_rate_json(write) for write in made.writes],
        "data_sets": [_rate_json(data_set) for data_set in made.data_sets],
        "total": _totals_json(totals(made.reads)),
        "engine": {"name": made.prediction.engine.name, "error": made.prediction.engine.error},
        **to_json(prediction_report(made)),
    }


def _totals_json(sums: CheckTotals) -> dict[str, float | None]:
    return {
        "predicted": sums.predicted, "actual": sums.actual, "load": sums.load, "rest": sums.rest,
        "error": sums.error,
    }  # fmt: skip


def _rate_json(check: RateCheck) -> dict[str, Any]:
    return {
        "object": check.thing, "base": check.base, "predicted": check.predicted, "actual": check.actual,
        "difference": check.difference, "work_base": check.work_base, "work_new": check.work_new,
        "rescaled": check.rescaled, "load": check.load, "rest": check.rest, "error": check.error,
    }  # fmt: skip


def _made(made: PredictionComparison) -> tuple[Note, ...]:
    if made.made:
        return ()
    return (
        Note(
            "The pools differ from those of the prediction, so the measurement cannot confirm or refute it.",
            Level.WARNING,
            tuple(
                f"{difference.subject}: predicted for {difference.base}, has {difference.new}"
                for difference in made.environments.differences
            ),
        ),
    )


def _short(made: PredictionComparison) -> Section:
    sums = totals(made.reads)
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
        (KeyFigures("headlines", figures), Note(_told(made, sums)), Note(made.came.how)),
        "Predicted and measured read I/O of all pools, and the part of the difference that the load explains.",
    )


def _told(made: PredictionComparison, sums: CheckTotals) -> str:
    before = sum(read.base or 0.0 for read in made.reads)
    difference = sums.actual - sums.predicted
    text = (
        f"Before the change the pools read {before:,.2f} I/Os per second; {sums.predicted:,.2f} were predicted, and "
        f"{sums.actual:,.2f} were measured. Of the difference of {difference:+,.2f}, getpages explain "
        f"{sums.load:+,.2f}: the prediction for the measured getpages is {sums.predicted + sums.load:,.2f}. "
        f"{sums.rest:+,.2f} is left"
    )
    text += "." if sums.error is None else f", an error of {percent(sums.error, signed=True)}."
    engine = made.prediction.engine
    if engine.error is not None:
        text += f" The error of the method was {percent(engine.error, signed=True)} when the prediction was made."
    return text


def _settings(made: PredictionComparison) -> Section:
    if made.made and not made.environments.alike:
        return Section("environment", "Pools as predicted for", (Note("The data does not hold the sizes of pools."),))
    if made.made:
        told = f"All {made.environments.alike:,} pools whose size is recorded have the size predicted for."
        return Section("environment", "Pools as predicted for", (Note(told),))
    return environment_section(made.environments)


def _rates(name: str, title: str, work: str, checks: Sequence[RateCheck], made: PredictionComparison) -> Section:
    if not checks:
        return Section(name, title, ())
    blocks: list[Block] = [prediction_table(checks, "1/s", name)]
    if name == "reads":
        blocks += [Note(prediction_told(check)) for check in sorted(checks, key=lambda check: -abs(check.rest))[:3]]
        blocks += _intervals(checks, made)
    return Section(
        name,
        f"{title}, predicted and come",
        tuple(blocks),
        f"Each pool by itself. The load is its {work} a second.",
    )


def _intervals(checks: Sequence[RateCheck], made: PredictionComparison) -> list[Block]:
    """The prediction rescaled to the measured load, compared with the confidence interval of the measurement."""
    if not made.estimates:
        return [Note(METHOD_NONE)]
    rows = []
    for check in checks:
        spread = made.estimates.get(check.thing)
        if spread is None:
            continue
        half = reach(spread.freedom) * spread.error
        inside = check.actual - half <= check.rescaled <= check.actual + half
        rows.append(
            (check.thing, f"{check.actual:,.2f} /s", f"{check.actual - half:,.2f} to {check.actual + half:,.2f} /s",
             f"{check.rescaled:,.2f} /s", "within" if inside else "outside")
        )  # fmt: skip
    heads = ("Object", "Measured", f"{percent(LEVEL, 0)} interval", "Predicted for the measured load", "Result")
    columns = tuple(Column(f"c{number}", head, ColumnKind.TEXT, key=number == 0) for number, head in enumerate(heads))
    table = Table("intervals", "Whether chance can explain the rest", columns, tuple(rows), top=TOP, note=METHOD_ONE)
    return [table] if rows else [Note(METHOD_NONE)]


def _data_sets(made: PredictionComparison) -> Section:
    if not made.data_sets:
        return Section("data_sets", "Data sets", ())
    return Section(
        "data_sets",
        "Read I/Os by data set",
        (prediction_table(made.data_sets, "1/s", "data_sets"),),
        "Each data set by itself, the largest difference first; the load is its getpages per second.",
    )


def _method(made: PredictionComparison) -> Section:
    engine, bounds = made.prediction.engine, made.comparability.bounds
    error = NULL if engine.error is None else percent(engine.error, signed=True)
    return Section(
        "method",
        "Method",
        (
            Note(
                "A prediction holds for the work it was made from. Where a pool's work changed, the prediction is "
                "multiplied by new over old work, pool by pool; the change this makes is the load's part of the "
                "difference, and what remains is the prediction's error together with all that it did not know."
            ),
            Note(f"The prediction was made by: {engine.text or engine.name}; error of the method {error}."),
            Note(
                f"Bounds of comparability: rates within {percent(bounds.rate, 0)}, at most {percent(bounds.mix, 0)} of "
                f"the work moved, at most {percent(bounds.objects, 0)} by objects that only one side has."
            ),
            *(Note(f"Of the prediction: {text}") for text in made.prediction.notes),
            *(Note(f"Measurement: {text}") for text in made.came.run.notes),
        ),
    )
