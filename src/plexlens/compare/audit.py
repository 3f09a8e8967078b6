"""The audit of a study: every derived cell worked out again and held against the printed one.

A cell agrees where some number that rounds to the printed one lies within the bounds that the rounding of the inputs
leaves (`plexlens.compare.quantity`). What does not agree is shown with its arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from plexlens.compare.line import FittedLine, fit_line
from plexlens.compare.quantity import MissingError, Quantity, UndefinedError, as_printed, exact, printed, rounded, shown
from plexlens.compare.relations import Tested, prints, tested
from plexlens.compare.study import (
    SAME,
    Derived,
    Line,
    Match,
    Reference,
    Relation,
    Repeat,
    Study,
    StudyError,
    StudyTable,
)


@dataclass(frozen=True)
class Cell:
    """One derived cell.

    Attributes
    ----------
    row, label, column
        Row from 1 and what stands at its head; heading of the column.
    formula
        Name of the formula.
    text
        The cell as printed; empty in a column that the study does not print.
    printed, computed
        What it stands for, and what follows from the inputs, each with bounds; None where there is none.
    arithmetic
        The numbers put into the formula, and both results with their bounds; the reason where nothing was computed.
    note
        Why the two differ, where the study's notes say so.
    convention
        Whether nothing is wrong by that note: the source works the number out in a way of its own.
    """

    row: int
    label: str
    column: str
    formula: str
    text: str
    printed: Quantity | None
    computed: Quantity | None
    arithmetic: str
    note: str = ""
    convention: bool = False

    @property
    def compared(self) -> bool:
        """Whether there is a printed and a computed number."""
        return self.printed is not None and self.computed is not None

    @property
    def agrees(self) -> bool:
        """Whether the rounding of printed digits can account for the difference."""
        return self.printed is not None and self.computed is not None and self.printed.meets(self.computed)

    @property
    def difference(self) -> Fraction | None:
        """Computed less printed."""
        return None if self.printed is None or self.computed is None else self.computed.value - self.printed.value


@dataclass(frozen=True)
class TableLine:
    """A line fitted to a table: milliseconds of processor time a second over transactions a second.

    ``predicted`` has, for each of the last two rows, the measured rate, the cost per transaction measured there, and
    that predicted by the line through the rows before them (their rates are ``fitted_rates``); it is empty where fewer
    than two rows remain.
    """

    columns: tuple[str, ...]
    line: FittedLine
    predicted: tuple[tuple[float, float, float], ...]
    fitted_rates: tuple[float, ...] = ()


@dataclass(frozen=True)
class TableAudit:
    """A table and its derived cells."""

    table: StudyTable
    cells: tuple[Cell, ...]
    lines: tuple[TableLine, ...]
    tested: tuple[Tested, ...] = ()

    @property
    def compared(self) -> list[Cell]:
        """Cells with a printed and a computed number."""
        return [cell for cell in self.cells if cell.compared]

    @property
    def agree(self) -> int:
        """How many of them agree."""
        return sum(cell.agrees for cell in self.compared)

    @property
    def disagree(self) -> list[Cell]:
        """Those that do not, though nothing but the print accounts for it."""
        return [cell for cell in self.compared if not cell.agrees and not cell.convention]

    @property
    def conventions(self) -> list[Cell]:
        """Those that do not because the source works them out in a way of its own, as the study's notes explain."""
        return [cell for cell in self.compared if not cell.agrees and cell.convention]

    @property
    def broken(self) -> list[Tested]:
        """Relations that no numbers that round to the printed ones can keep, and no convention explains."""
        return [one for one in self.tested if not one.holds and not one.convention]

    @property
    def not_computed(self) -> list[Cell]:
        """Printed cells for which an input is missing; ``arithmetic`` says which."""
        return [cell for cell in self.cells if cell.computed is None]


#: A cell by its table's id, its row's index from 0, and its column.
Place = tuple[str, int, str]


