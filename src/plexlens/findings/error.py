"""The error of a rule file: what is wrong, in which file and line, and what would be valid."""

from __future__ import annotations

from plexlens.errors import UsageError


class RuleError(UsageError):
    """A rule, or a file of rules, that cannot be used as it stands.

    Attributes
    ----------
    file
        The file; empty where a rule did not come from one.
    line
        Line of the key in the file, from 1; None where it is not known.
    """

    def placed(self, *, file: str, line: int | None, where: str) -> RuleError:
        """The same error with the place it was found at; ``where`` names rule and key."""
        return RuleError(file=file, line=line, what=f"{where}: {self.what}", remedy=self.remedy)


def wrong(what: str, remedy: str) -> RuleError:
    """An error whose place the caller knows."""
    return RuleError(file="", what=what, remedy=remedy)
