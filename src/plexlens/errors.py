"""Every error that Plexlens raises on purpose: what is wrong, where, and what to do about it.

The command line prints ``str(error)`` and ends with `PlexlensError.exit_code`. Anything else that escapes is a
defect of Plexlens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class PlexlensError(Exception):
    """What is wrong, where, and what to do.

    Attributes
    ----------
    file : str
        The file or folder as the user named it; empty where none is concerned.
    what : str
        What is wrong.
    remedy : str
        What to do.
    line : int or None
        Line in the file, from 1.
    record_no : int or None
        Record in the file, from 1.
    offset : int or None
        Byte offset in the file.
    exit_code : int
        What the command ends with: 2 wrong use, 3 a file cannot be read or written, 4 nothing usable in it.
    """

    exit_code: int = 3

    def __init__(
        self,
        *,
        file: str,
        what: str,
        remedy: str,
        line: int | None = None,
        record_no: int | None = None,
        offset: int | None = None,
    ) -> None:
        self.file = file
        self.what = what
        self.remedy = remedy
        self.line = line
        self.record_no = record_no
        self.offset = offset
        super().__init__(file, what, remedy, line, record_no, offset)

    def __str__(self) -> str:
        """``file: record n, line n, byte n: what; remedy``."""
        named = (("record", self.record_no), ("line", self.line), ("byte", self.offset))
        where = ", ".join(f"{word} {number}" for word, number in named if number is not None)
        return ": ".join(part for part in (self.file, where, f"{self.what}; {self.remedy}") if part)


class UsageError(PlexlensError):
    """The command or call cannot mean anything as it was given."""

    exit_code = 2


class UnreadableInputError(PlexlensError):
    """An input that cannot be read."""

    exit_code = 3


class UnknownSourceError(UnreadableInputError):
    """An input that no ingest module recognises."""


class SourceChangedError(UnreadableInputError):
    """An input that changed or vanished while it was read."""


class NothingUsableError(PlexlensError):
    """An input that was read to its end without a single usable row."""

    exit_code = 4


class EmptyInputError(NothingUsableError):
    """A file of no bytes, or a packed one with nothing in it."""


class NotAPdbError(UsageError):
    """A path that holds no performance database."""


class PdbExistsError(UsageError):
    """A path that cannot take a new performance database because something is there."""


class PdbVersionError(UsageError):
    """A performance database written by a later Plexlens."""


class PdbLockedError(UsageError):
    """A performance database into which another process is writing."""


class PdbDamagedError(UnreadableInputError):
    """A performance database whose manifest or tables are not as they were written."""


class PdbWriteError(PlexlensError):
    """A performance database that could not be written; what it held before is whole."""


class SchemaConflictError(UnreadableInputError):
    """An input with a column that cannot stand in one table with what the PDB holds."""


class IngestFailuresError(PlexlensError):
    """Some of several inputs failed; the others are in the PDB.

    Attributes
    ----------
    failures : list of PlexlensError
        One for each input that failed, in the order met.
    results : list
        What became of the others (`plexlens.pdb.IngestResult`).
    """

    def __init__(self, failures: Sequence[PlexlensError], results: Sequence[Any]) -> None:
        self.failures = list(failures)
        self.results = list(results)
        # Unreadable weighs more than unusable, as for a single file.
        self.exit_code = min(failure.exit_code for failure in self.failures)
        super().__init__(
            file="",
            what=f"{len(self.failures)} of {len(self.failures) + len(self.results)} inputs failed",
            remedy="see each of them",
        )

    def __str__(self) -> str:
        """The count, then a line for each failure."""
        return "\n".join([f"{self.what}:", *(f"  {failure}" for failure in self.failures)])
