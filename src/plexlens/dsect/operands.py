"""Operands of DS and DC: duplication factor, type, length, nominal value.

Lengths and boundaries are those of the HLASM Language Reference ("DC instruction", "Alignment of constants").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from plexlens.dsect.fault import FaultError
from plexlens.dsect.statements import closing, split_list

#: Type and extension: implied length (0: as long as the value) and boundary.
TYPES: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("B", "C", "CA", "CE", "X", "P", "Z", "CU", "G"), (0, 1)),
    **{"H": (2, 2), "F": (4, 4), "FD": (8, 8)},
    **{"Y": (2, 2), "A": (4, 4), "AD": (8, 8), "S": (2, 2), "SY": (3, 2)},
    **{"V": (4, 4), "VD": (8, 8), "J": (4, 4), "JD": (8, 8), "R": (4, 4), "RD": (8, 8)},
    **{"Q": (4, 4), "QD": (8, 8), "QY": (3, 2)},
    **dict.fromkeys(("E", "EH", "EB", "ED"), (4, 4)),
    **dict.fromkeys(("D", "DH", "DB", "DD"), (8, 8)),
    **dict.fromkeys(("L", "LH", "LB", "LD"), (16, 8)),
    "LQ": (16, 16),
}
#: Types whose nominal value stands in parentheses.
_ADDRESSES = frozenset("AYSVJRQ")
#: Types whose characters take two bytes.
_DOUBLE = frozenset({"CU", "G"})
_HEAD = re.compile(r"[0-9]+")


@dataclass(frozen=True)
class DataOperand:
    """An operand of DS or DC; the caller evaluates its expressions, which are texts.

    Attributes
    ----------
    text : str
        The operand.
    kind : str
        Type and extension, a key of `TYPES`.
    factor : str or None
        Duplication factor.
    length : str or None
        Length modifier.
    in_bits : bool
        Whether it counts bits.
    values : tuple of int
        Implied length in bytes of each nominal value; empty when there is none.
    """

    text: str
    kind: str
    factor: str | None
    length: str | None
    in_bits: bool
    values: tuple[int, ...]

    @property
    def boundary(self) -> int:
        """The operand's alignment: the type's boundary, or any byte if the operand gives its length."""
        return 1 if self.length is not None else TYPES[self.kind][1]

    @property
    def implied(self) -> tuple[int, ...]:
        """Length in bytes of each element of a duplicate, unless a length modifier overrides it."""
        return self.values or (TYPES[self.kind][0] or (2 if self.kind in _DOUBLE else 1),)


def parse_operands(text: str) -> list[DataOperand]:
    """Parse the operand field of DS or DC.

    Raises
    ------
    FaultError
        An invalid operand.
    """
    parts = split_list(text)
    if parts == [""]:
        raise FaultError("it has no operand", "write a type, as in DS F or DS CL8")
    return [_parse(part) for part in parts]


def _parse(text: str) -> DataOperand:
    at, factor = _expression(text, 0)
    letter = text[at : at + 1].upper()
    extended = text[at : at + 2].upper()
    kind = extended if extended in TYPES else letter
    if kind not in TYPES:
        raise FaultError(
            f"operand `{text}`: " + (f"{letter!r} is not a data type" if letter else "it has no data type"),
            "types are B C X H F D E L A Y S V J Q R P Z G, some with a second letter (FD, AD, EB, ...)",
        )
    at += len(kind)
    if text[at : at + 2].upper() == "P(":
        at, _ = _expression(text, at + 1)
    length = None
    in_bits = False
    if text[at : at + 1].upper() == "L":
        in_bits = text[at + 1 : at + 2] == "."
        at, length = _expression(text, at + 1 + in_bits)
        if length is None:
            raise FaultError(
                f"operand `{text}`: there is no length after L", "write a number or (expression) after L, as in CL8"
            )
    for modifier in "SE":
        if text[at : at + 1].upper() == modifier:
            signed = at + 1 + (text[at + 1 : at + 2] in ("+", "-"))
            at, number = _expression(text, signed)
            if number is None:
                raise FaultError(
                    f"operand `{text}`: there is no number after {modifier}", "write the value of the modifier"
                )
    return DataOperand(text, kind, factor, length, in_bits, _values(text, at, kind))


def _expression(text: str, at: int) -> tuple[int, str | None]:
    """The number or parenthesised expression at this position: its end, and its text or None."""
    number = _HEAD.match(text, at)
    if number:
        return number.end(), number[0]
    if text[at : at + 1] != "(":
        return at, None
    end = closing(text, at)
    if end < 0:
        raise FaultError(f"operand `{text}`: a parenthesis is not closed", "close it")
    return end + 1, text[at + 1 : end]


def _values(text: str, at: int, kind: str) -> tuple[int, ...]:
    """Implied lengths of the nominal values that make up the rest of the operand."""
    rest = text[at:]
    if not rest:
        return ()
    implied = TYPES[kind][0]
    if kind[0] in _ADDRESSES and rest[0] == "(" and closing(rest, 0) == len(rest) - 1:
        return (implied,) * len(split_list(rest[1:-1]))
    if kind[0] in _ADDRESSES or len(rest) < 2 or rest[0] != "'" or rest[-1] != "'":
        form = "in parentheses" if kind[0] in _ADDRESSES else "between apostrophes"
        raise FaultError(f"operand `{text}`: `{rest}` cannot be parsed", f"a value of type {kind} stands {form}")
    value = rest[1:-1]
    if "'" in value.replace("''", ""):
        raise FaultError(f"operand `{text}`: an unpaired apostrophe is in the value", "write it twice")
    if kind[0] in "CG":
        size = len(value.replace("''", "'").replace("&&", "&")) * (2 if kind in _DOUBLE else 1)
        return (_some(text, size),)
    if implied:
        return (implied,) * len(value.split(","))
    sizes = {"X": 2, "B": 8, "P": 2, "Z": 1}
    digits = [sum(character.isalnum() for character in part) + (kind == "P") for part in value.split(",")]
    return tuple(_some(text, -(-count // sizes[kind])) for count in digits)


def _some(text: str, size: int) -> int:
    if size == 0:
        raise FaultError(f"operand `{text}`: the value is empty", "write the value, or leave the apostrophes out")
    return size
