"""Implausible values: bounds of recorded fields as data, and detection of values outside them.

A file of ``plausible/`` in a folder of layouts says for fields of raw tables what they are at most, in terms of other
fields of the same row. A value above its bound is *marked*: it stays in the raw table, it is named in the table
``implausible``, and metrics read it as null.

The files have the columns ``table,field,at_most,when,slack,reason,source``:

- ``field``: one field or several, separated by blanks. ``#`` stands for any run of characters, and for the same
  characters in ``at_most`` and ``when`` (``WTASLWET_#`` is at most ``WTASLWN_# * WTASLMAX_#``).
- ``at_most``: an SQL expression over the fields of the row, in base units. ``interval_seconds`` is the length of the
  record's interval, ``seconds(A, B)`` the time from A to B, ``NAME_*`` all fields whose names begin with ``NAME_``,
  ``TABLE.FIELD`` the field of another section of the same record (of several entries, the greatest).
- ``when``: the condition under which the bound holds; empty holds always.
- ``slack``: how far a sound value may lie above, for rounding and because clocks are read one after the other:
  ``1% + 0.5`` is one hundredth of the bound and 0.5 in the field's base unit.

A bound that is null, because a field is missing or null, marks nothing.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from pathlib import Path

import duckdb
import pyarrow as pa

from plexlens.errors import UnreadableInputError
from plexlens.layouts_path import layout_folders

NOTE = "implausible_value"
"""The note under which marked values are counted, by table and field."""

REMEDY = (
    "metrics leave the value out, and the raw table keeps it; compare the layout of the field with the mapping of "
    "your release; if they agree, report the value to the vendor"
)
"""What a user can do about a marked value."""

TABLE = "implausible"
"""The table of marked values."""

SCHEMA: pa.Schema = pa.schema(
    [
        pa.field("source_id", pa.string(), metadata={"description": "the ingest that brought the row"}),
        pa.field("file", pa.string(), metadata={"description": "the file as the user named it"}),
        pa.field("system", pa.string(), metadata={"description": "system (SMF) id of the row"}),
        pa.field("table_name", pa.string(), metadata={"description": "the raw table"}),
        pa.field("record_no", pa.uint64(), metadata={"description": "number of the record in its source, from 1"}),
        pa.field("section_no", pa.uint32(), metadata={"description": "number of the entry in its record, from 1"}),
        pa.field("field", pa.string(), metadata={"description": "the field"}),
        pa.field("value", pa.float64(), metadata={"description": "value as recorded, in its base unit"}),
        pa.field("at_most", pa.float64(), metadata={"description": "largest possible value, in its base unit"}),
        pa.field("unit", pa.string(), metadata={"description": "base unit of both; empty for plain numbers"}),
        pa.field("bound", pa.string(), metadata={"description": "the bound as an expression over fields"}),
        pa.field("reason", pa.string(), metadata={"description": "why the value is impossible"}),
    ]
)
"""Schema of the table of marked values."""

_HEADING = ["table", "field", "at_most", "when", "slack", "reason", "source"]
_SLACK = re.compile(r"(?:(?P<percent>[\d.]+)%)?(?: ?\+? ?(?P<amount>[\d.]+))?")
_ALL_OF = re.compile(r"\b(\w+_)\*")
_ELSEWHERE = re.compile(r"\b([A-Za-z]\w*)\.([A-Za-z]\w*)\b")
_WORD = re.compile(r"\b[A-Za-z_]\w*\b(?!\s*\()")
_KEYWORDS = {"AND", "OR", "NOT", "IS", "NULL", "IN", "BETWEEN", "INTERVAL_SECONDS"}
_MACRO = "CREATE MACRO seconds(a, b) AS (epoch_us(b) - epoch_us(a)) / 1e6"


@dataclass(frozen=True, slots=True)
class Implausible:
    """A value above its bound: a row of the table ``implausible`` (`SCHEMA` describes the attributes)."""

    source_id: str
    file: str
    system: str | None
    table_name: str
    record_no: int
    section_no: int
    field: str
    value: float
    at_most: float
    unit: str
    bound: str
    reason: str

    def __str__(self) -> str:
        """The value as a line of a message."""
        unit = f" {self.unit}" if self.unit else ""
        return (
            f"{self.file}, record {self.record_no}: {self.table_name} {self.field} is {self.value:,.9g}{unit}, and at "
            f"most {self.at_most:,.9g}{unit} is possible ({self.bound}): {self.reason}"
        )

    @classmethod
    def of(cls, rows: pa.Table) -> list[Implausible]:
        """The rows of a table of `SCHEMA`."""
        names = [field.name for field in fields(cls)]
        return [cls(**{name: row[name] for name in names}) for row in rows.to_pylist()]


@dataclass(frozen=True, slots=True)
class Bound:
    """Upper bound of a field of a raw table.

    Attributes
    ----------
    table : str
        The raw table.
    field : str
        The field, or a pattern with ``#``.
    at_most, when : str
        SQL expressions over the fields of the row; ``when`` may be empty.
    fraction, amount : float
        Slack: a fraction of the bound, and an amount in the field's base unit.
    reason : str
        Why a value above cannot be.
    source : str
        What the bound rests on.
    text : str
        The bound as a reader is shown it: ``at_most`` as the file has it, with ``#`` filled in.
    """

    table: str
    field: str
    at_most: str
    when: str
    fraction: float
    amount: float
    reason: str
    source: str
    text: str = ""

    @property
    def elsewhere(self) -> frozenset[tuple[str, str]]:
        """Tables and fields of other sections of the record that the bound needs."""
        return _places_in(self.at_most) | _places_in(self.when)

    def of_columns(self, columns: Iterable[str], others: Mapping[str, Iterable[str]] | None = None) -> list[Bound]:
        """The bounds that apply to these columns; a bound whose fields are missing is left out.

        Parameters
        ----------
        columns
            The columns of the table.
        others
            Columns of other tables of the same source.
        """
        names = {column.upper() for column in columns}
        for table, field in self.elsewhere:
            if field.upper() not in {column.upper() for column in (others or {}).get(table, ())}:
                return []
        bounds = []
        for name, part in self._fields_among(names):
            at_most, when = (_written_out(text, part, names) for text in (self.at_most, self.when))
            words = {word.upper() for text in (at_most, when) for word in _WORD.findall(_ELSEWHERE.sub("", text))}
            if words <= names | _KEYWORDS:
                text = self.at_most.replace("#", part)
                bounds.append(replace(self, field=name, at_most=at_most, when=when, text=text))
        return bounds

    def _fields_among(self, names: set[str]) -> list[tuple[str, str]]:
        """The columns to which the bound applies, each with the text that replaces ``#``."""
        field = self.field.upper()
        if "#" not in field:
            return [(field, "")] if field in names else []
        pattern = re.compile(re.escape(field).replace(r"\#", r"(?P<part>\w+)"))
        return [(name, match["part"]) for name in sorted(names) if (match := pattern.fullmatch(name)) is not None]


