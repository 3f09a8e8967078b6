"""Errors for a file that cannot be read at all; damage that leaves part of it readable becomes a row instead."""

from __future__ import annotations

from plexlens.ingest.source import SourceError


class RmfXmlError(SourceError):
    """A file that cannot be read as RMF XML: problem, line and remedy."""


class TextReportError(SourceError):
    """A file that cannot be read as a text report: problem, location and remedy."""
