"""Source of a question: a database that is open, or the path of one or of a dump."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plexlens.api.database import Database
from plexlens.api.losses import warn_of_loss
from plexlens.api.selecting import AnyPath
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.opening import inputs_of
from plexlens.metrics.selection import Selection
from plexlens.pdb.opening import DumpReading
from plexlens.progress import silent

#: A database, or what dumps and databases are named by.
Source = Database | AnyPath


def address_of(source: Source) -> str:
    """The argument of a command for this source."""
    if not isinstance(source, Database):
        return str(Path(source))
    return source.name if Path(source.name).absolute() == source.path else str(source.path)


@contextmanager
def opened(source: Source, selection: Selection) -> Iterator[tuple[Inputs, str]]:
    """The selected tables of a source, and its name."""
    path = Path(address_of(source))
    with inputs_of([path], DumpReading(tell=warn_of_loss), silent, selection) as inputs:
        yield inputs, source.name if isinstance(source, Database) else str(path)
