"""Leave-out checks: a model fitted to part of a study predicts the rest; its error is stated, and nothing is tuned.

Which rows are fitted and with what terms is declared before the fit and does not depend on what comes out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from plexlens.compare.analysis.entries import Entry
from plexlens.compare.numbers.line import interval_at
from plexlens.compare.numbers.quantity import shown
from plexlens.compare.numbers.scalability import LEVEL, PARAMETERS, Scalability, fit_scalability


@dataclass(frozen=True)
class Prediction:
    """A predicted number and the printed number.

    Attributes
    ----------
    label
        What it is of.
    model
        Method of the prediction, if a check compares several methods; empty otherwise.
    inputs
        What the prediction was made from.
    predicted, printed
        Unit of the check.
    low, high
        Interval of the prediction; None where none can be estimated.
    """

    label: str
    model: str
    inputs: str
    predicted: float
    printed: float
    low: float | None = None
    high: float | None = None

    @property
    def error(self) -> float:
        """Predicted over printed, minus 1."""
        return self.predicted / self.printed - 1


@dataclass(frozen=True)
class LeaveOut:
    """A check.

    Attributes
    ----------
    method
        What was fitted to what, and how the rest follows.
    predictions
        At least one. The error of the check is over those of its first model.
    """

    id: str
    title: str
    method: str
    unit: str
    predictions: tuple[Prediction, ...]
    note: str

    @property
    def counted(self) -> list[Prediction]:
        """The predictions of the first model."""
        return [prediction for prediction in self.predictions if prediction.model == self.predictions[0].model]

    @property
    def mean_error(self) -> float:
        """Mean of the absolute errors, as a fraction."""
        return math.fsum(abs(prediction.error) for prediction in self.counted) / len(self.counted)

    @property
    def worst(self) -> Prediction:
        """The prediction with the largest error."""
        return max(self.counted, key=lambda prediction: abs(prediction.error))

    def results(self) -> dict[str, float | None]:
        """Numbers that findings may refer to."""
        return {
            "predictions": float(len(self.counted)),
            "mean_error_percent": 100 * self.mean_error,
            "worst_error_percent": 100 * abs(self.worst.error),
            "signed_error_percent": 100 * self.worst.error,
            "predicted": self.worst.predicted,
            "printed": self.worst.printed,
        }


def read_check(entry: Entry) -> LeaveOut:
    """A check from its ``[[checks]]`` entry."""
    kind = entry.one_of("kind", tuple(_KINDS))
    method, predictions = _KINDS[kind](entry)
    if not predictions:
        raise entry.wrong("kind", "nothing is predicted", "leave rows for the prediction")
    return LeaveOut(
        entry.text("id"), entry.text("title"), method, entry.text("unit"), tuple(predictions), entry.text("note", "")
    )


_OF_ALL = ("id", "kind", "title", "unit", "note")


def _capacity(entry: Entry) -> tuple[str, list[Prediction]]:
    entry.only(*_OF_ALL, "table", "rows", "but", "label", "x", "y", "fit")
    table = entry.table()
    rows = entry.rows(table)
    fit = int(entry.number("fit"))
    x, y = entry.sums("x", table, rows), entry.sums("y", table, rows)
    label = entry.text("label", table.columns[0])
    entry.numbers.column(table, label, entry.where, printed=True)
    laws = [fit_scalability(x[:fit], y[:fit])]
    if laws[0].terms != PARAMETERS and len(set(x[:fit])) >= len(PARAMETERS):
        laws.append(fit_scalability(x[:fit], y[:fit], PARAMETERS))
    inputs = "; ".join(f"{n:g} processors {value:,.2f}" for n, value in zip(x[:fit], y[:fit], strict=True))
    predictions = []
    for law in laws:
        for number, processors, value in zip(rows[fit:], x[fit:], y[fit:], strict=True):
            low, high = law.interval(processors) or (None, None)
            name = f"{processors:g} processors ({table.rows[number][label]})"
            predictions.append(Prediction(name, law_text(law), inputs, law.at(processors), value, low, high))
    method = (
        f"Scalability law fitted to the first {fit} points of {entry.text('y')}. The number of points limits the "
        "terms, so that at least one degree of freedom is left"
    )
    if len(laws) > 1:
        method += "; the law with every term, which leaves no degree of freedom, is shown next to it"
    return method + ".", predictions


def law_text(law: Scalability) -> str:
    """The terms of a law in words."""
    if law.terms == PARAMETERS[:2]:
        return "serial term only (Amdahl)"
    return "serial and coherency terms" + (f" ({', '.join(law.at_bound)} held at 0)" if law.at_bound else "")


def _lines(entry: Entry) -> tuple[str, list[Prediction]]:
    entry.only(*_OF_ALL)
    predictions = []
    for table in entry.numbers.audit.tables:
        for fitted in table.lines:
            rates = fitted.fitted_rates
            # What the rows cost in a second: the line through all of them, and how far each is off it.
            costs = [fitted.line.at(rate) + off for rate, off in zip(rates, fitted.line.residuals, strict=False)]
            for rate, measured, predicted in fitted.predicted:
                low, high = interval_at(rates, costs, rate, LEVEL) or (None, None)
                predictions.append(
                    Prediction(
                        f"{table.table.id} ({table.table.title}), {rate:,.2f} transactions per second",
                        "",
                        f"{' + '.join(fitted.columns)} at {', '.join(f'{rate:,.2f}' for rate in rates)}/s",
                        predicted,
                        measured,
                        None if low is None else low / rate,
                        None if high is None else high / rate,
                    )
                )
    return (
        "In each table a least squares line, processor time per second = fixed + per transaction x rate, through the "
        "rows before the last two (three, where five were measured) gives the cost per transaction of the last two. "
        f"The interval holds {LEVEL:.0%} of further measurements by Student's t; with three rows one degree of freedom "
        "is left, with two none.",
        predictions,
    )


def _scaled(entry: Entry) -> tuple[str, list[Prediction]]:
    entry.only(*_OF_ALL, "table", "fit_table", "label", "per", "scale", "printed")
    table, fitted = entry.table(), entry.table("fit_table")
    numbers = entry.numbers
    heads = entry.texts("label")
    per, scale, printed = (entry.text(key) for key in ("per", "scale", "printed"))
    for head in heads:
        numbers.column(table, head, entry.where, printed=True)
        numbers.column(fitted, head, entry.where, printed=True)
    numbers.column(fitted, per, f"{entry.where}, key 'per'")
    numbers.column(table, scale, f"{entry.where}, key 'scale'")
    predictions = []
    for number, row in enumerate(table.rows):
        same = [
            at
            for at, candidate_row in enumerate(fitted.rows)
            if all(candidate_row[head] == row[head] for head in heads)
        ]
        if len(same) != 1:
            raise entry.wrong(
                "label",
                f"{len(same)} rows of {fitted.id!r} match row {number + 1} of {table.id!r}",
                "name more columns",
            )
        cost, rate = numbers.cell(fitted, same[0], per), numbers.cell(table, number, scale)
        quantity = numbers.cell(table, number, printed)
        if cost is None or rate is None or quantity is None:
            raise entry.wrong("printed", f"row {number + 1} of {table.id!r} lacks a number", "leave the row out")
        product = cost * rate
        predictions.append(
            Prediction(
                " ".join(row[head] for head in heads),
                "",
                f"{shown(cost.value, 4)} x {shown(rate.value, 4)}",
                float(product.value),
                float(quantity.value),
                float(product.low),
                float(product.high),
            )
        )
    return (
        f"{per} of {fitted.id} times {scale} of {table.id} gives {printed} of {table.id}. The interval "
        "covers rounding of the printed inputs, not differences between the systems.",
        predictions,
    )


def _values(entry: Entry) -> tuple[str, list[Prediction]]:
    entry.only(*_OF_ALL, "method", "cases")
    predictions = []
    for case in entry.entries("cases"):
        case.only("label", "model", "predicted", "printed")
        where = case.where
        value = entry.numbers.value(case.content.get("predicted"), f"{where}, key 'predicted'")
        printed = entry.numbers.value(case.content.get("printed"), f"{where}, key 'printed'")
        predictions.append(
            Prediction(
                case.text("label"),
                case.text("model", ""),
                value.worked,
                float(value.quantity.value),
                float(printed.quantity.value),
                float(value.quantity.low),
                float(value.quantity.high),
            )
        )
    return entry.text("method"), predictions


_KINDS = {"capacity": _capacity, "lines": _lines, "scaled": _scaled, "values": _values}
