"""Constraints on cells that do not follow from others: relations, and the same run in several tables.

A relation is broken only where no numbers that round to the printed ones could keep it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from plexlens.compare.audit.recomputation import Recomputation
from plexlens.compare.numbers.quantity import MissingError, Quantity, UndefinedError, shown
from plexlens.compare.study.model import RELATIONS, Place, Relation, Repeat, StudyError, StudyTable

#: Kind of a test that compares a cell with the same cell of another table.
REPEATED = "equal"


@dataclass(frozen=True)
class Tested:
    """A cell checked against a relation.

    Attributes
    ----------
    row, label, column, text
        As `plexlens.compare.audit.audit.Cell` has them.
    kind
        One of `RELATIONS`.
    holds
        Whether numbers that round to the printed ones can keep it.
    arithmetic
        The cell, the relation and the number that it stands against.
    reason
        Why it should hold.
    note, convention
        What the study's notes say about a cell that breaks it.
    places
        The cells that were compared: this one, and all that it stands against.
    """

    row: int
    label: str
    column: str
    text: str
    kind: str
    holds: bool
    arithmetic: str
    reason: str
    note: str = ""
    convention: bool = False
    places: frozenset[Place] = frozenset()


def widened(quantity: Quantity, within: Fraction) -> Quantity:
    """A number and its bounds, widened by a fraction of it on both sides."""
    return Quantity(
        quantity.value,
        quantity.low - abs(quantity.low) * within,
        quantity.high + abs(quantity.high) * within,
    )


def keeps(kind: str, cell: Quantity, against: Quantity, within: Fraction) -> bool:
    """Whether any numbers within both bounds satisfy a relation."""
    if kind == "multiple of":
        if against.low <= 0:
            return False
        return math.floor(cell.high / against.low) >= math.ceil(cell.low / against.high)
    there = widened(against, within)
    if kind == "at most":
        return cell.low <= there.high
    if kind == "at least":
        return cell.high >= there.low
    return cell.meets(there)


def tested(run: Recomputation, table: StudyTable) -> Iterator[Tested]:
    """Every cell of a table checked against every relation that it takes part in, and against its repeats elsewhere."""
    for relation in table.relations:
        for number, row in enumerate(table.rows):
            if relation.rows.takes(row):
                for column in relation.columns:
                    result = _tested(run, table, relation, number, column)
                    if result is not None:
                        yield result
    for repeat in run.study.repeats:
        if table.id not in repeat.but_tables and set(repeat.keys) <= set(table.columns):
            yield from _repeated(run, table, repeat)


def _tested(run: Recomputation, table: StudyTable, relation: Relation, number: int, column: str) -> Tested | None:
    """A cell checked against a relation; None if the cell or its counterpart is not printed.

    A cell is at least a sum of parts of which some are not printed; no other relation can be told then.
    """
    row = table.rows[number]
    before, run.read = run.read, set()
    try:
        cell = run.cell_or_computed(table, number, column)
        against, worked = run.worked(table, relation, number, column)
    except (MissingError, UndefinedError):
        return None
    finally:
        places = frozenset(run.read)
        before |= run.read
        run.read = before
    if cell is None or not (relation.kind == "at least" or run.whole(table, relation, number, column)):
        return None
    text = row[column] if column in row else shown(cell.value)
    worked = shown(against.value) if worked == shown(against.value) else f"{worked} = {shown(against.value)}"
    bounds = "" if against.low == against.high else f" ({shown(against.low)} to {shown(against.high)})"
    slack = f", within {shown(relation.within * 100, 3)} %" if relation.within else ""
    note, convention = table.explained(number, column)
    return Tested(
        number + 1, row[table.columns[0]], column, text, relation.kind,
        keeps(relation.kind, cell, against, relation.within),
        f"{text} {RELATIONS[relation.kind]} {worked}{bounds}{slack}", relation.reason, note, convention, places,
    )  # fmt: skip


def _repeated(run: Recomputation, table: StudyTable, repeat: Repeat) -> Iterator[Tested]:
    """The cells of rows that an earlier table or an earlier row prints too."""
    for number, row in enumerate(table.rows):
        key = tuple(row[name] for name in repeat.keys)
        if not all(key):
            continue
        for other, place in run.prints(repeat).get(key, ()):
            if other.id == table.id and place >= number:
                break
            where = f"row {place + 1}" if other.id == table.id else other.id
            for column in _shared(table, other, repeat):
                text, before = row[column], other.rows[place][column]
                if not text.strip() or not before.strip():
                    continue
                try:
                    cell, there = run.printed(table, number, column), run.printed(other, place, column)
                except StudyError:
                    # Words: settings are repeated as they are.
                    continue
                if cell is None or there is None:
                    continue
                note, convention = table.explained(number, column)
                yield Tested(
                    number + 1, row[table.columns[0]], column, text, REPEATED,
                    text.strip() == before.strip() or cell.meets(there),
                    f"{text} {RELATIONS[REPEATED]} {before}, as {where} prints it",
                    repeat.reason or f"{where} prints the same measurement.", note, convention,
                    frozenset({(table.id, number, column), (other.id, place, column)}),
                )  # fmt: skip


def _shared(table: StudyTable, other: StudyTable, repeat: Repeat) -> Iterator[str]:
    """Columns that both tables print and that depend only on the run."""
    for column in table.columns:
        if (
            column in other.columns
            and column not in repeat.keys
            and column not in repeat.but
            and (not repeat.columns or column in repeat.columns)
            and not (_of_other_rows(table, column) or _of_other_rows(other, column))
        ):
            yield column


def _of_other_rows(table: StudyTable, column: str) -> bool:
    """Whether a column depends on other rows of its table, such as a ratio to a base run."""
    return any(
        reference.table == table.id and reference.elsewhere
        for rule in table.derived
        if column in rule.columns
        for references in rule.arguments.values()
        for reference in references
    )
