"""The catalogue: every grain by name, read at first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from plexlens.catalogue_path import catalogue_folders
from plexlens.metrics.catalogue.distribution import (
    bounds_in,
    check_distributions,
    with_distributions,
    with_named_bounds,
)
from plexlens.metrics.catalogue.document import Document, read_document, text_of_file
from plexlens.metrics.catalogue.draft import Draft, draft_of
from plexlens.metrics.catalogue.error import near
from plexlens.metrics.catalogue.index import BOUNDS, FAMILIES, FUNCTIONS, UNITS, Family, families_of, folder_of
from plexlens.metrics.catalogue.making import Making, check_formulas, check_references
from plexlens.metrics.catalogue.table import Entry
from plexlens.metrics.definition import Grain
from plexlens.metrics.source_sql import Functions
from plexlens.metrics.unit import UNITS as SHIPPED_UNITS
from plexlens.metrics.unit import Unit, unit_of


class Catalogue(Mapping[str, Grain]):
    """Grains by name, in the order of their families.

    A grain is read when it is first asked for; what a site says is read and checked at once, so that a wrong file is
    refused before anything is computed from the others.

    Parameters
    ----------
    site
        A site's folders, in order: a later one has the last word.
    base
        A copy of a shipped catalogue, to be used in place of the installed one.

    Raises
    ------
    CatalogueError
        A file of the site that cannot be used: file, line, key, what is wrong, what is valid.
    """

    def __init__(self, site: Sequence[str | Path] = (), base: Path | None = None) -> None:
        folders = catalogue_folders(site, base)
        self._has_base = base is not None
        self._folders = [folder_of(path, shipped=number == 0) for number, path in enumerate(folders)]
        self.families: dict[str, Family] = families_of(self._folders, self._folders[0].document(FAMILIES))
        self._homes = {name: family.name for family in self.families.values() for name in family.grains}
        self._drafts: dict[str, Draft] = {}
        self._made: dict[str, Grain] = {}
        self._making = Making(self._units())
        own = {name for folder in self._folders[1:] for name in folder.files}
        if self.is_extended:
            _ = self._bounds
        if own:
            _ = self.functions
        for name in self._homes if own else ():
            draft = self._draft(name)
            if name in own or ("like" in draft.head and draft.head["like"].value in own):
                self.check(name)

    def __getitem__(self, name: str) -> Grain:
        """A grain by name."""
        if name not in self._made:
            if name not in self._homes:
                raise KeyError(name)
            self._made[name] = self._making.grain(self._draft(name), self._homes[name])
        return self._made[name]

    @property
    def is_extended(self) -> bool:
        """Whether a site's folders extend it."""
        return len(self._folders) > 1

    @property
    def folders(self) -> tuple[Path, ...]:
        """All its folders, the shipped one first."""
        return tuple(folder.path for folder in self._folders)

    @property
    def site(self) -> tuple[Path, ...]:
        """The folders of the site, in order."""
        return tuple(folder.path.resolve() for folder in self._folders[1:])

    @property
    def fingerprint(self) -> str:
        """Hash of all its files, by which results of another catalogue are recognised."""
        result = sha256()
        for folder in self._folders:
            for path in sorted(path for path in folder.path.rglob("*") if path.suffix in (".toml", ".sql")):
                result.update(path.relative_to(folder.path).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
        return result.hexdigest()

    def __iter__(self) -> Iterator[str]:
        """Names, in the order of families and of grains within them."""
        return iter(self._homes)

    def __len__(self) -> int:
        """Number of grains."""
        return len(self._homes)

    def check(self, name: str) -> None:
        """Check a grain completely, including its formulas and their units.

        Raises
        ------
        CatalogueError
            Something in it cannot be used.
        """
        grain, draft = self[name], self._draft(name)
        check_distributions(draft)
        check_formulas(draft, grain)
        check_references(draft, grain, self._fact_names)

    def _fact_names(self, name: str) -> tuple[str, ...] | None:
        return tuple(fact.name for fact in self[name].facts) if name in self._homes else None

    @cached_property
    def functions(self) -> Functions:
        """SQL macros shared by several sources."""
        results = {}
        for document in self._documents(FUNCTIONS):
            for name, entry in Entry(document.values, document, ()).table(open_ended=True).entries.items():
                table = entry.table("parameters", "sql")
                sql = table.need("sql", 'sql = "case when n < 50 then ..."').text()
                results[name] = (table.texts("parameters"), sql)
        return Functions(results)

    def studies(self) -> list[list[Document]]:
        """The files of study formulas, a list per folder."""
        return [folder.studies() for folder in self._folders]

    def causes(self) -> list[Document]:
        """The files of what moves metrics, those of a site last."""
        return [document for folder in self._folders for document in folder.causes()]

    def criteria(self) -> list[Document]:
        """The files of what a run has to meet, those of a site last."""
        return [document for folder in self._folders for document in folder.criteria()]

    @cached_property
    def relations(self) -> dict[str, str]:
        """Selects shared by sources: every SQL file next to the grains, by file name."""
        files: dict[str, Path] = {}
        for folder in self._folders:
            files |= folder.relations()
        return {name: text_of_file(file).strip() for name, file in files.items()}

    def _documents(self, name: str) -> list[Document]:
        return [document for folder in self._folders if (document := folder.document(name)) is not None]

    def _units(self) -> dict[str, Unit]:
        units = dict(SHIPPED_UNITS)
        # Of a copy of a shipped catalogue, units may be those of another version.
        for document in self._documents(UNITS)[0 if self._has_base else 1 :]:
            for name, entry in Entry(document.values, document, ()).table(open_ended=True).entries.items():
                table = entry.table("symbol", "base", "times", "parts", "digits", "ceiling")
                for key in ("symbol", "base", "digits"):
                    table.need(key, f"{key}, as in catalogue/units.toml")
                try:
                    units[name] = unit_of(entry.value)
                except (TypeError, ValueError, ZeroDivisionError) as error:
                    raise entry.wrong(f"it is not a unit: {error}", "use a unit of catalogue/units.toml") from error
        return units

    @cached_property
    def _bounds(self) -> dict[str, Entry]:
        """Lists of bounds that distributions name."""
        entries: dict[str, Entry] = {}
        for document in self._documents(BOUNDS):
            entries |= Entry(document.values, document, ()).table(open_ended=True).entries
        for entry in entries.values():
            bounds_in(entry)
        return entries

    def _draft(self, name: str) -> Draft:
        return with_distributions(with_named_bounds(self._written(name), self._bounds))

    def _written(self, name: str) -> Draft:
        if name in self._drafts:
            return self._drafts[name]
        likeness: Draft | None = None
        for folder in self._folders:
            if name in folder.files:
                draft = draft_of(read_document(folder.files[name][0], shipped=folder.shipped), name)
                likeness = draft if likeness is None else draft.over(likeness)
        if likeness is None:
            raise KeyError(name)
        if (entry := likeness.head.get("like")) is not None:
            likeness = self._with_likeness(likeness, entry)
        self._drafts[name] = likeness
        return likeness

    def _with_likeness(self, draft: Draft, entry: Entry) -> Draft:
        other = entry.text()
        if other not in self._homes:
            raise entry.wrong(f"there is no grain {other!r}", near(other, self._homes))
        self._drafts[draft.name] = replace(draft, head={k: v for k, v in draft.head.items() if k != "like"})
        base = self._written(other)
        if "like" in base.head or other == draft.name:
            del self._drafts[draft.name]
            raise entry.wrong(f"{other} itself refers to another grain", "name the grain that has the facts")
        return draft.like(base)
