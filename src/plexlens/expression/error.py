"""The error of an expression: what is wrong, at which character, and what would be valid."""

from __future__ import annotations

from plexlens.errors import UsageError


class ExpressionError(UsageError):
    """A text that is no expression, or an expression that means nothing where it stands.

    Attributes
    ----------
    character
        Place in the text, from 1; None where the whole of it is meant.
    """

    character: int | None = None


def wrong(what: str, remedy: str, character: int | None = None) -> ExpressionError:
    """An error whose file and line the caller knows."""
    place = f"character {character}: " if character is not None else ""
    error = ExpressionError(file="", what=place + what, remedy=remedy)
    error.character = character
    return error
