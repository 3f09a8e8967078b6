"""Formatting of fractions and sentences in comparisons."""

from __future__ import annotations


def percent(share: float, digits: int = 1, *, signed: bool = False) -> str:
    """A fraction as percent, with a space before the sign.

    Examples
    --------
    >>> percent(0.0973), percent(-0.1, signed=True), percent(0.05, 0)
    ('9.7 %', '-10.0 %', '5 %')
    """
    return f"{share * 100:+.{digits}f} %" if signed else f"{share * 100:.{digits}f} %"


def within_a_sentence(text: str) -> str:
    """A sentence or title with a small first letter, unless its first word is a name or an abbreviation (CPU, Db2)."""
    word = text.partition(" ")[0].rstrip(",;:")
    plain = len(word) == 1 or (word.isalpha() and word[1:].islower())
    return text[:1].lower() + text[1:] if plain else text


def capital(text: str) -> str:
    """A text with a capital first letter."""
    return text[:1].upper() + text[1:]
