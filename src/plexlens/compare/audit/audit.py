"""The audit of a study: every derived cell is recomputed and compared with the printed cell.

A cell agrees where some number that rounds to the printed one lies within the bounds that the rounding of the inputs
leaves (`plexlens.compare.numbers.quantity`). What does not agree is shown with its arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from plexlens.compare.audit.recomputation import Recomputation
from plexlens.compare.audit.relations import Tested, tested
from plexlens.compare.numbers.line import FittedLine, fit_line
from plexlens.compare.numbers.quantity import MissingError, Quantity, UndefinedError, printed, shown
from plexlens.compare.study.model import Derived, Known, Line, Place, Study, StudyError, StudyTable


@dataclass(frozen=True)
class Cell:
    """A derived cell.

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
        """Whether rounding of printed digits can explain the difference."""
        return self.printed is not None and self.computed is not None and self.printed.meets(self.computed)

    @property
    def difference(self) -> Fraction | None:
        """Computed minus printed."""
        return None if self.printed is None or self.computed is None else self.computed.value - self.printed.value


@dataclass(frozen=True)
class TableLine:
    """A line fitted to a table: processor time in milliseconds per second over transactions per second.

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
        """Number of compared cells that agree."""
        return sum(cell.agrees for cell in self.compared)

    @property
    def disagree(self) -> list[Cell]:
        """Cells that disagree although nothing except the print explains it."""
        return [cell for cell in self.compared if not cell.agrees and not cell.convention]

    @property
    def conventions(self) -> list[Cell]:
        """Cells that disagree because the source has its own convention, as the study's notes explain."""
        return [cell for cell in self.compared if not cell.agrees and cell.convention]

    @property
    def broken(self) -> list[Tested]:
        """Relations that no numbers consistent with the printed digits can satisfy, and that no convention explains."""
        return [test for test in self.tested if not test.holds and not test.convention]

    @property
    def not_computed(self) -> list[Cell]:
        """Printed cells with a missing input; ``arithmetic`` names it."""
        return [cell for cell in self.cells if cell.computed is None]


@dataclass(frozen=True)
class Audit:
    """Result of auditing a study.

    ``inputs`` are the printed cells that each derived cell was worked out from.
    """

    study: Study
    tables: tuple[TableAudit, ...]

    inputs: Mapping[Place, frozenset[Place]] = field(default_factory=dict)

    @cached_property
    def rejected(self) -> dict[Place, str]:
        """Printed cells that cannot be right, and cells that depend on them, each with the arithmetic that shows it.

        A broken relation does not tell which of its cells is wrong: the one that it is about stands for it, unless
        the study's notes say that it is right.
        """
        texts: dict[Place, str] = {}
        right: set[Place] = set()
        for table_audit in self.tables:
            wrong: list[Cell | Tested] = [*table_audit.broken, *table_audit.disagree]
            for cell in wrong:
                place = (table_audit.table.id, cell.row - 1, cell.column)
                row = table_audit.table.rows[cell.row - 1]
                if any(
                    known.right and known.column == cell.column and known.rows.takes(row)
                    for known in table_audit.table.known
                ):
                    right.add(place)
                else:
                    texts[place] = cell.arithmetic
        spread = True
        while spread:
            spread = False
            for place, inputs in self.inputs.items():
                source = next((other for other in inputs if other in texts), None)
                if place not in texts and place not in right and source is not None:
                    table, number, column = source
                    texts[place] = f"it rests on row {number + 1}, {column!r} of table {table!r}: {texts[source]}"
                    spread = True
        return texts


def audit(study: Study) -> Audit:
    """Recompute every derived cell of a study.

    Raises
    ------
    StudyError
        A cell holds no number where one is needed, a row is named that is not there, cells depend on each other in a
        circle, or a disagreement that the notes explain does not exist.
    """
    run = Recomputation(study)
    tables = tuple(audit_table(run, table) for table in study.tables.values())
    return Audit(study, tables, run.inputs)


def audit_table(run: Recomputation, table: StudyTable) -> TableAudit:
    """All derived cells and lines of a table."""
    cells = [
        cell
        for derived in table.derived
        for number, row in enumerate(table.rows)
        if derived.rows.takes(row)
        for column in derived.columns
        if not derived.printed or run.number(table, number, column) is not None
        if (cell := _cell(run, table, derived, number, column)) is not None
    ]
    cells.sort(key=lambda cell: cell.row)
    results = tuple(tested(run, table))
    for known in table.known:
        wrong = [(cell.note, cell.column) for cell in cells if cell.compared and not cell.agrees]
        wrong += [(test.note, test.column) for test in results if not test.holds]
        if (known.note, known.column) not in wrong:
            raise StudyError(
                file=str(run.study.path),
                what=f"table {table.id!r}, key 'known': {known.column!r} of rows {dict(known.rows.cells)} "
                "agrees or is not computed",
                remedy="take the note away",
            )
        _check_gives(run, table, known, cells)
    return TableAudit(table, tuple(cells), tuple(_lines(run, table)), results)


def _check_gives(run: Recomputation, table: StudyTable, known: Known, cells: Sequence[Cell]) -> None:
    """Refuse a note whose number differs from the number that follows from the printed cells."""
    if not known.gives:
        return
    for cell in cells:
        if cell.column == known.column and known.rows.takes(table.rows[cell.row - 1]):
            number = printed(known.gives, count=known.column in table.counts)
            if number is None or cell.computed is None or not number.meets(cell.computed):
                raise StudyError(
                    file=str(run.study.path),
                    what=f"table {table.id!r}, key 'known.gives': the inputs of {known.column!r} in row {cell.row} "
                    f"should give {known.gives} by the note, but do not: {cell.arithmetic}",
                    remedy="look for a misprint in these cells, or correct the note",
                )


def _cell(run: Recomputation, table: StudyTable, derived: Derived, number: int, column: str) -> Cell | None:
    """A derived cell compared with its print; None if neither it nor its inputs are printed."""
    row = table.rows[number]
    quantity = run.number(table, number, column, derived) if derived.printed else None
    result: Quantity | None = None
    try:
        result, worked = run.computed(table, derived, number, column)
        arithmetic = f"{worked} = {shown(result.value)}"
        if result.low != result.high:
            arithmetic += f" ({shown(result.low)} to {shown(result.high)})"
        if quantity is not None:
            arithmetic += f"; printed {row[column]}"
            if quantity.low != quantity.high:
                arithmetic += f" ({shown(quantity.low)} to {shown(quantity.high)})"
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
        quantity,
        result,
        arithmetic,
        *table.explained(number, column),
    )


def _lines(run: Recomputation, table: StudyTable) -> list[TableLine]:
    """The fitted lines of a table."""
    return [fitted for line in table.lines if (fitted := _line(run, table, line)) is not None]


def _line(run: Recomputation, table: StudyTable, line: Line) -> TableLine | None:
    """A line; None if the rates are all equal."""
    rates, costs = [], []
    for number in range(len(table.rows)):
        rate = run.number(table, number, line.rate)
        parts = [run.number(table, number, column) for column in line.cpu_percent]
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
