"""Import of assembler DSECTs as layouts: all steps from a source file to a folder of layout files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plexlens import _core
from plexlens.dsect.assembly import Assembly, Section, Storage, assemble
from plexlens.dsect.difference import Difference, difference
from plexlens.dsect.fields import Choices, Known, Layout, layout_of
from plexlens.dsect.formats import Hint, read_hints
from plexlens.dsect.macros import Expander
from plexlens.dsect.publishing import layout_text, publish
from plexlens.dsect.source import Source, read_source
from plexlens.dsect.statements import read_statements
from plexlens.errors import NothingUsableError, UsageError
from plexlens.layouts_path import layouts_path

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_INVENTORY = "smf_record"


@dataclass(frozen=True)
class ImportedSection:
    """A DSECT that was imported as a layout.

    Attributes
    ----------
    section : str
        The layout's name.
    dsect : str
        The DSECT's.
    layout : Layout
        Its fields, and what became none.
    changes : Difference or None
        Against the layout of that name that comes with Plexlens; None when there is none.
    similar : tuple of str
        Layouts that come with Plexlens and are named for this DSECT; empty where ``changes`` is there.
    replaced : bool
        Whether the folder held a file of that name.
    """

    section: str
    dsect: str
    layout: Layout
    changes: Difference | None
    similar: tuple[str, ...]
    replaced: bool = False

    def to_json(self) -> dict[str, Any]:
        """The section as a plain object."""
        return {
            "section": self.section,
            "dsect": self.dsect,
            "fields": len(self.layout.fields),
            "length": self.layout.length,
            "reserved_bytes": self.layout.reserved,
            "low_confidence": [field.name for field in self.layout.fields if field.confidence == "low"],
            "skipped": [
                {"name": skipped.name, "line": skipped.line, "reason": skipped.reason}
                for skipped in self.layout.skipped
            ],
            "notes": self.layout.notes,
            "replaced": self.replaced,
            "changes": self.changes.to_json() if self.changes else None,
            "similar": list(self.similar),
        }

    def to_lines(self) -> list[str]:
        """The section as text."""
        layout = self.layout
        head = (
            f"{self.section}: {len(layout.fields)} fields, {layout.length} bytes (DSECT {self.dsect or 'without name'})"
        )
        lines = [head + (", replaces an existing file" if self.replaced else "")]
        if layout.reserved:
            lines.append(f"  {layout.reserved} bytes have no name")
        lines += [
            f"  not a field: {skipped.name} (line {skipped.line}): {skipped.reason}" for skipped in layout.skipped
        ]
        lines += [f"  note: {note}" for note in layout.notes]
        unsure = [
            f"{field.name} {field.format} {field.unit}".rstrip() for field in layout.fields if field.confidence == "low"
        ]
        if unsure:
            lines.append(f"  read from remarks, confirm with --hints: {', '.join(unsure)}")
        if self.similar:
            lines.append(f"  to replace a known layout, give --section {' or '.join(self.similar)}")
        return lines + (self.changes.to_lines() if self.changes else [])


@dataclass(frozen=True)
class ImportResult:
    """The result of an import.

    Attributes
    ----------
    file, folder : Path
        The source, and where the layouts are.
    sections : tuple of ImportedSection
        One for each DSECT.
    notes : tuple of str
        What the user should know of the source as a whole.
    """

    file: Path
    folder: Path
    sections: tuple[ImportedSection, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The result as a plain object."""
        return {
            "file": str(self.file),
            "output": str(self.folder),
            "notes": list(self.notes),
            "sections": [section.to_json() for section in self.sections],
        }

    def to_lines(self) -> list[str]:
        """The result as text."""
        lines = [f"note: {note}" for note in self.notes]
        for section in self.sections:
            lines += section.to_lines()
        return [
            *lines,
            f"layouts written to {self.folder}: {len(self.sections)}; use them with --layouts {self.folder}",
        ]


