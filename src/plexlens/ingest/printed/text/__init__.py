"""Reports as text: Db2 statistics and accounting, display commands, RMF Postprocessor, CICS statistics.

People send reports where they do not send records. Every value of a known report is a row of ``text_report_value``,
with the interval that its print allows; tables of the grain of their SMF and RMF XML twins are filled besides.
``docs/text-reports.md`` describes both.
"""

from __future__ import annotations

from pathlib import Path

from plexlens.ingest.printed.errors import TextReportError
from plexlens.ingest.printed.text.reading import TextReportReading, read, sniff
from plexlens.ingest.source import ReadOptions

__all__ = ["TextReportError", "TextReportReading", "read", "read_with", "sniff"]


def read_with(path: Path, options: ReadOptions) -> TextReportReading:
    """`read` with the signature that the list of sources expects."""
    return read(path, source_id=options.source_id, site=options.layouts, expansion=options.expansion)
