"""Names from files, made safe for printing.

A name in a dump is whatever bytes were there. Control characters would act on a terminal, and marks that turn the
direction of text would change how a whole line reads; each is shown as the replacement character instead.
"""

from __future__ import annotations

import unicodedata

_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


_HELD_IN_CELLS = frozenset("\t\n")

#: What a spreadsheet takes for the beginning of a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def printable(text: str) -> str:
    r"""The text with every control, format and surrogate character replaced; other characters are unchanged.

    Examples
    --------
    >>> printable("DB2A\x1b[31m") == "DB2A\ufffd[31m"
    True
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join("\ufffd" if unicodedata.category(char) in _HARMFUL else char for char in text)


def printable_lines(text: str) -> str:
    """The text with each of its lines as `printable` makes it."""
    return "\n".join(map(printable, text.split("\n")))


def cell_text(text: str) -> str:
    r"""The text for a cell of a sheet: as `printable` makes it, but with its tabs and line ends.

    Examples
    --------
    >>> cell_text("SELECT 1\n\x1b[31m") == "SELECT 1\n\ufffd[31m"
    True
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in _HELD_IN_CELLS else printable(char) for char in text)


def csv_text(text: str) -> str:
    """The text for a cell of a CSV file, written so that no spreadsheet reads it as a formula.

    A text that begins like a formula gets an apostrophe in front, as a person would type it; numbers stay as they are.

    Examples
    --------
    >>> csv_text("=HYPERLINK(A1)"), csv_text("-DISPLAY"), csv_text("-1.5"), csv_text("BP0")
    ("'=HYPERLINK(A1)", "'-DISPLAY", '-1.5', 'BP0')
    """
    safe = cell_text(text)
    return f"'{safe}" if safe.startswith(_FORMULAS) and not _is_number(safe) else safe


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