@dataclass(frozen=True)
class Audit:
    """What came of a study.

    ``inputs`` are the printed cells that each derived cell was worked out from.
    """

    study: Study
    tables: tuple[TableAudit, ...]

    inputs: Mapping[Place, frozenset[Place]] = field(default_factory=dict)

    @property
    def rejected(self) -> dict[Place, str]:
        """Printed cells that cannot be, and those that rest on them, each with the arithmetic that shows it.

        A broken relation does not tell which of its cells is wrong: the one that it is about stands for it, unless
        the study's notes say that it is right.
        """
        found: dict[Place, str] = {}
        right: set[Place] = set()
        for one in self.tables:
            wrong: list[Cell | Tested] = [*one.broken, *one.disagree]
            for cell in wrong:
                place = (one.table.id, cell.row - 1, cell.column)
                row = one.table.rows[cell.row - 1]
                if any(
                    known.right and known.column == cell.column and known.rows.takes(row) for known in one.table.known
                ):
                    right.add(place)
                else:
                    found[place] = cell.arithmetic
        spread = True
        while spread:
            spread = False
            for place, inputs in self.inputs.items():
                source = next((other for other in inputs if other in found), None)
                if place not in found and place not in right and source is not None:
                    table, number, column = source
                    found[place] = f"it rests on row {number + 1}, {column!r} of table {table!r}: {found[source]}"
                    spread = True
        return found


def audit(study: Study) -> Audit:
    """Work out every derived cell of a study.

    Raises
    ------
    StudyError
        A cell holds no number where one is needed, a row is named that is not there, cells depend on each other in a
        circle, or a disagreement that the notes explain is none.
    """
    run = Recomputation(study)
    tables = tuple(run.table(table) for table in study.tables.values())
    return Audit(study, tables, run.inputs)


