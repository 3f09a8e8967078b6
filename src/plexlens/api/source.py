"""Source of a question: a database that is open, or the path of one or of a dump."""

from __future__ import annotations

from pathlib import Path

from plexlens.api.database import Database
from plexlens.api.selecting import AnyPath

#: A database, or what dumps and databases are named by.
Source = Database | AnyPath


def address_of(source: Source) -> str:
    """The argument of a command for this source."""
    if not isinstance(source, Database):
        return str(Path(source))
    return source.name if Path(source.name).absolute() == source.path else str(source.path)
