"""The error of a file of the catalogue: what is wrong, in which file and line, and what would be valid."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from plexlens.errors import UsageError


class CatalogueError(UsageError):
    """A definition of a grain, or a file of definitions, that cannot be used as it stands.

    Attributes
    ----------
    file
        The file; the folder where a file is missing.
    line
        Line of the key in the file, from 1; None where it is not known.
    """


def near(word: str, valid: Iterable[str]) -> str:
    """The valid word that is meant, or all of them."""
    names = list(valid)
    close = get_close_matches(word, names, n=1)
    return f"did you mean {close[0]}?" if close else f"there are: {', '.join(names) or 'none'}"
