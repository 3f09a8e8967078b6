"""Numbers of a run that do not depend on how long it was or how much it did."""

from __future__ import annotations

from plexlens.compare.formulas.formula import Formula
from plexlens.compare.quantity import exact

FORMULAS = (
    Formula(
        "per_thousand",
        "For a thousand",
        "",
        "part / whole x 1000",
        "Db2 buffer pool tuning, 2014: I/O rate as the measure, against the getpage rate",
        ("part", "whole"),
        (),
        lambda part, whole: part / whole * exact(1000),
        "{part} / {whole} x 1000",
    ),
)
