"""Errors in a rule file: the problem, the file and line, and the valid alternatives."""

from __future__ import annotations

from plexlens.errors import PlexlensError, UsageError


class RuleError(UsageError):
    """An invalid rule or rule file.

    Attributes
    ----------
    file
        The file; empty where a rule did not come from one.
    line
        Line of the key in the file, from 1; None where it is not known.
    """

    @classmethod
    def placed(cls, error: PlexlensError, *, file: str, line: int | None, where: str) -> RuleError:
        """The error of a rule or an expression, with its location; ``where`` names rule and key."""
        return cls(file=file, line=line, what=f"{where}: {error.what}", remedy=error.remedy)


def wrong(what: str, remedy: str) -> RuleError:
    """An error whose location the caller knows."""
    return RuleError(file="", what=what, remedy=remedy)
