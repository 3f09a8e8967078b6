"""A bundle checked: every value of its page computed again from its records, by its definitions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from plexlens import __version__
from plexlens.errors import UnreadableInputError
from plexlens.json_text import json_text
from plexlens.metrics.user_query import Limits, confine
from plexlens.pdb import Pdb
from plexlens.pdb.carried import adopt, carried_path
from plexlens.pdb.deadline import OverTimeError, ended_after
from plexlens.pdb.opening import MEMORY_LIMIT, DumpReading
from plexlens.progress import Progress, silent
from plexlens.proof.archive import Archive, allowed, opened
from plexlens.proof.definitions import unlike_installed, used
from plexlens.proof.difference import Compared, compared
from plexlens.proof.manifest import PAGE, SITE, VALUES, Manifest, record_name
from plexlens.proof.records import RecordsCompared, compare_records
from plexlens.report.build import Options
from plexlens.report.model import Definition
from plexlens.report.of_database import report_of
from plexlens.report.writers.html import render_html

#: Rows for each byte of a Parquet file, at most. Records are numbered, which takes about a byte per row.
_ROWS_PER_BYTE = 100

#: Time that the definitions of a bundle may take: a sender can write some that never end.
USUAL = Limits(seconds=600.0)

#: Names that a sentence lists at most.
_NAMED = 4

_IDENTITY = frozenset(("source_id",))


@dataclass
class Checked:
    """The result of a check.

    Attributes
    ----------
    sha256 : str
        Hash of the bundle's bytes.
    manifest : Manifest
        What is in it.
    values : Compared
        The values of the page, compared.
    page_is_same : bool or None
        Whether ``page.html`` is the page made from the records again; None where another version of Plexlens wrote it.
    page_differs_at : int
        The first line of ``page.html`` that differs; 0 if none does.
    records : RecordsCompared or None
        The records compared with those of the files that they are of; None if no files were given.
    unlike : list of str
        Definitions of the bundle that differ from those of this installation.
    definitions : dict of str to Definition
        Definitions of the page's numbers by id.
    """

    sha256: str
    manifest: Manifest
    values: Compared
    page_is_same: bool | None = None
    page_differs_at: int = 0
    records: RecordsCompared | None = None
    unlike: list[str] = field(default_factory=list)
    definitions: Mapping[str, Definition] = field(default_factory=dict)

    @property
    def is_proved(self) -> bool:
        """Whether everything that was compared is the same."""
        records = self.records is None or not self.records.first
        return not self.values.differing and self.page_is_same is not False and records

    def lines(self) -> Iterator[str]:
        """The result in sentences, the verdict first."""
        values, manifest = self.values, self.manifest
        rows = f"{sum(manifest.tables.values()):,} rows in {len(manifest.tables):,} tables"
        if self.is_proved:
            yield f"the same: {values.numbers:,} numbers and {values.texts:,} texts of the page, computed from {rows}"
        else:
            yield (
                f"{values.differing:,} of {values.numbers:,} numbers and {values.texts:,} texts of the page are not "
                f"what {rows} give"
            )
        for difference in values.differences:
            definition = self.definitions.get(difference.definition)
            unit = f" {definition.unit.base}" if definition is not None and difference.is_number else ""
            said, given = f"{difference.page}{unit}", f"{difference.records}{unit}"
            yield f"  {difference.place}: the page says {said}, the records give {given}"
            if definition is not None:
                yield f"    {definition.id} = {definition.formula or definition.source}"
        if self.page_is_same is None:
            yield f"  {PAGE} was not compared: Plexlens {manifest.plexlens} wrote it, and this is {__version__}"
        elif not self.page_is_same:
            yield f"  {PAGE} is not the page of these records: it differs from line {self.page_differs_at} on"
        if self.records is not None:
            yield f"  {self.records.sentence()}"
        else:
            named = ", ".join(source.file for source in manifest.sources[:_NAMED])
            more = f" and {len(manifest.sources) - _NAMED:,} more" if len(manifest.sources) > _NAMED else ""
            yield f"  not compared: the records with the files that they are of ({named}{more}); name these too"
        if self.unlike:
            listed = ", ".join(self.unlike[:_NAMED]) + (" and others" if len(self.unlike) > _NAMED else "")
            yield f"  definitions that are not those of this Plexlens {__version__}: {listed}"
        else:
            yield f"  definitions: those of this Plexlens {__version__}" + self._own_definitions()
        yield f"  SHA-256 of the bundle: {self.sha256}; who made it, only its sender can tell"

    def _own_definitions(self) -> str:
        own = [*self.manifest.catalogue[1:], *self.manifest.rules[1:]]
        own += [SITE] if SITE in self.manifest.members else []
        return f", and the site's own in {', '.join(own)}" if own else ""

    def to_json(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {
            "same": self.is_proved,
            "bundle_sha256": self.sha256,
            "plexlens": self.manifest.plexlens,
            "numbers": self.values.numbers,
            "texts": self.values.texts,
            "tables": dict(self.manifest.tables),
            "differing": self.values.differing,
            "differences": [
                {
                    "place": difference.place,
                    "page": difference.page,
                    "records": difference.records,
                    "definition": difference.definition or None,
                }
                for difference in self.values.differences
            ],
            "page_is_same": self.page_is_same,
            "page_differs_at_line": self.page_differs_at or None,
            "files_compared": self.records is not None,
            "records_differ": self.records.first or None if self.records is not None else None,
            "definitions_unlike_installed": self.unlike,
            "sources": [{"file": source.file, "sha256": source.sha256} for source in self.manifest.sources],
        }


def check(
    path: Path,
    files: Sequence[Path] = (),
    reading: DumpReading | None = None,
    progress: Progress = silent,
    *,
    limits: Limits = USUAL,
) -> Checked:
    """Check a bundle.

    Parameters
    ----------
    path
        The bundle.
    files, reading
        The files that it is of, to be read again, and how; without them its records are taken as they are.
    progress
        Told how far each stage is.
    limits
        Time and memory that its definitions may take.

    Raises
    ------
    PlexlensError
        It is not a bundle, is damaged or changed, or a later version of Plexlens wrote it; the files are not those that
        it is of.
    """
    with opened(path) as archive, Pdb.temporary() as pdb:
        manifest = archive.manifest
        for name in (PAGE, VALUES, *map(record_name, manifest.tables)):
            if name not in manifest.members:
                raise _wrong(path, f"its manifest does not name {name}")
        for number, table in enumerate(manifest.tables):
            progress(number, len(manifest.tables), "reading the records")
            _unpack(archive, table, pdb.path / carried_path(table))
        folder = pdb.path.parent / "bundle"
        for name in manifest.members:
            if name.startswith("definitions/"):
                archive.copy(name, folder / name)
        page, text = archive.read(VALUES), archive.read(PAGE)
        try:
            adopt(pdb, manifest.tables, manifest.sources)
            with ended_after(limits.seconds), used(manifest, folder) as (rules, decisions):
                again = report_of(
                    pdb,
                    str(path),
                    selection=manifest.selection,
                    options=Options(title=manifest.title, rules=rules, decisions=decisions, today=manifest.judged_on),
                    others=manifest.others,
                    progress=progress,
                    threads=1,
                    before=lambda connection: confine(connection, pdb.path),
                    memory_limit=MEMORY_LIMIT if limits.memory is None else f"{limits.memory >> 10}KiB",
                )
            values = compared(_values(page), _values(json_text(again.to_json())))
        except OverTimeError as error:
            raise _wrong(
                path,
                f"its definitions took more than {limits.seconds:g} s and were stopped",
                "ask its sender what it computes; --time-limit gives it more (0 for any)",
            ) from error
        except duckdb.OutOfMemoryException as error:
            raise _wrong(
                path,
                "its definitions need more memory than they may use",
                "ask its sender what it computes; --memory gives it more",
            ) from error
        except (duckdb.Error, pa.ArrowException, KeyError, ValueError, RecursionError) as error:
            raise _wrong(path, f"its records, definitions or values cannot be used: {_line(error)}") from error
        result = Checked(archive.sha256, manifest, values, unlike=unlike_installed(manifest))
        result.definitions = again.report.definitions
        if manifest.plexlens == __version__:
            _compare_pages(result, text, render_html(again.report).encode())
        if files:
            result.records = compare_records(pdb, manifest, files, reading or DumpReading(), progress)
        return result


def _unpack(archive: Archive, table: str, to: Path) -> None:
    """Write the file of a table to its place, if it is the Parquet file of a table and no larger than such are."""
    name = record_name(table)
    archive.copy(name, to)
    size = archive.manifest.members[name].bytes
    try:
        with pq.ParquetFile(to) as stored:
            metadata = stored.metadata
            groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
            rows, expanded = metadata.num_rows, sum(group.total_byte_size for group in groups)
            columns = set(stored.schema_arrow.names)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _wrong(archive.path, f"{name} is not a Parquet file: {_line(error)}") from error
    stated = archive.manifest.tables[table]
    if rows != stated or rows != sum(group.num_rows for group in groups):
        raise _wrong(archive.path, f"{name} has {rows:,} rows, and the manifest says {stated:,}")
    if rows > _ROWS_PER_BYTE * size or expanded > allowed(size):
        raise _wrong(
            archive.path, f"{name} has {size:,} bytes and would expand to {rows:,} rows and {expanded:,} bytes"
        )
    if missing := _IDENTITY - columns:
        raise _wrong(archive.path, f"{name} has no column {min(missing)}")


def _values(text: str | bytes) -> Any:
    """The values of a page, without the version that made it: the manifest has that."""
    values = json.loads(text)
    if isinstance(values, dict):
        values.pop("generator", None)
    return values


def _compare_pages(result: Checked, page: bytes, again: bytes) -> None:
    result.page_is_same = page == again
    if not result.page_is_same:
        lines = zip_longest(page.split(b"\n"), again.split(b"\n"))
        result.page_differs_at = next(number for number, pair in enumerate(lines, start=1) if pair[0] != pair[1])


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


_AGAIN = "ask for the bundle again, or make it again with plexlens report --bundle"


def _wrong(path: Path, what: str, remedy: str = _AGAIN) -> UnreadableInputError:
    return UnreadableInputError(file=str(path), what=what, remedy=remedy)
