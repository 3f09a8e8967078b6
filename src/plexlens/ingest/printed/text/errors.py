"""The one error of this source."""

from __future__ import annotations

from plexlens.ingest.source import SourceError


class TextReportError(SourceError):
    """A file that cannot be read as a text report: what is wrong, where, and what to do.

    Damage that leaves something to read is a `plexlens.ingest.source.Damage` row instead.
    """
