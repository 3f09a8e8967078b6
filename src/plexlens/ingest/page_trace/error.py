"""Errors in a page-reference trace."""

from __future__ import annotations

from plexlens.errors import UnreadableInputError


class TraceError(UnreadableInputError):
    """A file that is not a page-reference trace, or a damaged trace."""


class TraceOrderError(TraceError):
    """A trace whose references are too far out of time order for the reader to sort."""


class LostRecordsError(UnreadableInputError):
    """A trace that lost too many records to support conclusions.

    Attributes
    ----------
    lost : int
        References lost.
    share : float
        Lost references of all that there were.
    """

    def __init__(self, *, file: str, what: str, remedy: str, lost: int, share: float) -> None:
        super().__init__(file=file, what=what, remedy=remedy)
        self.lost = lost
        self.share = share
