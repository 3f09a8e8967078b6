"""Names from files, made safe for printing.

A name in a dump is whatever bytes were there. Control characters would act on a terminal, and marks that turn the
direction of text would change how a whole line reads; each is shown as the replacement character instead.
"""

from __future__ import annotations

import unicodedata

_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


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
