"""Named byte ranges of a section, and the facts that EQU statements give about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plexlens.dsect.assembly import Equate, Section, Storage
from plexlens.dsect.statements import split_list

#: Elements up to which an array becomes a field each.
MOST_ELEMENTS = 256
#: The most fields of one section: far above any mapping.
MOST_FIELDS = 4096
#: The longest group (DS 0CL...) that becomes a field of its own in addition to its parts.
LONGEST_GROUP = 256
#: Types of which several bytes without a length are one string.
_STRINGS = frozenset({"C", "CE", "X", "G"})


@dataclass(frozen=True)
class Piece:
    """A named byte range.

    Attributes
    ----------
    base : str
        The name in the source, with the operand's number where it is not the first.
    name : str
        The same with the element's number.
    storage : Storage
        Where it comes from.
    offset, length : int
        Bytes in the section.
    kind : str
        Type and extension that it is read by.
    is_group : bool
        Whether it takes no storage of its own.
    what : str
        A note: element, array, bits, group.
    """

    base: str
    name: str
    storage: Storage
    offset: int
    length: int
    kind: str
    is_group: bool = False
    what: str = ""


@dataclass(frozen=True)
class Skipped:
    """A name that did not become a field, and why."""

    name: str
    line: int
    reason: str


def pieces_of(section: Section) -> tuple[list[Piece], list[Skipped]]:
    """Cut a section into pieces: each array element separately, bit lengths of a statement together.

    Parameters
    ----------
    section
        The section.

    Returns
    -------
    pieces : list of Piece
        In the order of the source. Storage without a name and labels without a length are left out.
    skipped : list of Skipped
        Groups that became none.

    Raises
    ------
    DsectError
        The section has more than `MOST_FIELDS`.
    """
    pieces: list[Piece] = []
    skipped: list[Skipped] = []
    bits: list[Storage] = []
    storages = [item for item in section.items if isinstance(item, Storage)]
    for place, storage in enumerate(storages):
        statement = storage.statement
        if not statement.name or statement.name.startswith("."):
            continue
        base = statement.name if storage.number == 1 else f"{statement.name}_OP{storage.number}"
        if storage.factor == 0:
            group = _group(storage, base, section)
            if isinstance(group, Piece):
                pieces.append(group)
            elif group:
                skipped.append(group)
        elif storage.operand.in_bits:
            bits.append(storage)
            following = storages[place + 1 : place + 2]
            if not any(later.statement is statement and later.operand.in_bits and later.factor for later in following):
                pieces.append(_together(bits))
                bits = []
        else:
            pieces += _elements(storage, base)
        if len(pieces) > MOST_FIELDS:
            raise statement.error(
                f"section {section.name} has more than {MOST_FIELDS} fields",
                "check its duplication factors, or import its parts as separate sections",
            )
    return pieces, skipped


def _together(bits: Sequence[Storage]) -> Piece:
    """A single piece for the adjacent operands with bit lengths in a statement."""
    first, last = bits[0], bits[-1]
    base = first.statement.name if first.number == 1 else f"{first.statement.name}_OP{first.number}"
    length = last.offset + -(-(last.first_bit + last.bits) // 8) - first.offset
    ranges = []
    for bit in bits:
        start = (bit.offset - first.offset) * 8 + bit.first_bit
        ranges.append(bit_range(start, start + bit.bits - 1))
    whole = "" if ranges == [bit_range(0, length * 8 - 1)] else f"bits {', '.join(ranges)}"
    return Piece(base, base, first, first.offset, length, "B", what=whole)


def bit_range(first: int, last: int) -> str:
    """Bits as text, counted from the left."""
    return str(first) if first == last else f"{first}-{last}"


def _group(storage: Storage, base: str, section: Section) -> Piece | Skipped | None:
    """A name with duplication factor zero: a group if it gives a length, otherwise only a label (None)."""
    operand = storage.operand
    if operand.in_bits or (operand.length is None and not operand.values):
        return None
    length = sum(storage.lengths)
    line = storage.statement.line
    if storage.offset + length > section.length:
        return Skipped(base, line, f"the {length} bytes of the group end after the section")
    if length > LONGEST_GROUP:
        return Skipped(base, line, f"a group of {length} bytes; its parts are fields")
    kind = operand.kind
    if kind == "C" and not _is_text(storage, length, section):
        kind = "X"
    return Piece(base, base, storage, storage.offset, length, kind, is_group=True, what="group of the following fields")


def _is_text(group: Storage, length: int, section: Section) -> bool:
    """Whether all parts of a group up to its end are text, so that the whole is text."""
    place = next(number for number, item in enumerate(section.items) if item is group)
    for later in section.items[place + 1 :]:
        if isinstance(later, Storage) and later.factor:
            if not group.offset <= later.offset < group.offset + length:
                break
            if later.operand.kind not in ("C", "Z"):
                return False
    return True


def _elements(storage: Storage, base: str) -> list[Piece]:
    operand = storage.operand
    count = storage.factor * len(storage.lengths)
    size = sum(storage.lengths) * storage.factor
    is_string = operand.length is None and not operand.values and operand.kind in _STRINGS
    if count == 1 or is_string:
        return [Piece(base, base, storage, storage.offset, size, operand.kind)]
    if count > MOST_ELEMENTS:
        return [Piece(base, base, storage, storage.offset, size, "X", what=f"array of {count} elements, left whole")]
    pieces: list[Piece] = []
    at = storage.offset
    for number in range(count):
        length = storage.lengths[number % len(storage.lengths)]
        what = f"element {number + 1} of {count}"
        pieces.append(Piece(base, f"{base}_{number + 1}", storage, at, length, operand.kind, what=what))
        at += length
    return pieces


def equates_behind(section: Section) -> dict[int, list[Equate]]:
    """The EQU statements with a plain value that follow each storage operand, by the operand's identity."""
    behind: dict[int, list[Equate]] = {}
    last: Storage | None = None
    for item in section.items:
        if isinstance(item, Storage):
            last = item
        elif last is not None and item.written and last.statement.name:
            behind.setdefault(id(last), []).append(item)
    return behind


