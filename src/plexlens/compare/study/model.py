"""Studies as folders: tables as printed, and the rules by which cells follow from others.

`plexlens.compare.study.reader` makes them of ``study.toml``, its parts and its CSV files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from plexlens.compare.formulas.catalogue import Formula
from plexlens.compare.runs.headings import Headings
from plexlens.errors import UnreadableInputError

#: Where a column or a cell of a match stands for that of the row at hand.
SAME = "*"

#: A cell by its table's id, its row's index from 0, and its column.
Place = tuple[str, int, str]

#: Heading of the column of a transposed table that holds the former headings.
TURNED = "column"


class StudyError(UnreadableInputError):
    """A study whose files cannot be read or are inconsistent."""


@dataclass(frozen=True)
class Match:
    """Row selection in a table: rows with these cells, minus rows with the others."""

    cells: Mapping[str, str]
    but: Mapping[str, str]

    def takes(self, row: Mapping[str, str]) -> bool:
        """Whether a row is selected."""
        if any(row[column] != cell for column, cell in self.cells.items()):
            return False
        return not self.but or any(row[column] != cell for column, cell in self.but.items())


@dataclass(frozen=True)
class Reference:
    """Source of a formula's argument.

    Attributes
    ----------
    value
        A constant; the other attributes are then empty.
    table, column
        Id of the table, and heading of the column.
    match
        The rows; None for the row at hand.
    many
        Whether any number of rows may match; one must otherwise.
    computed
        Whether the worked-out number is taken where the printed one would be.
    as_printed
        Whether the digits are taken for the number itself, as where a paper goes on with what it printed.
    rounded
        Whether a worked-out number is known only as its formula's ``decimals`` show it, as where a measuring tool
        shows whole percents and works on with what it has behind them.
    times
        A constant that the cell is multiplied by, such as 1000 for seconds as milliseconds.
    offset
        How many rows below the one at hand the row stands that is meant: -1 for the one before, 0 in another table for
        the row at the same place; None where it is not counted from the row at hand.
    number
        The number of the row that is meant, from 1, or from the end with -1 for the last; 0 where it has none.
    """

    value: str = ""
    table: str = ""
    column: str = ""
    match: Match | None = None
    many: bool = False
    computed: bool = False
    as_printed: bool = False
    rounded: bool = False
    times: Fraction = Fraction(1)
    offset: int | None = None
    number: int = 0

    @property
    def elsewhere(self) -> bool:
        """Whether it refers to rows other than the current row."""
        return self.match is not None or self.offset is not None or self.number != 0


@dataclass(frozen=True)
class Derived:
    """Derived cells: their columns and rows, formula and arguments.

    ``printed`` is false where the study prints no such column: the numbers are worked out, shown, and compared with
    nothing. ``cut`` is true where the study cuts digits off instead of rounding them. ``decimals`` is with how many the
    study would show what it does not print; ``digits`` how many decimals of the printed cells mean something, where the
    print pads them with zeros.
    """

    columns: tuple[str, ...]
    rows: Match
    formula: Formula
    arguments: Mapping[str, tuple[Reference, ...]]
    printed: bool
    cut: bool = False
    decimals: int | None = None
    digits: int | None = None


@dataclass(frozen=True)
class Relation:
    """A constraint on printed cells that do not follow from others, such as a part not exceeding its whole.

    Attributes
    ----------
    columns, rows
        The cells that it is about.
    kind
        One of `RELATIONS`.
    formula, arguments
        What gives the number that they stand against.
    within
        By how much of that number they may miss the relation, as a fraction.
    reason
        Why it holds, in a sentence.
    """

    columns: tuple[str, ...]
    rows: Match
    kind: str
    formula: Formula
    arguments: Mapping[str, tuple[Reference, ...]]
    within: Fraction
    reason: str


#: How a cell stands to a number, in words.
RELATIONS = {
    "equal": "should equal",
    "near": "should lie near",
    "at most": "should be at most",
    "at least": "should be at least",
    "multiple of": "should be a multiple of",
}


@dataclass(frozen=True)
class Repeat:
    """Rows of several tables that print the same measurement: rows with the same cells in these columns.

    ``columns`` are the columns that are repeated, all where it is empty; those of ``but`` are not, and neither are
    columns that depend on other rows of their table. Tables in ``but_tables`` print something else of it. ``reason``
    says why they are the same where the measurement is not.
    """

    keys: tuple[str, ...]
    columns: frozenset[str] = frozenset()
    but: frozenset[str] = frozenset()
    but_tables: frozenset[str] = frozenset()
    reason: str = ""


@dataclass(frozen=True)
class Known:
    """A cell known to be misprinted, and the evidence.

    ``convention`` is true where nothing is wrong: the source works the number out in a way of its own. ``right`` is
    true where this cell is right and one that it follows from, or is held against, is misprinted. ``gives`` is the
    number that the printed cells give, by the note: another one shows that one of them is misprinted too.
    """

    column: str
    rows: Match
    note: str
    convention: bool = False
    right: bool = False
    gives: str = ""


@dataclass(frozen=True)
class Cut:
    """Cells whose last digits are truncated rather than rounded, or lost at the edge of a page."""

    columns: frozenset[str]
    rows: Match


@dataclass(frozen=True)
class Restored:
    """Cells missing from the available text, and the source of their values."""

    columns: frozenset[str]
    rows: Match
    by: str


@dataclass(frozen=True)
class LeftOut:
    """A printed column that a template could compute if the table had the missing columns."""

    template: str
    column: str
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """A fitted line: processor time per second = fixed + per transaction x rate."""

    rate: str
    cpu_percent: tuple[str, ...]


@dataclass(frozen=True)
class StudyTable:
    """A table as printed, and the rules by which its cells follow from others.

    Attributes
    ----------
    columns, rows
        Headings, and the cells of each row by heading.
    counts
        Columns whose whole numbers are exact counts.
    note
        What a reader has to know; why nothing in it can be worked out, where nothing is.
    padded
        Columns whose decimals say nothing where all of them are zeros.
    binary
        Columns in which K is 1024 and M is 1024 x 1024.
    cut
        Cells whose digits are cut off.
    left_out
        Printed columns that the table's templates work out elsewhere and cannot here.
    relations
        What else holds of its cells.
    restored
        Cells that the text at hand has lost.
    """

    id: str
    title: str
    path: Path
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    counts: frozenset[str]
    derived: tuple[Derived, ...]
    known: tuple[Known, ...]
    lines: tuple[Line, ...]
    note: str
    padded: frozenset[str] = frozenset()
    binary: frozenset[str] = frozenset()
    cut: tuple[Cut, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    relations: tuple[Relation, ...] = ()
    restored: tuple[Restored, ...] = ()

    def explained(self, number: int, column: str) -> tuple[str, bool]:
        """The notes' explanation of a deviating cell, and whether it is a convention of the source."""
        row = self.rows[number]
        known = next(
            (exception for exception in self.known if exception.column == column and exception.rows.takes(row)), None
        )
        return ("", False) if known is None else (known.note, known.convention)


@dataclass(frozen=True)
class Study:
    """A published study: its tables by id, in their published order.

    Attributes
    ----------
    headings
        What it says itself of the meaning of its headings.
    address
        Its name if it ships with Plexlens, else its folder.
    repeats
        Which rows of several tables print the same measurement.
    """

    name: str
    title: str
    source: str
    path: Path
    tables: Mapping[str, StudyTable]
    headings: Headings = field(default_factory=dict)
    address: str = ""
    repeats: tuple[Repeat, ...] = ()


def share(text: str) -> Fraction | None:
    """A fraction from ``5 %`` or ``0.05``; None for other texts and negative numbers."""
    number, percent, rest = text.partition("%")
    try:
        value = Fraction(number.strip()) / (100 if percent else 1)
    except (ValueError, ZeroDivisionError):
        return None
    return None if rest.strip() or value < 0 else value
