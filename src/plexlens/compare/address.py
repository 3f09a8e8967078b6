"""How a run is named on the command line.

=====================================  ==========================================================================
``PATH``                               a performance database, a dump, or a folder of dumps
``PATH@2008-09-03``                    one day of it, in local time
``PATH@2008-09-03T17:00..2008-09-04``  from a moment to a moment, or to the end of a day; either end may be left out
``STUDY:TABLE``                        a table of a study, its rows as objects
``STUDY:TABLE:ROW``                    a row of it (a run); several rows, with commas between, are repeats
``FILE.json``                          a prediction that ``plexlens pools --save`` wrote; only as BASE
=====================================  ==========================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from plexlens.compare.database_run import Window
from plexlens.compare.study import study_names
from plexlens.compare.study_run import StudyAddress
from plexlens.errors import UsageError

_FORMS = (
    "name a performance database or dumps (PATH, PATH@2008-09-03, PATH@FROM..TO) or a run of a study (STUDY:TABLE:ROW)"
)


@dataclass(frozen=True)
class DatabaseAddress:
    """A performance database or dumps, and the local time that is meant; all of it where ``window`` is None."""

    path: Path
    window: Window | None
    text: str


@dataclass(frozen=True)
class PredictionAddress:
    """A saved prediction."""

    path: Path


Address = DatabaseAddress | StudyAddress | PredictionAddress


def address(text: str, folder: Path | None = None) -> Address:
    """What a word of the command line names.

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
    if path.exists():
        if path.suffix == ".json" and path.is_file():
            return PredictionAddress(path)
        return DatabaseAddress(path, None, text)
    before, at, time = text.rpartition("@")
    if at and Path(before).exists():
        return DatabaseAddress(Path(before), window(time), text)
    study, colon, rest = text.partition(":")
    if study in study_names(folder):
        if not colon or not rest:
            raise UsageError(
                file="",
                what=f"study {study} has many tables, and none is named",
                remedy=f"name one and a row of it, as in {study}:TABLE:ROW; plexlens study {study} lists its tables",
            )
        table, _, rows = rest.partition(":")
        return StudyAddress(study, table, tuple(row.strip() for row in rows.split(",")) if rows else ())
    if colon and not Path(study).suffix and "/" not in study:
        raise UsageError(
            file="", what=f"there is no study {study!r}", remedy=f"name one of {', '.join(study_names(folder))}"
        )
    raise UsageError(file=text, what="there is no such file or folder, and no study of that name", remedy=_FORMS)


def window(text: str) -> Window:
    """The time that ``FROM..TO``, or a day, names; local time as the systems recorded it.

    Raises
    ------
    UsageError
        It is no time, or ends before it starts.

    Examples
    --------
    >>> window("2008-09-03").end - window("2008-09-03").start
    datetime.timedelta(days=1)
    """
    first, dots, last = text.partition("..")
    if not dots:
        start = _moment(first, text)
        if len(first.strip()) > 10:
            raise UsageError(
                file="",
                what=f"{text!r} is a moment, not a stretch of time",
                remedy="add an end: 2008-09-03T17:00..2008-09-03T18:00, or name a day: 2008-09-03",
            )
        return Window(start, start + timedelta(days=1))
    since = _moment(first, text) if first.strip() else None
    until = None
    if last.strip():
        until = _moment(last, text)
        if len(last.strip()) <= 10:
            until += timedelta(days=1)
    if since is not None and until is not None and until <= since:
        raise UsageError(file="", what=f"{text!r} ends before it starts", remedy="give the earlier time first")
    return Window(since, until)


def _moment(part: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(part.strip()).replace(tzinfo=UTC)
    except ValueError as error:
        raise UsageError(
            file="",
            what=f"{part.strip()!r} in {text!r} is no time",
            remedy="write 2008-09-03 or 2008-09-03T17:29",
        ) from error
