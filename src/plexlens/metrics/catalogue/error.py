"""Errors in a file of the catalogue: the problem, the file and line, and the valid alternatives."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from plexlens.errors import UsageError


class CatalogueError(UsageError):
    """An invalid definition of a grain, or an invalid file of definitions.

    Attributes
    ----------
    file
        The file; the folder where a file is missing.
    line
        Line of the key in the file, from 1; None where it is not known.
    """


def near(word: str, valid: Iterable[str]) -> str:
    """A suggestion: the most similar valid word, or else all valid words."""
    names = list(valid)
    close = get_close_matches(word, names, n=1)
    return f"did you mean {close[0]}?" if close else f"there are: {', '.join(names) or 'none'}"
