"""Index from grains to files in a folder of definitions, built without parsing the files as TOML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from plexlens.metrics.catalogue.document import Document, read_document, text_of_file
from plexlens.metrics.catalogue.error import CatalogueError
from plexlens.metrics.catalogue.table import Entry

#: Files of a folder that hold no grain.
UNITS, FUNCTIONS, FAMILIES, BOUNDS = "units.toml", "functions.toml", "families.toml", "bounds.toml"
_OTHERS = (UNITS, FUNCTIONS, FAMILIES, BOUNDS)

#: Folders of a folder of definitions that hold no grains: formulas of studies, numbers that pages work out, what moves
#: metrics, what a run has to meet.
STUDIES, PAGES, CAUSES, CRITERIA = _WITHOUT_GRAINS = ("studies", "pages", "causes", "criteria")

#: Family of the grains whose files lie in no folder of a family.
_OWN = "site"

_GRAIN = re.compile(r"""^grain\s*=\s*["']([a-z][a-z0-9_]*)["']\s*(?:#.*)?$""", re.MULTILINE)


@dataclass(frozen=True)
class Family:
    """Grains that belong together.

    Attributes
    ----------
    name
        Of the folder.
    about
        What is to be said about them.
    grains
        Their names.
    """

    name: str
    about: str
    grains: tuple[str, ...]


@dataclass(frozen=True)
class Folder:
    """A folder of definitions: the file of each grain.

    Attributes
    ----------
    path
        The folder.
    shipped
        Whether it is the one that comes with Plexlens.
    files
        File of each grain, and the family whose folder it lies in.
    """

    path: Path
    shipped: bool
    files: Mapping[str, tuple[Path, str]]

    def document(self, name: str) -> Document | None:
        """The folder's file of this name that does not define a grain; None if there is none."""
        file = self.path / name
        return read_document(file, shipped=self.shipped) if file.is_file() else None

    def studies(self) -> list[Document]:
        """The files of study formulas, by name."""
        return [read_document(file, shipped=self.shipped) for file in sorted(self.path.glob(f"{STUDIES}/*.toml"))]

    def causes(self) -> list[Document]:
        """The files of what moves metrics, by name."""
        return [read_document(file, shipped=self.shipped) for file in sorted(self.path.glob(f"{CAUSES}/*.toml"))]

    def criteria(self) -> list[Document]:
        """The files of what a run has to meet, by name."""
        return [read_document(file, shipped=self.shipped) for file in sorted(self.path.glob(f"{CRITERIA}/*.toml"))]

    def relations(self) -> dict[str, Path]:
        """Every SQL file by name."""
        return {file.stem: file for file in sorted(self.path.rglob("*.sql"))}


def folder_of(path: Path, *, shipped: bool) -> Folder:
    """The index of a folder.

    Raises
    ------
    CatalogueError
        A file without a grain, or a grain with two files; a folder without any file.
    """
    files: dict[str, tuple[Path, str]] = {}
    paths = sorted(path.rglob("*.toml"))
    for file in paths:
        if file.parent == path and file.name in _OTHERS:
            continue
        if file.parent.parent == path and file.parent.name in _WITHOUT_GRAINS:
            continue
        name = _grain(file, shipped=shipped)
        if name in files:
            raise CatalogueError(
                file=str(file),
                what=f"grain {name} is also defined in {files[name][0]}",
                remedy="write a grain in a single file",
            )
        files[name] = (file, file.parent.name if file.parent != path else _OWN)
    if not paths:
        raise CatalogueError(
            file=str(path), what="the folder holds no .toml file", remedy="name a folder that holds files of grains"
        )
    return Folder(path, shipped, files)


def _grain(file: Path, *, shipped: bool) -> str:
    if (match := _GRAIN.search(text_of_file(file))) is not None:
        return match[1]
    document = read_document(file, shipped=shipped)
    entry = Entry(document.values.get("grain"), document, ("grain",))
    if entry.value is None:
        raise entry.wrong("the key is missing", 'begin the file with grain = "coupling_structure"')
    raise entry.wrong(f"{entry.value!r} is not a name", "begin with a small letter; small letters, digits and _ follow")


def families_of(folders: Sequence[Folder], order: Document | None) -> dict[str, Family]:
    """The families, in the order given by a file of families; unnamed families follow in alphabetical order."""
    listed = order.values if order is not None else {}
    homes: dict[str, str] = {}
    for folder in folders:
        for name, (_, family) in folder.files.items():
            homes.setdefault(name, family)
    results: dict[str, list[str]] = {family: [] for family in listed}
    for family in sorted(set(homes.values())):
        results.setdefault(family, [])
    for family, names in results.items():
        there = [name for name, home in homes.items() if home == family]
        first = [name for name in listed.get(family, {}).get("grains", ()) if name in there]
        names += [*first, *sorted(set(there) - set(first))]
    return {
        family: Family(family, str(listed.get(family, {}).get("about", "")).strip(), tuple(names))
        for family, names in results.items()
        if names
    }


__all__ = ["BOUNDS", "FAMILIES", "FUNCTIONS", "UNITS", "Family", "Folder", "families_of", "folder_of"]
