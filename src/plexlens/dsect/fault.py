"""Errors in an assembler source."""

from __future__ import annotations

from plexlens.errors import UnreadableInputError


class DsectError(UnreadableInputError):
    """An assembler source that cannot be read as a mapping: file, line, statement, problem, remedy.

    Attributes
    ----------
    statement : str
        The statement as it stands in the file; empty where the file as a whole is meant.
    """

    def __init__(self, *, file: str, what: str, remedy: str, line: int | None = None, statement: str = "") -> None:
        super().__init__(file=file, what=what, remedy=remedy, line=line)
        self.statement = statement

    def __str__(self) -> str:
        """``file: line n: `statement`: problem; remedy``."""
        where = f"line {self.line}" if self.line is not None else ""
        quoted = f"`{self.statement}`" if self.statement else ""
        return ": ".join(part for part in (self.file, where, quoted, f"{self.what}; {self.remedy}") if part)


class FaultError(Exception):
    """A fault in part of a statement; the caller, who knows the statement, turns it into a `DsectError`.

    Attributes
    ----------
    what, remedy : str
        As in `DsectError`.
    """

    def __init__(self, what: str, remedy: str) -> None:
        self.what = what
        self.remedy = remedy
        super().__init__(what, remedy)
