"""Definitions of the numbers that a page computes itself."""

from __future__ import annotations

from plexlens.metrics.page_numbers import Page
from plexlens.report.model.report import Definition


def definitions_of(page: Page) -> dict[str, Definition]:
    """The definition of each number of a page by its id."""
    return {
        one.id: Definition(one.id, page.title, page.row, one.title, one.unit, one.words, one.source, one.caveat)
        for one in page.numbers.values()
    }