@cache
def _places_in(text: str) -> frozenset[tuple[str, str]]:
    """Tables and fields of other sections in an expression."""
    return frozenset(_ELSEWHERE.findall(text))


def _written_out(text: str, part: str, names: set[str]) -> str:
    """An expression with ``#`` filled in and ``NAME_*`` as a list of fields."""

    def listed(match: re.Match[str]) -> str:
        return ", ".join(sorted(name for name in names if name.startswith(match[1].upper()))) or match[1]

    return _ALL_OF.sub(listed, text.replace("#", part))


def read_bounds(site: Sequence[str | Path] = ()) -> dict[str, tuple[Bound, ...]]:
    """The bounds of every raw table that has any.

    Parameters
    ----------
    site
        Folders with layouts of the site; a file of their ``plausible/`` replaces one of the same name.

    Raises
    ------
    UnreadableInputError
        A file cannot be read, or a row breaks the format; the message names file and line.
    """
    files: dict[str, Path] = {}
    for folder in layout_folders(site):
        files.update({path.name: path for path in sorted(folder.glob("plausible/*.csv"))})
    bounds: dict[str, list[Bound]] = {}
    for path in files.values():
        for bound in _bounds_of_file(path):
            bounds.setdefault(bound.table, []).append(bound)
    return {table: tuple(of_table) for table, of_table in bounds.items()}


