"""A view for each table that an RMF XML report prints, with its own headings as columns.

The table `rmf_xml_value` has a row for each value; a view turns the cells of the tables of one part of one kind of
report into rows and columns again: ``rmf_cache_subsys_cache_subsystem_overview``. Lists of variables are the view
``..._variables`` of their report. Numbers are in base units, as in `rmf_xml_value`; a column with any text is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from plexlens.pdb.engine import Connection, tables_of
from plexlens.pdb.views import identifier

VALUES = "rmf_xml_value"
"""The table that the views read."""

#: What tells rows of several reports apart, in front of the columns that the report prints.
_PLACE = ("system", "sysplex", "interval_start", "interval_end", "utc_offset", "source_id", "record_no", "resource")
_WITHIN = ("segment_no", "segment", "part_no", "table_no", "row_no")


def view_name(*parts: str | None) -> str:
    """The name of a view from the words of its report: lower case, other characters as underscores."""
    words = "_".join(part for part in parts if part)
    return "rmf_" + re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")


def report_views(connection: Connection) -> Iterator[tuple[str, str]]:
    """Name and SELECT of each view.

    Parameters
    ----------
    connection
        What `plexlens.pdb.Pdb.connect` gives, or the selected part of it; without RMF XML it gives none.
    """
    if VALUES not in tables_of(connection):
        return
    taken: set[str] = set()
    rows = connection.execute(
        "select report, options, coalesce(part, '') as part, cell_no, coalesce(column_head, name) as head,"
        " bool_and(number is not null or value in ('', 'N/A', '***', '****', '-', '--', '---')) as numeric"
        f" from {VALUES} where kind = 'cell' and report is not null and cell_no is not null"
        " group by all order by report, options nulls first, part, min(cell_no), head"
    ).fetchall()
    tables: dict[tuple[str, str | None, str], dict[tuple[str, int], bool]] = {}
    for report, options, part, cell_no, head, numeric in rows:
        tables.setdefault((report, options, part), {})[head or f"column {cell_no}", cell_no] = numeric
    for (report, options, part), heads in tables.items():
        yield _unique(view_name(report, options, part or "table"), taken), _wide(report, options, part, heads)
    lists = connection.execute(
        f"select distinct report, options from {VALUES} where kind = 'var' and report is not null order by all"
    ).fetchall()
    for report, options in lists:
        condition = _condition(report, options)
        names = ", ".join((*_PLACE, "segment", "part", "name", "value", "number"))
        select = f"select {names} from {VALUES} where kind = 'var' and {condition} order by record_no, section_no"
        yield _unique(view_name(report, options, "variables"), taken), select


def attach_report_views(connection: Connection) -> tuple[str, ...]:
    """Create the views so that statements of this connection can name them; return their names."""
    results = []
    for name, select in report_views(connection):
        connection.execute(f"create or replace view {identifier(name)} as {select}")
        results.append(name)
    return tuple(results)


def _wide(report: str, options: str | None, part: str, heads: dict[tuple[str, int], bool]) -> str:
    """The cells of a part as rows; a heading that several columns of a table share is numbered."""
    place = ", ".join((*_PLACE, *_WITHIN))
    taken = {*_PLACE, *_WITHIN}
    columns = []
    merged: dict[str, tuple[list[int], bool]] = {}
    for (head, cell_no), numeric in heads.items():
        places, all_numeric = merged.get(head, ([], True))
        merged[head] = ([*places, cell_no], all_numeric and numeric)
    repeated = _repeated(heads)
    for head, (places, numeric) in merged.items():
        chosen = "number" if numeric else "value"
        text = head.replace("'", "''")
        of_head = f"coalesce(column_head, name, 'column ' || cell_no) = '{text}'"
        apart = [f" and cell_no = {cell_no}" for cell_no in places] if head in repeated else [""]
        for number, place_of_head in enumerate(apart, 1):
            where = of_head + place_of_head
            name = _unique(" ".join(head.split()) + (f" {number}" if number > 1 else ""), taken)
            columns.append(f"max({chosen}) filter (where {where}) as {identifier(name)}")
    condition = f"{_condition(report, options)} and coalesce(part, '') = '{part.replace(chr(39), chr(39) * 2)}'"
    return (
        f"select {place}, {', '.join(columns)} from {VALUES} where kind = 'cell' and {condition}"
        f" group by {place} order by record_no, segment_no, part_no, table_no, row_no"
    )


def _repeated(heads: dict[tuple[str, int], bool]) -> set[str]:
    """Headings that occur in more than one place."""
    seen: set[str] = set()
    return {head for head, _ in heads if head in seen or seen.add(head)}  # type: ignore[func-returns-value]


def _condition(report: str, options: str | None) -> str:
    quoted = report.replace("'", "''")
    of_options = "options is null" if options is None else "options = '" + options.replace("'", "''") + "'"
    return f"report = '{quoted}' and {of_options}"


def _unique(name: str, taken: set[str]) -> str:
    """The name, numbered if it is taken; SQL ignores case in names."""
    chosen, number = name, 1
    while chosen.lower() in taken:
        number += 1
        chosen = f"{name}_{number}"
    taken.add(chosen.lower())
    return chosen
