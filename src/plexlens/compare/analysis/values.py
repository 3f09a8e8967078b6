"""Values of a study by location: the inputs of findings, claims, curves and checks.

A value is written in TOML as

- a number, or its text where it is to be exact: ``65000``, ``"0.31"``;
- a name given to another value before: ``"saving"``;
- a cell: ``{table = "table-05", column = "ITR", row = {column = "B3"}}``; the row also by its number, from 1, or from
  the end with -1 for the last; ``computed = true`` takes what follows from other columns instead of what is printed,
  and ``times = 1000`` multiplies it by a constant;
- several cells: ``{table, column, rows = {...}, but = {...}}``, where a formula takes a list;
- a formula: ``{formula = "ratio", arguments = {part = ..., whole = ...}}``, arguments being values again;
- a result: ``{curve = "capacity-9021", result = "serial"}``, or of a check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from plexlens.compare.audit.audit import Audit
from plexlens.compare.audit.recomputation import Recomputation
from plexlens.compare.formulas.catalogue import FORMULAS, similar_formulas
from plexlens.compare.numbers.quantity import Quantity, UndefinedError, exact, shown
from plexlens.compare.study.model import Match, Place, StudyError, StudyTable

#: Result of a curve or check by kind (``curve`` or ``check``), id and name.
Results = Callable[[str, str, str], float]

_CELL_KEYS = ("table", "column", "row", "rows", "but", "computed", "times")


@dataclass(frozen=True)
class Value:
    """A computed value.

    Attributes
    ----------
    quantity
        The number and the bounds that printed digits leave it.
    worked
        Where it comes from: the arithmetic of a formula, or the number itself.
    unit
        Unit of the formula; empty for a cell.
    """

    quantity: Quantity
    worked: str
    unit: str = ""


def _no_results(kind: str, name: str, result: str) -> float:
    raise KeyError(f"there is no {kind} {name!r}")


@dataclass
class Numbers:
    """Looks up values in a study and evaluates formulas over them.

    Parameters
    ----------
    audit
        The study, recomputed.
    file
        What messages name.
    results
        What curves and checks gave.
    rests
        The printed cells that each curve and check rests on, by its kind and id.
    """

    audit: Audit
    file: str
    results: Results = _no_results
    rests: dict[tuple[str, str], frozenset[Place]] = field(default_factory=dict)
    _run: Recomputation = field(init=False)

    def __post_init__(self) -> None:
        self._run = Recomputation(self.audit.study)

    def afresh(self) -> Numbers:
        """The same lookup with nothing read yet."""
        return replace(self)

    @property
    def read(self) -> frozenset[Place]:
        """Printed cells read so far, also through formulas, curves and checks."""
        return frozenset(self._run.read)

    def wrong(self, where: str, what: str, remedy: str) -> StudyError:
        """The error for an invalid entry in the file."""
        return StudyError(file=self.file, what=f"{where}: {what}", remedy=remedy)

    def table(self, table_id: Any, where: str) -> StudyTable:
        """The table with this id."""
        tables = self.audit.study.tables
        if table_id not in tables:
            raise self.wrong(where, f"there is no table {table_id!r}", f"use one of {', '.join(tables)}")
        return tables[table_id]

    def rows(self, table: StudyTable, wanted: Any, but: Any, where: str) -> list[int]:
        """Indices of the selected rows."""
        if isinstance(wanted, int) and not isinstance(wanted, bool):
            number = wanted - 1 if wanted > 0 else len(table.rows) + wanted
            if wanted == 0 or not 0 <= number < len(table.rows):
                raise self.wrong(where, f"table {table.id!r} has no row {wanted}", f"it has {len(table.rows)}")
            return [number]
        for given in (wanted, but):
            if given is not None and not isinstance(given, dict):
                remedy = 'give the number of the row from 1, or its cells: { "heading" = "cell" }'
                raise self.wrong(where, f"{given!r} selects no row", remedy)
        match = Match(wanted or {}, but or {})
        for column in (*match.cells, *match.but):
            self.column(table, column, where, printed=True)
        return [number for number, row in enumerate(table.rows) if match.takes(row)]

    def column(self, table: StudyTable, column: Any, where: str, *, printed: bool = False) -> str:
        """The column, if the table has it."""
        there = (*table.columns, *(() if printed else (c for rule in table.derived for c in rule.columns)))
        if not isinstance(column, str) or column not in there:
            raise self.wrong(
                where, f"table {table.id!r} has no column {column!r}", f"use one of {', '.join(dict.fromkeys(there))}"
            )
        return column

    def cell(self, table: StudyTable, number: int, column: str, *, computed: bool = False) -> Quantity | None:
        """A cell, printed or computed; None if there is neither."""
        if computed or column not in table.columns:
            for rule in table.derived:
                if column in rule.columns and rule.rows.takes(table.rows[number]):
                    return self._run.derived(table, rule, number, column)
            return None
        return self._run.printed(table, number, column)

    def floats(self, table: StudyTable, numbers: Sequence[int], column: str, where: str) -> list[float]:
        """A column as plain numbers.

        Raises
        ------
        StudyError
            A cell holds none.
        """
        quantities = [self.cell(table, number, column) for number in numbers]
        for number, quantity in zip(numbers, quantities, strict=True):
            if quantity is None:
                raise self.wrong(
                    where,
                    f"row {number + 1} of table {table.id!r} has no number under {column!r}",
                    "leave the row out with 'but'",
                )
        return [float(quantity.value) for quantity in quantities if quantity is not None]

    def value(self, spec: Any, where: str, named: Mapping[str, Value] | None = None) -> Value:
        """A single number.

        Raises
        ------
        StudyError
            The value is written in a way that cannot be, or names what is not there.
        UndefinedError
            A cell prints no number, or a divisor may be zero.
        """
        values = self.values(spec, where, named or {})
        if len(values) != 1:
            raise self.wrong(where, f"there are {len(values)} numbers, and exactly one is needed", "name one cell")
        return values[0]

    def values(self, spec: Any, where: str, named: Mapping[str, Value]) -> list[Value]:
        """All numbers of a value."""
        if isinstance(spec, list):
            return [quantity for part in spec for quantity in self.values(part, where, named)]
        if isinstance(spec, str) and spec in named:
            return [named[spec]]
        if isinstance(spec, (str, int, float)) and not isinstance(spec, bool):
            try:
                number = exact(str(spec))
            except ValueError:
                text = f"use a number, or one of {', '.join(named)}" if named else "use a number, a cell or a formula"
                raise self.wrong(where, f"{spec!r} is neither a number nor a name", text) from None
            return [Value(number, shown(number.value))]
        if not isinstance(spec, dict):
            raise self.wrong(where, f"{spec!r} is not a value", "give a number, a cell, a formula or a name")
        if "formula" in spec:
            return [self._formula(spec, where, named)]
        for kind in ("curve", "check"):
            if kind in spec:
                return [self._result(kind, spec, where)]
        return self._cells(spec, where)

    def _result(self, kind: str, spec: Mapping[str, Any], where: str) -> Value:
        try:
            number = self.results(kind, str(spec[kind]), str(spec.get("result")))
        except KeyError as error:
            raise self.wrong(where, str(error.args[0]), f"declare the {kind} or name another result") from None
        self._run.read |= self.rests.get((kind, str(spec[kind])), frozenset())
        quantity = exact(Fraction(number))
        return Value(quantity, shown(quantity.value))

    def _cells(self, spec: Mapping[str, Any], where: str) -> list[Value]:
        for key in spec:
            if key not in _CELL_KEYS:
                raise self.wrong(where, f"there is no key {key!r} of a cell", f"use one of {', '.join(_CELL_KEYS)}")
        table = self.table(spec.get("table"), where)
        column = self.column(table, spec.get("column"), where)
        many = "rows" in spec
        numbers = self.rows(table, spec.get("rows" if many else "row"), spec.get("but"), where)
        if not many and len(numbers) != 1:
            raise self.wrong(
                where, f"{len(numbers)} rows of table {table.id!r} match {spec.get('row')!r}", "name exactly one row"
            )
        quantities = [self.cell(table, number, column, computed=spec.get("computed", False)) for number in numbers]
        if not many and quantities[0] is None:
            raise UndefinedError(f"table {table.id!r} has no number under {column!r} in row {numbers[0] + 1}")
        there = [quantity for quantity in quantities if quantity is not None]
        if "times" not in spec:
            return [Value(quantity, shown(quantity.value)) for quantity in there]
        try:
            times = exact(str(spec["times"]))
        except ValueError:
            raise self.wrong(where, f"{spec['times']!r} is not a factor", 'write times = 1000, or "1/3600"') from None
        return [Value(quantity * times, f"{shown(quantity.value)} x {shown(times.value)}") for quantity in there]

    def _formula(self, spec: Mapping[str, Any], where: str, named: Mapping[str, Value]) -> Value:
        name = spec["formula"]
        if name not in FORMULAS:
            raise self.wrong(where, f"there is no formula {name!r}", similar_formulas(name))
        formula = FORMULAS[name]
        given = spec.get("arguments", {})
        if not isinstance(given, dict) or set(given) != set(formula.arguments):
            raise self.wrong(
                where, f"formula {name!r} has other arguments", f"give exactly {', '.join(formula.arguments)}"
            )
        arguments: dict[str, Quantity | list[Quantity]] = {}
        texts: dict[str, list[str]] = {}
        for argument, part in given.items():
            values = self.values(part, f"{where}, {argument}", named)
            if argument in formula.singles and len(values) != 1:
                raise self.wrong(f"{where}, {argument}", f"there are {len(values)} numbers", "name one cell")
            numbers = [value.quantity for value in values]
            arguments[argument] = numbers if argument in formula.lists else numbers[0]
            texts[argument] = [shown(value.quantity.value) for value in values]
        try:
            result = formula(arguments)
        except ValueError as error:
            raise self.wrong(where, str(error), "give the lists of a formula the same number of numbers") from error
        return Value(result, f"{formula.worked(texts)} = {shown(result.value)}", formula.unit)
