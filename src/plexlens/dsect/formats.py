"""Conversion of assembler types to the formats of layouts.

What the assembler says stands above what a remark says: a remark sets format or unit of a field only where the type
leaves it open, never its place, and marks the row with confidence ``low``. The rules are in ``docs/dsect.md``.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from plexlens.errors import UsageError

#: Lengths that a format can have; None: any.
LENGTHS: dict[str, tuple[int, ...] | None] = {
    **{"u8": (1,), "u16": (2,), "u32": (4,), "u64": (8,), "i16": (2,), "i32": (4,), "i64": (8,)},
    **{"f32_hex": (4,), "f64_hex": (8,), "f64_bfp": (8,), "packed": tuple(range(1, 10)), "ebcdic": None},
    **{"bits": (1, 2, 4, 8), "stck": (8,), "cpu_stck": (8,), "tod_hundredths": (4,), "smf_date": (4,), "bytes": None},
}
_UNSIGNED = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}
_SIGNED = {2: "i16", 4: "i32", 8: "i64"}
_INTEGERS = frozenset([*_UNSIGNED.values(), *_SIGNED.values()])
#: Formats that a known layout may give a field of such a type, in addition to the type's own format.
_COMPATIBLE: dict[str, frozenset[str]] = {
    **dict.fromkeys("XCBD", frozenset(LENGTHS)),
    **dict.fromkeys("FHAVYRJQ", _INTEGERS | {"bits", "bytes", "tod_hundredths", "stck", "cpu_stck"}),
    "P": frozenset({"packed", "smf_date", "bytes"}),
    "E": frozenset({"f32_hex", "bytes"}),
}
# A remark that says a duration says so more exactly than one that only names the clock.
_DURATION = re.compile(r"\b(ELAPSED|DURATION|CPU TIME|TCB TIME|SRB TIME|WAIT(ING)? TIME|ACCUMULATED .*TIME)\b")
_CLOCK = re.compile(r"\b(STCK|STORE CLOCK|TOD|TIME ?STAMP)\b")
_MIDNIGHT = re.compile(r"(1/100|HUNDREDTHS?).*(SINCE|PAST|AFTER) MIDNIGHT")
_DATE = re.compile(r"\b0?CYYDDD")
_TIME = re.compile(r"\b0?HHMMSS")
_UNITS = tuple(
    (re.compile(pattern), unit)
    for pattern, unit in (
        (r"\b1024[- ]?MICRO-?SEC", "1024us"),
        (r"\b128[- ]?MICRO-?SEC", "128us"),
        (r"\bMICRO-?SEC", "us"),
        (r"\bMILLI-?SEC", "ms"),
        (r"(\b1/100|\bHUNDREDTHS?)( OF)?( A)? SEC", "0.01s"),
        (r"(\b1/10|\bTENTHS?)( OF)?( A)? SEC", "0.1s"),
        (r"\bIN SECONDS\b", "s"),
        (r"\bIN (KB|KILO-?BYTES)\b", "KiB"),
        (r"\bIN (MB|MEGA-?BYTES)\b", "MiB"),
        (r"\bIN BYTES\b", "B"),
        (r"\bPERCENT", "%"),
    )
)


@dataclass(frozen=True)
class Form:
    """Format and unit of a field, and their origin.

    Attributes
    ----------
    format, unit, confidence : str
        As in a layout.
    origin : str
        What says so where it is not the assembler's type; empty otherwise.
    hint_line : int
        Line of the hints file that says so; 0 where none does.
    """

    format: str
    unit: str = ""
    confidence: str = "high"
    origin: str = ""
    hint_line: int = 0


@dataclass(frozen=True)
class Hint:
    """A site's hint for a field: format and unit, and its line in the hints file."""

    format: str
    unit: str
    line: int


