"""Terms shared by ordinary expressions and conditional assembly: self-defining terms and symbols."""

from __future__ import annotations

import re

from plexlens.dsect.fault import FaultError

#: An ordinary symbol.
SYMBOL = re.compile(r"[A-Za-z$#@_][A-Za-z0-9$#@_]{0,62}")
#: The ends of the range of arithmetic values.
LOWEST, HIGHEST = -(2**31), 2**31 - 1

_SELF_DEFINING = re.compile(r"([XB])'([^']*)'|C[AE]?'((?:[^']|'')*)'", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+")


def is_symbol(text: str) -> bool:
    """Whether the whole text is an ordinary symbol."""
    return SYMBOL.fullmatch(text) is not None


def bounded(number: int) -> int:
    """The number, if it is in the range of arithmetic values.

    Raises
    ------
    FaultError
        It is not.
    """
    if not LOWEST <= number <= HIGHEST:
        raise FaultError(
            f"a value of the expression is {number if abs(number) < 10**12 else 'far'} outside 32 bits",
            "check the terms of the expression",
        )
    return number


def self_defining(text: str, at: int) -> tuple[int, int] | None:
    """The self-defining term at this position: its value and its end; None if there is none.

    Raises
    ------
    FaultError
        The term has no value of 32 bits.
    """
    digits = _DIGITS.match(text, at)
    if digits:
        if len(digits[0].lstrip("0")) > 10:
            raise FaultError(f"the number {digits[0][:20]}... is too large", "use a number below 2147483648")
        return bounded(int(digits[0])), digits.end()
    match = _SELF_DEFINING.match(text, at)
    if not match:
        return None
    if match[1]:
        return _signed(_digits_of(match[1].upper(), match[2])), match.end()
    characters = match[3].replace("''", "'").replace("&&", "&")
    if not 1 <= len(characters) <= 4:
        raise FaultError(f"{match[0][:20]} holds {len(characters)} characters", "a character term has 1 to 4 of them")
    ascii_term = match[0][1] in "Aa"
    try:
        coded = characters.encode("ascii" if ascii_term else "cp037")
    except UnicodeEncodeError as error:
        raise FaultError(f"{match[0]} has a character without a code", "use characters of the code page") from error
    return _signed(int.from_bytes(coded, "big")), match.end()


def _signed(number: int) -> int:
    """The 32 bits as a signed number."""
    return number - (1 << 32) if number > HIGHEST else number


def _digits_of(kind: str, digits: str) -> int:
    base, most = (16, 8) if kind == "X" else (2, 32)
    legal = "0123456789ABCDEF"[:base]
    if not 1 <= len(digits) <= most or digits.upper().strip(legal):
        name = "hexadecimal" if kind == "X" else "binary"
        raise FaultError(
            f"{kind}'{digits[:40]}' is not a valid {name} term", f"it has 1 to {most} digits {legal[0]} to {legal[-1]}"
        )
    return int(digits, base)
