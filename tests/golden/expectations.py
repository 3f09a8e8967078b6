"""Numbers that published reports print, and what the metrics make of them.

`<study>.csv` has a line for each printed number of a study's Db2, RMF and CICS reports:

========  ==============================================================================================================
report    the report's text, ``reports/<report>.txt``; in records, the interval that stands for it
grain     grain of the metrics; ``text_report_value`` for what no grain tells, then ``value`` is the printed name
keys      ``column=value`` separated by semicolons; ``*`` stands for any beginning
value     arithmetic over columns of the grain's row; ``sum(...)`` is over all rows of the report
printed   as printed, with ``K``, ``M`` and ``%``; ``N/A``, ``N/C``: the value is null
unit      what one of the printed number is in the base unit: ``%``, ``ms``, ``us``, ``MB``, ``MiB``
slack     by how much more it may be off when its inputs are the report's own rounded ones; nothing in records
instead   what the inputs give where the printed number contradicts them; ``note`` has the arithmetic
note      where slack or contradiction come from
========  ==============================================================================================================
"""

from __future__ import annotations

import ast
import csv
import operator
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
STUDIES = ("sysplex-1996", "zxml-2008", "pools-2014", "cics-2012")

_UNITS = {"": 1.0, "s": 1.0, "%": 1e-2, "ms": 1e-3, "us": 1e-6, "MB": 1024.0**2, "MiB": 1024.0**2}
_SUFFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "%": 1e-2}
_PRINTED = re.compile(r"(?P<digits>\d+(?:\.(?P<decimals>\d+))?)(?P<suffix>[KM%]?)")
_OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv
}  # fmt: skip

Row = dict[str, Any]


@dataclass(frozen=True)
class Expectation:
    """One printed number."""

    study: str
    report: str
    grain: str
    keys: dict[str, str]
    value: str
    printed: str
    unit: str
    slack: float
    instead: str
    note: str

    def __str__(self) -> str:
        keys = ";".join(f"{name}={value}" for name, value in self.keys.items())
        return f"{self.study} {self.report}: {self.grain}[{keys}] {self.value} is printed {self.printed}"

    @property
    def is_missing(self) -> bool:
        """Whether the print says that there is no value."""
        return self.printed in {"N/A", "N/C", "N/P"}

    def bounds(self, printed: str) -> tuple[float, float]:
        """Base unit: the printed number, and half of its last digit."""
        found = _PRINTED.fullmatch(printed)
        assert found is not None, f"{self}: no number"
        suffix = found["suffix"]
        scale = _UNITS[self.unit] * (_SUFFIXES[suffix] if not (self.unit == "MiB" and suffix == "M") else 1.0)
        return float(found["digits"]) * scale, 0.5 * 10.0 ** -len(found["decimals"] or "") * scale

    def disagreement(self, value: float | None, *, exact: bool) -> str | None:
        """What is wrong with a value; None if it prints as expected.

        Parameters
        ----------
        value
            What the metrics give, in the base unit.
        exact
            The inputs are not rounded: no slack.
        """
        if self.is_missing:
            return None if value is None else f"{self}, and the metrics have {value}"
        if value is None:
            return f"{self}, and the metrics have none"
        number, half = self.bounds(self.instead or self.printed)
        slack = 0.0 if exact else self.slack * _UNITS[self.unit]
        if abs(value - number) > half * (1 + 1e-9) + slack + 1e-12:
            return f"{self}, and the metrics have {value / _UNITS[self.unit]:g} {self.unit}"
        if self.instead:
            printed, own = self.bounds(self.printed)
            if abs(value - printed) <= own + slack:
                return f"{self}, which the metrics reproduce: it contradicts nothing"
        return None


def read_expectations(study: str) -> list[Expectation]:
    """The printed numbers of a study."""
    with (FOLDER / f"{study}.csv").open(encoding="utf-8", newline="") as file:
        return [
            Expectation(
                study,
                line["report"],
                line["grain"],
                dict(pair.split("=", 1) for pair in line["keys"].split(";") if pair),
                line["value"],
                line["printed"],
                line["unit"],
                float(line["slack"] or 0),
                line["instead"],
                line["note"],
            )
            for line in csv.DictReader(file)
        ]


def matching(rows: list[Row], keys: dict[str, str]) -> list[Row]:
    """The rows that have these keys."""

    def fits(value: object, wanted: str) -> bool:
        return str(value).endswith(wanted[1:]) if wanted.startswith("*") else value == wanted

    return [row for row in rows if all(fits(row[name], wanted) for name, wanted in keys.items())]


def evaluated(expression: str, row: Row | None, rows: list[Row]) -> float | None:
    """An expression over a row, and over all rows within ``sum``; null operands count nothing in a sum of several.

    As in the metrics, a sum of which no part is known is null, and so is a quotient by nothing.
    """

    def of(node: ast.expr, at: Row | None) -> float | None:
        if isinstance(node, ast.Constant):
            return float(node.value)  # type: ignore[arg-type]
        if isinstance(node, ast.Name):
            assert at is not None, f"{expression!r} needs one row"
            found: float | None = at[node.id]
            return found
        if isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name)
            assert node.func.id == "sum"
            parts = [part for each in rows if (part := of(node.args[0], each)) is not None]
            return sum(parts) if parts else None
        assert isinstance(node, ast.BinOp), ast.dump(node)
        left, right = of(node.left, at), of(node.right, at)
        if isinstance(node.op, ast.Add) and (left is None or right is None):
            return right if left is None else left
        if left is None or right is None or (isinstance(node.op, ast.Div) and not right):
            return None
        result: float = _OPERATORS[type(node.op)](left, right)
        return result

    return of(ast.parse(expression, mode="eval").body, row)
