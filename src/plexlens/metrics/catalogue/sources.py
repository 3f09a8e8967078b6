"""Sources of a grain, from their tables in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from plexlens.metrics.catalogue.distribution import Distribution
from plexlens.metrics.catalogue.document import text_of_file
from plexlens.metrics.catalogue.draft import Draft
from plexlens.metrics.catalogue.error import near
from plexlens.metrics.catalogue.table import Entry, Table, alone
from plexlens.metrics.definition import Fact, Source
from plexlens.metrics.source_sql import with_listed_columns
from plexlens.metrics.source_text import fields_of, source_of

if TYPE_CHECKING:
    pass

_WIDTHS = (32, 64)
_DIFFERENCES = ("of", "entity", "sequence", "started", "time", "keep_unused", "width", "witnesses", "counters")


def source_in(table: Table, draft: Draft, facts: Sequence[Fact]) -> Source:
    """The source declared by a table.

    Raises
    ------
    CatalogueError
        It cannot be used.
    """
    table.need("kind", 'kind = "SMF 74-4"').text()
    needs, any_of = table.texts("needs"), table.texts("any_of")
    if not needs and not any_of:
        raise table.whole.wrong("neither needs nor any_of is given", 'add needs = ["the raw table that it reads"]')
    what = alone(table, ("sql", "from"), 'from = "a raw table"')
    if what == "sql":
        _check_file(table.entries["sql"])
    table.text("from")
    table.texts("dated_by")
    for key in ("tables", "values"):
        table.names(key)
    _check_fields(table, facts)
    _check_columns(table, draft)
    differences = _checked_differences(table)
    values = {key: entry.value for key, entry in table.entries.items()}
    counts = {f"{name}_within": Distribution.of(name, each).selected for name, each in draft.distributions.items()}
    values["values"] = {**counts, **values.get("values", {})}
    source = source_of(values, facts, table.entries[what].document.path.parent)
    if differences is not None and source.differences is not None:
        for column in differences.texts("witnesses"):
            if column not in source.differences.counters:
                valid = source.differences.counters
                raise differences.entries["witnesses"].wrong(f"{column} is not a counter", near(column, valid))
    return replace(source, wrong=table.whole.wrong)


def _check_file(entry: Entry) -> None:
    """Refuse a missing SQL file, which must be next to the grain's file, and relations with a list of columns."""
    file = entry.document.path.parent / entry.text()
    if file.suffix != ".sql":
        raise entry.wrong(f"{entry.value!r} is not an SQL file", 'name a file next to this file: sql = "structure.sql"')
    if not file.is_file():
        there = sorted(path.name for path in file.parent.glob("*.sql"))
        raise entry.wrong(f"there is no file {file}", near(file.name, there))
    if listed := with_listed_columns(text_of_file(file)):
        raise entry.wrong(
            f"{file}: the relation {listed[0]} has a list of columns behind its name",
            "name each column in the select of the relation: select 1 as a, 2 as b",
        )


def _check_fields(table: Table, facts: Sequence[Fact]) -> None:
    """Refuse a record that none of the facts has a field in."""
    entry = table.get("fields")
    if entry is None:
        return
    for record in (entry.text(),) if isinstance(entry.value, str) else entry.texts():
        if not fields_of(facts, record):
            raise entry.wrong(
                f"no fact has a field of {record!r} with a single name",
                'write what fields begin with: fields = "SMF 74-4"',
            )


def _check_columns(table: Table, draft: Draft) -> None:
    valid = {*draft.keys, *draft.attributes, *draft.facts, *_IDENTITY}
    for name in table.names("columns"):
        if name not in valid:
            raise (
                table.entries["columns"]
                .table(open_ended=True)
                .entries[name]
                .wrong(f"{name} is not a key, attribute or fact of {draft.name}", near(name, valid))
            )


_IDENTITY = ("system", "sysplex", "interval_start", "interval_end", "utc_offset", "local_time", "interval")


def _checked_differences(whole: Table) -> Table | None:
    entry = whole.get("differences")
    if entry is None:
        return None
    table = entry.table(*_DIFFERENCES)
    table.need("entity", 'entity = ["system", "sysplex", "subsystem"]').texts()
    width = table.get("width")
    if width is not None and not isinstance(width.value, str) and width.value not in _WIDTHS:
        raise width.wrong(
            f"{width.value!r} is not a width", "give 32, 64, or the name of a column that contains 32 or 64"
        )
    table.texts("counters")
    for key in ("of", "time", "sequence", "started"):
        table.text(key)
    table.texts("witnesses")
    if (unused := table.get("keep_unused")) is not None:
        unused.truth()
    return table
