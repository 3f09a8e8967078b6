"""RMF Postprocessor and Monitor III reports in XML (``ddsml``), as tables.

Every text and attribute of the file is a row of ``rmf_xml_value``, typed, with its report and interval. The reports
CPU, WLMGL, CF, XCF, PAGING, DEVICE and CHAN fill tables of the grain of their SMF twins besides. ``docs/rmf-xml.md``
describes both.
"""

from __future__ import annotations

from pathlib import Path

from plexlens.ingest.printed.errors import RmfXmlError
from plexlens.ingest.printed.xml.reading import RmfXmlReading, read, sniff
from plexlens.ingest.source import ReadOptions

__all__ = ["RmfXmlError", "RmfXmlReading", "read", "read_with", "sniff"]


def read_with(path: Path, options: ReadOptions) -> RmfXmlReading:
    """`read` with the signature that the list of sources expects."""
    return read(path, source_id=options.source_id, site=options.layouts, expansion=options.expansion)
