"""Studies as folders: tables as printed, and what follows from what in them.

`plexlens.compare.study_reader` makes them of ``study.toml``, its parts and its CSV files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from plexlens.compare.formulas import Formula
from plexlens.compare.headings import Headings
from plexlens.errors import UnreadableInputError, UsageError

#: Where a column or a cell of a match stands for that of the row at hand.
SAME = "*"

#: File that makes a folder a study.
_STUDY_FILE = "study.toml"

#: Heading of the column of a transposed table that holds the former headings.
TURNED = "column"


class StudyError(UnreadableInputError):
    """A study whose files cannot be read or do not fit together."""


@dataclass(frozen=True)
class Match:
    """Which rows of a table are meant: those with these cells, less those with the others."""

    cells: Mapping[str, str]
    but: Mapping[str, str]

    def takes(self, row: Mapping[str, str]) -> bool:
        """Whether a row is meant."""
        if any(row[column] != cell for column, cell in self.cells.items()):
            return False
        return not self.but or any(row[column] != cell for column, cell in self.but.items())


@dataclass(frozen=True)
class Reference:
    """Where an argument of a formula comes from.

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


@dataclass(frozen=True)
class Derived:
    """Cells that follow from others: of which columns and rows, by which formula, from which arguments.

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
class Known:
    """A cell that is known to be wrong in print, and why it is the print that is wrong."""

    column: str
    rows: Match
    note: str


@dataclass(frozen=True)
class Cut:
    """Cells whose last digits are cut off rather than rounded, or lost at the edge of a page."""

    columns: frozenset[str]
    rows: Match


@dataclass(frozen=True)
class LeftOut:
    """A printed column that a template would work out, if the table had the columns that are missing."""

    template: str
    column: str
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """A fitted line: processor time a second = fixed + per transaction x rate."""

    rate: str
    cpu_percent: tuple[str, ...]


@dataclass(frozen=True)
class StudyTable:
    """A table as printed, and what follows from what in it.

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


@dataclass(frozen=True)
class Study:
    """A published study: its tables by id, in the order of the paper.

    Attributes
    ----------
    headings
        What it says itself of the meaning of its headings.
    address
        By what it is found again: its name where it comes with Plexlens, else its folder.
    """

    name: str
    title: str
    source: str
    path: Path
    tables: Mapping[str, StudyTable]
    headings: Headings = field(default_factory=dict)
    address: str = ""


def studies_path() -> Path:
    """The folder of the studies that come with Plexlens.

    Raises
    ------
    UsageError
        It is not there: the installation is incomplete.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "studies", package.parents[1] / "studies"):
        if folder.is_dir():
            return folder
    raise UsageError(
        file=str(package / "studies"),
        what="the studies that come with Plexlens are missing",
        remedy="install Plexlens again",
    )


def own_study(text: str) -> Path | None:
    """The ``study.toml`` that a path names, or that lies in the folder that it names; None where there is none."""
    path = Path(text)
    path = path if path.name == _STUDY_FILE else path / _STUDY_FILE
    return path if path.is_file() else None


def shared_templates(folder: Path) -> list[Path]:
    """Files of templates that a study may use: those beside its own folder, then those that come with Plexlens."""
    places = dict.fromkeys(place.resolve() / "templates" for place in (folder.resolve().parent, studies_path()))
    return [path for place in places for path in sorted(place.glob("*.toml"))]


def study_names(folder: Path | None = None) -> list[str]:
    """Names of the studies in a folder, in order."""
    return sorted(path.parent.name for path in (folder or studies_path()).glob(f"*/{_STUDY_FILE}"))
