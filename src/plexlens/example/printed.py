"""Tables of a study as printed, and the numbers behind their cells."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from plexlens.errors import PlexlensError

_NUMBER = re.compile(r"(?P<digits>[+-]?\d*\.?\d+)(?P<suffix>[%KM]?)\Z")


class ExampleError(PlexlensError):
    """The study tables behind the example are missing or lack required data."""


def _split(text: str) -> tuple[str, str]:
    match = _NUMBER.match(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a printed number")
    return match["digits"], match["suffix"]


def number(text: str) -> float:
    """The number in a cell, without its suffix: ``54%`` is 54, ``.27`` is 0.27, ``30K`` is 30.

    Raises
    ------
    ValueError
        The cell holds no number.
    """
    return float(_split(text)[0])


def decimals(text: str) -> int:
    """Number of decimals in a cell."""
    digits, _ = _split(text)
    return len(digits.partition(".")[2])


def half_unit(text: str) -> float:
    """Maximum rounding error of a cell."""
    return 0.5 * 10.0 ** -decimals(text)


class Study:
    """The tables of a study, read from its folder.

    Parameters
    ----------
    folder
        The study's folder; a table is a CSV file in it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def table(self, name: str) -> list[dict[str, str]]:
        """Rows of a table, each with its cells by column heading.

        Raises
        ------
        ExampleError
            There is no such table.
        """
        path = self.folder / f"{name}.csv"
        try:
            with path.open(encoding="utf-8", newline="") as file:
                return list(csv.DictReader(file))
        except OSError as error:
            raise ExampleError(
                file=str(path),
                what=f"the table cannot be read ({error.strerror})",
                remedy="run from a complete checkout, or name its studies folder",
            ) from error

    def row(self, name: str, **cells: str) -> dict[str, str]:
        """The only row of a table with these cells.

        Raises
        ------
        ExampleError
            No row, or more than one, is like that.
        """
        texts = [row for row in self.table(name) if all(row.get(column) == cell for column, cell in cells.items())]
        if len(texts) != 1:
            wanted = ", ".join(f"{column} {cell!r}" for column, cell in cells.items())
            raise ExampleError(
                file=str(self.folder / f"{name}.csv"),
                what=f"{len(texts)} rows have {wanted}, and exactly one is needed",
                remedy="restore the table as the study prints it",
            )
        return texts[0]

    def count(self, rate: str, seconds: float) -> int:
        """Number of events in an interval at a printed rate per second.

        The rate was rounded from a whole count over the interval; the count nearest to rate x seconds gives the
        printed rate back.

        Raises
        ------
        ExampleError
            No whole count over this interval prints as this rate.
        """
        events = round(number(rate) * seconds)
        if abs(events / seconds - number(rate)) > half_unit(rate) * (1 + 1e-9):
            raise ExampleError(
                file=str(self.folder),
                what=f"no integer count over {seconds} s rounds to {rate}/s",
                remedy="choose an interval over which the rates of the study are integer counts",
            )
        return events
