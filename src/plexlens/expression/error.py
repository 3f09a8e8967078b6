"""Errors in an expression: the problem, the character, and the valid alternatives."""

from __future__ import annotations

from plexlens.errors import UsageError


class ExpressionError(UsageError):
    """An expression that cannot be parsed, or has no meaning in its place.

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
