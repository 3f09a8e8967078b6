"""Recomputed cells of a study, each computed once, with the bounds due to rounding of printed digits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from plexlens.compare.numbers.quantity import (
    MissingError,
    Quantity,
    UndefinedError,
    as_printed,
    exact,
    printed,
    rounded,
    shown,
)
from plexlens.compare.study.model import (
    SAME,
    Derived,
    Match,
    Place,
    Reference,
    Relation,
    Repeat,
    Study,
    StudyError,
    StudyTable,
)


class Recomputation:
    """Computes cells of a study, each once.

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

    def prints(self, repeat: Repeat) -> dict[tuple[str, ...], list[tuple[StudyTable, int]]]:
        """Locations of each row of a repeat, in the order of the tables."""
        if repeat not in self.places:
            places: dict[tuple[str, ...], list[tuple[StudyTable, int]]] = {}
            for table in self.study.tables.values():
                if table.id not in repeat.but_tables and set(repeat.keys) <= set(table.columns):
                    for number, row in enumerate(table.rows):
                        places.setdefault(tuple(row[name] for name in repeat.keys), []).append((table, number))
            self.places[repeat] = places
        return self.places[repeat]

    def cell_or_computed(self, table: StudyTable, number: int, column: str) -> Quantity | None:
        """A printed cell, or the computed value of one that the table does not print; None if there is neither.

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
        rule = next((rule for rule in table.derived if column in rule.columns and rule.rows.takes(row)), None)
        return None if rule is None else self.computed(table, rule, number, column)[0]

    def printed(self, table: StudyTable, number: int, column: str) -> Quantity | None:
        """A printed cell with the bounds of its rounding; None if it prints no number."""
        row = table.rows[number]
        rule = next((rule for rule in table.derived if column in rule.columns and rule.rows.takes(row)), None)
        return self.number(table, number, column, rule)

    def derived(self, table: StudyTable, derived: Derived, number: int, column: str) -> Quantity | None:
        """A computed cell; None if an input is missing or a divisor may be zero."""
        try:
            return self.computed(table, derived, number, column)[0]
        except (MissingError, UndefinedError):
            return None

    def number(self, table: StudyTable, number: int, column: str, rule: Derived | None = None) -> Quantity | None:
        """A cell with the digits and conventions that a rule prescribes."""
        self.read.add((table.id, number, column))
        row = table.rows[number]
        cut = any(column in rule.columns and rule.rows.takes(row) for rule in table.cut)
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

    def computed(self, table: StudyTable, derived: Derived, number: int, column: str) -> tuple[Quantity, str]:
        """The result of a formula for a cell, and its arithmetic."""
        key = (table.id, number, column)
        if key in self.done:
            self.read |= self.inputs[key]
            return self.done[key]
        if key in self.open:
            raise StudyError(
                file=str(self.study.path),
                what=f"table {table.id!r}, column {column!r}, row {number + 1}: it is computed from itself",
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
            before |= self.read
            self.read = before
        return self.done[key]

    def narrowed(self, result: Quantity, table: StudyTable, derived: Derived, number: int, column: str) -> Quantity:
        """A result with narrower bounds, since a cell that is read twice has the same value both times.

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
        """Result of a rule's formula for a cell, and its arithmetic.

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
            values = [value for reference in references for value in self.values(reference, table, number, column)]
            if not values:
                raise MissingError(f"nothing is printed for {name}")
            arguments[name] = values if name in rule.formula.lists else values[0]
            texts[name] = [shown(value.value) for value in values]
        try:
            return rule.formula(arguments), rule.formula.worked(texts)
        except ValueError as error:
            raise MissingError(str(error)) from error

    def whole(self, table: StudyTable, rule: Derived | Relation, number: int, column: str) -> bool:
        """Whether all inputs of a rule are printed or can be computed."""
        return all(
            self.values(reference, table, number, column)
            for references in rule.arguments.values()
            for reference in references
        )

    def values(self, reference: Reference, table: StudyTable, number: int, column: str) -> list[Quantity]:
        """The quantities behind a reference; empty cells are left out."""
        if reference.value:
            return [exact(Fraction(reference.value) * reference.times)]
        there = self.study.tables[reference.table]
        wanted = column if reference.column == SAME else reference.column
        if reference.offset is not None:
            numbers = [number + reference.offset]
            if not 0 <= numbers[0] < len(there.rows):
                raise MissingError("there is no row at that place")
        elif reference.number:
            numbers = [reference.number - 1 if reference.number > 0 else len(there.rows) + reference.number]
            if not 0 <= numbers[0] < len(there.rows):
                raise StudyError(
                    file=str(self.study.path),
                    what=f"table {table.id!r}, column {column!r}: table {there.id!r} has no row {reference.number}",
                    remedy=f"name one of its {len(there.rows)} rows",
                )
        elif reference.match is None:
            numbers = [number]
        else:
            here = table.rows[number]
            cells = {head: here[head] if cell == SAME else cell for head, cell in reference.match.cells.items()}
            match = Match(cells, reference.match.but)
            numbers = [place for place, row in enumerate(there.rows) if match.takes(row)]
            if not numbers or (len(numbers) > 1 and not reference.many):
                raise StudyError(
                    file=str(self.study.path),
                    what=f"table {table.id!r}, column {column!r}: {len(numbers)} rows of table {there.id!r} "
                    f"have {'the same' if SAME in reference.match.cells.values() else 'these'} cells: {cells}",
                    remedy="make the row selection " + ("some match" if reference.many else "match exactly one row"),
                )
        values = [self.value(there, place, wanted, reference) for place in numbers]
        there_are = [value for value in values if value is not None]
        return there_are if reference.times == 1 else [value * exact(reference.times) for value in there_are]

    def value(self, table: StudyTable, number: int, column: str, reference: Reference) -> Quantity | None:
        """A cell in the form required by an argument."""
        rule = next(
            (rule for rule in table.derived if column in rule.columns and rule.rows.takes(table.rows[number])), None
        )
        if rule is not None and (reference.computed or column not in table.columns):
            quantity = self.computed(table, rule, number, column)[0]
            if reference.as_printed and rule.decimals is not None:
                return as_printed(quantity, rule.decimals, cut=rule.cut)
            if reference.rounded and rule.decimals is not None:
                return rounded(quantity, rule.decimals)
            return quantity
        cell = self.number(table, number, column, rule) if column in table.columns else None
        place = (table.id, number, column)
        if cell is None or not (reference.as_printed or place in self.pinned):
            return None if cell is None else cell.of(place)
        return exact(cell.value if reference.as_printed else self.pinned[place])
