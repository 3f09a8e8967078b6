"""Results of a study as sections of its page: findings, figures, curves, leave-out checks, and claims of its text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from plexlens.compare.analysis.analysis import Analysis
from plexlens.compare.analysis.claims import RELATIONS, Claim, Finding
from plexlens.compare.analysis.curves import CapacityCurve, Curve, LoadCurve
from plexlens.compare.analysis.figures import BarFigure, CurveFigure, Figure
from plexlens.compare.analysis.leave_out import LeaveOut
from plexlens.compare.analysis.sentences import check_sentence, law_sentence, load_sentence
from plexlens.compare.numbers.quantity import shown
from plexlens.compare.numbers.scalability import LEVEL
from plexlens.metrics.unit import Unit
from plexlens.report.model import Block, Cell, Column, ColumnKind, Definition, Level, Linked, Note, Section, Table
from plexlens.report.model.xy import MOST_SERIES, XYChart, XYMark, XYSeries, XYStyle

_PERCENT = Unit("%", "%", 1.0, 1)

#: Numbers that span more than this factor have a logarithmic axis, as those of a knee have a logarithmic scale.
SPREAD = 10

#: Points at most at which a fitted law is drawn.
_STEPS = 64

DEFINITIONS = {
    definition.id: definition
    for definition in (
        Definition(
            "study.scalability", "Study", "a capacity curve", "Scalability law", Unit("", ""),
            "X(N) = one * N / (1 + serial * (N - 1) + coherency * N * (N - 1)), by least squares of relative "
            "residuals, terms not below zero; the coherency term is fitted to four points or more",
            "N. J. Gunther, Guerrilla Capacity Planning, 2007, chapter 4",
            "The interval is by the delta method on the logarithm of throughput with Student's t. A term held at zero "
            "counts as known, so the interval is too narrow if the law does not apply.",
        ),
        Definition(
            "study.knee", "Study", "a curve over load or size", "Knee", Unit("", ""),
            "the measured point furthest from the straight line between first and last point, both axes scaled to the "
            "range covered; a quantity that spans more than a factor of ten is scaled by its logarithm; there is no "
            "knee if the quantity spans less than a factor of two or stays within a tenth of the line",
            "V. Satop\u00e4\u00e4 and others, Finding a Kneedle in a Haystack, 2011, without smoothing",
        ),
        Definition(
            "study.goal", "Study", "a curve over load or size", "Smallest configuration for a goal", Unit("", ""),
            "the smallest measured size at which, and above which, y is at or below the goal",
            "plain comparison of measured points",
            "The crossing between the last point that fails and the first that meets the goal is interpolated, linear "
            "in size and in the logarithm of y. It is an estimate.",
        ),
        Definition(
            "study.leave_out", "Study", "a prediction", "Error of a prediction", Unit("%", "%", 1.0, 1),
            "predicted / printed - 1, in percent",
            "fitted to part of the study and never tuned to the rest",
        ),
        Definition(
            "study.figure", "Study", "a point or bar of a figure", "Figure of the study", Unit("", ""),
            "as printed in the tables that it is drawn from, or computed from them",
            "the tables of the study, below",
        ),
    )
}  # fmt: skip
"""Methods behind the numbers of these sections."""


def _finding(finding: Finding, places: Mapping[str, str]) -> str:
    """A finding with links to its tables."""
    return Linked(finding.text, [(table, places[table]) for table in finding.tables if table in places])


def analysis_sections(analysis: Analysis, prefix: str, places: Mapping[str, str]) -> list[Section]:
    """The available sections, in the usual reading order.

    Parameters
    ----------
    analysis
        What is declared about a study, worked out.
    prefix
        Name of the study, before the names of sections, tables and charts.
    places
        Ids of the sections of its tables.
    """
    sections = []
    if analysis.findings:
        blocks: list[Block] = [
            Note("Findings from the tables", details=tuple(_finding(finding, places) for finding in analysis.findings))
        ]
        sections.append(
            Section(
                f"{prefix}-findings",
                "Findings",
                tuple(blocks),
                "Each number in these sentences is computed from the tables below.",
            )
        )
    if analysis.figures:
        blocks = [_figure(figure, prefix) for figure in analysis.figures]
        sections.append(Section(f"{prefix}-figures", "Figures", tuple(blocks), "Drawn from the tables below."))
    if analysis.curves:
        charts, texts, tables = zip(*(_curve(curve, prefix) for curve in analysis.curves), strict=True)
        blocks = [*charts, Note("Curves", details=tuple(texts)), *tables]
        sections.append(Section(f"{prefix}-curves", "Curves", tuple(blocks)))
    if analysis.checks:
        blocks = [block for check in analysis.checks for block in _check(check, prefix)]
        lead = "A model fitted to part of the study predicts the rest; the errors are shown."
        sections.append(Section(f"{prefix}-checks", "Leave-out checks", tuple(blocks), lead))
    if analysis.claims:
        sections.append(_claims(analysis.claims, prefix))
    return sections


def _text_column(name: str, title: str, *, key: bool = False) -> Column:
    return Column(name, title, ColumnKind.TEXT, key=key)


def _number_column(name: str, title: str, unit: Unit, definition: str = "", *, bar: bool = False) -> Column:
    return Column(name, title, ColumnKind.NUMBER, unit, definition, bar=bar)


def _unit(symbol: str, numbers: Sequence[float | None]) -> Unit:
    """A unit with enough decimals to show four digits of the largest number; none for integers."""
    there = [number for number in numbers if number is not None]
    if all(value == round(value) for value in there):
        return Unit(symbol, symbol or "count", 1.0, 0)
    largest = max((abs(value) for value in there), default=0.0)
    digits = 0 if largest >= 1000 else 1 if largest >= 100 else 2 if largest >= 10 else 3
    return Unit(symbol, symbol or "count", 1.0, digits)


def _figure(figure: Figure, prefix: str) -> Block:
    if isinstance(figure, CurveFigure):
        points = [point for series in figure.series for point in series.points]
        return XYChart(
            f"{prefix}-{figure.id}",
            figure.title,
            figure.x_title,
            figure.y_title,
            tuple(XYSeries(line.name, line.points, XYStyle.BOTH) for line in figure.series),
            x_unit=_unit(figure.x_unit, [x for x, _ in points]),
            y_unit=_unit(figure.y_unit, [y for _, y in points]),
            definition="study.figure",
            log_x=figure.log_x,
            note=figure.note,
        )
    return _bars(figure, prefix)


def _bars(figure: BarFigure, prefix: str) -> Table:
    together = [sum(value for value in values if value is not None) for _, values in figure.bars]
    columns = [_text_column("name", "", key=True)]
    if figure.stacked:
        unit = _unit(figure.unit, together)
        names = tuple(f"part{number + 1}" for number in range(len(figure.parts)))
        columns.append(
            Column("total", "Together", ColumnKind.NUMBER, unit, "study.figure", bar=True, stack=names[:MOST_SERIES])
        )
    columns += [
        _number_column(
            f"part{number + 1}",
            part,
            _unit(figure.unit, together if figure.stacked else [values[number] for _, values in figure.bars]),
            "study.figure",
            bar=not figure.stacked,
        )
        for number, part in enumerate(figure.parts)
    ]
    rows: list[tuple[Cell, ...]] = []
    for (name, values), total in zip(figure.bars, together, strict=True):
        rows.append((name, *((total,) if figure.stacked else ()), *values))
    return Table(
        f"{prefix}-{figure.id}", figure.title, tuple(columns), tuple(rows), top=len(rows), note=figure.note
    )  # fmt: skip


def _curve(curve: Curve, prefix: str) -> tuple[XYChart, str, Table]:
    """Chart, conclusion and points of a curve."""
    return _capacity(curve, prefix) if isinstance(curve, CapacityCurve) else _load(curve, prefix)


def _capacity(curve: CapacityCurve, prefix: str) -> tuple[XYChart, str, Table]:
    law = curve.law
    unit = _unit(curve.y_unit, law.throughput)
    end = max([*law.processors, *(pair[0] for pair in curve.predicted)])
    step = max(1, math.ceil(end / _STEPS))
    grid = sorted({float(n) for n in range(1, math.floor(end) + 1, step)} | {*law.processors, end})
    band = tuple((n, *interval) for n in grid if (interval := law.interval(n)) is not None)
    measured = tuple(sorted(zip(law.processors, law.throughput, strict=True)))
    chart = XYChart(
        f"{prefix}-{curve.id}",
        curve.title,
        curve.x_title,
        curve.y_title,
        (
            XYSeries("measured", measured, XYStyle.POINTS),
            XYSeries("scalability law", tuple((n, law.at(n)) for n in grid), XYStyle.LINE, band),
            XYSeries("in proportion to processors", tuple((n, law.one * n) for n in grid)),
        ),
        marks=(XYMark(max(law.processors), "last measured"),) if end > max(law.processors) else (),
        y_unit=unit,
        definition="study.scalability",
        note=(f"The band holds {LEVEL:.0%} of further measurements if the law holds. " if band else "") + curve.note,
    )
    rows: list[tuple[Cell, ...]] = [
        (label, n, value, law.at(n), round(100 * residual, 9) + 0.0, None, None)
        for label, n, value, residual in zip(
            curve.labels, law.processors, law.throughput, law.residuals, strict=True
        )
    ]  # fmt: skip
    for n, value, interval in curve.predicted:
        low, high = interval or (None, None)
        rows.append(("predicted", n, None, value, None, low, high))
    columns = (
        _text_column("label", "Point", key=True),
        _number_column("processors", curve.x_title, Unit("", "processors", 1.0, 0)),
        _number_column("measured", f"{curve.y_title}, measured", unit),
        _number_column("law", "By the law", unit, "study.scalability"),
        _number_column("residual", "Measured / law", _PERCENT, "study.scalability"),
        _number_column("low", f"{LEVEL:.0%} interval from", unit, "study.scalability"),
        _number_column("high", "to", unit, "study.scalability"),
    )
    table = Table(f"{prefix}-{curve.id}-points", curve.title, columns, tuple(rows), top=len(rows), folded=True)
    return chart, law_sentence(curve), table


def _spread(values: Sequence[float]) -> bool:
    """Whether the range of the numbers is so wide that a linear axis would squeeze most of them together and hide a
    knee.
    """
    return min(values) > 0 and max(values) > SPREAD * min(values)


def _load(curve: LoadCurve, prefix: str) -> tuple[XYChart, str, Table]:
    xs, ys = [x for _, x, _ in curve.points], [y for _, _, y in curve.points]
    x_unit, y_unit = _unit(curve.x_unit, xs), _unit(curve.y_unit, ys)
    marks = []
    if curve.knee is not None:
        marks.append(XYMark(curve.knee.x, "knee", strong=True))
    met = curve.met
    if met is not None and met.place is not None and (curve.knee is None or xs[met.place] != curve.knee.x):
        marks.append(XYMark(xs[met.place], "smallest that meets the goal"))
    series = [XYSeries(curve.y_title.lower(), tuple(zip(xs, ys, strict=True)), XYStyle.BOTH)]
    if curve.goal is not None:
        series.append(XYSeries("goal", ((xs[0], curve.goal), (xs[-1], curve.goal))))
    chart = XYChart(
        f"{prefix}-{curve.id}", curve.title, curve.x_title, curve.y_title, tuple(series), tuple(marks),
        x_unit=x_unit, y_unit=y_unit, definition="study.knee", log_x=_spread(xs), log_y=_spread(ys), note=curve.note,
    )  # fmt: skip
    columns = (
        _text_column("label", "Point", key=True),
        _number_column("x", curve.x_title, x_unit, "study.figure"),
        _number_column("y", curve.y_title, y_unit, "study.figure"),
        _text_column("what", "Remark"),
    )
    rows: list[tuple[Cell, ...]] = []
    for place, (label, x, y) in enumerate(curve.points):
        what = ["knee"] if curve.knee is not None and curve.knee.place == place else []
        if met is not None:
            what += ["smallest that meets the goal"] if met.place == place else []
            what += ["fails the goal"] if curve.goal is not None and y > curve.goal else []
        rows.append((label, x, y, "; ".join(what)))
    table = Table(f"{prefix}-{curve.id}-points", curve.title, columns, tuple(rows), top=len(rows), folded=True)
    return chart, load_sentence(curve), table


def _check(check: LeaveOut, prefix: str) -> list[Block]:
    numbers = [value for prediction in check.predictions for value in (prediction.predicted, prediction.printed)]
    unit = _unit(check.unit, numbers)
    several = len({prediction.model for prediction in check.predictions}) > 1
    columns = [_text_column("label", "Of what", key=True)]
    if several:
        columns.append(_text_column("model", "Model", key=True))
    columns += [
        _text_column("inputs", "Fitted to"),
        _number_column("predicted", "Predicted", unit, "study.leave_out"),
        _number_column("printed", "Printed", unit, "study.figure"),
        _number_column("error", "Error", _PERCENT, "study.leave_out"),
    ]
    bounds = any(prediction.low is not None for prediction in check.predictions)
    if bounds:
        columns += [
            _number_column("low", "Interval from", unit, "study.leave_out"),
            _number_column("high", "to", unit, "study.leave_out"),
        ]
    rows: list[tuple[Cell, ...]] = [
        (
            prediction.label, *((prediction.model,) if several else ()), prediction.inputs, prediction.predicted,
            prediction.printed, 100 * prediction.error,
            *((prediction.low, prediction.high) if bounds else ()),
        )
        for prediction in check.predictions
    ]  # fmt: skip
    table = Table(
        f"{prefix}-{check.id}", check.title, tuple(columns), tuple(rows), top=len(rows),
        note=" ".join(part for part in (check.method, check.note) if part),
    )  # fmt: skip
    return [Note(check_sentence(check)), table]


def _claims(claims: Sequence[Claim], prefix: str) -> Section:
    wrong = [claim for claim in claims if not claim.agrees]
    columns = (
        _text_column("text", "The text says", key=True), _text_column("place", "Where"),
        _text_column("printed", "Printed"), _text_column("computed", "Tables give"), _text_column("unit", "Unit"),
        _text_column("arithmetic", "Arithmetic"), _text_column("result", "Result"),
    )  # fmt: skip
    rows = tuple(
        (
            claim.text, claim.place, f"{'' if claim.relation == '=' else claim.relation + ' '}{claim.text_number}",
            "" if claim.computed is None else shown(claim.computed.value, 4), claim.unit, claim.arithmetic,
            "agrees" if claim.agrees else "not computed" if claim.computed is None else "DISAGREES",
        )
        for claim in claims
    )  # fmt: skip
    notes: list[Block] = [
        Note(
            f"{claim.text.rstrip('.')}: the text prints {claim.text_number} {claim.unit}, and the tables give "
            f"{'no number' if claim.computed is None else shown(claim.computed.value, 4)}.",
            Level.WARNING,
            tuple(part for part in (claim.arithmetic, claim.note) if part),
        )
        for claim in wrong
    ]
    relations = ", and ".join(
        f"\u201c{sign}\u201d says that the tables' number {words} the printed one"
        for sign, words in RELATIONS.items()
        if sign != "="
    )
    return Section(
        f"{prefix}-claims",
        "The text compared with the tables",
        (*notes, Table(f"{prefix}-claims-table", "Claims", columns, rows, top=len(rows))),
        f"Of {len(claims)} numbers in the text of the study, {len(claims) - len(wrong)} follow from its tables and "
        f"{len(wrong)} do not. The tables must give the printed number, within rounding; {relations}.",
    )
