"""Forms of result files: ``layouts/load_test/forms.csv`` and ``request.csv``, shipped and of the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from plexlens.errors import UnreadableInputError
from plexlens.layouts_path import layout_folders, layout_lines

SCANS = ("delimited", "elements", "json lines", "gatling log")
TYPES = ("time", "number", "text", "flag")
#: Units of a number or a time in a file, and how many of them are one second; bytes and counts have none.
_UNITS = {"": 1.0, "s": 1.0, "ms": 1e3}
_FORM_COLUMNS = ("form", "tool", "scan", "delimiter", "heads", "rows", "scheduled", "source")
_REQUEST_COLUMNS = ("column", "type", "unit", "meaning")
_TEST = re.compile(r"(?P<field>\S+) (?P<sign>=|!=|>=) ?(?P<value>.*)")


@dataclass(frozen=True, slots=True)
class Test:
    """A condition on a field: ``=``, ``!=`` a text, or ``>=`` a number."""

    field: str
    sign: str
    value: str


@dataclass(frozen=True, slots=True)
class Field:
    """Location of a column of a request in a form.

    Attributes
    ----------
    column
        Name of the column.
    type
        One of `TYPES`.
    field
        Name of the field; empty for a flag.
    per_second
        How many units of the file are one second (1 for other numbers); None for a time in ISO 8601.
    tests
        Conditions of a flag, any of which is enough.
    """

    column: str
    type: str
    field: str
    per_second: float | None = 1.0
    tests: tuple[Test, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that are read."""
        return (self.field,) if self.field else tuple(test.field for test in self.tests)


@dataclass(frozen=True, slots=True)
class Form:
    """A form of result file; the attributes are the columns of ``forms.csv``."""

    name: str
    tool: str
    scan: str
    delimiter: str
    heads: tuple[str, ...]
    rows: str
    scheduled: bool
    fields: tuple[Field, ...]

    @property
    def named(self) -> tuple[str, ...]:
        """Every field that a column needs, each once."""
        return tuple(dict.fromkeys(name for field in self.fields for name in field.fields))


@cache
def forms(site: tuple[Path, ...] = ()) -> dict[str, Form]:
    """The forms by name; those of a site's folders are added, and replace those of the same name.

    Raises
    ------
    UnreadableInputError
        A file cannot be read, or says what has no meaning; the message names the line and the valid values.
    """
    known: dict[str, Form] = {}
    for folder in layout_folders(site):
        place = folder / "load_test"
        if (place / "forms.csv").is_file():
            known.update(_forms_of(place))
    return known


def _lines(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    for number, line in layout_lines(path, "compare it with layouts/load_test/README.md"):
        missing = [name for name in needed if name not in line]
        if missing:
            raise UnreadableInputError(
                file=str(path), line=1, what=f"there is no column {missing[0]}", remedy=f"give {', '.join(needed)}"
            )
        yield number, {name: value.strip() for name, value in line.items()}


def _forms_of(folder: Path) -> dict[str, Form]:
    columns = list(_lines(folder / "request.csv", _REQUEST_COLUMNS))
    by_name = {}
    for line, row in _lines(folder / "forms.csv", _FORM_COLUMNS):
        path = folder / "forms.csv"
        _check(path, line, "scan", row["scan"], SCANS)
        _check(path, line, "scheduled", row["scheduled"], ("yes", "no"))
        name = row["form"]
        if columns and name not in columns[0][1]:
            raise UnreadableInputError(
                file=str(path),
                line=line,
                what=f"request.csv has no column {name}",
                remedy="add a column of that name with the fields of the form",
            )
        fields = tuple(
            _field(folder / "request.csv", at, column, column[name]) for at, column in columns if column[name]
        )
        by_name[name] = Form(
            name,
            row["tool"],
            row["scan"],
            "\t" if row["delimiter"] == "tab" else row["delimiter"],
            tuple(row["heads"].split()),
            row["rows"],
            row["scheduled"] == "yes",
            fields,
        )
        _check_complete(path, line, by_name[name])
    return by_name


def _check_complete(path: Path, line: int, form: Form) -> None:
    columns = {field.column for field in form.fields}
    if not columns & {"started", "ended"} or not (
        "response_seconds" in columns or {"started", "ended"} <= columns or form.scheduled
    ):
        raise UnreadableInputError(
            file=str(path),
            line=line,
            what=f"form {form.name} gives no start or no response time of a request",
            remedy="map started or ended, and response_seconds or both times, in request.csv",
        )


def _check(path: Path, line: int, what: str, value: str, valid: tuple[str, ...]) -> None:
    if value not in valid:
        raise UnreadableInputError(
            file=str(path), line=line, what=f"{what} {value!r} has no meaning", remedy=f"give one of {', '.join(valid)}"
        )


def _field(path: Path, line: int, column: dict[str, str], text: str) -> Field:
    _check(path, line, "type", column["type"], TYPES)
    if column["type"] == "flag":
        tests = []
        for part in text.split(";"):
            match = _TEST.fullmatch(part.strip() + ("" if part.strip()[-1:] != "=" else " "))
            if match is None or (match["sign"] == ">=" and not match["value"].strip().isdigit()):
                raise UnreadableInputError(
                    file=str(path),
                    line=line,
                    what=f"{part.strip()!r} cannot be read as a condition",
                    remedy="write field = value, field != value or field >= number",
                )
            tests.append(Test(match["field"], match["sign"], match["value"].strip()))
        return Field(column["column"], "flag", "", tests=tuple(tests))
    name, _, unit = text.partition(" ")
    if column["type"] == "time" and unit in ("", "iso"):
        return Field(column["column"], "time", name, None)
    _check(path, line, "unit", unit, tuple(_UNITS) if column["type"] != "text" else ("",))
    return Field(column["column"], column["type"], name, _UNITS[unit])
