"""Statements of an assembler source: name, operation, operand, remark, over continuation lines.

Columns 1 to 71 hold the statement, column 72 says whether the next line continues it, from column 16 on; columns 73 to
80 are sequence numbers (HLASM Language Reference, "Assembler language coding conventions").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from plexlens.dsect.fault import DsectError
from plexlens.dsect.source import Source

_END = 71
_CONTINUE = 15
#: Instructions whose operand may hold blanks in parentheses.
_CONDITIONAL = frozenset({"AIF", "AGO", "SETA", "SETB", "SETC"})
_ATTRIBUTE_LETTERS = frozenset("LTKNISDO")
_SYMBOL_START = re.compile(r"[A-Za-z$#@_&]")


@dataclass(frozen=True)
class Statement:
    """A statement.

    Attributes
    ----------
    file : str
        The source's file, for messages.
    line : int
        Its first line, from 1; of a statement that a macro generated, the model statement's.
    name, operation, operand, remark : str
        Its fields; name and operation in upper case.
    text : str
        Its first line, for messages.
    wrong : tuple of str or None
        What is wrong with its form, and the remedy. Only a statement that is used must be right.
    within : str
        The macro call that generated it, for messages; empty otherwise.
    """

    file: str
    line: int
    name: str
    operation: str
    operand: str
    remark: str
    text: str
    wrong: tuple[str, str] | None = None
    within: str = ""

    def error(self, what: str, remedy: str) -> DsectError:
        """An error in this statement, with its place."""
        if self.within:
            what = f"{what} ({self.within})"
        return DsectError(file=self.file, line=self.line, statement=self.text, what=what, remedy=remedy)


def read_statements(source: Source) -> list[Statement]:
    """All statements of a source; comments and blank lines are left out.

    Parameters
    ----------
    source
        The lines.

    Returns
    -------
    list of Statement
        A statement that is wrongly continued carries its fault in ``wrong``.
    """
    statements: list[Statement] = []
    lines = source.lines
    at = 0
    while at < len(lines):
        first = at
        segments, at, wrong = _gather(lines, at)
        head = segments[0]
        if head.startswith("*PROCESS") or head.startswith("*process"):
            statements.append(_statement(source.file, first, ["         *PROCESS" + head[8:]], wrong))
        elif head.startswith(("*", ".*")):
            if wrong:
                statements.append(Statement(source.file, first + 1, "", "", "", "", lines[first].strip(), wrong))
        elif head.strip() or wrong:
            statements.append(_statement(source.file, first, segments, wrong))
    return statements


def _gather(lines: tuple[str, ...], at: int) -> tuple[list[str], int, tuple[str, str] | None]:
    """The statement field of a line and of its continuation lines, and the index of the line after them."""
    segments = [lines[at][:_END]]
    is_comment = segments[0].startswith(("*", ".*"))
    while len(lines[at]) > _END and lines[at][_END] != " ":
        column = f"column 72 is not blank ({lines[at][_END]!r}), so the next line continues this one"
        at += 1
        if at == len(lines):
            return segments, at, (f"{column}, but there is none", "clear column 72, or add the line")
        following = lines[at]
        if is_comment and following.startswith(("*", ".*")):
            continue
        if following[:_CONTINUE].strip():
            return (
                segments,
                at,
                (
                    f"{column}, but line {at + 1} has text before column 16",
                    "end the line before column 72 if nothing continues it; else begin the next in column 16",
                ),
            )
        segments.append(following[_CONTINUE:_END])
    return segments, at + 1, None


def _statement(file: str, index: int, segments: list[str], wrong: tuple[str, str] | None) -> Statement:
    match = re.match(r"(\S*)\s*(\S*)\s?", segments[0])
    # The pattern can match nothing, so it always matches.
    assert match is not None
    name, operation = match[1].upper(), match[2].upper()
    # A continued operand must reach column 71 for the next line to join it directly.
    rest = [segments[0][match.end() :], *segments[1:]]
    if len(segments) > 1:
        width = _END - match.end()
        rest = [rest[0].ljust(width), *(part.ljust(_END - _CONTINUE) for part in rest[1:-1]), rest[-1]]
    rest[0] = rest[0].lstrip()
    operand, remark = _split_operand(rest, keep_blanks=operation in _CONDITIONAL)
    text = segments[0].strip()
    return Statement(file, index + 1, name, operation, operand, remark, text, wrong)


def _split_operand(parts: list[str], *, keep_blanks: bool) -> tuple[str, str]:
    """Operand and remark of the text after the operation; ``parts`` has an element per line."""
    operand = ""
    remarks: list[str] = []
    scan = OperandScan(keep_blanks=keep_blanks)
    done = False
    for part in parts:
        if done or (operand.endswith(",") and remarks and part.startswith(" ")):
            done = True
            remarks.append(part)
            continue
        end = scan.end(part)
        operand += part[:end]
        if end == len(part):
            continue
        remarks.append(part[end:])
        # An operand that ends with a comma goes on in column 16 of the next line, its line's rest being a remark.
        done = not operand.endswith(",") or operand == ","
    return operand, " ".join(" ".join(remarks).split())


def split_operand(text: str, *, keep_blanks: bool = False) -> tuple[str, str]:
    """Operand and remark of a single text, as a macro generates it."""
    return _split_operand([text.lstrip()], keep_blanks=keep_blanks)


class OperandScan:
    """Finds the end of an operand: the first blank outside apostrophes.

    Parameters
    ----------
    keep_blanks
        Whether blanks in parentheses belong to the operand.
    """

    def __init__(self, *, keep_blanks: bool) -> None:
        self._keep_blanks = keep_blanks
        self._quoted = False
        self._depth = 0

    def end(self, text: str) -> int:
        """End of the operand in this text; the text's length if the operand continues. Resumes where the last text
        ended.
        """
        for at, character in enumerate(text):
            if character == "'":
                if self._quoted or not is_attribute(text, at):
                    self._quoted = not self._quoted
            elif self._quoted:
                continue
            elif character == "(":
                self._depth += 1
            elif character == ")":
                self._depth -= 1
            elif character == " " and not (self._keep_blanks and self._depth > 0):
                return at
        return len(text)


def is_attribute(text: str, at: int) -> bool:
    """Whether the apostrophe belongs to an attribute reference (``L'SYMBOL``) rather than opening a string."""
    if at == 0 or text[at - 1].upper() not in _ATTRIBUTE_LETTERS:
        return False
    if at > 1 and (text[at - 2].isalnum() or text[at - 2] in "$#@_&"):
        return False
    return at + 1 < len(text) and _SYMBOL_START.match(text[at + 1]) is not None


def split_list(text: str) -> list[str]:
    """The parts of an operand, split at commas outside apostrophes and parentheses."""
    parts: list[str] = []
    depth = start = 0
    quoted = False
    for at, character in enumerate(text):
        if character == "'":
            if quoted or not is_attribute(text, at):
                quoted = not quoted
        elif quoted:
            continue
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif character == "," and depth <= 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return parts


def closing(text: str, at: int) -> int:
    """Position of the parenthesis that closes the one at ``at``; -1 if it is not closed."""
    depth = 0
    quoted = False
    for place in range(at, len(text)):
        character = text[place]
        if character == "'":
            if quoted or not is_attribute(text, place):
                quoted = not quoted
        elif not quoted and character in "()":
            depth += 1 if character == "(" else -1
            if depth == 0:
                return place
    return -1
