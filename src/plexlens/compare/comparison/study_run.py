"""A run from a study: a row of a table, several rows as repeats, or a whole table of objects.

A study names its runs ``STUDY:TABLE:ROW``. What a study derives is taken as worked out again from its measured columns,
never as printed, so that a misprint does not travel; what it measured is taken as printed, with the bounds of its
digits. ``compare.toml`` next to ``study.toml`` says what else belongs to the run of a table: settings, and totals of
the whole, that stand in another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli

from plexlens.compare.audit.audit import Audit, Cell, audit
from plexlens.compare.audit.recomputation import Recomputation
from plexlens.compare.comparison.address import StudyAddress
from plexlens.compare.numbers.quantity import Quantity, exact
from plexlens.compare.runs.headings import common_name, heading, measure_of, tool_of
from plexlens.compare.runs.run import Activity, Key, Measure, Reading, Run, Setting
from plexlens.compare.runs.significance import of_repeats
from plexlens.compare.runs.wording import within_a_sentence
from plexlens.compare.study.model import Study, StudyError, StudyTable
from plexlens.compare.study.reader import load_study
from plexlens.errors import UsageError
from plexlens.metrics.unit import Unit

#: File that says which rows and tables belong together.
COMPARE = "compare.toml"

#: Rejected cells that a note lists.
_MOST_TOLD = 3

_RUN_KEYS = ("table", "settings", "whole", "workload")
_PLACE_KEYS = ("table", "row")


def find_table(study: Study, wanted: str) -> StudyTable:
    """The table with this id, or the only table whose id contains this word.

    Raises
    ------
    UsageError
        There is none, or several have the word.
    """
    if wanted in study.tables:
        return study.tables[wanted]
    study_tables = [table for name, table in study.tables.items() if wanted in name.split("-")]
    if len(study_tables) == 1:
        return study_tables[0]
    named = ", ".join(table.id for table in study_tables) or ", ".join(study.tables)
    raise UsageError(
        file="",
        what=f"study {study.name} has {'several tables' if study_tables else 'no table'} {wanted!r}",
        remedy=f"name one of {named}",
    )


def study_run(address: StudyAddress, folder: Path | None = None) -> Run:
    """The run at an address.

    Parameters
    ----------
    address
        Study, table and rows.
    folder
        Where studies are; those that come with Plexlens if not given.

    Raises
    ------
    UsageError
        There is no such study, table or row.
    StudyError
        A file of the study cannot be read, or says what cannot be.
    """
    return StudyReader.of(address.study, folder).run(address)


def labels(table: StudyTable) -> list[str]:
    """Names of the rows of a table: as many leading cells as are needed to distinguish them."""
    for width in range(1, len(table.columns) + 1):
        names = [" / ".join(row[column] for column in table.columns[:width]) for row in table.rows]
        if len(set(names)) == len(names):
            return names
    return [f"row {number}" for number in range(1, len(table.rows) + 1)]


def _label_width(table: StudyTable) -> int:
    for width in range(1, len(table.columns) + 1):
        if len({tuple(row[column] for column in table.columns[:width]) for row in table.rows}) == len(table.rows):
            return width
    return 1


def _not_compared(rejected: Sequence[str]) -> Iterator[str]:
    """The note on printed cells in place of which computed numbers are compared."""
    if rejected:
        more = len(rejected) - _MOST_TOLD
        text = "; ".join(rejected[:_MOST_TOLD]) + (f"; and {more} more, which plexlens study lists" if more > 0 else "")
        yield f"Where a printed number cannot follow from its inputs, the computed number is compared: {text}."


@dataclass
class _Gathered:
    """Values of a run, gathered cell by cell."""

    kind: str
    measures: dict[str, Measure] = field(default_factory=dict)
    repeats: dict[Key, list[Reading]] = field(default_factory=dict)
    settings: list[Setting] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)

    def readings(self) -> dict[Key, Reading]:
        """A reading per number; repeats are combined."""
        return {key: _joined(readings) for key, readings in self.repeats.items()}


class StudyReader:
    """Numbers and rows of a study, recomputed once."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.audit: Audit = audit(study)
        self.again = Recomputation(study)
        self.extra = _read_compare(study)

    @classmethod
    def of(cls, name: str, folder: Path | None = None) -> StudyReader:
        """The reader of a study by its name."""
        return cls(load_study(name, folder))

    def run(self, address: StudyAddress) -> Run:
        """The run at an address."""
        table = find_table(self.study, address.table)
        names = labels(table)
        if address.rows:
            wanted = [self.row(table, names, row) for row in address.rows]
            objects = dict.fromkeys(wanted, "")
        else:
            wanted = list(range(len(names)))
            objects = dict(enumerate(names))
        gathered = _Gathered("" if address.rows else _plural(table.columns[0]))
        for column in (*table.columns, *_unprinted(table)):
            for number in wanted:
                self.read(table, column, number, objects[number], gathered)
        for (other, number), whole in self.places(table):
            aside = _Gathered("")
            for column in other.columns:
                self.read(other, column, number, "", aside)
            gathered.settings += aside.settings
            if whole:
                gathered.measures.update({**aside.measures, **gathered.measures})
                gathered.repeats.update(aside.repeats)
        self.components(table, wanted, objects, gathered)
        measures, readings = gathered.measures, gathered.readings()
        return Run(
            name=str(StudyAddress(self.study.name, table.id, address.rows)),
            description=self.describe(table, [names[number] for number in wanted], bool(address.rows)),
            family=self.study.address,
            settings=tuple(dict.fromkeys(gathered.settings)),
            activities=tuple(self.activities(table, measures, readings, gathered.kind)),
            measures=measures,
            readings=readings,
            intervals={table.id: len(wanted) if address.rows else 1},
            workload=next((str(entry["workload"]) for entry in self.belonging(table) if "workload" in entry), ""),
            notes=(*((table.note,) if table.note else ()), *_not_compared(gathered.rejected)),
        )

    def row(self, table: StudyTable, names: Sequence[str], wanted: str) -> int:
        """Index of a row by its label, by one of its leading cells, or by its number."""
        if wanted in names:
            return names.index(wanted)
        heads = table.columns[: _label_width(table)]
        numbers = [number for number, row in enumerate(table.rows) if wanted in (row[head] for head in heads)]
        if len(numbers) == 1:
            return numbers[0]
        bare = wanted.removeprefix("row ").removeprefix("#")
        if not numbers and bare.isdigit() and 0 < int(bare) <= len(names):
            return int(bare) - 1
        text = ", ".join(repr(names[number]) for number in numbers) or ", ".join(repr(name) for name in names[:12])
        raise UsageError(
            file="",
            what=f"table {table.id} of study {self.study.name} has "
            + (f"{len(numbers)} rows {wanted!r}" if numbers else f"no row {wanted!r}"),
            remedy=f"name one of {text}" + (" ..." if len(names) > 12 and not numbers else "") + ", or its number",
        )

    def read(self, table: StudyTable, column: str, number: int, object_name: str, into: _Gathered) -> None:
        """Store a cell as a setting or a reading; a cell that prints neither is skipped."""
        meaning = heading(self.study.headings, column)
        text = table.rows[number].get(column, "")
        if meaning.role == "environment":
            into.settings.append(Setting(object_name or "Run", meaning.title, text))
            return
        if meaning.role == "count":
            return
        quantity, cell = self.number(table, number, column)
        if quantity is None:
            # Names stand in the first columns; other texts are settings.
            if text.strip() and column not in table.columns[: _label_width(table)] and not meaning.known:
                into.settings.append(Setting(object_name or "Run", column, text))
            return
        if column in table.columns[: _label_width(table)] and not meaning.known:
            return
        if cell is not None and cell.compared and not cell.agrees and not cell.convention:
            into.rejected.append(f"{column} of {object_name or cell.label}: {cell.arithmetic}")
        name = common_name(self.study.headings, column)
        arithmetic = "" if cell is None or cell.computed is None else cell.arithmetic.split("; printed")[0]
        if name not in into.measures:
            formula = "" if cell is None else f"worked out as {cell.formula.replace('_', ' ')}: {arithmetic}"
            into.measures[name] = measure_of(
                self.study.headings,
                column,
                name,
                kind=into.kind or "Run",
                row="a row of a table" if object_name else "the run as a whole",
                formula=formula,
                source=f"{self.study.name}, {table.id}, column {column!r}",
            )
        into.repeats.setdefault((name, object_name), []).append(
            Reading(float(quantity.value), float(quantity.low), float(quantity.high), arithmetic=arithmetic)
        )

    def number(self, table: StudyTable, number: int, column: str) -> tuple[Quantity | None, Cell | None]:
        """A cell, recomputed if the study derives it, else as printed; with the audit's cell if there is one."""
        result = next(table_audit for table_audit in self.audit.tables if table_audit.table.id == table.id)
        cell = next((cell for cell in result.cells if cell.row == number + 1 and cell.column == column), None)
        if cell is not None and cell.computed is not None:
            return cell.computed, cell
        lost = self.lost(table, number, column)
        if lost is not None:
            return lost, cell
        if column not in table.columns:
            return None, cell
        try:
            return self.again.printed(table, number, column), None
        except StudyError:
            return None, None

    def lost(self, table: StudyTable, number: int, column: str) -> Quantity | None:
        """Computed value of a cell that is missing in the available print; None if it is printed or cannot be
        computed.
        """
        row = table.rows[number]
        if row.get(column, "").strip():
            return None
        rule = next((rule for rule in table.derived if column in rule.columns and rule.rows.takes(row)), None)
        try:
            return None if rule is None else self.again.derived(table, rule, number, column)
        except StudyError:
            # Other cells of the row are words.
            return None

    def components(self, table: StudyTable, wanted: Sequence[int], objects: Mapping[int, str], into: _Gathered) -> None:
        """Processor time of a transaction by address space, from its share of a processor and the rate."""
        name, own = self.study.name, self.study.headings
        rate_column = next((column for column in table.columns if heading(own, column).role == "work"), None)
        for column in table.columns:
            meaning = heading(own, column)
            if meaning.role != "component" or rate_column is None:
                continue
            measure = Measure(
                f"part: {column}",
                f"Processor time of a transaction: {meaning.title}",
                Unit("ms", "ms", 1.0, 3),
                meaning.group,
                meaning.better,
                into.kind or "Run",
                "a row of a table",
                "percent of one processor x 10 / transactions per second",
                f"{name}, {table.id}, columns {column!r} and {rate_column!r}",
            )
            for number in wanted:
                rate, share = (self.number(table, number, table_audit)[0] for table_audit in (rate_column, column))
                if rate is None or share is None or rate.low <= 0:
                    continue
                # Percent of one processor are hundredths of a second a second: ten milliseconds.
                part = share * exact(10) / rate
                into.measures[measure.id] = measure
                into.repeats.setdefault((measure.id, objects[number]), []).append(
                    Reading(float(part.value), float(part.low), float(part.high))
                )

    def belonging(self, table: StudyTable) -> list[Mapping[str, Any]]:
        """Entries of ``compare.toml`` for the run of a table."""
        return [entry for entry in self.extra if entry.get("table") == table.id]

    def places(self, table: StudyTable) -> list[tuple[tuple[StudyTable, int], bool]]:
        """Rows of other tables that belong to this table's run, and whether they are totals of the run."""
        results = []
        for entry in self.belonging(table):
            for key in ("settings", "whole"):
                if key in entry:
                    other = find_table(self.study, str(entry[key].get("table")))
                    row = self.row(other, labels(other), str(entry[key].get("row")))
                    results.append(((other, row), key == "whole"))
        return results

    def activities(
        self, table: StudyTable, measures: Mapping[str, Measure], readings: Mapping[Key, Reading], kind: str
    ) -> list[Activity]:
        """The work of the run, by object if the table has several."""
        results = []
        work = [
            column
            for column in (*table.columns, *_unprinted(table))
            if heading(self.study.headings, column).role == "work"
        ]
        # What users entered is the work; what the system took for a command may change with the release.
        entered = [column for column in work if tool_of(column) == "T"]
        for column in entered or work:
            name = common_name(self.study.headings, column)
            amounts = {
                object_name: reading.value
                for (measure, object_name), reading in readings.items()
                if measure == name and reading.value is not None and reading.value > 0
            }
            if amounts:
                results.append(Activity(name, _work_of(measures[name]), kind, amounts))
        return results

    def describe(self, table: StudyTable, rows: Sequence[str], single: bool) -> str:
        """Description of the run in words."""
        text = f"study {self.study.name}, {table.id}: {table.title}"
        if not single:
            return text
        return text + (f", {rows[0]}" if len(rows) == 1 else f", {len(rows)} repeats: {', '.join(rows)}")