@dataclass(frozen=True)
class Wishes:
    """Options of an import.

    Attributes
    ----------
    sections : sequence of str
        Names for the layouts: ``NAME`` for the only DSECT, or ``DSECT=NAME``. A DSECT without one gives its own name.
    dsect : str or None
        The one control section to import; None for every DSECT.
    signed : bool
        Whether F, H and FD are signed numbers.
    hints : Path or None
        CSV with field, format, unit.
    start : int
        Bytes before the DSECT in a record whose layout counts from the record's start.
    codepage : str
        EBCDIC code page of a source that is not text.
    """

    sections: Sequence[str] = ()
    dsect: str | None = None
    signed: bool = False
    hints: Path | None = None
    start: int = 0
    codepage: str = "1047"


def read_sections(source: Source) -> Assembly:
    """Assemble a source: statements, macros, location counters.

    Raises
    ------
    DsectError
        Its macros cannot be followed; with line and statement. A section that is wrong carries its fault.
    """
    expander = Expander(read_statements(source))
    assembly = assemble(expander.statements())
    return replace(assembly, notes=(*source.notes, *expander.notes, *assembly.notes))


def import_layouts(file: Path, folder: Path, wishes: Wishes | None = None) -> ImportResult:
    """Import the DSECTs of an assembler source as layouts.

    Parameters
    ----------
    file
        The source: a mapping macro, or statements.
    folder
        Where the layouts go; made when it is not there.
    wishes
        Names and formats.

    Raises
    ------
    DsectError
        The source cannot be read.
    NothingUsableError
        It defines no fields.
    UsageError
        The wishes or the folder make no sense, or the layouts do not stand together with the known ones.
    """
    wishes = wishes or Wishes()
    if not 0 <= wishes.start < 32_756:
        raise UsageError(file="", what=f"--start {wishes.start}", remedy="give the bytes before the DSECT, 0 to 32755")
    source = read_source(file, wishes.codepage)
    hints = read_hints(wishes.hints) if wishes.hints else {}
    assembly = read_sections(source)
    chosen = _chosen(source, assembly, wishes)
    names = _names(source, chosen, wishes)
    catalogue = _core.Catalogue([layouts_path()])
    known_names = set(catalogue.sections())
    imported: list[ImportedSection] = []
    for section, name in zip(chosen, names, strict=True):
        known = Known(catalogue.describe(name) if name in known_names else ())
        choices = Choices(
            source.name, wishes.signed, hints, wishes.hints.name if wishes.hints else "", known, wishes.start
        )
        layout = layout_of(section, choices)
        if not layout.fields:
            why = f": {layout.skipped[0].reason}" if layout.skipped else ""
            raise NothingUsableError(
                file=source.file,
                what=f"DSECT {section.name} has no field that a layout can hold{why}",
                remedy="choose other DSECTs with --csect",
            )
        changes = difference(name, layout.fields, known) if known.rows else None
        ending = f"_{section.name.lower()}"
        similar = () if changes else tuple(sorted(name for name in known_names if name.endswith(ending)))
        imported.append(ImportedSection(name, section.name, layout, changes, similar))
    return _write(source, folder, imported, _notes(assembly, imported, hints, wishes), wishes)


def _notes(
    assembly: Assembly, imported: Sequence[ImportedSection], hints: dict[str, Hint], wishes: Wishes
) -> tuple[str, ...]:
    notes = list(assembly.notes)
    if assembly.unexpanded:
        text = ", ".join(f"{name} (line {line})" for name, line in list(assembly.unexpanded.items())[:8])
        more = f" and {len(assembly.unexpanded) - 8} more" if len(assembly.unexpanded) > 8 else ""
        notes.append(
            f"not expanded, outside any DSECT: {text}{more}; if one of them is a mapping macro, put its definition "
            "(MACRO to MEND) into the file"
        )
    named = {field.name.upper() for imported_section in imported for field in imported_section.layout.fields}
    unused = [
        name
        for name in hints
        if name not in named and not any(field_name.startswith(f"{name}_") for field_name in named)
    ]
    if unused and wishes.hints:
        notes.append(f"{wishes.hints.name}: it has no field for {', '.join(unused)}")
    return tuple(notes)


def _write(
    source: Source, folder: Path, imported: Sequence[ImportedSection], notes: tuple[str, ...], wishes: Wishes
) -> ImportResult:
    texts = {section.section: layout_text(section.layout.fields) for section in imported}
    try:
        replaced = publish(folder, texts)
    except _core.SmfError as error:
        raise _not_together(source, imported, error, wishes) from error
    return ImportResult(
        Path(source.file),
        folder,
        tuple(replace(section, replaced=f"{section.section}.csv" in replaced) for section in imported),
        notes,
    )