class Recomputation:
    """Works cells of a study out, each once.

    Parameters
    ----------
    study
        Whose tables.
    pinned
        Printed cells that are taken to be one number of those that their digits allow.
    """

    def __init__(self, study: Study, pinned: Mapping[Place, Fraction] | None = None) -> None:
        self.study = study
        self.pinned = pinned or {}
        self.done: dict[Place, tuple[Quantity, str]] = {}
        self.open: list[Place] = []
        #: Printed cells that have been read, and those that each derived cell was worked out from.
        self.read: set[Place] = set()
        self.inputs: dict[Place, frozenset[Place]] = {}
        self.places: dict[Repeat, dict[tuple[str, ...], list[tuple[StudyTable, int]]]] = {}

    def table(self, table: StudyTable) -> TableAudit:
        """All derived cells and lines of a table."""
        cells = [
            cell
            for derived in table.derived
            for number, row in enumerate(table.rows)
            if derived.rows.takes(row)
            for column in derived.columns
            if not derived.printed or self.number(table, number, column) is not None
            if (cell := self.cell(table, derived, number, column)) is not None
        ]
        cells.sort(key=lambda cell: cell.row)
        found = tuple(tested(self, table))
        for known in table.known:
            wrong = [(one.note, one.column) for one in cells if one.compared and not one.agrees]
            wrong += [(one.note, one.column) for one in found if not one.holds]
            if (known.note, known.column) not in wrong:
                raise StudyError(
                    file=str(self.study.path),
                    what=f"table {table.id!r}, key 'known': {known.column!r} of rows {dict(known.rows.cells)} "
                    "agrees or is not computed",
                    remedy="take the note away",
                )
        return TableAudit(table, tuple(cells), tuple(self.lines(table)), found)

    def note(self, table: StudyTable, number: int, column: str) -> tuple[str, bool]:
        """What the notes say of a cell that is not as it should be, and whether it is a convention of the source."""
        row = table.rows[number]
        known = next((one for one in table.known if one.column == column and one.rows.takes(row)), None)
        return ("", False) if known is None else (known.note, known.convention)

    def prints(self, repeat: Repeat) -> dict[tuple[str, ...], list[tuple[StudyTable, int]]]:
        """Where each row of a repeat stands."""
        if repeat not in self.places:
            self.places[repeat] = prints(self.study.tables, repeat)
        return self.places[repeat]

    def cell_or_computed(self, table: StudyTable, number: int, column: str) -> Quantity | None:
        """A printed cell, or one that the table does not print, worked out; None where there is neither.

        Raises
        ------
        MissingError
            An argument of what is not printed is missing.
        UndefinedError
            A divisor of it may be zero.
        """
        if column in table.columns:
            return self.printed(table, number, column)
        row = table.rows[number]
        rule = next((one for one in table.derived if column in one.columns and one.rows.takes(row)), None)
        return None if rule is None else self.computed(table, rule, number, column)[0]

    def printed(self, table: StudyTable, number: int, column: str) -> Quantity | None:
        """A printed cell with the bounds of its rounding; None where it prints no number."""
        row = table.rows[number]
        rule = next((one for one in table.derived if column in one.columns and one.rows.takes(row)), None)
        return self.number(table, number, column, rule)

    def derived(self, table: StudyTable, derived: Derived, number: int, column: str) -> Quantity | None:
        """A cell worked out; None where an input is missing or a divisor may be zero."""
        try:
            return self.computed(table, derived, number, column)[0]
        except (MissingError, UndefinedError):
            return None

    def number(self, table: StudyTable, number: int, column: str, rule: Derived | None = None) -> Quantity | None:
        """A cell as a rule reads it."""
        self.read.add((table.id, number, column))
        row = table.rows[number]
        cut = any(column in one.columns and one.rows.takes(row) for one in table.cut)
        try:
            return printed(
                row[column],
                count=column in table.counts,
                cut=cut or (rule is not None and rule.cut),
                digits=None if rule is None else rule.digits,
                padded=column in table.padded,
                binary=column in table.binary,
            )
        except ValueError as error:
            raise StudyError(
                file=str(table.path),
                what=f"row {number + 1}, column {column!r}: {error}",
                remedy=f"write the number as printed; study.toml, table {table.id!r} works with it",
            ) from error

    def cell(self, table: StudyTable, derived: Derived, number: int, column: str) -> Cell | None:
        """A derived cell against its print; None where neither it nor its inputs are printed."""
        row = table.rows[number]
        held = self.number(table, number, column, derived) if derived.printed else None
        found: Quantity | None = None
        try:
            found, worked = self.computed(table, derived, number, column)
            arithmetic = f"{worked} = {shown(found.value)}"
            if found.low != found.high:
                arithmetic += f" ({shown(found.low)} to {shown(found.high)})"
            if held is not None:
                arithmetic += f"; printed {row[column]}"
                if held.low != held.high:
                    arithmetic += f" ({shown(held.low)} to {shown(held.high)})"
        except MissingError as error:
            if not derived.printed:
                return None
            arithmetic = f"not computed: {error}"
        except UndefinedError as error:
            arithmetic = f"not computed: {error}"
        return Cell(
            number + 1,
            row[table.columns[0]],
            column,
            derived.formula.name,
            row[column] if derived.printed else "",
            held,
            found,
            arithmetic,
            *self.note(table, number, column),
        )

    def computed(self, table: StudyTable, derived: Derived, number: int, column: str) -> tuple[Quantity, str]:
        """The result of a formula for a cell, and its arithmetic."""
        key = (table.id, number, column)
        if key in self.done:
            self.read |= self.inputs[key]
            return self.done[key]
        if key in self.open:
            raise StudyError(
                file=str(self.study.path),
                what=f"table {table.id!r}, column {column!r}, row {number + 1}: it is worked out from itself",
                remedy="take an argument from a printed column",
            )
        self.open.append(key)
        before, self.read = self.read, set()
        try:
            result, worked = self.worked(table, derived, number, column)
            self.done[key] = self.narrowed(result, table, derived, number, column), worked
            self.inputs[key] = frozenset(self.read)
        finally:
            self.open.remove(key)
            self.read |= before
        return self.done[key]

    def narrowed(self, result: Quantity, table: StudyTable, derived: Derived, number: int, column: str) -> Quantity:
        """A result with the bounds that remain when a cell that it reads twice has one value, not two.

        Along a cell with which the result only rises, or only falls, its bounds are where the cell is at its ends.
        """
        rising: dict[Place, bool] = {}
        for source, (least, greatest) in (result.slopes or {}).items():
            if source in result.repeated and isinstance(source, tuple) and (least >= 0 or greatest <= 0):
                rising[source] = least >= 0
        if not rising:
            return result
        ends = []
        for lowest in (True, False):
            pinned = dict(self.pinned)
            for source, rises in rising.items():
                there, row, head = self.study.tables[source[0]], source[1], source[2]
                cell = self.printed(there, row, head)
                if cell is not None:
                    pinned[source] = cell.low if rises == lowest else cell.high
            end = Recomputation(self.study, pinned).worked(table, derived, number, column)[0]
            ends.append(end.low if lowest else end.high)
        return replace(result, low=max(result.low, ends[0]), high=min(result.high, ends[1]))

    def worked(self, table: StudyTable, rule: Derived | Relation, number: int, column: str) -> tuple[Quantity, str]:
        """What the formula of a rule gives for a cell, and its arithmetic.

        Raises
        ------
        MissingError
            An argument is not printed.
        UndefinedError
            A divisor may be zero.
        """
        arguments: dict[str, Quantity | list[Quantity]] = {}
        texts: dict[str, list[str]] = {}
        for name, references in rule.arguments.items():
            values = [one for reference in references for one in self.values(reference, table, number, column)]
            if not values:
                raise MissingError(f"nothing is printed for {name}")
            arguments[name] = values if name in rule.formula.lists else values[0]
            texts[name] = [shown(value.value) for value in values]
        try:
            return rule.formula(arguments), rule.formula.worked(texts)
        except ValueError as error:
            raise MissingError(str(error)) from error

    def whole(self, table: StudyTable, rule: Derived | Relation, number: int, column: str) -> bool:
        """Whether all that a rule reads is printed, or worked out."""
        return all(
            self.values(reference, table, number, column)
            for references in rule.arguments.values()
            for reference in references
        )

    def values(self, reference: Reference, table: StudyTable, number: int, column: str) -> list[Quantity]:
        """What a reference stands for; cells that print nothing are left out."""
        if reference.value:
            return [exact(Fraction(reference.value) * reference.times)]
        there = self.study.tables[reference.table]
        wanted = column if reference.column == SAME else reference.column
        if reference.match is None:
            found = [number]
        else:
            here = table.rows[number]
            cells = {head: here[head] if cell == SAME else cell for head, cell in reference.match.cells.items()}
            match = Match(cells, reference.match.but)
            found = [place for place, row in enumerate(there.rows) if match.takes(row)]
            if not found or (len(found) > 1 and not reference.many):
                raise StudyError(
                    file=str(self.study.path),
                    what=f"table {table.id!r}, column {column!r}: {len(found)} rows of table {there.id!r} have {cells}",
                    remedy="name the rows so that " + ("some match" if reference.many else "exactly one matches"),
                )
        values = [self.value(there, place, wanted, reference) for place in found]
        there_are = [value for value in values if value is not None]
        return there_are if reference.times == 1 else [value * exact(reference.times) for value in there_are]

    def value(self, table: StudyTable, number: int, column: str, reference: Reference) -> Quantity | None:
        """A cell as an argument takes it."""
        rule = next(
            (one for one in table.derived if column in one.columns and one.rows.takes(table.rows[number])), None
        )
        if rule is not None and (reference.computed or column not in table.columns):
            found = self.computed(table, rule, number, column)[0]
            if reference.as_printed and rule.decimals is not None:
                return as_printed(found, rule.decimals, cut=rule.cut)
            if reference.rounded and rule.decimals is not None:
                return rounded(found, rule.decimals)
            return found
        cell = self.number(table, number, column, rule) if column in table.columns else None
        place = (table.id, number, column)
        if cell is None or not (reference.as_printed or place in self.pinned):
            return None if cell is None else cell.of(place)
        return exact(cell.value if reference.as_printed else self.pinned[place])

    def lines(self, table: StudyTable) -> list[TableLine]:
        """The fitted lines of a table."""
        return [fitted for line in table.lines if (fitted := self.line(table, line)) is not None]

    def line(self, table: StudyTable, line: Line) -> TableLine | None:
        """A line; None where the rates do not differ."""
        rates, costs = [], []
        for number in range(len(table.rows)):
            rate = self.number(table, number, line.rate)
            parts = [self.number(table, number, column) for column in line.cpu_percent]
            if rate is not None:
                rates.append(float(rate.value))
                costs.append(10 * float(sum(part.value for part in parts if part is not None)))
        whole = fit_line(rates, costs)
        if whole is None:
            return None
        first = fit_line(rates[:-2], costs[:-2])
        predicted = [
            (rate, cost / rate, first.at(rate) / rate)
            for rate, cost in zip(rates[-2:], costs[-2:], strict=True)
            if first is not None and rate
        ]
        return TableLine(line.cpu_percent, whole, tuple(predicted), tuple(rates[:-2]))
