"""Names of runs on the command line.

=====================================  ==========================================================================
``PATH``                               a performance database, a dump, or a folder of dumps
``PATH@2008-09-03``                    one day of it, in local time
``PATH@2008-09-03T17:00..2008-09-04``  from a moment to a moment, or to the end of a day; either end may be left out;
                                       local time, or one moment for all systems with an offset (``17:00+02:00``)
``STUDY:TABLE``                        a table of a study, its rows as objects; STUDY is the name of a bundled one, or
                                       the folder of your own
``STUDY:TABLE:ROW``                    a row of it (a run); several rows, with commas between, are repeats
``FILE.json``                          a prediction that ``plexlens pools --save`` wrote; only as BASE
=====================================  ==========================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from plexlens.compare.study.places import own_study, study_names
from plexlens.errors import UsageError
from plexlens.metrics.selection import Window, window

_FORMS = (
    "name a performance database or dumps (PATH, PATH@2008-09-03, PATH@FROM..TO) or a run of a study (STUDY:TABLE:ROW)"
)


@dataclass(frozen=True)
class DatabaseAddress:
    """A performance database or dumps, and the selected time; all of it if ``window`` is None."""

    path: Path
    window: Window | None
    text: str


@dataclass(frozen=True)
class StudyAddress:
    """Location of a run in a study.

    Attributes
    ----------
    rows
        What its rows are called; several are repeats; none stands for the whole table.
    """

    study: str
    table: str
    rows: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ":".join((self.study, self.table, *([",".join(self.rows)] if self.rows else [])))


@dataclass(frozen=True)
class PredictionAddress:
    """A saved prediction."""

    path: Path


Address = DatabaseAddress | StudyAddress | PredictionAddress


def address(text: str, folder: Path | None = None) -> Address:
    """The run, database or prediction named by a word of the command line.

    Parameters
    ----------
    text
        The word.
    folder
        Where studies are; those that come with Plexlens if not given.

    Raises
    ------
    UsageError
        It names nothing that is there.
    """
    path = Path(text)
    study, colon, rest = text.partition(":")
    own = own_study(study) is not None and study not in study_names(folder)
    if path.exists() and not own:
        if path.suffix == ".json" and path.is_file():
            return PredictionAddress(path)
        return DatabaseAddress(path, None, text)
    before, at, time = text.rpartition("@")
    if at and Path(before).exists():
        return DatabaseAddress(Path(before), window(time), text)
    if own or study in study_names(folder):
        if not colon or not rest:
            raise UsageError(
                file="",
                what=f"study {study} has several tables, and none is named",
                remedy=f"name one and a row of it, as in {study}:TABLE:ROW; plexlens study {study} lists its tables",
            )
        table, _, rows = rest.partition(":")
        return StudyAddress(study, table, tuple(row.strip() for row in rows.split(",")) if rows else ())
    if colon and not Path(study).suffix and "/" not in study:
        raise UsageError(
            file="", what=f"there is no study {study!r}", remedy=f"name one of {', '.join(study_names(folder))}"
        )
    raise UsageError(file=text, what="there is no such file or folder, and no study of that name", remedy=_FORMS)
