"""The formulas for derived columns of studies, read from ``studies/*.toml`` of the catalogue.

An argument is one number, or a list of any length where dots follow its name. A site's folder
replaces earlier definitions of a formula completely.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from plexlens.compare.formulas.formula import CALLS, OPERATORS, Argument, Formula
from plexlens.expression import FUNCTIONS, Binary, Call, Expression, ExpressionError, names_of, parse, walk
from plexlens.expression.types import NUMBER, Kind, Scope, Type, number
from plexlens.metrics import GRAINS
from plexlens.metrics.catalogue.catalogue import Catalogue
from plexlens.metrics.catalogue.document import Document
from plexlens.metrics.catalogue.error import near
from plexlens.metrics.catalogue.table import Entry, Table

__all__ = ["FORMULAS", "Argument", "Formula", "Formulas", "similar_formulas"]

_KEYS = ("title", "unit", "arguments", "formula", "scope", "note", "source")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_DOTS = "..."
_LIST = Type(Kind.LIST)


class Formulas(Mapping[str, Formula]):
    """Every formula by name, read at first use."""

    def __init__(self) -> None:
        self._read_from: Catalogue | None = None
        self._formulas: dict[str, Formula] = {}

    def _found(self) -> dict[str, Formula]:
        catalogue = GRAINS.catalogue
        if self._read_from is not catalogue:
            self._formulas = formulas_of(catalogue)
            self._read_from = catalogue
        return self._formulas

    def __getitem__(self, name: str) -> Formula:
        """A formula by name."""
        return self._found()[name]

    def __iter__(self) -> Iterator[str]:
        """Names, in the order of files and within them."""
        return iter(self._found())

    def __len__(self) -> int:
        """Number of formulas."""
        return len(self._found())


def formulas_of(catalogue: Catalogue) -> dict[str, Formula]:
    """The formulas of a catalogue.

    Raises
    ------
    CatalogueError
        One that cannot be used: file, line, key, what is wrong, what is valid.
    """
    formulas: dict[str, Formula] = {}
    for documents in catalogue.studies():
        stands: dict[str, Document] = {}
        for document in documents:
            entries = Entry(document.values, document, ()).table("formula").get("formula")
            if entries is None:
                raise document.wrong((), "there is no formula", "add [formula.itr] with title, arguments and formula")
            for name, entry in entries.table(open_ended=True).entries.items():
                if name in stands:
                    raise entry.wrong(f"formula {name} is also defined in {stands[name].path}", "give it another name")
                stands[name] = document
                formulas[name] = _formula(name, entry)
    return formulas


def _formula(name: str, entry: Entry) -> Formula:
    if not _NAME.fullmatch(name):
        raise entry.wrong(f"{name!r} is not a name", "begin with a small letter; small letters, digits and _ follow")
    table = entry.table(*_KEYS)
    title = table.need("title", 'title = "Hit ratio"').text()
    singles, lists = _arguments(table)
    return Formula(
        name,
        title,
        table.text("unit"),
        _expression(table, singles, lists),
        singles,
        lists,
        table.need("source", 'source = "where it is defined"').text(),
        table.text("scope"),
        table.text("note"),
    )


def _arguments(table: Table) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the arguments that are single numbers, and of those that are lists."""
    entry = table.need("arguments", 'arguments = ["getpages", "pages_read..."]')
    names = [text.removesuffix(_DOTS) for text in entry.texts()]
    for name in names:
        if not _NAME.fullmatch(name):
            raise entry.wrong(f"{name!r} is not a name", 'write ["getpages", "pages_read..."]; three dots mark a list')
        if names.count(name) > 1:
            raise entry.wrong(f"{name} stands there twice", "name each argument once")
    lists = [name for name in names if name + _DOTS in entry.value]
    return tuple(name for name in names if name not in lists), tuple(lists)


def _expression(table: Table, singles: tuple[str, ...], lists: tuple[str, ...]) -> Expression:
    entry = table.need("formula", 'formula = "100 - sum(pages_read) / getpages * 100"')
    scope = Scope("an argument", dict.fromkeys(singles, NUMBER) | dict.fromkeys(lists, _LIST))
    try:
        tree = number(parse(entry.text()), scope)
    except ExpressionError as error:
        raise entry.wrong(error.what, error.remedy) from error
    for node in walk(tree):
        if (isinstance(node, Call) and node.function not in CALLS) or (
            isinstance(node, Binary) and node.operator not in OPERATORS
        ):
            what = node.function if isinstance(node, Call) else node.operator
            valid = "; ".join([*OPERATORS, *(FUNCTIONS[name] for name in CALLS)])
            raise entry.wrong(f"{what} cannot be computed from printed numbers", f"there are: {valid}")
    for name in (*singles, *lists):
        if name not in names_of(tree):
            raise table.entries["arguments"].wrong(
                f"the formula does not use {name}", f"leave it out; {near(name, names_of(tree))}"
            )
    return tree


#: Every formula by name.
FORMULAS = Formulas()


def similar_formulas(name: str) -> str:
    """The remedy for an unknown formula: formulas with similar names, and the page that lists all."""
    close = get_close_matches(name, list(FORMULAS), n=1, cutoff=0.8)
    close = close or [formula for formula in FORMULAS if name and name in formula]
    likely = f"did you mean {' or '.join(close)}? " if 0 < len(close) <= 3 else ""
    return f"{likely}studies/README.md lists all formulas, and shows how to add one"
