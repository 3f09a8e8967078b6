"""Input data of a question: a named performance database, or dumps read into a temporary database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plexlens.errors import IngestFailuresError, UsageError
from plexlens.ingest.compression import USUAL, Expansion
from plexlens.pdb.database import Pdb
from plexlens.pdb.place import is_object
from plexlens.progress import Progress

if TYPE_CHECKING:
    from plexlens.pdb.job import IngestResult

#: What DuckDB may use before it spills to disk, so that memory does not grow with the dump.
MEMORY_LIMIT = "1GiB"


def _say_nothing(text: str) -> None:
    """Discard a message."""


@dataclass(frozen=True)
class DumpReading:
    """Options for reading dumps.

    Attributes
    ----------
    layouts
        Folders with record layouts of the site.
    codepage
        EBCDIC code page of text: ``037`` or ``1047``.
    leap_seconds
        Whether the clocks of the systems run ahead of UTC by the leap seconds.
    tell
        Told each loss of data, as a sentence.
    expansion
        How far a compressed file may expand.
    """

    layouts: tuple[Path, ...] = ()
    codepage: str = "1047"
    leap_seconds: bool = False
    tell: Callable[[str], None] = _say_nothing
    expansion: Expansion = USUAL

    def into(self, pdb: Pdb, dumps: Sequence[Path], progress: Progress) -> list[IngestResult]:
        """Read dumps into a database.

        Raises
        ------
        PlexlensError
            A dump cannot be read; of several, `plexlens.errors.IngestFailuresError`.
        """
        # What stores sources needs every decoder; a question to a database needs none of them.
        from plexlens.pdb.loading import ingest

        try:
            results = ingest(
                dumps,
                pdb,
                progress=progress,
                layouts=self.layouts,
                codepage=self.codepage,
                leap_seconds=self.leap_seconds,
                expansion=self.expansion,
            )
        except IngestFailuresError as error:
            self._tell_losses(pdb, error.results)
            raise
        self._tell_losses(pdb, results)
        return results

    def tell_unused(self, pdb: Path) -> None:
        """Say which of these options have no effect, because a database is read and no dump."""
        again = f"plexlens pdb rebuild {pdb} --layouts FOLDER reads them again"
        anew = "plexlens ingest FILE... --pdb NEW with this option makes a database that follows it"
        for option, is_given, remedy in (
            ("--layouts", bool(self.layouts), again),
            (f"--codepage {self.codepage}", self.codepage != DumpReading.codepage, anew),
            ("--leap-seconds", self.leap_seconds, anew),
            ("--max-expansion", self.expansion.times != USUAL.times, anew),
            ("--max-expanded", self.expansion.most != USUAL.most, anew),
        ):
            if is_given:
                self.tell(f"{pdb}: {option} has no effect on a database, whose sources were read by ingest; {remedy}")

    def _tell_losses(self, pdb: Pdb, results: Sequence[IngestResult]) -> None:
        for loss in losses(pdb, results):
            self.tell(loss)


def losses(pdb: Pdb, results: Sequence[IngestResult]) -> list[str]:
    """Data loss in sources just read (a truncated dump, a broken record): a sentence for each file."""
    damaged = [result.ingest.id for result in results if result.ingest is not None and result.ingest.damage]
    if not damaged or "damage" not in pdb.manifest.columns:
        return []
    sources = ", ".join(f"'{source}'" for source in damaged)
    # Damage of a whole file has no record.
    first = ", ".join(
        f'first("{column}" order by record_no nulls last, "offset" nulls last)'
        for column in ("record_no", "offset", "detail", "remedy")
    )
    statement = (
        f"select file, count(*), {first} from damage"
        f" where severity = 'data loss' and source_id in ({sources}) group by file order by file"
    )
    entries = []
    for file, places, record, offset, detail, remedy in pdb.connect().execute(statement).fetchall():
        where = ", ".join(f"{name} {at}" for name, at in (("record", record), ("byte", offset)) if at is not None)
        text = f"data is lost in {places:,} places, first at" if places > 1 else "data is lost at"
        entries.append(f"{file}: {text} {where or 'an unknown place'}: {detail}; {remedy}")
    return entries


@contextmanager
def database(sources: Sequence[Path], reading: DumpReading) -> Iterator[tuple[Pdb, list[Path]]]:
    """The database to use, and the dumps to read into it: a named database, or a temporary database.

    Options of ``reading`` that have no effect on a named database are told.

    Raises
    ------
    UsageError
        A database is named together with other sources.
    """
    # What an address of object storage names is a database, or nothing that can be read.
    databases = [path for path in sources if is_object(path) or (path / "manifest.json").is_file()]
    if databases and len(sources) > 1:
        raise UsageError(
            file=str(databases[0]),
            what="a performance database cannot be combined with other sources",
            remedy="give only the database, or add the files to it first: plexlens ingest FILE... --pdb PDB",
        )
    if databases:
        reading.tell_unused(databases[0])
        yield Pdb.open(databases[0]), []
        return
    with Pdb.temporary() as pdb:
        yield pdb, list(sources)
