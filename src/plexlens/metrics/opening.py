"""The selected tables of a database, or of dumps, opened for questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from plexlens.errors import NothingUsableError
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import EVERYTHING, Selection, resolve
from plexlens.pdb.opening import MEMORY_LIMIT, DumpReading, database
from plexlens.progress import Progress


@contextmanager
def inputs_of(
    sources: Sequence[Path], reading: DumpReading, progress: Progress, selection: Selection | None = None
) -> Iterator[Inputs]:
    """The selected tables of a database, or of dumps read into a temporary database.

    Raises
    ------
    PlexlensError
        As `plexlens.pdb.opening.database`, `plexlens.pdb.opening.DumpReading.into` and
        `plexlens.metrics.selection.resolve`.
    """
    with database(sources, reading) as (pdb, dumps):
        if dumps:
            reading.into(pdb, dumps, progress)
        connection = pdb.connect(memory_limit=MEMORY_LIMIT)
        yield Inputs(connection, resolve(selection or EVERYTHING, connection, str(sources[0])))


@contextmanager
def explained(selection: Selection) -> Iterator[None]:
    """Add the selection to the error if it selects nothing."""
    try:
        yield
    except NothingUsableError as error:
        if not selection or selection.text in error.what:
            raise
        raise NothingUsableError(
            file=error.file,
            what=f"in the selection ({selection.text}) {error.what}",
            remedy=f"select more, or {error.remedy}",
        ) from error
