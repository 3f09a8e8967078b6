"""What is raised for a file that cannot be read at all; damage that leaves something to read is a row instead."""

from __future__ import annotations

from plexlens.ingest.source import SourceError


class RmfXmlError(SourceError):
    """A file that cannot be read as RMF XML: what is wrong, at which line, and what to do."""


class TextReportError(SourceError):
    """A file that cannot be read as a text report: what is wrong, where, and what to do."""
