"""Definitions of the numbers that a page computes itself."""

from __future__ import annotations

from plexlens.metrics.page_numbers import Page
from plexlens.report.model.report import Definition


def definitions_of(page: Page) -> dict[str, Definition]:
    """The definition of each number of a page by its id."""
    return {
        number.id: Definition(
            number.id, page.title, page.row, number.title, number.unit, number.words, number.source, number.caveat
        )
        for number in page.numbers.values()
    }