def _work_of(measure: Measure) -> str:
    """The work counted by a rate, in the plural: commands, transactions, getpages."""
    if measure.title.startswith("External throughput rate"):
        return "commands" if measure.unit.base == "commands/s" else "transactions"
    return within_a_sentence(measure.title)


def _plural(head: str) -> str:
    """A heading as the name of the rows below it: ``Pool (A)`` as pools."""
    word = head.partition(" (")[0].strip().lower()
    return word if word.endswith("s") else f"{word}s"


def _unprinted(table: StudyTable) -> list[str]:
    columns = (column for rule in table.derived for column in rule.columns if column not in table.columns)
    return list(dict.fromkeys(columns))


def _joined(readings: Sequence[Reading]) -> Reading:
    """A single reading, or the mean of repeats with its spread; the mean's bounds include each repeat's bounds."""
    if len(readings) == 1:
        return readings[0]
    values = [reading.value for reading in readings if reading.value is not None]
    mean, estimate = of_repeats(values)
    lows = [reading.low for reading in readings if reading.low is not None]
    highs = [reading.high for reading in readings if reading.high is not None]
    whole = len(lows) == len(highs) == len(readings)
    return Reading(
        mean,
        sum(lows) / len(lows) if whole else None,
        sum(highs) / len(highs) if whole else None,
        estimate,
        f"mean of {len(values)} repeats",
    )


