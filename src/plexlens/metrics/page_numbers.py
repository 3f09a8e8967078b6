"""Numbers computed by a page from the results of a model or of several grains: ``pages/*.toml`` of the catalogue.

Each has title, unit, source, and a formula over names that the file gives words and units. What a program works out
that no formula says has words instead. The `source` of the file is that of numbers without their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from plexlens.catalogue_path import catalogue_path
from plexlens.expression import Expression, ExpressionError, Scope, check_metric, names_of, parse, value, words_of
from plexlens.metrics.catalogue.document import Document, read_document
from plexlens.metrics.catalogue.index import PAGES
from plexlens.metrics.catalogue.table import Entry, Table
from plexlens.metrics.unit import UNITS, Unit

_KEYS = ("title", "unit", "formula", "words", "source", "caveat")


@dataclass(frozen=True)
class PageNumber:
    """A number of a page.

    Parameters
    ----------
    id
        Of its definition: page and name.
    title, unit
        What a page calls it, and the unit it is shown in.
    expression
        How it is worked out; None where a program does.
    words
        That in words and symbols; empty for what is stated.
    source, caveat
        Where it is defined, and what is to be known.
    """

    id: str
    title: str
    unit: Unit
    expression: Expression | None
    words: str
    source: str
    caveat: str

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Inputs of the formula."""
        return tuple(sorted(names_of(self.expression))) if self.expression is not None else ()

    def of(self, row: object) -> float | None:
        """The number for a row whose attributes have the names of the formula's inputs."""
        return self(**{name: getattr(row, name) for name in self.names})

    def __call__(self, **values: float | None) -> float | None:
        """The number for values by name; None if an input is missing or the denominator is 0."""
        assert self.expression is not None, f"{self.id} has no formula"
        result = value(self.expression, values)
        assert result is None or isinstance(result, int | float)
        return result


@dataclass(frozen=True)
class Page:
    """The numbers of a page by name; ``title`` names the page, ``row`` the meaning of its rows."""

    title: str
    row: str
    numbers: Mapping[str, PageNumber]

    def __getitem__(self, name: str) -> PageNumber:
        """A number by name."""
        return self.numbers[name]


@cache
def page_numbers(page: str) -> Page:
    """The numbers of a page.

    Raises
    ------
    CatalogueError
        The file of the page cannot be used: line, key, what is wrong, what is valid.
    """
    return page_of(read_document(catalogue_path() / PAGES / f"{page}.toml", shipped=True))


def page_of(document: Document) -> Page:
    """The page declared in a file, named after the file."""
    top = Entry(document.values, document, ()).table("title", "row", "source", "names", "number")
    scope, words = _names(top)
    numbers = {}
    for name, entry in (
        top.need("number", "[number.engines] with title and unit").table(open_ended=True).entries.items()
    ):
        table = entry.table(*_KEYS)
        unit = UNITS[table.need("unit", 'unit = "count"').one_of(UNITS, "unit")]
        expression = _expression(table, scope, unit)
        derived = words_of(expression, words.__getitem__) if expression is not None else ""
        numbers[name] = PageNumber(
            f"{document.path.stem}.{name}",
            table.need("title", 'title = "Engines"').text(),
            unit,
            expression,
            table.text("words") or derived,
            table.text("source") or top.need("source", 'source = "where they are defined"').text(),
            table.text("caveat"),
        )
    title = top.need("title", 'title = "Cost of data sharing"').text()
    return Page(title, top.need("row", 'row = "a system"').text(), numbers)


def _names(top: Table) -> tuple[Scope, dict[str, str]]:
    """Names available to formulas, and their printed forms."""
    result = top.get("names")
    bases, words = {}, {}
    for name, entry in result.table(open_ended=True).entries.items() if result is not None else ():
        table = entry.table("words", "unit")
        words[name] = table.need("words", 'words = "CPU time"').text()
        bases[name] = UNITS[table.need("unit", 'unit = "seconds"').one_of(UNITS, "unit")].base
    return Scope.of("a name of the page", bases), words


def _expression(table: Table, scope: Scope, unit: Unit) -> Expression | None:
    entry = table.get("formula")
    if entry is None:
        return None
    try:
        return check_metric(parse(entry.text()), scope, unit.base)
    except ExpressionError as error:
        raise entry.wrong(error.what, error.remedy) from error
