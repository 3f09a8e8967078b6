"""The one error of this source."""

from __future__ import annotations

from plexlens.ingest.source import SourceError


class RmfXmlError(SourceError):
    """A file that cannot be read as RMF XML: what is wrong, at which line, and what to do.

    Damage that leaves something to read is a `plexlens.ingest.source.Damage` row instead.
    """