def _bounds_of_file(path: Path) -> list[Bound]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise _refusal(path, None, f"the file cannot be read as text: {error}") from error
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line and not line.startswith("#")]
    if not numbered or next(csv.reader([numbered[0][1]])) != _HEADING:
        raise _refusal(path, 1, f"the heading is not {','.join(_HEADING)}")
    bounds = []
    for number, line in numbered[1:]:
        cells = next(csv.reader([line]))
        if len(cells) != len(_HEADING):
            raise _refusal(path, number, f"the row has {len(cells)} cells instead of {len(_HEADING)}")
        table, fields, at_most, when, slack, reason, source = cells
        allowed = _SLACK.fullmatch(slack.strip())
        if not (table and fields.split() and at_most and reason and source):
            raise _refusal(path, number, "one of table, field, at_most, reason and source is empty")
        if allowed is None:
            raise _refusal(path, number, f"slack {slack!r} is not like 1% + 0.5, 1% or 0.5")
        for text in (at_most, when):
            _check_expression(path, number, text)
        percent, amount = float(allowed["percent"] or 0.0), float(allowed["amount"] or 0.0)
        bounds += [
            Bound(table, field, at_most, when, percent / 100.0, amount, reason, source) for field in fields.split()
        ]
    return bounds


def _check_expression(path: Path, line: int, text: str) -> None:
    """Check that the text is a single SQL expression."""
    if not text:
        return
    try:
        statements = duckdb.extract_statements(f"SELECT ({_written_out(text, 'N', set())})")
    except duckdb.Error as error:
        raise _refusal(path, line, f"{text!r} is not an SQL expression: {str(error).splitlines()[0]}") from error
    if len(statements) != 1 or ";" in text:
        raise _refusal(path, line, f"{text!r} is more than one SQL expression")


def _refusal(path: Path, line: int | None, what: str) -> UnreadableInputError:
    return UnreadableInputError(
        file=str(path), line=line, what=what, remedy="plexlens.ingest.plausible describes these files"
    )


