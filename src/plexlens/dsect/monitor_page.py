"""IBM's page for a z/VM monitor record (HTML), converted to the assembler statements of its mapping."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from plexlens.dsect.fault import DsectError

_HEADING = re.compile(r"^\s*Dec\s+Hex\s+Type\s+Len\s+Name\b")
_END = re.compile(r"\bCross Reference\s*$|\bStorage Layout\s*$")
_ROW = re.compile(
    r"^\s*(\d+)\s+([0-9A-F]+)\s+([A-Z][A-Za-z-]*)\s+(\d+)\s+(\*|[A-Z@#$][\w@#$]*)(?:\s+\((\d+)\))?(?:\s+(.*))?$"
)
_BITS = re.compile(r"^\s+([1.]{4} [1.]{4})\s+(\*|[A-Z@#$][\w@#$]*)(?:\s+(.*))?$")
_TAG = re.compile(r"<[^>]*>")
_TYPES = {"Character": "C", "Unsigned": "F", "Signed": "F", "Bitstring": "B", "Address": "A"}
#: Texts of the header's fields, which pages of later releases leave out.
_HEADER_TEXTS = {
    "MRHDRLEN": "record length",
    "MRHDRZER": "zeros",
    "MRHDRDM": "domain",
    "MRHDRRC": "record",
    "MRHDRTOD": "time at which the record was built, as a TOD clock",
}
_FIRST_CARD = 71
_INDENT = 15
_NEXT_CARD = _FIRST_CARD - _INDENT
_MOST_TEXT = 400

NOTE = (
    "the file is a page of a z/VM monitor record; line numbers count in the assembler statements to which it was "
    "converted, and Signed fields are unsigned without --signed"
)
"""What the user should know of such a source."""


@dataclass
class _Row:
    """A row of the table, with the masks and the text of the lines below it."""

    line: int
    offset: int
    kind: str
    length: int
    name: str
    times: int
    text: list[str] = field(default_factory=list)
    masks: list[tuple[str, int, str]] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.offset + self.length * self.times


def is_page(lines: Sequence[str]) -> bool:
    """Whether the lines are a page of a monitor record: the heading of its table is there."""
    return any(_HEADING.match(_plain(line)) for line in lines)


def statements_of_page(file: str, lines: Sequence[str]) -> list[str]:
    """Card images of the mapping: a DSECT for each structure, ORG and DS for each field, EQU for each bit.

    Parameters
    ----------
    file
        The page, for messages.
    lines
        Its lines, with tags and entities.

    Raises
    ------
    DsectError
        A row has two offsets that differ, or a type that is not known.
    """
    rows = _rows(file, lines)
    cards: list[str] = []
    structure = ""
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        if row.kind == "Structure":
            structure = row.name
            cards += [f"{structure} DSECT", f"         ORG   {structure}+{row.length}"]
            continue
        if not structure:
            raise DsectError(
                file=file,
                line=row.line,
                what=f"{row.name} comes before the row of its structure",
                remedy="give the whole page",
            )
        is_group = after is not None and after.kind != "Structure" and row.offset <= after.offset < row.end
        cards += _cards(row, structure, is_group=is_group)
    return cards


def _rows(file: str, lines: Sequence[str]) -> list[_Row]:
    rows: list[_Row] = []
    inside = False
    for number, line in enumerate(lines, 1):
        text = _plain(line)
        if _HEADING.match(text):
            inside = True
        elif not inside:
            continue
        elif _END.search(text):
            inside = False
        elif match := _ROW.match(text):
            rows.append(_row(file, number, match))
        elif rows and (match := _BITS.match(text)) and rows[-1].kind == "Bitstring":
            bits = int(match[1].replace(" ", "").replace(".", "0"), 2)
            if match[2] != "*" and rows[-1].length == 1:
                rows[-1].masks.append((match[2], bits, match[3] or ""))
            else:
                rows[-1].text.append(text.strip())
        elif rows and text.strip():
            _continue(rows[-1], text.strip())
    return rows


def _row(file: str, number: int, match: re.Match[str]) -> _Row:
    offset, in_hexadecimal, kind, length, name, times, text = match.groups()
    if int(in_hexadecimal, 16) != int(offset):
        raise DsectError(
            file=file,
            line=number,
            what=f"{name} is at {offset} and at hexadecimal {in_hexadecimal}, which differ",
            remedy="save the page again, and compare with that of another release",
        )
    if kind != "Structure" and kind not in _TYPES:
        raise DsectError(
            file=file,
            line=number,
            what=f"{name} has the type {kind}, which is not known",
            remedy=f"write {', '.join(_TYPES)} into the saved page",
        )
    return _Row(number, int(offset), kind, int(length), name, int(times or 1), [text] if text else [])


def _continue(row: _Row, text: str) -> None:
    """Add a line of text to the row, or to its last mask."""
    if row.masks:
        name, bits, before = row.masks[-1]
        row.masks[-1] = (name, bits, f"{before} {text}".strip())
    else:
        row.text.append(text)


def _cards(row: _Row, structure: str, *, is_group: bool) -> Iterator[str]:
    name = "" if row.name == "*" else row.name
    kind = _TYPES[row.kind]
    if row.length == 0:
        operand = "0C"
    elif is_group:
        operand = f"0CL{row.length * row.times}"
    else:
        operand = f"{row.times if row.times > 1 else ''}{kind}L{row.length}"
    yield f"         ORG   {structure}+{row.offset}"
    yield from _card(f"{name:<8} DS    {operand}", " ".join(row.text) or _HEADER_TEXTS.get(name, ""))
    for mask, bits, text in row.masks:
        yield from _card(f"{mask:<8} EQU   X'{bits:02X}'", text)


def _card(statement: str, remark: str) -> Iterator[str]:
    """A statement as card images: continued by a character in column 72, into column 16 of the next."""
    cards = [statement]
    for word in remark[:_MOST_TEXT].split():
        if len(cards[-1]) + 1 + len(word) <= _FIRST_CARD:
            cards[-1] += f" {word}"
        else:
            cards.append(" " * _INDENT + word[:_NEXT_CARD])
    for card in cards[:-1]:
        yield f"{card:<{_FIRST_CARD}}X"
    yield cards[-1]


def _plain(line: str) -> str:
    """A line without tags; characters beyond ASCII become question marks."""
    return html.unescape(_TAG.sub("", line)).replace("\u00a0", " ").encode("ascii", "replace").decode("ascii")
