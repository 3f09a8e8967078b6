"""All errors that Plexlens raises deliberately: problem, location and remedy.

The command line prints ``str(error)`` and ends with `PlexlensError.exit_code`. Anything else that escapes is a
defect of Plexlens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class PlexlensError(Exception):
    """Base of all errors: problem, location and remedy.

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

    def __reduce__(self) -> tuple[Any, ...]:
        """The parts for pickle, which calls without the names that arguments have here."""
        return _restored, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        """``file: record n, line n, byte n: problem; remedy``."""
        named = (("record", self.record_no), ("line", self.line), ("byte", self.offset))
        where = ", ".join(f"{word} {number}" for word, number in named if number is not None)
        return ": ".join(part for part in (self.file, where, f"{self.what}; {self.remedy}") if part)


def _restored(kind: type[PlexlensError], args: tuple[Any, ...], attributes: dict[str, Any]) -> PlexlensError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(attributes)
    return error


class UsageError(PlexlensError):
    """An invalid command or call."""

    exit_code = 2


class OutputError(PlexlensError):
    """An output that the system refuses to write, though the command is right: a full disk, a disk that fails."""

    exit_code = 3


class UnreadableInputError(PlexlensError):
    """An input that cannot be read."""

    exit_code = 3


class UnknownSourceError(UnreadableInputError):
    """An input that no ingest module recognises."""


class SourceChangedError(UnreadableInputError):
    """An input that changed or vanished while being read."""


class NothingUsableError(PlexlensError):
    """An input that was read to its end without yielding a usable row."""

    exit_code = 4


class EmptyInputError(NothingUsableError):
    """An empty file, or a compressed file without contents."""


class NotAPdbError(UsageError):
    """A path that is not a performance database."""


class PdbExistsError(UsageError):
    """A path that cannot hold a new performance database because it is in use."""


class PdbVersionError(UsageError):
    """A performance database written by a later version of Plexlens."""


class PdbLockedError(UsageError):
    """A performance database that another process is writing."""


class PdbDamagedError(UnreadableInputError):
    """A performance database with a damaged manifest or damaged tables."""


class PdbWriteError(PlexlensError):
    """A performance database that could not be written; its earlier contents are intact."""


class StorageError(PdbWriteError):
    """Object storage that refuses a request or does not answer; what it held is intact."""


class SchemaConflictError(UnreadableInputError):
    """An input with a column that conflicts with the PDB's table."""


class IngestFailuresError(PlexlensError):
    """Failure of some of several inputs; the others are in the PDB.

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
        """The count, then a line per failure."""
        return "\n".join([f"{self.what}:", *(f"  {failure}" for failure in self.failures)])
