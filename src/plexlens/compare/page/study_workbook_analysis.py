"""Results of studies as sheets of their workbook: findings, curves, checks and claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plexlens.compare.analysis.analysis import Analysis
from plexlens.compare.analysis.curves import CapacityCurve
from plexlens.compare.analysis.sentences import check_sentence, law_sentence, load_sentence
from plexlens.report.writers.workbook import Value, Workbook


def write_analyses(
    book: Workbook, names: Sequence[str], analyses: Sequence[Analysis], colours: Mapping[str, Any]
) -> None:
    """Add the sheets; an empty sheet has only its headings.

    Parameters
    ----------
    book
        Where to add them.
    names, analyses
        Name of each study and what is declared about it.
    colours
        Formats by result of a comparison (``agrees``, ``DISAGREES``, ``not computed``).
    """
    pairs = list(zip(names, analyses, strict=True))
    book.rows(
        book.sheet("Findings")[0],
        (("Study", 14), ("Finding", 120), ("Arithmetic", 120)),
        ((name, finding.text, "; ".join(finding.worked)) for name, analysis in pairs for finding in analysis.findings),
    )
    book.rows(
        book.sheet("Curves")[0],
        (
            ("Study", 14), ("Curve", 26), ("Point", 22), ("x", 14), ("Measured", 14), ("By the law", 14),
            ("Interval from", 14), ("to", 14), ("Unit of y", 14), ("Statement", 120),
        ),
        (row for name, analysis in pairs for curve in analysis.curves for row in _curve(name, curve)),
    )  # fmt: skip
    book.rows(
        book.sheet("Checks")[0],
        (
            ("Study", 14), ("Check", 20), ("Of what", 50), ("Model", 30), ("Fitted to", 50), ("Predicted", 12),
            ("Printed", 12), ("Error, %", 10), ("Interval from", 14), ("to", 12), ("Unit", 12), ("Result", 100),
        ),
        (
            (
                name, check.id, prediction.label, prediction.model, prediction.inputs, prediction.predicted,
                prediction.printed, 100 * prediction.error, prediction.low,
                prediction.high, check.unit, check_sentence(check),
            )
            for name, analysis in pairs
            for check in analysis.checks
            for prediction in check.predictions
        ),
    )  # fmt: skip
    claims = [(name, claim) for name, analysis in pairs for claim in analysis.claims]
    sheet, _ = book.sheet("Claims")
    results = [
        "not computed" if claim.computed is None else "agrees" if claim.agrees else "DISAGREES" for _, claim in claims
    ]
    book.rows(
        sheet,
        (
            ("Study", 14), ("The text says", 80), ("Where", 40), ("Relation", 9), ("Printed", 12), ("Tables give", 14),
            ("Low", 14), ("High", 14), ("Unit", 12), ("Result", 14), ("Arithmetic", 80), ("Note", 80),
        ),
        (
            (
                name, claim.text, claim.place, claim.relation, claim.text_number,
                *((None,) * 3 if claim.computed is None else
                  (float(claim.computed.value), float(claim.computed.low), float(claim.computed.high))),
                claim.unit, result, claim.arithmetic, claim.note,
            )
            for (name, claim), result in zip(claims, results, strict=True)
        ),
    )  # fmt: skip
    for row, result in enumerate(results, 1):
        sheet.write_string(row, 9, result, colours[result])


def _curve(name: str, curve: Any) -> Iterable[tuple[Value, ...]]:
    if isinstance(curve, CapacityCurve):
        sentence = law_sentence(curve)
        law = curve.law
        for label, n, value in zip(curve.labels, law.processors, law.throughput, strict=True):
            yield name, curve.id, label, n, value, law.at(n), None, None, curve.y_unit, sentence
        for n, value, interval in curve.predicted:
            low, high = interval or (None, None)
            yield name, curve.id, "predicted", n, None, value, low, high, curve.y_unit, sentence
        return
    sentence = load_sentence(curve)
    for label, x, y in curve.points:
        yield name, curve.id, label, x, y, None, None, None, curve.y_unit, sentence
