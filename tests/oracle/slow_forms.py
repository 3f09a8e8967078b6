"""Data forms of SMF fields, read one field at a time: the slow twin of the compiled plans.

Nothing here comes from the product or its layout files. A structure is a text: each line names an offset, a data form,
and the fields that follow one another in that form.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass

Value = int | float | str | bytes | datetime.datetime | datetime.date | None
Row = dict[str, Value]

TOD_UNITS_IN_A_SECOND = 4_096_000_000
SECONDS_1900_TO_1970 = 2_208_988_800
UTC = datetime.UTC
EPOCH = datetime.datetime(1970, 1, 1)


def tod_microseconds(units: int) -> int:
    """Microseconds since 1970 of a TOD clock value: bit 51 counts microseconds since 1900."""
    return units // 4096 - SECONDS_1900_TO_1970 * 1_000_000


def clock(units: int) -> datetime.datetime | None:
    """The time without zone of a TOD clock value; zero means none."""
    return None if units == 0 else EPOCH + datetime.timedelta(microseconds=tod_microseconds(units))


def utc_clock(units: int) -> datetime.datetime | None:
    """As :func:`clock`, for a clock that runs on UTC."""
    local = clock(units)
    return None if local is None else local.replace(tzinfo=UTC)


def text(raw: bytes) -> str:
    """EBCDIC text (code page 037) without trailing blanks and nulls."""
    return raw.decode("cp037").rstrip(" \x00")


def whole(raw: bytes) -> int:
    """An unsigned binary number."""
    return int.from_bytes(raw, "big")


def signed(raw: bytes) -> int:
    """A two's complement number."""
    return int.from_bytes(raw, "big", signed=True)


def day(raw: bytes) -> datetime.date | None:
    """A date in packed digits 0cyydddF; zero means none."""
    digits = raw.hex()
    if digits == "00000000":
        return None
    first_of_january = datetime.date(1900 + 100 * int(digits[1]) + int(digits[2:4]), 1, 1)
    return first_of_january + datetime.timedelta(days=int(digits[4:7]) - 1)


def hexadecimal_float(raw: bytes) -> float:
    """A floating point number of IBM's hexadecimal kind: sign, power of 16 (excess 64), fraction."""
    sign = -1.0 if raw[0] & 0x80 else 1.0
    fraction: float = whole(raw[1:]) / 256 ** (len(raw) - 1)
    power: float = 16.0 ** ((raw[0] & 0x7F) - 64)
    return sign * fraction * power


# form: length in bytes (0: given after the form, as in `text12`), and what the bytes become.
FORMS = {
    "u1": (1, whole),
    "u2": (2, whole),
    "u4": (4, whole),
    "u8": (8, whole),
    "i2": (2, signed),
    "i4": (4, signed),
    "bits": (0, whole),
    "text": (0, text),
    "hex": (0, bytes),
    "utc": (8, lambda raw: utc_clock(whole(raw))),
    "local": (8, lambda raw: clock(whole(raw))),
    "tod": (8, lambda raw: whole(raw) / TOD_UNITS_IN_A_SECOND),
    "usec4": (4, lambda raw: whole(raw) / 1_000_000),
    "usec8": (8, lambda raw: whole(raw) / 1_000_000),
    "usec2_8": (8, lambda raw: whole(raw) / 1_000_000_000_000),
    "msec4": (4, lambda raw: whole(raw) / 1_000),
    "sec4": (4, lambda raw: float(whole(raw))),
    "kib4": (4, lambda raw: whole(raw) * 1024),
    "mib4": (4, lambda raw: whole(raw) * 1024 * 1024),
    "mib8": (8, lambda raw: whole(raw) * 1024 * 1024),
    "kib2": (2, lambda raw: whole(raw) * 1024),
    "day": (4, day),
    "daytime": (4, lambda raw: whole(raw) / 100),
    "hundredth4": (4, lambda raw: whole(raw) / 100),
    "u128_4": (4, lambda raw: whole(raw) * 128 / 1_000_000),
    "u1024_4": (4, lambda raw: whole(raw) * 1024 / 1_000_000),
    "u1024_8": (8, lambda raw: whole(raw) * 1024 / 1_000_000),
    "i1024_8": (8, lambda raw: signed(raw) * 1024 / 1_000_000),
    "part256_2": (2, lambda raw: whole(raw) / 256),
    "tenthousandth4": (4, lambda raw: whole(raw) / 10_000),
    "float": (4, hexadecimal_float),
    "float128": (4, lambda raw: hexadecimal_float(raw) * 128 / 1_000_000),
}


@dataclass(frozen=True)
class Field:
    """One field of a structure."""

    name: str
    offset: int
    length: int
    form: str


def structure(lines: str) -> list[Field]:
    """Fields of a structure text; offsets typed in it must not run into the field before."""
    fields: list[Field] = []
    end = 0
    for line in filter(str.strip, lines.splitlines()):
        offset, form, *names = line.split()
        at = int(offset)
        assert at >= end, f"{line!r} starts before {end}"
        name = form.rstrip("0123456789") if form not in FORMS else form
        length = FORMS[name][0] or int(form.removeprefix(name))
        for field in names:
            fields.append(Field(field, at, length, name))
            at += length
        end = at
    return fields


def decode(fields: list[Field], section: bytes) -> Row:
    """Values of a section; a field that does not end inside it is None."""
    row: Row = {}
    for field in fields:
        raw = section[field.offset : field.offset + field.length]
        row[field.name] = FORMS[field.form][1](raw) if len(raw) == field.length else None  # type: ignore[operator]
    return row
