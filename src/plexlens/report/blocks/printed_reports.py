"""RMF XML reports in tables of their own: the printed heads, names and values, without computation.

A report is known here by its metric, its options and its title alone, so that one that no page and no metric knows is
shown too. Tables (and lists of variables) of several intervals, systems or objects that have the same heads become one
table, with a column that distinguishes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from plexlens.pdb import engine
from plexlens.pdb.engine import Connection
from plexlens.report.blocks.printed_width import fitted
from plexlens.report.model import Cell, Column, ColumnKind, PrintedNumber, Table
from plexlens.report.model.display import counted

#: Values of one report that are shown at most: the latest intervals are.
MOST_VALUES = 40_000

#: Rows of a table that are shown at most.
MOST_ROWS = 1000

VALUES = "rmf_xml_value"
_NUMBERS = ("number", "duration")

#: Elements of a report's head that say nothing to a reader: the form, and addresses in the server's own notation.
_OF_THE_SERVER = frozenset({"reslabelurl", "local-prev", "local-next"})


class Record(NamedTuple):
    """A report in a file."""

    source_id: str
    record_no: int


class _Layout(NamedTuple):
    """Common properties of tables that belong together."""

    segment: str
    part: str
    names: tuple[str, ...]
    is_list: bool


@dataclass
class _Body:
    """A table or a list of variables in a report."""

    record: Record
    segment: str
    part: str
    heads: dict[int, str] = field(default_factory=dict)
    rows: dict[int, dict[int, Cell]] = field(default_factory=dict)
    is_list: bool = False

    def names(self) -> tuple[str, ...]:
        """The heads, with an empty head for each cell without a head."""
        width = max((*self.heads, *(place for row in self.rows.values() for place in row)), default=0)
        return tuple(self.heads.get(place, "") for place in range(1, width + 1))

    def layout(self) -> _Layout:
        # The last word of a segment's name is its object: SSID 5000, coupling facility CF1, service class BATCH.
        return _Layout(self.segment.rpartition(" ")[0], self.part, self.names(), self.is_list)


@dataclass
class PrintedReport:
    """The reports with the same metric and options.

    Attributes
    ----------
    name
        Metric and options: ``DEVICE (DASD)``; empty for a report that the server sent without any.
    title
        Its title in words.
    records
        The reports that are shown, in order of time.
    left_out
        Reports that are not shown.
    heads
        What the head of each report says: system, times, samples, versions.
    """

    name: str
    title: str
    records: tuple[Record, ...]
    left_out: int
    heads: dict[Record, dict[str, Cell]] = field(default_factory=dict)
    bodies: list[_Body] = field(default_factory=list)
    messages: list[tuple[Record, str, str, Cell]] = field(default_factory=list)
    others: list[tuple[Record, str, Cell]] = field(default_factory=list)

    @property
    def heading(self) -> str:
        """The heading above its tables."""
        return f"{self.name}: {self.title}" if self.title and self.name else self.name or "Reports without data"


def printed_reports(connection: Connection) -> Iterator[PrintedReport]:
    """Every RMF XML report of a database, by metric and options.

    Parameters
    ----------
    connection
        What `plexlens.pdb.Pdb.connect` gives; a database without such reports gives none.
    """
    if VALUES not in engine.tables_of(connection):
        return
    listed = _rows(
        connection,
        "select any_value(report) as metric, any_value(options) as suboptions, any_value(report_title) as title,"
        " source_id, record_no, count(*) as n"
        f" from {VALUES} where record_no > 0 group by source_id, record_no"
        " order by metric nulls last, suboptions nulls first, min(interval_start) nulls first, source_id, record_no",
    )
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in listed:
        groups.setdefault((row["metric"] or "", row["suboptions"] or ""), []).append(row)
    for (name, options), members in groups.items():
        kept = _latest(members)
        report = PrintedReport(
            f"{name} ({options})" if options else name,
            kept[-1]["title"] or "",
            tuple(Record(row["source_id"], row["record_no"]) for row in kept),
            len(members) - len(kept),
        )
        _fill(report, connection)
        yield report


def _latest(members: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """The last reports with at most `MOST_VALUES` values together, at least one report."""
    count, values = 0, 0
    for row in reversed(members):
        values += row["n"]
        if count and values > MOST_VALUES:
            break
        count += 1
    return members[len(members) - count :]


def _rows(connection: Connection, sql: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = connection.execute(sql).to_arrow_table().to_pylist()
    return rows


def _condition(records: Iterable[Record]) -> str:
    """SQL condition for the values of these reports; the ids are generated by the database, never text from a file."""
    by_source: dict[str, list[int]] = {}
    for record in records:
        by_source.setdefault(record.source_id, []).append(record.record_no)
    return " or ".join(
        f"(source_id = '{source}' and record_no in ({', '.join(map(str, numbers))}))"
        for source, numbers in by_source.items()
    )


def _fill(report: PrintedReport, connection: Connection) -> None:
    values = _rows(
        connection,
        "select source_id, record_no, kind, coalesce(segment_no, 0) as segment_no, coalesce(segment, '') as segment,"
        " coalesce(part_no, 0) as part_no, coalesce(part, '') as part, table_no, row_no, row_label, cell_no, column_no,"
        f" name, value, value_type, number from {VALUES} where kind not in ('attribute', 'name')"
        f" and ({_condition(report.records)}) order by section_no",
    )
    bodies: dict[tuple[Any, ...], _Body] = {}
    for row in values:
        record = Record(row["source_id"], row["record_no"])
        kind = row["kind"]
        if kind in ("head", "cell", "var"):
            _place(bodies, record, row)
        elif kind in ("time", "resource", "version", "metric"):
            _head(report.heads.setdefault(record, {}), row)
        elif kind == "message":
            report.messages.append((record, row["row_label"] or "", row["name"], _cell(row)))
        else:
            report.others.append((record, row["name"], _cell(row)))
    order = {record: place for place, record in enumerate(report.records)}
    # Segments and tables stand in the order of the document, intervals in the order of time.
    report.bodies = sorted(bodies.values(), key=lambda body: order[body.record])
    report.messages.sort(key=lambda message: order[message[0]])


def _head(cells: dict[str, Cell], row: Mapping[str, Any]) -> None:
    if row["name"] in _OF_THE_SERVER or row["value"] is None:
        return
    cells.setdefault("id" if row["name"] == "metric" else row["name"], _cell(row))


def _place(bodies: dict[tuple[Any, ...], _Body], record: Record, row: Mapping[str, Any]) -> None:
    is_list = row["kind"] == "var"
    where = (row["segment_no"], row["part_no"]) if is_list else (row["table_no"],)
    body = bodies.setdefault(
        (record, is_list, *where), _Body(record, _words(row["segment"]), _words(row["part"]), is_list=is_list)
    )
    if is_list:
        place = len(body.heads) + 1
        body.heads[place] = _words(row["name"])
        body.rows.setdefault(1, {})[place] = _cell(row)
    elif row["kind"] == "head":
        body.heads[row["column_no"]] = _words(row["value"] or "")
    else:
        body.rows.setdefault(row["row_no"], {})[row["cell_no"]] = _cell(row)


def _words(text: str) -> str:
    return " ".join(text.split())


def _cell(row: Mapping[str, Any]) -> Cell:
    text: str | None = row["value"]
    if text is not None and row["value_type"] in _NUMBERS and row["number"] is not None:
        return PrintedNumber(text, row["number"])
    return text


def tables_of(report: PrintedReport, prefix: str, *, folded: bool = False) -> Iterator[Table]:
    """The tables of a report.

    Parameters
    ----------
    report
        The report.
    prefix
        Beginning of the names of the tables.
    folded
        Whether the tables begin folded.
    """
    if report.heads:
        yield from fitted(_intervals(report, f"{prefix}_reports", folded=folded))
    layouts: dict[_Layout, list[_Body]] = {}
    for body in report.bodies:
        layouts.setdefault(body.layout(), []).append(body)
    for number, (layout, bodies) in enumerate(layouts.items(), 1):
        make = _variables if layout.is_list and len(bodies) == 1 else _grid
        yield from fitted(make(report, f"{prefix}_{number}", layout, bodies, folded=folded))
    if report.messages:
        yield from fitted(_messages(report, f"{prefix}_messages"))
    if report.others:
        yield _others(report, f"{prefix}_others", folded=folded)


def _printed(name: str, title: str, *, key: bool = False) -> Column:
    return Column(name, title, ColumnKind.PRINTED, key=key)


def _when(report: PrintedReport, record: Record) -> Cell:
    head = report.heads.get(record, {})
    return head.get("display-start") or head.get("local-start")


def _who(report: PrintedReport, record: Record) -> Cell:
    head = report.heads.get(record, {})
    return head.get("resname") or head.get("reslabel")


def _intervals(report: PrintedReport, name: str, *, folded: bool) -> Table:
    names = tuple(dict.fromkeys(name for head in report.heads.values() for name in head))
    records = [record for record in report.records if record in report.heads]
    note = "System, interval and samples as printed in the report heading."
    if report.left_out:
        note += f" The latest {counted(len(records), 'report')} are shown; {report.left_out:,} earlier are left out."
    return Table(
        name=name,
        title="Reports",
        columns=tuple(_printed(f"c{place}", title, key=place == 1) for place, title in enumerate(names, 1)),
        rows=tuple(tuple(report.heads[record].get(name) for name in names) for record in records),
        group=report.heading,
        note=note,
        folded=folded,
        total_rows=len(records) + report.left_out,
        query=(
            f"select * from {VALUES} where report = '{report.name.partition(' (')[0].replace(chr(39), chr(39) * 2)}'"
            " order by interval_start, source_id, record_no, section_no"
        ),
    )


def _title(layout: _Layout, bodies: Sequence[_Body], report: PrintedReport) -> str:
    segments = {body.segment for body in bodies}
    segment = segments.pop() if len(segments) == 1 else layout.segment
    return ": ".join(part for part in (segment, layout.part) if part) or report.title or report.name


def _variables(report: PrintedReport, name: str, layout: _Layout, bodies: Sequence[_Body], *, folded: bool) -> Table:
    """A single list of variables, with a row per variable."""
    values = bodies[0].rows[1]
    return Table(
        name=name,
        title=_title(layout, bodies, report),
        columns=(_printed("name", "Name", key=True), _printed("value", "Value")),
        rows=tuple((head, values.get(place)) for place, head in enumerate(layout.names, 1)),
        top=60,
        group=report.heading,
        folded=folded,
    )


def _grid(report: PrintedReport, name: str, layout: _Layout, bodies: Sequence[_Body], *, folded: bool) -> Table:
    """Rows below heads, from one or more reports; additional first columns identify the reports."""
    apart: list[tuple[str, str, list[Cell]]] = []
    kind = layout.segment.rpartition(" ")[2]
    texts: tuple[tuple[str, str, list[Cell]], ...] = (
        ("system", "Resource", [_who(report, body.record) for body in bodies]),
        ("start", "Start", [_when(report, body.record) for body in bodies]),
        ("segment", kind or "Segment", [body.segment.rpartition(" ")[2] for body in bodies]),
    )
    for key, title, cells in texts:
        if len(set(cells)) > 1:
            apart.append((key, title, cells))
    width = len(layout.names)
    rows = [
        (*(cells[at] for _, _, cells in apart), *(row.get(place) for place in range(1, width + 1)))
        for at, body in enumerate(bodies)
        for _, row in sorted(body.rows.items())
    ]
    columns = [_printed(key, title, key=True) for key, title, _ in apart]
    columns += [_printed(f"c{place}", head, key=place == 1) for place, head in enumerate(layout.names, 1)]
    return Table(
        name=name,
        title=_title(layout, bodies, report),
        columns=tuple(columns),
        rows=_of_one_kind(columns, rows[-MOST_ROWS:]),
        top=20,
        group=report.heading,
        folded=folded,
        note="" if rows else "The report has this table without rows.",
        total_rows=len(rows),
        query=_query(report) if len(rows) > MOST_ROWS else "",
    )


def _of_one_kind(columns: Sequence[Column], rows: Sequence[tuple[Cell, ...]]) -> tuple[tuple[Cell, ...], ...]:
    """The rows, with only texts in each column that contains a word: 511C makes 5008 an identifier."""
    table = Table("", "", tuple(columns), tuple(rows))
    words = [not table.all_numbers(place) for place in range(len(columns))]
    return tuple(
        tuple(
            cell.text if word and isinstance(cell, PrintedNumber) else cell
            for cell, word in zip(row, words, strict=True)
        )
        for row in rows
    )


def _query(report: PrintedReport) -> str:
    """SQL for the cells of all rows."""
    return (
        "select source_id, record_no, table_no, row_no, segment, part, column_head, value, number"
        f" from {VALUES} where kind = 'cell' and ({_condition(report.records)})"
        " order by source_id, record_no, table_no, row_no, cell_no"
    )


def _messages(report: PrintedReport, name: str) -> Table:
    rows: dict[tuple[Record, str, int], dict[str, Cell]] = {}
    numbers: dict[tuple[Record, str], int] = {}
    for record, label, element, text in report.messages:
        number = numbers.get((record, label), 0)
        if element in rows.get((record, label, number), {}):
            number += 1
        numbers[record, label] = number
        rows.setdefault((record, label, number), {})[element] = text
    elements = tuple(dict.fromkeys(element for row in rows.values() for element in row))
    return Table(
        name=name,
        title="Messages",
        columns=(
            _printed("id", "Message", key=True),
            *(_printed(f"c{place}", element) for place, element in enumerate(elements, 1)),
        ),
        rows=tuple((label, *(row.get(element) for element in elements)) for (_, label, _), row in rows.items()),
        group=report.heading,
    )


def _others(report: PrintedReport, name: str, *, folded: bool) -> Table:
    return Table(
        name=name,
        title="Further texts",
        columns=(_printed("name", "Element", key=True), _printed("value", "Value")),
        rows=tuple((element, cell) for _, element, cell in report.others),
        group=report.heading,
        note="Elements that the RMF XML schema does not define.",
        folded=folded,
    )


def of_the_files(connection: Connection) -> Iterator[Table]:
    """Values of whole files: the server that sent them, and the messages of the Postprocessor."""
    if VALUES not in engine.tables_of(connection):
        return
    values = _rows(
        connection,
        "select parse_filename(coalesce(source.file, value.source_id)) as file, value.kind, name, row_label,"
        f" value, value_type, number from {VALUES} as value left join source using (source_id)"
        " where record_no = 0 and value.kind <> 'attribute' order by 1, value.source_id, section_no",
    )
    servers: dict[str, dict[str, Cell]] = {}
    messages: list[tuple[Cell, ...]] = []
    for row in values:
        if row["kind"] == "server":
            servers.setdefault(row["file"], {}).setdefault(row["name"], _cell(row))
        else:
            messages.append((row["file"], row["row_label"] or row["name"], row["value"]))
    group = "Files and servers"
    if messages:
        yield Table(
            name="rmf_messages",
            title="Messages of the Postprocessor",
            columns=(_printed("file", "File", key=True), _printed("id", "Message"), _printed("text", "Text")),
            rows=tuple(messages[:MOST_ROWS]),
            total_rows=len(messages),
            query=f"select row_label, value from {VALUES} where record_no = 0 and kind <> 'attribute'",
            group=group,
            folded=True,
        )
    if servers:
        names = tuple(dict.fromkeys(name for server in servers.values() for name in server))
        yield Table(
            name="rmf_servers",
            title="Servers that sent the reports",
            columns=(
                _printed("file", "File", key=True),
                *(_printed(f"c{place}", title) for place, title in enumerate(names, 1)),
            ),
            rows=tuple((file, *(server.get(name) for name in names)) for file, server in servers.items()),
            group=group,
            folded=True,
        )