def aliases(section: Section, pieces: Sequence[Piece]) -> dict[str, list[str]]:
    """Other names that ``NEW EQU OLD`` gives to fields, by the old name."""
    bases = {piece.base: piece.offset for piece in reversed(pieces)}
    names: dict[str, list[str]] = {}
    for item in section.items:
        if isinstance(item, Equate) and item.value.section == section.name:
            old = split_list(item.statement.operand)[0].upper()
            if bases.get(old) == item.value.number:
                names.setdefault(old, []).append(item.statement.name)
    return names


def told_by(equates: Sequence[Equate], piece: Piece) -> tuple[str, bool]:
    """Meaning of the EQU statements after a piece as text, and whether they name its bits.

    Parameters
    ----------
    equates
        The EQU statements behind it.
    piece
        The piece.

    Returns
    -------
    text : str
        Bits counted from the left, or values, each with name and remark; empty when there is nothing to say.
    names_bits : bool
        Whether they are masks.
    """
    if not equates or piece.is_group or piece.name != piece.base or piece.what:
        return "", False
    width = piece.length * 8
    # The 32 bits of a term count as they stand.
    masks = [equate.value.number % (1 << 32) for equate in equates]
    single = {mask for mask in masks if mask and not mask & (mask - 1)}
    names_bits = (
        piece.kind in ("X", "B")
        and all(equate.written in ("X", "B") for equate in equates)
        and all(0 < mask < 1 << width for mask in masks)
        # Of a byte declared with X, values that are not bits or sums of them may be codes.
        and (piece.kind == "B" or all(mask & sum(single) == mask for mask in masks))
        # A value of one byte says nothing about which byte of several it is in.
        and (width == 8 or max(masks) > 255)
    )
    names: list[str] = []
    for equate, mask in zip(equates, masks, strict=True):
        place = _bits_of(mask, width) if names_bits else split_list(equate.statement.operand)[0]
        names.append(f"{place} {equate.statement.name} {remark_of(equate.statement.remark)}".strip())
    return ("bits: " if names_bits else "values: ") + ", ".join(names), names_bits


def _bits_of(mask: int, width: int) -> str:
    """The bits of a mask, counted from the left: runs as ranges."""
    numbers = [number for number in range(width) if mask >> (width - 1 - number) & 1]
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return "+".join(bit_range(run[0], run[-1]) for run in runs)


def remark_of(text: str) -> str:
    """A remark without decoration: leading dashes, comment signs of other languages."""
    return text.removeprefix("/*").removesuffix("*/").strip().lstrip("-").strip()


def overlap(piece: Piece, owners: Sequence[int], names: Sequence[str]) -> str:
    """A note about the earlier fields that a piece redefines; ``owners`` holds the latest field of each byte, or -1."""
    covered = {owner for owner in owners[piece.offset : piece.offset + piece.length] if owner >= 0}
    if not covered:
        return ""
    first, last = names[min(covered)], names[max(covered)]
    return f"redefines {first}" if first == last else f"redefines {first} to {last}"
