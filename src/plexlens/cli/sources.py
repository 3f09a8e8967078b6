"""Input data of a command: a named performance database, or dumps read into a temporary database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plexlens.cli.bundle import bundle
from plexlens.cli.options import CodePage, Codepage, Layouts, LeapSeconds
from plexlens.cli.terminal import err
from plexlens.errors import IngestFailuresError, UsageError
from plexlens.progress import Progress

if TYPE_CHECKING:
    from plexlens.metrics.inputs import Inputs
    from plexlens.metrics.selection import Selection
    from plexlens.pdb import IngestResult, Pdb

#: What DuckDB may use before it spills to disk, so that a command's memory does not grow with the dump.
MEMORY_LIMIT = "1GiB"


@dataclass(frozen=True)
class Reading:
    """Options for reading dumps: ``--layouts``, ``--codepage`` and ``--leap-seconds``."""

    layouts: tuple[Path, ...] = ()
    codepage: str = "1047"
    leap_seconds: bool = False

    def into(self, pdb: Pdb, dumps: Sequence[Path], progress: Progress) -> list[IngestResult]:
        """Read dumps into a database.

        Raises
        ------
        PlexlensError
            A dump cannot be read; of several, `plexlens.errors.IngestFailuresError`.
        """
        from plexlens.pdb import ingest

        how: dict[str, Any] = {
            "layouts": self.layouts, "codepage": self.codepage, "leap_seconds": self.leap_seconds,
        }  # fmt: skip
        try:
            results = list(ingest(dumps, pdb, progress=progress, **how))
        except IngestFailuresError as error:
            tell_losses(pdb, error.results)
            raise
        tell_losses(pdb, results)
        return results


def _reading(*, layouts: list[Path] | None, codepage: CodePage, leap_seconds: bool) -> Reading:
    return Reading(tuple(layouts or ()), codepage, leap_seconds)


#: Gives a command the options that say how dumps are read; it gets them as one argument, ``reading``.
reads_dumps = bundle(
    "reading",
    (
        ("layouts", Layouts, None),
        ("codepage", Codepage, CodePage.LATIN_1047),
        ("leap_seconds", LeapSeconds, False),
    ),
    _reading,
)


def tell_losses(pdb: Pdb, results: Sequence[IngestResult]) -> None:
    """Report data loss in the sources just read on standard error: a truncated dump, a broken record."""
    damaged = [one.ingest.id for one in results if one.ingest is not None and one.ingest.damage]
    if not damaged or "damage" not in pdb.manifest.columns:
        return
    sources = ", ".join(f"'{source}'" for source in damaged)
    statement = (
        'select file, count(*), min(record_no), arg_min("offset", record_no), arg_min(detail, record_no),'
        " arg_min(remedy, record_no) from damage"
        f" where severity = 'data loss' and source_id in ({sources}) group by file order by file"
    )
    rows = pdb.connect().execute(statement).fetchall()
    for file, places, record, offset, detail, remedy in rows:
        where = ", ".join(f"{name} {at}" for name, at in (("record", record), ("byte", offset)) if at is not None)
        told = f"data is lost in {places:,} places, first at" if places > 1 else "data is lost at"
        err.print(f"plexlens: {file}: {told} {where or 'an unknown place'}: {detail}; {remedy}")


@contextmanager
def database(sources: Sequence[Path]) -> Iterator[tuple[Pdb, list[Path]]]:
    """The database to use, and the dumps to read into it: a named database, or a temporary database.

    Raises
    ------
    UsageError
        A database is named together with other sources.
    """
    from plexlens.pdb import Pdb

    databases = [path for path in sources if (path / "manifest.json").is_file()]
    if databases and len(sources) > 1:
        raise UsageError(
            file=str(databases[0]),
            what="a performance database cannot be combined with other sources",
            remedy="give it alone, or add the others to it first: plexlens ingest FILE... --pdb PDB",
        )
    if databases:
        yield Pdb.open(databases[0]), []
        return
    with Pdb.temporary() as pdb:
        yield pdb, list(sources)


@contextmanager
def inputs_of(
    sources: Sequence[Path], reading: Reading, progress: Progress, selection: Selection | None = None
) -> Iterator[Inputs]:
    """The selected tables of a database, or of dumps read into a temporary database.

    Raises
    ------
    PlexlensError
        As `database`, `Reading.into` and `plexlens.metrics.selection.resolve`.
    """
    from plexlens.metrics.inputs import Inputs
    from plexlens.metrics.selection import EVERYTHING, resolve

    with database(sources) as (pdb, dumps):
        if dumps:
            reading.into(pdb, dumps, progress)
        connection = pdb.connect(memory_limit=MEMORY_LIMIT)
        yield Inputs(connection, resolve(selection or EVERYTHING, connection, str(sources[0])))
