"""The performance database: Parquet tables and a manifest.

    >>> from plexlens.pdb import Pdb, ingest
    >>> pdb = Pdb.create("plex1.pdb")
    >>> [one.outcome.value for one in ingest(["example.smf"], pdb)]
    ['added']
    >>> pdb.connect().sql("select count(*) from smf_record where record_type = 74").fetchone()
    (10,)

``docs/pdb.md`` describes what lies on disk and what is promised of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plexlens.pdb.database import Pdb, TableInfo
from plexlens.pdb.entries import DataFile, Ingest, Note
from plexlens.pdb.manifest import Change, Manifest
from plexlens.pdb.schema import Column
from plexlens.pdb.system_tables import SYSTEM_SCHEMAS

if TYPE_CHECKING:
    from plexlens.pdb.job import IngestResult, Outcome
    from plexlens.pdb.loading import ingest

#: What stores sources needs every decoder; a question to a database needs none of them.
_LOADING = ("IngestResult", "Outcome", "ingest")

__all__ = [
    "SYSTEM_SCHEMAS",
    "Change",
    "Column",
    "DataFile",
    "Ingest",
    "IngestResult",
    "Manifest",
    "Note",
    "Outcome",
    "Pdb",
    "TableInfo",
    "ingest",
]


def __getattr__(name: str) -> Any:
    if name not in _LOADING:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from plexlens.pdb import loading

    return getattr(loading, name)
