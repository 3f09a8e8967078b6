"""What can be wrong with a page-reference trace."""

from __future__ import annotations

from plexlens.errors import UnreadableInputError


class TraceError(UnreadableInputError):
    """A file that is no page-reference trace, or a damaged one."""


class TraceOrderError(TraceError):
    """A trace whose references are not in the order of time, by more than a reader can put right."""


class LostRecordsError(UnreadableInputError):
    """A trace that lost so many records that nothing can be concluded from it.

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
