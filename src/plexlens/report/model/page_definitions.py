"""Definitions of the numbers that a page shows: columns of a grain, and those that the page computes itself."""

from __future__ import annotations

from plexlens.metrics.definition import Fact, Grain
from plexlens.metrics.page_numbers import Page
from plexlens.report.model.report import Definition

#: How facts are combined, in words.
_RULES = {
    "sum": "added",
    "max": "largest",
    "min": "smallest",
    "mean": "mean, weighted by time",
    "latest": "the latest value",
    "covered once": "time covered by any of them",
    "the same, else null": "the common value, or no value if they differ",
}


def definition_of(grain: Grain, name: str) -> Definition:
    """The definition of a fact or metric of a grain; the KeyError lists the valid names."""
    column = grain.column(name)
    if isinstance(column, Fact):
        across, over = _RULES[column.rollup.across], _RULES[column.rollup.over]
        text, rollup, caveat = "", f"across entities: {across}; over time: {over}", ""
    else:
        text, rollup, caveat = column.words, "", column.caveat
    return Definition(
        f"{grain.name}.{name}", grain.title, grain.row, column.title, column.unit, text, column.source, caveat, rollup
    )


def definitions_of(page: Page) -> dict[str, Definition]:
    """The definition of each number of a page by its id."""
    return {
        number.id: Definition(
            number.id, page.title, page.row, number.title, number.unit, number.words, number.source, number.caveat
        )
        for number in page.numbers.values()
    }
