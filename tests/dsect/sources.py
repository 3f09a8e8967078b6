"""Sources for the tests: text in memory to statements, places and fields."""

from __future__ import annotations

from textwrap import dedent

from plexlens.dsect.assembly import Assembly, Section
from plexlens.dsect.fields import Choices, Field, Layout, layout_of
from plexlens.dsect.importing import read_sections
from plexlens.dsect.source import Source

FILE = "made.asm"


def source_of(text: str) -> Source:
    """A source of that text; a common margin is taken off, so that names stand in column 1."""
    return Source(FILE, FILE, tuple(dedent(text).splitlines()), ())


def assembly_of(text: str) -> Assembly:
    return read_sections(source_of(text))


def section_of(text: str, name: str | None = None) -> Section:
    """The section of that name, or the first dummy one; its fault is raised."""
    sections = assembly_of(text).sections
    section = next(one for one in sections if (one.is_dummy if name is None else one.name == name))
    if section.fault:
        raise section.fault
    return section


def layout_for(text: str, name: str | None = None, choices: Choices | None = None) -> Layout:
    return layout_of(section_of(text, name), choices or Choices(FILE))


def fields_of(text: str, name: str | None = None, choices: Choices | None = None) -> dict[str, Field]:
    return {field.name: field for field in layout_for(text, name, choices).fields}


def places_of(text: str, name: str | None = None) -> dict[str, tuple[int, int]]:
    """Offset and length of each field."""
    return {one.name: (one.offset, one.length) for one in layout_for(text, name).fields}


def continued(first: str, *rest: str) -> str:
    """Lines of one statement: each but the last filled to column 71 and marked in column 72."""
    lines = [first, *(" " * 15 + part for part in rest)]
    return "\n".join([line.ljust(71) + "X" for line in lines[:-1]] + [lines[-1]])
