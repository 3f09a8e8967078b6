"""Contents of a PDB: its sources, the files of its tables, their columns.

A `Manifest` is read from lines (`plexlens.pdb.log`), one for each source and for the files that a commit brought to a
table. A line is taken apart when it is asked for: an ingest needs the names of all sources and the record inventory of
a day or two, and what it costs must not grow with the years that the PDB holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import TypeVar

from plexlens.errors import PdbDamagedError
from plexlens.pdb.entries import (
    DataFile,
    Ingest,
    column_json,
    column_of,
    compact,
    file_json,
    file_of,
    ingest_json,
    ingest_of,
)
from plexlens.pdb.lazily import Lazily
from plexlens.pdb.schema import Column, TypeConflictError, merge_columns

_T = TypeVar("_T")

NAME = "manifest.json"
"""The file that says what a PDB holds: a folder with it is a PDB."""


Variants = dict[str, tuple[tuple[Column, ...], ...]]
"""Sets of columns by table."""


@dataclass(frozen=True)
class Change:
    """The changes that a commit makes.

    Attributes
    ----------
    what : str
        What is done, for the history: ``ingest day1.smf``.
    sources : tuple of Ingest
        Sources that are new, or take the place of the one with the same id.
    forgotten : tuple of str
        Ids of sources that the PDB no longer knows.
    variants : dict
        Sets of columns with which files were written; `DataFile.variant` in `files` is the place in them.
    files : tuple of DataFile
        Files that are new.
    gone : tuple of DataFile
        Files that no longer belong to the PDB.
    horizons : dict
        By table the first day that it still takes: rows of earlier days have expired.
    rows_change : bool
        Whether the rows of any table change; not if files are only merged.
    """

    what: str
    sources: tuple[Ingest, ...] = ()
    forgotten: tuple[str, ...] = ()
    variants: Variants = field(default_factory=dict)
    files: tuple[DataFile, ...] = ()
    gone: tuple[DataFile, ...] = ()
    horizons: dict[str, str] = field(default_factory=dict)
    rows_change: bool = True


Line = tuple[str, str, str]
"""A line of the log: its kind, the table or source, and JSON."""

SOURCE, FORGOTTEN, COLUMNS, RETIRED, FILES, GONE, HORIZON = (
    *("source", "forgotten", "columns", "retired", "files", "gone", "horizon"),
)


@dataclass
class _Lines:
    """Lines sorted by kind; a copy shares the lists that it does not change."""

    sources: dict[str, str] = field(default_factory=dict)
    samples: dict[str, tuple[str, str]] = field(default_factory=dict)
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    retired: dict[str, tuple[str, ...]] = field(default_factory=dict)
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    gone: dict[str, tuple[str, ...]] = field(default_factory=dict)
    horizons: dict[str, str] = field(default_factory=dict)

    def copy(self) -> _Lines:
        return _Lines(*(dict(getattr(self, entry.name)) for entry in fields(self)))

    def take(self, kind: str, name: str, text: str) -> None:
        if kind == SOURCE:
            source, sha256, sample = name.split(" ")
            self.sources[source] = text
            self.samples[source] = (sha256, sample)
        elif kind == FORGOTTEN:
            self.sources.pop(name, None)
            self.samples.pop(name, None)
        elif kind == HORIZON:
            self.horizons[name] = json.loads(text)
        else:
            of = {COLUMNS: self.columns, RETIRED: self.retired, FILES: self.files, GONE: self.gone}[kind]
            of[name] = (*of.get(name, ()), text)


class Manifest:
    """Contents of a PDB at one moment; immutable, replaced by a new manifest.

    Parameters
    ----------
    lines
        The lines of its log, the earliest first.
    folder
        The PDB, as errors name it.

    Attributes
    ----------
    ingests : tuple of Ingest
        In the order in which they were committed.
    variants : mapping
        For each table the different sets of columns its files have or had, the earliest first.
    columns : mapping
        The columns of each table that has files, all variants joined.
    files : mapping
        The files of each table that has any.
    horizons : mapping
        By table the first day that it still takes.

    Raises
    ------
    PdbDamagedError
        A line does not tell what it should; it is raised when the line is needed.
    """

    def __init__(self, lines: Iterable[Line] = (), folder: Path | None = None) -> None:
        self._set(_Lines(), lines, folder)

    def _set(self, known: _Lines, lines: Iterable[Line], folder: Path | None) -> None:
        self._folder = folder
        for line in lines:
            self._told(lambda line=line: known.take(*line))  # type: ignore[misc]
        self._lines = known
        self.variants: Mapping[str, tuple[tuple[Column, ...], ...]] = Lazily(
            known.columns, lambda table: self._told(lambda: self._variants_of(table))
        )
        self._every: Mapping[str, list[DataFile]] = Lazily(
            known.files, lambda table: self._told(lambda: self._files_of(table))
        )
        # Only a table of which files went can have none.
        names = [table for table in known.files if table not in known.gone or self._every[table]]
        self.files: Mapping[str, list[DataFile]] = Lazily(names, self._every.__getitem__)
        self.columns: Mapping[str, tuple[Column, ...]] = Lazily(names, self._columns_of)
        self.horizons: Mapping[str, str] = known.horizons

    def _told(self, make: Callable[[], _T]) -> _T:
        """A value made from lines; an error that names their place, if they cannot be understood."""
        try:
            return make()
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            what = f"it has an entry that cannot be understood ({type(error).__name__}: {error})"
            raise damaged((self._folder or Path()) / NAME, what) from error

    @cached_property
    def ingests(self) -> tuple[Ingest, ...]:
        """The sources, in the order in which they were committed."""
        return self._told(lambda: tuple(ingest_of(json.loads(text)) for text in self._lines.sources.values()))

    def source(self, source_id: str) -> Ingest | None:
        """The source of this id, if there is one."""
        text = self._lines.sources.get(source_id)
        return None if text is None else self._told(lambda: ingest_of(json.loads(text)))

    def find(self, sha256: str) -> Ingest | None:
        """The source with this content, if there is one."""
        return next((self.source(name) for name, (text, _) in self._lines.samples.items() if text == sha256), None)

    def may_hold(self, sample: str) -> bool:
        """Whether a file with this sample may be held; only then is its hash needed."""
        return any(text == sample for _, text in self._lines.samples.values())

    def new_id(self, sample: str) -> str:
        """An id for a new source: 16 digits of its sample, and a number if another has the same sample."""
        candidates = chain([sample[:16]], (f"{sample[:16]}x{number}" for number in count(2)))
        return next(candidate for candidate in candidates if candidate not in self._lines.sources)

    def files_of(self, source_id: str) -> list[DataFile]:
        """The files with rows of a source; after a compaction they may hold rows of other sources too."""
        return [file for files in self.files.values() for file in files if source_id in file.sources]

    def every_file(self) -> Iterator[DataFile]:
        """All files, table by table."""
        return (file for files in self.files.values() for file in files)

    def parts(self, table: str) -> dict[str, frozenset[str]]:
        """For each day of a table what its rows came from: ``source`` or ``source@revision``.

        What is derived from the rows of a day is up to date as long as this is the same; merging files leaves it.
        """
        names: dict[str, set[str]] = {}
        for file in self.files.get(table, ()):
            names.setdefault(file.day, set()).update(map(self._part, file.sources))
        return {day: frozenset(parts) for day, parts in names.items()}

    def _part(self, source_id: str) -> str:
        source = self._revisions.get(source_id, 0)
        return f"{source_id}@{source}" if source else source_id

    @cached_property
    def _revisions(self) -> dict[str, int]:
        return {ingest.id: ingest.revision for ingest in self.ingests}

    def _variants_of(self, table: str) -> tuple[tuple[Column, ...], ...]:
        return tuple(
            tuple(column_of(entry) for entry in variant)
            for line in self._lines.columns[table]
            for variant in json.loads(line)
        )

    def _columns_of(self, table: str) -> tuple[Column, ...]:
        retired = {place for line in self._lines.retired.get(table, ()) for place in json.loads(line)}
        return merge_columns(variant for place, variant in enumerate(self.variants[table]) if place not in retired)

    def _files_of(self, table: str) -> list[DataFile]:
        gone = {path for line in self._lines.gone.get(table, ()) for path in json.loads(line)}
        return [
            file
            for line in self._lines.files[table]
            for file in (file_of(table, entry) for entry in json.loads(line))
            if file.path not in gone
        ]

    def lines_of(self, change: Change) -> list[Line]:
        """The lines that record a change; `with_lines` applies them.

        Raises
        ------
        TypeConflictError
            A table's columns do not go together with those it has (`plexlens.pdb.schema`).
        """
        lines: list[Line] = [(FORGOTTEN, text, "") for text in change.forgotten]
        gone = _by_table(change.gone)
        lines += [(GONE, table, compact([file.path for file in files])) for table, files in gone.items()]
        place: dict[tuple[str, int], int] = {}
        for table, brought in change.variants.items():
            columns = list(self.variants.get(table, ()))
            known = len(columns)
            for index, variant in enumerate(brought):
                if variant not in columns:
                    columns.append(variant)
                place[table, index] = columns.index(variant)
            if len(columns) > known:
                lines += self._retired(table, columns, gone.get(table, []), known)
                lines.append((COLUMNS, table, compact([list(map(column_json, entry)) for entry in columns[known:]])))
        files = _by_table(replace(file, variant=place[file.table, file.variant]) for file in change.files)
        lines += [(FILES, table, compact(list(map(file_json, listed)))) for table, listed in files.items()]
        lines += [(HORIZON, table, compact(day)) for table, day in change.horizons.items()]
        lines += [
            (SOURCE, f"{source.id} {source.sha256} {source.sample}", compact(ingest_json(source)))
            for source in change.sources
        ]
        return lines

    def _retired(
        self, table: str, columns: list[tuple[Column, ...]], gone: list[DataFile], known: int
    ) -> Iterator[Line]:
        """Lines that retire variants which no file has any more, where new columns conflict with them."""
        before = {place for line in self._lines.retired.get(table, ()) for place in json.loads(line)}
        try:
            merge_columns(entry for place, entry in enumerate(columns) if place not in before)
        except TypeConflictError as error:
            left = {file.variant for file in self.files.get(table, ()) if file not in gone}
            unused = set(range(known)) - left - before
            try:
                merge_columns(entry for place, entry in enumerate(columns) if place not in before | unused)
            except TypeConflictError:
                raise TypeConflictError(f"table {table}: {error}") from None
            yield RETIRED, table, compact(sorted(unused))

    def with_lines(self, lines: Iterable[Line]) -> Manifest:
        """The manifest with further lines of its log."""
        manifest = Manifest.__new__(Manifest)
        manifest._set(self._lines.copy(), lines, self._folder)
        return manifest

    def with_change(self, change: Change) -> Manifest:
        """The manifest after a change.

        Raises
        ------
        TypeConflictError
            As `lines_of`.
        """
        return self.with_lines(self.lines_of(change))

    def lines(self) -> Iterator[Line]:
        """Lines that record the present manifest, without its history."""
        known = self._lines
        yield from ((COLUMNS, table, text) for table, texts in known.columns.items() for text in texts)
        yield from ((RETIRED, table, text) for table, texts in known.retired.items() for text in texts)
        for table, texts in known.files.items():
            if table not in known.gone:
                yield from ((FILES, table, text) for text in texts)
            elif table in self.files:
                yield FILES, table, compact(list(map(file_json, self.files[table])))
        yield from ((HORIZON, table, compact(day)) for table, day in known.horizons.items())
        for source, text in known.sources.items():
            sha256, sample = known.samples[source]
            yield SOURCE, f"{source} {sha256} {sample}", text


def _by_table(files: Iterable[DataFile]) -> dict[str, list[DataFile]]:
    data_files: dict[str, list[DataFile]] = {}
    for file in files:
        data_files.setdefault(file.table, []).append(file)
    return data_files


def damaged(path: Path, what: str, *, offset: int | None = None) -> PdbDamagedError:
    """The error for a damaged manifest, with the way to recover."""
    return PdbDamagedError(
        file=str(path),
        what=f"the manifest is damaged: {what}",
        remedy=f"go back to the last good one with: plexlens pdb repair {path.parent}",
        offset=offset,
    )
