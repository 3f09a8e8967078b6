"""The error of a rule file: what is wrong, in which file and line, and what would be valid."""

from __future__ import annotations

from plexlens.errors import PlexlensError, UsageError


class RuleError(UsageError):
    """A rule, or a file of rules, that cannot be used as it stands.

    Attributes
    ----------
    file
        The file; empty where a rule did not come from one.
    line
        Line of the key in the file, from 1; None where it is not known.
    """

    @classmethod
    def placed(cls, error: PlexlensError, *, file: str, line: int | None, where: str) -> RuleError:
        """The error of a rule or an expression, with the place it was found at; ``where`` names rule and key."""
        return cls(file=file, line=line, what=f"{where}: {error.what}", remedy=error.remedy)


def wrong(what: str, remedy: str) -> RuleError:
    """An error whose place the caller knows."""
    return RuleError(file="", what=what, remedy=remedy)
