"""The select of a source over the raw tables of a database, and whether these are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches

import duckdb

from plexlens.metrics.catalogue import GRAINS
from plexlens.metrics.definition import Grain, Source
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection.quarter import quarter_functions
from plexlens.metrics.source_sql import SourceSelect, select_of_source, with_parts
from plexlens.pdb.engine import columns_of


def available(inputs: Inputs, grain: Grain) -> bool:
    """Whether any source of the grain is in the database."""
    return any(is_there(inputs, source) for source in grain.sources)


def is_there(inputs: Inputs, source: Source) -> bool:
    """Whether the raw tables of a source are in the database."""
    return inputs.has(*source.needs) and (not source.any_of or any(inputs.has(name) for name in source.any_of))


def source_select(inputs: Inputs, grain: Grain, source: Source) -> SourceSelect:
    """The select of a source of facts (`plexlens.metrics.source_sql`).

    Raises
    ------
    CatalogueError
        With a site's folders in the catalogue: its SQL cannot be read.
    """
    catalogue = GRAINS.catalogue
    with _of_site(inputs, source):
        functions = catalogue.functions.but(quarter_functions(inputs.selection))
        # A site's SQL is read as a whole, so that its errors show; columns of any kind can identify a class.
        whole = catalogue.is_extended or bool(inputs.selection.classes)
        return select_of_source(grain, source, inputs.raw, catalogue.relations, functions, whole=whole)


def columns_there(inputs: Inputs, source: Source, select: SourceSelect) -> frozenset[str]:
    """The columns of the select of a source.

    Raises
    ------
    CatalogueError
        With a site's folders in the catalogue: the engine cannot read the SQL.
    """
    if select.columns is not None and not GRAINS.catalogue.is_extended:
        return select.columns
    with _of_site(inputs, source):
        return frozenset(columns_of(inputs.connection, f"(\n{with_parts(select.parts, select.select)}\n)"))


@contextmanager
def _of_site(inputs: Inputs, source: Source) -> Iterator[None]:
    """Name the place in a site's file that is wrong; without such files, an error of the engine is a defect."""
    try:
        yield
    except (duckdb.Error, ValueError) as error:
        if not GRAINS.catalogue.is_extended or source.wrong is None:
            raise
        said = str(error).partition("\n")[0].removeprefix("Binder Error: ").removeprefix("Parser Error: ")
        raise source.wrong(f"its SQL is not valid: {said}", _remedy(inputs, source, said)) from error


def _remedy(inputs: Inputs, source: Source, said: str) -> str:
    """Remedy for an unknown name: the most similar column, else the place to look."""
    tables = [source.tables.get(name, name) for name in (*source.needs, *source.any_of)]
    known = {column for name in tables for column in inputs.columns(name)}
    unknown = re.search(r'column "([^"]+)" not found', said)
    close = get_close_matches(unknown[1], sorted(known), n=1) if unknown else []
    if close:
        return f"did you mean {close[0]}?"
    return 'correct it; plexlens sql PDB "describe TABLE" lists the columns of a raw table'
