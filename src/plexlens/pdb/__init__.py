"""The performance database: Parquet tables and a manifest.

    >>> from plexlens.pdb import Pdb, ingest
    >>> pdb = Pdb.create("plex1.pdb")                      # doctest: +SKIP
    >>> ingest(["day1.smf", "day2.smf"], pdb)              # doctest: +SKIP
    >>> pdb.connect().table("smf74_4_request").count()     # doctest: +SKIP

``docs/pdb.md`` describes what lies on disk and what is promised of it.
"""

from plexlens.pdb.database import SYSTEM_SCHEMAS, Pdb, TableInfo
from plexlens.pdb.loading import IngestResult, Outcome, ingest
from plexlens.pdb.manifest import DataFile, Ingest, Manifest, Note
from plexlens.pdb.schema import Column

__all__ = [
    "SYSTEM_SCHEMAS",
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
