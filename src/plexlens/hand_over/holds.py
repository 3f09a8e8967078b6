"""Contents of character fields, as data (``layouts/characters/*.csv``), and the treatment of each.

A line of ``smf.csv`` names a layout, a field and what the field holds (a job, a user, a code, text). A field can have
several lines: parts of it (`at`, `length`), for entries in which another field has a value (`when`).
``layouts/characters/README.md`` lists the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from plexlens.errors import UnreadableInputError
from plexlens.layouts_path import layout_folders, layout_lines

TREATMENTS = {
    **dict.fromkeys(("code", "version", "number"), "keep"),
    "token": "blank",
    **dict.fromkeys(("clock", "day", "printed_date", "dictionary"), ""),
}
"""What becomes of a field by what it holds; every other word is a kind of name. An empty text: the word itself."""

_REMEDY = "layouts/characters/README.md describes the lines"
_WORD = re.compile(r"[a-z][a-z_]*")


@dataclass(frozen=True, slots=True)
class Holding:
    """A line of a list: contents of a character field or of a part of it.

    Attributes
    ----------
    layout, field : str
        The field.
    holds : str
        What it holds.
    when : str
        Condition on another field of the entry, as in record maps; empty for always.
    at : int
        First byte of the part.
    length : int or None
        Its bytes; None up to the end of the field.
    """

    layout: str
    field: str
    holds: str
    when: str
    at: int
    length: int | None

    @property
    def treatment(self) -> str:
        """The treatment: ``keep``, ``name``, ``blank``, ``clock``, ``day``, ``printed_date``, ``dictionary``."""
        return TREATMENTS.get(self.holds, "name") or self.holds

    def rule(self) -> tuple[str, str, str, int, int | None, str]:
        """The line as `_core.Rewriter` takes it."""
        return (self.layout, self.field, self.when, self.at, self.length, self.treatment)


@dataclass(frozen=True, slots=True)
class Known:
    """Words that stay, since they name no one: those of IBM's products.

    Attributes
    ----------
    words : frozenset of str
        Whole words.
    endings : tuple of str
        Endings that stay behind a name.
    patterns : tuple of re.Pattern
        Words of a form.
    """

    words: frozenset[str]
    endings: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]

    def __contains__(self, word: str) -> bool:
        return word in self.words or any(pattern.fullmatch(word) for pattern in self.patterns)

    def ending(self, word: str) -> str:
        """The ending of a word that stays; empty where all of it is a name."""
        return next((ending for ending in self.endings if len(word) > len(ending) and word.endswith(ending)), "")


def holdings(site: Sequence[Path] = ()) -> list[Holding]:
    """The lines of the shipped ``smf.csv`` and of a site's own; a site's lines replace those of the same field.

    Raises
    ------
    UsageError
        A folder of the site does not exist.
    UnreadableInputError
        A line is wrong.
    """
    holdings_of: dict[tuple[str, str], list[Holding]] = {}
    for path in character_files(site, "smf.csv"):
        own: dict[tuple[str, str], list[Holding]] = {}
        for number, line in layout_lines(path, _REMEDY):
            holding = _holding(path, number, line)
            own.setdefault((holding.layout, holding.field), []).append(holding)
        holdings_of.update(own)
    return [holding for lines in holdings_of.values() for holding in lines]


def known_words(site: Sequence[Path] = ()) -> Known:
    """The words of ``known.csv``, shipped and the site's own.

    Raises
    ------
    UnreadableInputError
        A line is wrong.
    """
    words, endings, patterns = set(), [], []
    for path in character_files(site, "known.csv"):
        for number, line in layout_lines(path, _REMEDY):
            form, word = line.get("form", ""), line.get("word", "")
            if form == "word":
                words.add(word)
            elif form == "ending":
                endings.append(word)
            elif form == "pattern":
                try:
                    patterns.append(re.compile(word))
                except re.error as error:
                    raise _wrong(path, number, f"{word!r} is not a regular expression: {error}") from error
            else:
                raise _wrong(path, number, f"{form!r} is not word, ending or pattern")
    return Known(frozenset(words), tuple(endings), tuple(patterns))


def character_files(site: Sequence[Path], name: str) -> Iterable[Path]:
    """The files of a name in the folders ``characters``, the shipped one first."""
    return (path for path in (folder / "characters" / name for folder in layout_folders(site)) if path.is_file())


def _holding(path: Path, number: int, line: dict[str, str]) -> Holding:
    holds = line["holds"]
    if not _WORD.fullmatch(holds):
        raise _wrong(path, number, f"{holds!r} does not say what {line['field']} holds")
    try:
        at = int(line["at"] or 0)
        length = int(line["length"]) if line["length"] else None
    except ValueError as error:
        raise _wrong(path, number, "a place is not a number") from error
    return Holding(line["layout"], line["field"], holds, line["when"], at, length)


def _wrong(path: Path, line: int, what: str) -> UnreadableInputError:
    return UnreadableInputError(file=str(path), line=line, what=what, remedy=_REMEDY)
