"""Differences between a site's own mapping and the layout of the same name that ships with Plexlens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from plexlens.dsect.fields import Field, Known


@dataclass
class Difference:
    """Field differences between an imported layout and the shipped layout.

    Attributes
    ----------
    section : str
        The layout's name.
    added, removed : list of str
        Fields that only the imported, only the known layout has.
    moved, resized, read_otherwise : list of tuple of (str, str, str)
        Field, before, after: offset; length; format with unit.
    unchanged : int
        Fields with the same place and format.
    shift : int
        Bytes by which every common field moved, when all moved by the same; otherwise 0.
    """

    section: str
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    moved: list[tuple[str, str, str]] = field(default_factory=list)
    resized: list[tuple[str, str, str]] = field(default_factory=list)
    read_otherwise: list[tuple[str, str, str]] = field(default_factory=list)
    unchanged: int = 0
    shift: int = 0

    def to_json(self) -> dict[str, Any]:
        """The difference as a plain object."""
        changes = {"moved": self.moved, "resized": self.resized, "read_otherwise": self.read_otherwise}
        return {
            "section": self.section,
            "unchanged": self.unchanged,
            "added": self.added,
            "removed": self.removed,
            **{
                name: [{"field": new_field, "from": before, "to": after} for new_field, before, after in rows]
                for name, rows in changes.items()
            },
            "shift": self.shift,
        }

    def to_lines(self) -> list[str]:
        """The difference as text."""
        lines = [f"  compared with the bundled layout: {self.unchanged} fields unchanged"]
        lines += [f"    added    {name}" for name in self.added]
        lines += [f"    removed  {name}" for name in self.removed]
        for word, rows in (("moved", self.moved), ("resized", self.resized), ("reread", self.read_otherwise)):
            lines += [f"    {word:<8} {name}: {before} -> {after}" for name, before, after in rows]
        if self.shift:
            hint = f"; if it counts from the start of the record, give --start {-self.shift}" if self.shift < 0 else ""
            lines.append(f"    all common fields moved by {self.shift:+} bytes{hint}")
        return lines


def difference(section: str, fields: Sequence[Field], known: Known) -> Difference:
    """Compare an imported layout with the shipped layout.

    Parameters
    ----------
    section
        The layout's name.
    fields
        The imported fields.
    known
        The known layout.
    """
    result = Difference(section)
    met: set[str] = set()
    shifts: set[int] = set()
    for new_field in fields:
        row = known.get(new_field.name)
        if row is None:
            result.added.append(new_field.name)
            continue
        met.add(str(row["field"]))
        shifts.add(new_field.offset - int(row["offset"]))
        same = True
        pairs = (
            (result.moved, str(row["offset"]), str(new_field.offset)),
            (result.resized, str(row["length"]), str(new_field.length)),
            (
                result.read_otherwise,
                f"{row['format']} {row['recorded_unit'] or ''}".strip(),
                f"{new_field.format} {new_field.unit}".strip(),
            ),
        )
        for rows, before, after in pairs:
            if before != after:
                rows.append((new_field.name, before, after))
                same = False
        if same:
            result.unchanged += 1
    result.removed.extend(str(row["field"]) for row in known.rows if str(row["field"]) not in met)
    if len(shifts) == 1 and len(met) > 1:
        result.shift = shifts.pop()
    return result