def by_type(kind: str, length: int, *, signed: bool, has_masks: bool) -> str:
    """The format implied by the assembler's type.

    Parameters
    ----------
    kind
        Type and extension (`plexlens.dsect.operands.TYPES`).
    length
        Bytes of the field.
    signed
        Whether binary numbers are taken as signed.
    has_masks
        Whether EQU statements behind the field name its bits.
    """
    if kind == "X" and length == 1 and not has_masks:
        return "u8"
    named = {
        **dict.fromkeys(("F", "H", "FD"), (_UNSIGNED | _SIGNED if signed else _UNSIGNED).get(length)),
        **dict.fromkeys(("C", "CE", "Z"), "ebcdic"),
        "B": "bits" if length in (1, 2, 4, 8) else None,
        "X": "bits" if has_masks and length in (1, 2, 4, 8) else None,
        "P": "packed" if length <= 9 else None,
        **dict.fromkeys(("E", "EH"), "f32_hex" if length == 4 else None),
        "DH": "f64_hex" if length == 8 else None,
        "DB": "f64_bfp" if length == 8 else None,
    }
    if kind[0] in "AVYRJQ":
        return _UNSIGNED.get(length, "bytes")
    return named.get(kind) or "bytes"


def by_remark(kind: str, own: str, length: int, remark: str) -> Form | None:
    """The format or unit that a remark suggests for a field whose type leaves it open; None when it suggests nothing.

    Parameters
    ----------
    kind
        Type and extension.
    own
        The format that the type gives.
    length
        Bytes of the field.
    remark
        The remark.
    """
    text = " ".join(remark.upper().split())
    suggested = ("", "")
    if length == 4 and kind in ("P", "X", "C") and _DATE.search(text):
        suggested = ("smf_date", "")
    elif length == 4 and kind == "P" and _TIME.search(text):
        suggested = ("packed", "0hhmmssF")
    elif length == 4 and kind in ("F", "X", "B") and _MIDNIGHT.search(text):
        suggested = ("tod_hundredths", "0.01s")
    elif own in _INTEGERS and any(pattern.search(text) for pattern, _ in _UNITS):
        suggested = (own, next(unit for pattern, unit in _UNITS if pattern.search(text)))
    elif length == 8 and kind in ("X", "C", "D", "FD", "B") and _DURATION.search(text):
        suggested = ("cpu_stck", "")
    elif length == 8 and kind in ("X", "C", "D", "FD", "B") and _CLOCK.search(text):
        suggested = ("stck", "")
    return Form(*suggested, "low", "read from the remark") if suggested[0] else None


def fits(format_name: str, length: int) -> bool:
    """Whether a field of that length can have the format."""
    lengths = LENGTHS[format_name]
    return lengths is None or length in lengths


def is_compatible(kind: str, format_name: str) -> bool:
    """Whether a known layout may read a field of that type in that format."""
    return format_name in _COMPATIBLE.get(kind[0], frozenset({"bytes", "ebcdic"}))


def read_hints(path: Path) -> dict[str, Hint]:
    """Read a hints file: CSV with the columns field, format, unit.

    Returns
    -------
    dict of str to Hint
        By field name in upper case.

    Raises
    ------
    UsageError
        It cannot be read, or a row is wrong; with its line.
    """

    def refuse(what: str, remedy: str, line: int | None = None) -> UsageError:
        return UsageError(file=str(path), what=what, remedy=remedy, line=line)

    hints: dict[str, Hint] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as opened:
            rows = csv.DictReader(opened, strict=True)
            heading = [(name or "").strip() for name in rows.fieldnames or []]
            if heading != ["field", "format", "unit"]:
                raise refuse("its heading is not field,format,unit", "begin the file with that line", 1)
            rows.fieldnames = heading
            for row in rows:
                line = rows.line_num
                name, form, unit = ((row[column] or "").strip() for column in heading)
                if None in row or not name:
                    raise refuse("a row needs field, format, unit", "leave the unit empty where there is none", line)
                if form not in LENGTHS:
                    raise refuse(f"{name}: there is no format {form!r}", f"use one of {', '.join(LENGTHS)}", line)
                if name.upper() in hints:
                    raise refuse(f"{name} stands twice", f"line {hints[name.upper()].line} already has it", line)
                hints[name.upper()] = Hint(form, unit, line)
    except OSError as error:
        raise refuse(f"it cannot be read: {error.strerror or error}", "name a hints file that you may read") from error
    except UnicodeDecodeError as error:
        raise refuse("it is not UTF-8", "save it as UTF-8") from error
    except csv.Error as error:
        raise refuse(f"it is not valid CSV: {error}", "write field,format,unit in each line") from error
    return hints
