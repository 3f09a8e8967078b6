"""Names and values separated by an equal sign, or by a row of points and a colon."""

from __future__ import annotations

import re
from typing import NamedTuple

from plexlens.ingest.printed.values import is_value

_EQUAL = re.compile(r"\s*=(?!=)\s*")
_LISTED = re.compile(r"[\d%]+,\s*[\d%]+(?=\s|$)")
_DOTTED = re.compile(
    r"(?P<name>[A-Za-z][^:]*?)[ .]*(?:\.\s?){2,}\s*:[ \t]*(?P<value>\S+(?: \S+)*)?"
    r"|(?P<plain>[A-Za-z(][\w /()&.,'-]*?)\s*:(?:[ \t]+|$)(?P<text>\S+(?: \S+)*)?"
)


class Pair(NamedTuple):
    """A name, its value as printed, the position of the name in the line, and the words between it and the pair
    before.
    """

    name: str
    value: str
    start: int
    before: str = ""


def equal_pairs(text: str) -> list[Pair]:
    """Pairs such as ``REQUESTS = 41800   PREFETCH I/O = 14473``.

    The value is the text up to the next gap of two blanks or tab; where columns have drifted together, its first word,
    and the words after it are the next name.
    """
    if "=" not in text:
        return []
    marks = list(_EQUAL.finditer(text))
    pairs: list[Pair] = []
    begin = 0
    for mark, after in zip(marks, [*marks[1:], None], strict=False):
        reach = text[begin : mark.start()].rstrip()
        name = _last_run(reach)
        start = mark.start() - len(name)
        before = " ".join(reach[: len(reach) - len(name)].split())
        rest = text[mark.end() : after.start() if after else len(text)]
        gap = re.search(r"\s{2,}|\t", rest)
        listed = _LISTED.match(rest)
        if listed:
            value = " ".join(listed[0].split())
            begin = mark.end() + listed.end()
        elif after is None:
            value = (rest[: gap.start()] if gap else rest).strip()
            begin = mark.end() + len(value)
        elif gap and gap.start():
            value = rest[: gap.start()].strip()
            begin = mark.end() + gap.start()
        else:
            # A name of the next pair is there, and at most one word of value before it.
            value = rest.split()[0] if len(rest.split()) > 1 and "\t" not in text[mark.start() : mark.end()] else ""
            begin = mark.end() + len(value)
        pairs.append(Pair(" ".join(name.split()), value.rstrip(","), start, before))
    return pairs


def _last_run(text: str) -> str:
    """The name at the end of a text: the words after the last gap of two blanks, or tab."""
    return re.split(r"\s{2,}|\t", text.rstrip())[-1].strip()


def dotted_pairs(text: str) -> list[Pair]:
    """Pairs such as ``Current ICV time . . . . : 5,000``; pairs with only a colon if the value is a number or a
    time.
    """
    pairs: list[Pair] = []
    for match in _DOTTED.finditer(text):
        name = match["name"] if match["name"] is not None else match["plain"]
        value = match["value"] if match["name"] is not None else match["text"]
        if match["name"] is None and not is_value((value or "").split("  ")[0]):
            # A colon alone stands in sentences and headings too.
            continue
        name = _last_run(name.replace("\t", "  ")).rstrip(" .")
        if name:
            pairs.append(Pair(" ".join(name.split()), (value or "").strip(), match.start()))
    return pairs
