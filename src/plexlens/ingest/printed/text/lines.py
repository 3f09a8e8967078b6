"""Lines of a report, without page breaks, carriage control, overprinting, mail quoting and system log prefixes.

Carriage control (ASA) is the first character of every line: ``1`` new page, blank, ``0`` and ``-`` one, two and three
lines forward, ``+`` over the line before. It is detected from all of a file's first lines together, since each of
these characters can also begin a line without it.

Source: IBM, z/OS DFSMS Using Data Sets, "ANSI control characters"; z/OS MVS Initialization, format of the hardcopy log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

LONGEST = 4096
"""Characters of a line; no printed line is longer."""

_SAMPLE_LINES = 400
# Blank lines that may stand within a quotation; a file of blank lines alone would be held in memory otherwise.
_LONGEST_RUN = 400
_LINE_END = re.compile(r"\r\n|\n|\r|\x85|\u2028")
_UNPRINTED = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufeff\u200b]")
_ODD_BLANKS = re.compile("[\xa0\u2002\u2003\u2007\u2009\u202f]")
_TAGS = re.compile(r"</?(?:b|i|u|em|strong|tt|code|span|font)(?:\s[^<>]*)?>", re.IGNORECASE)
_QUOTE = re.compile(r"(?:>[ ]?)+")
_CONTROL = frozenset(" 01-+")
_PAGE_HEADING = re.compile(r"1(?:\s{3,}|\s*[A-Za-z])")
# First lines of a multi-line message carry date and time, the following ones only a connect id.
_LOGGED = re.compile(
    r"[NMWOSX][ CRIDE]\s?[0-9A-F]{7}\s(?P<system>\S+)\s+\d{5,7}\s\d\d:\d\d:\d\d\.\d\d\s+\S+\s+[0-9A-F]{8}\s{1,2}"
    r"|[DEL]\s{1,60}\d{3}\s[0-9A-F]{8}\s{1,2}"
)
_LOGGED_SHORT = re.compile(r"\d\d[:.]\d\d[:.]\d\d(?:\.\d\d)?\s+(?:STC|JOB|TSU|S|J|T)\d{5,8}\s{1,3}")
LOGGED = (_LOGGED, _LOGGED_SHORT)


class Line(NamedTuple):
    """A printed line."""

    number: int
    """Its number in the file, from 1."""
    page: int
    """Its page, from 1, as form feeds and carriage control count them."""
    text: str
    """What is printed; blanks at its end are off."""


Note = Callable[[str, int], None]
"""Takes the name of something odd and the line it was met in."""


def read_lines(pieces: Iterable[str], note: Note) -> Iterator[Line]:
    """The non-blank lines, as printed.

    Parameters
    ----------
    pieces
        The text, cut anywhere.
    note
        Told of ``line too long``, and of ``carriage control`` and ``mail quoting`` once each when they are found.
    """
    return _printed(_unquoted(_physical(pieces, note), note), note)


def _physical(pieces: Iterable[str], note: Note) -> Iterator[tuple[int, str]]:
    """Numbered lines without line ends."""
    number, rest = 0, ""
    for piece in pieces:
        text = rest + piece
        # A carriage return at the end may be half of a line end.
        content = "\r" if text.endswith("\r") else ""
        parts = _LINE_END.split(text[: len(text) - len(content)])
        rest = parts.pop() + content
        for part in parts:
            number += 1
            yield number, _clean(part, number, note)
        if len(rest) > LONGEST:
            # The rest of an endless line is dropped; the line is reported once.
            rest = rest[: LONGEST + 1]
    if rest.strip():
        yield number + 1, _clean(rest, number + 1, note)


def _clean(text: str, number: int, note: Note) -> str:
    if len(text) > LONGEST:
        note("line too long", number)
        text = text[:LONGEST]
    text = _UNPRINTED.sub("", _ODD_BLANKS.sub(" ", text))
    return _TAGS.sub("", text).rstrip(" \t")


def _unquoted(lines: Iterable[tuple[int, str]], note: Note) -> Iterator[tuple[int, str]]:
    """Lines with mail quoting removed: three or more lines that begin with ``>``, not counting blank lines between
    them.

    A single line may begin so by itself: the last row of a response time distribution does.
    """
    run: list[tuple[int, str]] = []
    quoted = 0
    statement = False
    for number, text in lines:
        if text.startswith(">"):
            run.append((number, text))
            quoted += 1
        elif run and not text.strip() and len(run) < _LONGEST_RUN:
            run.append((number, text))
        else:
            yield from _run(run, quoted)
            run, quoted = [], 0
            yield number, text
        if quoted >= 3:
            if not statement:
                note("mail quoting", run[0][0])
                statement = True
            yield from _run(run, quoted)
            # The run goes on, and is known to be one.
            run, quoted = [], 3
    yield from _run(run, quoted)


def _run(run: list[tuple[int, str]], quoted: int) -> Iterator[tuple[int, str]]:
    for number, text in run:
        mark = _QUOTE.match(text) if quoted >= 3 else None
        yield number, text[mark.end() :] if mark else text


def has_carriage_control(sample: list[str]) -> bool:
    """Whether the first characters of these lines are carriage control."""
    lines = [text for text in sample if text]
    first = [text[0] for text in lines]
    if len(lines) < 3 or "1" not in first or any(character not in _CONTROL for character in first):
        return False
    if first.count(" ") * 2 < len(lines) - 2:
        return False
    return all(_PAGE_HEADING.match(text) for text in lines if text[0] == "1")


def _printed(lines: Iterable[tuple[int, str]], note: Note) -> Iterator[Line]:
    """Lines and pages after applying form feeds, carriage control and overprinting."""
    iterator = iter(lines)
    sample = [entry for entry, _ in zip(iterator, range(_SAMPLE_LINES), strict=False)]
    controlled = has_carriage_control([text.lstrip("\f") for _, text in sample if text.strip("\f \t")])
    if controlled:
        note("carriage control", sample[0][0])
    page, any_line = 1, False
    line: Line | None = None
    for number, raw in chain(sample, iterator):
        breaks = raw.count("\f")
        text = raw.replace("\f", "")
        control = ""
        if controlled and text[:1] in _CONTROL:
            control, text = text[:1], text[1:]
            breaks = breaks or (control == "1")
        if breaks and any_line:
            page += 1
        if not text.strip():
            continue
        any_line = True
        if control == "+" and line is not None:
            over = _overprint(line.text, text)
            if over is not None:
                line = Line(line.number, line.page, over)
                continue
        if line is not None:
            yield line
        line = Line(number, page, text.rstrip())
    if line is not None:
        yield line


def _overprint(under: str, over: str) -> str | None:
    """The result of printing two lines over each other; None if they have different characters in a position."""
    width = max(len(under), len(over))
    result = []
    for below, above in zip(under.ljust(width), over.ljust(width), strict=True):
        if above in (" ", "_", below):
            result.append(below)
        elif below in (" ", "_"):
            result.append(above)
        else:
            return None
    return "".join(result).rstrip()


def without_log_prefix(text: str) -> tuple[str, str | None]:
    """A line without its system log prefix, and the system that the prefix names."""
    for pattern in LOGGED:
        match = pattern.match(text)
        if match:
            return text[match.end() :], match.groupdict().get("system")
    return text, None