def _read_compare(study: Study) -> list[Mapping[str, Any]]:
    """The runs declared in ``compare.toml``; none without the file."""
    path = study.path.parent / COMPARE
    if not path.is_file():
        return []
    try:
        content = tomli.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomli.TOMLDecodeError) as error:
        raise StudyError(file=str(path), what=f"it cannot be read: {error}", remedy="correct the file") from error
    runs = content.get("runs", [])
    for number, entry in enumerate(runs if isinstance(runs, list) else [], 1):
        _only(path, f"run {number}", entry, _RUN_KEYS)
        for key in ("settings", "whole"):
            if key in entry:
                _only(path, f"run {number}, {key}", entry[key], _PLACE_KEYS)
        if entry.get("table") not in study.tables:
            raise StudyError(
                file=str(path),
                what=f"run {number}: there is no table {entry.get('table')!r}",
                remedy=f"name one of {', '.join(study.tables)}",
            )
    return list(runs)


def _only(path: Path, where: str, entry: Any, allowed: Sequence[str]) -> None:
    if not isinstance(entry, dict):
        raise StudyError(file=str(path), what=f"{where}: it is not a table", remedy=f"give it {', '.join(allowed)}")
    for key in entry:
        if key not in allowed:
            raise StudyError(
                file=str(path), what=f"{where}: there is no key {key!r}", remedy=f"use one of {', '.join(allowed)}"
            )
