"""Conversion of a section's storage to the fields of a layout."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plexlens.dsect.assembly import Section
from plexlens.dsect.formats import Form, Hint, by_remark, by_type, fits, is_compatible
from plexlens.dsect.pieces import Piece, Skipped, aliases, equates_behind, overlap, pieces_of, remark_of, told_by

#: The longest record, and so the end of any field.
LONGEST = 32_756
#: Columns that every table has before those of its section.
_KEYS = frozenset(
    {
        *("SYSTEM", "SYSPLEX", "SUBSYSTEM", "INTERVAL_START", "INTERVAL_END", "UTC_OFFSET"),
        *("SOURCE_ID", "RECORD_NO", "SECTION_NO"),
    }
)


@dataclass(frozen=True)
class Field:
    """A row of a layout.

    Attributes
    ----------
    name, format, unit, description, since, source, confidence : str
        Its columns.
    offset, length : int
        Its place, in bytes.
    hint_line : int
        Line of the hints file that gave its format; 0 when none did.
    """

    name: str
    offset: int
    length: int
    format: str
    unit: str
    description: str
    since: str
    source: str
    confidence: str
    hint_line: int = 0

    @property
    def end(self) -> int:
        """Offset of the byte after the field."""
        return self.offset + self.length


@dataclass
class Layout:
    """The layout of a section.

    Attributes
    ----------
    fields : list of Field
        In the order of the source.
    length : int
        Bytes of the section.
    reserved : int
        Bytes in it that no field names.
    skipped : list of Skipped
        Names that became no field.
    notes : list of str
        What the user should know.
    """

    fields: list[Field] = field(default_factory=list)
    length: int = 0
    reserved: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Known:
    """The fields of a layout that ships with Plexlens, as returned by `plexlens._core.Catalogue.describe`.

    Parameters
    ----------
    rows
        The fields. In a name, a lower-case ``x`` stands for the digits of a record type (``SMF7xIST``).
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]] = ()) -> None:
        self.rows = [row for row in rows if row["offset"] is not None]
        self._by_name = {str(row["field"]).upper(): row for row in self.rows}
        self._patterns = [
            (re.compile(re.escape(str(row["field"])).replace("x", "[0-9]+")), row)
            for row in self.rows
            if "x" in str(row["field"])
        ]

    def get(self, name: str) -> Mapping[str, Any] | None:
        """The field of that name, or None."""
        row = self._by_name.get(name)
        return row or next((row for pattern, row in self._patterns if pattern.fullmatch(name)), None)


@dataclass(frozen=True)
class Choices:
    """Field formats requested by the user or taken from known layouts.

    Attributes
    ----------
    file : str
        Base name of the source, for the ``source`` column.
    signed : bool
        Whether binary numbers are signed.
    hints : mapping of str to Hint
        By field name.
    hints_file : str
        Base name of the hints file.
    known : Known
        The layout of the same name that comes with Plexlens.
    start : int
        Bytes before the section's first, added to every offset.
    """

    file: str
    signed: bool = False
    hints: Mapping[str, Hint] = field(default_factory=dict)
    hints_file: str = ""
    known: Known = field(default_factory=Known)
    start: int = 0


def layout_of(section: Section, choices: Choices) -> Layout:
    """Build the layout of a section.

    Parameters
    ----------
    section
        The section.
    choices
        Formats from elsewhere.

    Raises
    ------
    DsectError
        It has too many fields.
    """
    pieces, skipped = pieces_of(section)
    layout = Layout(length=section.length, skipped=skipped)
    equates = equates_behind(section)
    others = aliases(section, pieces)
    names = _Names({piece.name for piece in pieces if piece.name == piece.base})
    owners = [-1] * min(section.length, LONGEST)
    named = bytearray(len(owners))
    columns: list[str] = []
    place = f"{choices.file}: {'DSECT' if section.is_dummy else 'section'} {section.name or '(without name)'}"
    for piece in pieces:
        statement = piece.storage.statement
        if choices.start + piece.offset + piece.length > LONGEST:
            reason = f"it ends after byte {LONGEST}, the length of the longest record"
            layout.skipped.append(Skipped(piece.name, statement.line, reason))
            continue
        text, has_masks = told_by(equates.get(id(piece.storage), ()), piece)
        form = _form(piece, choices, has_masks, layout)
        known = choices.known.get(piece.name) or {}
        description = (
            remark_of(statement.remark)
            or known.get("description")
            or f"{statement.operation} {piece.storage.operand.text}",
            piece.what,
            text,
            f"also {', '.join(others[piece.base])}" if piece.base in others else "",
            overlap(piece, owners, columns),
        )
        source = f"{place}, line {statement.line}"
        result = Field(
            name=names.legal(piece, layout),
            offset=choices.start + piece.offset,
            length=piece.length,
            format=form.format,
            unit=form.unit,
            description="; ".join(str(part) for part in description if part),
            since=str(known.get("since") or ""),
            source=f"{source}; format {form.origin}" if form.origin else source,
            confidence=form.confidence,
            hint_line=form.hint_line,
        )
        if not piece.is_group:
            owners[piece.offset : piece.offset + piece.length] = [len(layout.fields)] * piece.length
        named[piece.offset : piece.offset + piece.length] = b"\1" * piece.length
        layout.fields.append(result)
        columns.append(result.name)
    layout.reserved = layout.length - named.count(1)
    return layout


def _form(piece: Piece, choices: Choices, has_masks: bool, layout: Layout) -> Form:
    """Form of a field: from the site's hint, the known layout, the type, the remark, in this order."""
    statement = piece.storage.statement
    own = by_type(piece.kind, piece.length, signed=choices.signed, has_masks=has_masks)
    hint = choices.hints.get(piece.name) or choices.hints.get(piece.base)
    if hint:
        if fits(hint.format, piece.length):
            return Form(hint.format, hint.unit, "high", f"by {choices.hints_file}", hint.line)
        layout.notes.append(
            f"{piece.name}: the hint {hint.format} (line {hint.line}) does not fit {piece.length} bytes and is ignored"
        )
    known = choices.known.get(piece.name)
    if known and known["length"] == piece.length:
        form, unit = str(known["format"]), str(known["recorded_unit"] or "")
        if form == own and not unit:
            return Form(own)
        if form == own or is_compatible(piece.kind, form):
            confidence = "high" if known["confidence"] == "high" else "medium"
            return Form(form, unit, confidence, "as in the bundled layout")
        layout.notes.append(
            f"{piece.name}: {statement.operation} {piece.storage.operand.text} contradicts {form} of the bundled "
            f"layout; {own} is used"
        )
    return by_remark(piece.kind, own, piece.length, statement.remark) or Form(own)


class _Names:
    """Assigns field names that are valid as columns and unique."""

    def __init__(self, taken: set[str]) -> None:
        self._reserved = taken
        self._used: set[str] = set()

    def legal(self, piece: Piece, layout: Layout) -> str:
        """The field's name: its own, or changed as little as needed, with a note."""
        name = piece.name
        if not name[0].isalpha() or name in _KEYS:
            name = f"X_{name}"
        while name in self._used or (name != piece.base and name in self._reserved):
            stem, _, number = name.rpartition("_")
            name = f"{stem}__{number}" if stem else f"{name}_"
        if name != piece.name:
            layout.notes.append(f"{piece.name} becomes column {name}, because its name cannot be a column name")
        self._used.add(name)
        return name