class Plausibility:
    """Checks the rows of a source for values above their bounds.

    Parameters
    ----------
    file
        The source as the user named it.
    bounds
        What `read_bounds` gave.
    """

    def __init__(self, file: str, bounds: Mapping[str, Sequence[Bound]]) -> None:
        self.file = file
        self._bounds = bounds

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The tables with bounded fields, and those that bounds refer to."""
        named = {table for of_table in self._bounds.values() for bound in of_table for table, _ in bound.elsewhere}
        return tuple(sorted(named | set(self._bounds)))

    def marked(self, table: str, rows: pa.Table, others: Mapping[str, pa.Table] | None = None) -> pa.Table:
        """The values of a table that exceed their bounds.

        Parameters
        ----------
        table
            The raw table.
        rows
            Rows of it.
        others
            Rows of other tables, of the same records.

        Returns
        -------
        pyarrow.Table
            A row of `SCHEMA` for each value.
        """
        self._connection.register("rows_of_source", rows)
        units = {field.name: (field.metadata or {}).get(b"unit", b"").decode() for field in rows.schema}
        relations = {}
        for name, other in (others or {}).items():
            self._connection.register(f"other_{name}", other)
            relations[name] = (f"other_{name}", other.schema.names)
        return self._marked(table, "rows_of_source", units, relations)

    def marked_in_files(
        self, table: str, files: Mapping[str, Sequence[Path]], units: Mapping[str, Mapping[str, str]]
    ) -> pa.Table:
        """The same for rows in Parquet files of a source.

        Parameters
        ----------
        table
            The raw table.
        files
            Table to its files.
        units
            Table to its columns with their base units.
        """
        if not files.get(table):
            return SCHEMA.empty_table()
        relations = {name: (_relation(paths), tuple(units[name])) for name, paths in files.items() if name in units}
        return self._marked(table, relations.pop(table)[0], units[table], relations)

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        """A shared connection for all tables, since opening a connection takes longer than a query."""
        connection = duckdb.connect(config={"autoinstall_known_extensions": False, "threads": 2})
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(_MACRO)
        return connection

    def _marked(
        self, table: str, relation: str, units: Mapping[str, str], others: Mapping[str, tuple[str, Sequence[str]]]
    ) -> pa.Table:
        columns = tuple(units)
        listed = {name: names for name, (_, names) in others.items()}
        bounds = [each for bound in self._bounds.get(table, ()) for each in bound.of_columns(columns, listed)]
        if not bounds:
            return SCHEMA.empty_table()
        statements = _Statements(bounds, relation, columns, {name: rows for name, (rows, _) in others.items()})
        try:
            # What names the values takes twice as long to plan, and sound data has none.
            if self._connection.execute(statements.any_above).fetchone() is None:
                return SCHEMA.empty_table()
            result = self._connection.execute(statements.values_above).to_arrow_table()
        except duckdb.Error as error:
            raise UnreadableInputError(
                file=self.file,
                what=f"the bounds of table {table} cannot be applied: {str(error).splitlines()[0]}",
                remedy="correct plausible/*.csv in the folder of layouts",
            ) from error
        texts = {
            "file": [self.file] * len(result),
            "table_name": [table] * len(result),
            "unit": [units.get(bounds[index].field.lower(), "") for index in result.column("bound_no").to_pylist()],
            "field": [bounds[index].field for index in result.column("bound_no").to_pylist()],
            "bound": [bounds[index].text for index in result.column("bound_no").to_pylist()],
            "reason": [bounds[index].reason for index in result.column("bound_no").to_pylist()],
        }
        return pa.table(
            {
                field.name: pa.array(texts[field.name], field.type)
                if field.name in texts
                else result.column(field.name)
                for field in SCHEMA
            }
        ).cast(SCHEMA)


def _relation(files: Sequence[Path]) -> str:
    paths = ", ".join("'" + str(file).replace("'", "''") + "'" for file in files)
    return f"read_parquet([{paths}], union_by_name=true, hive_partitioning=false)"


class _Statements:
    """The queries for values above their bounds: the fields that bounds name are read, and no others.

    Attributes
    ----------
    any_above
        Gives a row if there is such a value.
    values_above
        Gives a row for each of them.
    """

    def __init__(
        self, bounds: Sequence[Bound], relation: str, columns: Sequence[str], others: Mapping[str, str]
    ) -> None:
        length = "" if "interval_seconds" in columns else ", seconds(interval_start, interval_end) AS interval_seconds"
        entries: list[str] = []
        values: dict[str, list[str]] = {}
        for number, bound in enumerate(bounds):
            at_most, when = (_ELSEWHERE.sub(r'"\1.\2"', text) for text in (bound.at_most, bound.when))
            at_most = f"CASE WHEN {when} THEN ({at_most}) END" if when else f"({at_most})"
            at_most = f"CAST({at_most} AS DOUBLE)"
            value = f'CAST("{bound.field.lower()}" AS DOUBLE)'
            limit = at_most + (f" + {bound.fraction!r} * abs({at_most})" if bound.fraction else "")
            limit += f" + {bound.amount!r}" if bound.amount else ""
            values.setdefault(limit, []).append(value)
            named = f"'bound_no': {number}, 'field': '{bound.field}'"
            entries.append(f"{{{named}, 'value': {value}, 'at_most': {at_most}, 'above': {value} > {limit}}}")
        # Fields with the same bound are compared as one: a plan of hundreds of comparisons takes longer than the rows.
        tested = "\n OR ".join(f"greatest({', '.join(of_limit)}) > {limit}" for limit, of_limit in values.items())
        listed = ",\n ".join(entries)
        rows = f"SELECT *{length} FROM {relation}{_joined(bounds, others)}"
        self.any_above = f"SELECT 1 FROM ({rows})\nWHERE {tested} LIMIT 1"
        self.values_above = (
            "SELECT source_id, system, record_no, section_no, mark.bound_no, mark.value, mark.at_most FROM (\n"
            f"SELECT source_id, system, record_no, section_no, unnest([\n {listed}]) AS mark\n"
            f"FROM ({rows})\nWHERE {tested}) WHERE mark.above\n"
            # A value above several bounds is named once, with the lowest of them.
            "QUALIFY row_number() OVER (PARTITION BY source_id, record_no, section_no, mark.field"
            " ORDER BY mark.at_most, mark.bound_no) = 1\n"
            "ORDER BY record_no, section_no, mark.bound_no"
        )


def _joined(bounds: Sequence[Bound], others: Mapping[str, str]) -> str:
    """SQL of the joins with other sections of a record that bounds refer to."""
    elsewhere: dict[str, dict[str, None]] = {}
    for table, field in sorted(place for bound in bounds for place in bound.elsewhere):
        elsewhere.setdefault(table, {})[f'max("{field}") AS "{table}.{field}"'] = None
    return "".join(
        f" LEFT JOIN (SELECT source_id, record_no, {', '.join(fields)} FROM {others[table]} GROUP BY ALL)"
        " USING (source_id, record_no)"
        for table, fields in elsewhere.items()
    )


def counted(marked: pa.Table) -> list[tuple[str, str, int]]:
    """Table, field and number of the marked values, by table and field."""
    # Not grouped by Arrow, whose query engine takes longer to load than a small dump to decode.
    counts = Counter(zip(marked["table_name"].to_pylist(), marked["field"].to_pylist(), strict=True))
    return sorted((table, field, count) for (table, field), count in counts.items())