def _not_together(
    source: Source, imported: Sequence[ImportedSection], error: _core.SmfError, wishes: Wishes
) -> UsageError:
    """The catalogue's error, reworded for the file that the user can change."""
    what = str(error)
    fields = [
        field
        for imported_section in imported
        for field in imported_section.layout.fields
        if field.name == error.field and field.hint_line
    ]
    if fields and wishes.hints and ".import-" in (error.file or ""):
        return UsageError(
            file=str(wishes.hints),
            line=fields[0].hint_line,
            what=what[what.find(fields[0].name) :],
            remedy="correct the row; nothing was written",
        )
    return UsageError(
        file=source.file,
        what=f"the new layouts conflict with the others: {what}",
        remedy="change the layout's name with --section, or add the missing fields; nothing was written",
    )


def _is_usable(section: Section) -> bool:
    return any(isinstance(item, Storage) and item.statement.name for item in section.items)


def _chosen(source: Source, assembly: Assembly, wishes: Wishes) -> list[Section]:
    """The sections to import; raises the error of a section that cannot be imported."""
    usable = [section for section in assembly.sections if section.fault or _is_usable(section)]
    dummies = [section for section in usable if section.is_dummy]
    # A mapping cut out of its macro may have no DSECT statement at all.
    chosen = dummies or usable
    if wishes.dsect is not None:
        there = ", ".join(section.name or "(without name)" for section in usable) or "none with fields"
        chosen = [section for section in usable if section.name == wishes.dsect.upper()]
        if not chosen:
            raise UsageError(
                file=source.file,
                what=f"there is no section {wishes.dsect.upper()!r} with fields in it",
                remedy=f"there are: {there}",
            )
    for section in chosen:
        if section.fault:
            sound = [dummy.name for dummy in dummies if not dummy.fault and dummy.name]
            if sound and wishes.dsect is None:
                section.fault.remedy += f"; or choose a section that is right with --csect: {', '.join(sound)}"
            raise section.fault
    if not chosen:
        calls = ", ".join(f"{name} in line {line}" for name, line in assembly.unexpanded.items())
        raise NothingUsableError(
            file=source.file,
            what="it defines no fields" + (f"; not expanded: {calls[:200]}" if calls else ""),
            remedy="give a source that holds DS statements: the mapping macro itself (MACRO to MEND), not a call of it"
            if calls
            else "give a source that holds a DSECT with DS statements",
        )
    return chosen


def _names(source: Source, chosen: Sequence[Section], wishes: Wishes) -> list[str]:
    """Names of the layouts, one per section."""
    given: dict[str, str] = {}
    there = ", ".join(section.name or "(without name)" for section in chosen)
    if wishes.start and len(chosen) > 1:
        raise UsageError(
            file=source.file, what=f"--start with several DSECTs: {there}", remedy="choose one of them with --csect"
        )
    for wish in wishes.sections:
        dsect, equals, name = wish.partition("=")
        if not equals:
            if len(chosen) > 1 or len(wishes.sections) > 1:
                raise UsageError(
                    file=source.file,
                    what=f"--section {wish} with several DSECTs: {there}",
                    remedy=f"write --section DSECT={wish} for each, or choose one with --csect",
                )
            dsect, name = chosen[0].name, wish
        if dsect.upper() not in {section.name for section in chosen}:
            raise UsageError(file=source.file, what=f"there is no DSECT {dsect}", remedy=f"there are: {there}")
        given[dsect.upper()] = name
    names: list[str] = []
    for section in chosen:
        name = given.get(section.name, re.sub(r"[^a-z0-9_]", "_", section.name.lower()))
        if not _NAME.fullmatch(name) or name == _INVENTORY or name in names:
            why = "another DSECT has this name" if name in names else "use small letters, digits and _"
            raise UsageError(
                file=source.file,
                what=f"{name!r} cannot be the name of DSECT {section.name or 'without name'}'s layout: {why}",
                remedy=f"give one with --section {section.name}=NAME"
                if section.name
                else "give one with --section NAME",
            )
        names.append(name)
    return names
