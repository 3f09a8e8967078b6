"""Sentences put together from parts, as comparisons are."""

from __future__ import annotations


def within_a_sentence(text: str) -> str:
    """A sentence or title with a small first letter, unless its first word is a name or an abbreviation (CPU, Db2)."""
    word = text.partition(" ")[0].rstrip(",;:")
    plain = len(word) == 1 or (word.isalpha() and word[1:].islower())
    return text[:1].lower() + text[1:] if plain else text


def capital(text: str) -> str:
    """A text with a capital first letter."""
    return text[:1].upper() + text[1:]
