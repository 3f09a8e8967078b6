"""Names to other names: word by word, of the same length, letters for letters and digits for digits.

A name is cut into words at every character that is neither letter, digit nor national character (``#``, ``@``, ``$``);
what is between them stays. A word has one replacement wherever it stands, so that names still agree between records,
reports and parts of names: the group of DSNDB0G_GBP1 is that of DSNDB0G_LOCK1. A replacement is never a word of the
input, so that no name of the input comes back as the name of something else.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import string
from collections.abc import Iterable, Iterator

from plexlens.errors import UsageError
from plexlens.hand_over.holds import Known
from plexlens.hand_over.key import Key

_NATIONAL = "#@$"
_CLASSES = ((string.ascii_uppercase), (string.ascii_lowercase), (string.digits), _NATIONAL)
_TRIES = 400
"""Replacements drawn before the rest of a small set is searched in order."""


def _is_word(character: str) -> bool:
    return character.isalnum() or character in _NATIONAL


def words_of(text: str) -> list[str]:
    """The words of a name, and between them what is between words: they join to the name."""
    return ["".join(run) for _, run in itertools.groupby(text, _is_word)]


def _class_of(character: str) -> str:
    if character in _NATIONAL:
        return _NATIONAL
    if character.isdigit():
        return string.digits
    return string.ascii_uppercase if character.isupper() or not character.islower() else string.ascii_lowercase


class Translation:
    """Replacements of names by a key.

    Parameters
    ----------
    key
        The key; `learn` adds words to it.
    known
        Words that stay.
    """

    def __init__(self, key: Key, known: Known) -> None:
        self.key = key
        self._known = known
        self._taken = set(key.words.values())

    def parts(self, word: str) -> Iterator[str]:
        """The parts of a word that are replaced each by itself: all of it, or what is before an ending that stays."""
        if not any(map(_is_word, word[:1])) or word in self._known:
            return
        ending = self._known.ending(word)
        yield word.removesuffix(ending) if ending else word

    def learn(self, texts: Iterable[str]) -> None:
        """Add replacements for the words of names, in an order that does not depend on that of the names.

        Raises
        ------
        UsageError
            There are more names of a form than replacements.
        """
        new = {part for text in texts for word in words_of(text) for part in self.parts(word)} - self.key.words.keys()
        avoided = new | self.key.words.keys()
        for word in sorted(new, key=lambda word: (len(word), word)):
            replacement = self._draw(word, avoided)
            self.key.words[word] = replacement
            self._taken.add(replacement)

    def __call__(self, text: str) -> str:
        """A name as it is called now; words that were not learnt stay."""
        return "".join(map(self._word, words_of(text)))

    def _word(self, word: str) -> str:
        for part in self.parts(word):
            return self.key.words.get(part, part) + word[len(part) :]
        return word

    def _draw(self, word: str, avoided: set[str]) -> str:
        forms = [_class_of(character) for character in word]

        def free(candidate: str) -> bool:
            stays = candidate in self._known or bool(self._known.ending(candidate))
            return candidate not in self._taken and not stays

        for count in range(_TRIES):
            seed = hmac.digest(self.key.secret, f"{count}\0{word}".encode(), hashlib.sha256)
            number = int.from_bytes(seed + hashlib.sha256(seed).digest() * (len(word) // 24 + 1))
            letters = []
            for form in forms:
                number, digit = divmod(number, len(form))
                letters.append(form[digit])
            candidate = "".join(letters)
            if free(candidate) and candidate not in avoided:
                return candidate
        # Of names as short as one or two characters, others of the input may have to serve; never the name itself.
        searched = itertools.islice(map("".join, itertools.product(*forms)), 1_000_000)
        fallback = next((short for short in searched if free(short) and short != word), None)
        if fallback is None:
            raise UsageError(
                file="",
                what=f"there are more names of the form of a {len(word)}-character name than replacements",
                remedy="hand over fewer sources at once, each with its own key file",
            )
        return fallback


def back(key: Key, text: str) -> str:
    """A text of the hand-over with the names that were in the input."""
    old_of = {new: old for old, new in key.words.items()}
    endings = sorted({len(new) for new in old_of}, reverse=True)

    def word_back(word: str) -> str:
        if word in old_of:
            return old_of[word]
        # A name with an ending that stayed: the longest part that is known.
        for length in endings:
            if length < len(word) and word[:length] in old_of and word[length:].isalnum() and length >= 3:
                return old_of[word[:length]] + word[length:]
        return word

    return "".join(map(word_back, words_of(text)))
