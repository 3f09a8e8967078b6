"""The largest and the smallest of several numbers."""

from __future__ import annotations

from plexlens.compare.formulas.formula import Formula
from plexlens.compare.quantity import Quantity


def _needed(values: list[Quantity]) -> list[Quantity]:
    if not values:
        raise ValueError("no number is given")
    return values


FORMULAS = (
    Formula(
        "largest",
        "Largest",
        "",
        "the largest of values",
        "plain arithmetic",
        (),
        ("values",),
        lambda values: Quantity(
            *(max(getattr(one, end) for one in _needed(values)) for end in ("value", "low", "high"))
        ),
        "largest of {values}",
    ),
    Formula(
        "smallest",
        "Smallest",
        "",
        "the smallest of values",
        "plain arithmetic",
        (),
        ("values",),
        lambda values: Quantity(
            *(min(getattr(one, end) for one in _needed(values)) for end in ("value", "low", "high"))
        ),
        "smallest of {values}",
    ),
)
