"""Reports with twins of SMF sections, and their readers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from plexlens.ingest.printed.catalogue import Catalogue
from plexlens.ingest.printed.xml.by_address import ReportByAddress
from plexlens.ingest.printed.xml.coupling import CouplingReport
from plexlens.ingest.printed.xml.cpu import CpuReport
from plexlens.ingest.printed.xml.model import Report, Segment
from plexlens.ingest.printed.xml.workload import WorkloadReport
from plexlens.ingest.printed.xml.xcf import XcfReport

PREFIX = "rmf_xml_"
"""How the names of this source's tables begin."""
VALUE = "rmf_xml_value"
POSTPROCESSOR, MONITOR3 = "postprocessor", "monitor3"
"""Gatherers of reports."""
_OF_MONITOR3 = "monitor3/"
"""What begins the name of a Monitor III report in the catalogue: the Postprocessor has reports of the same id."""

_READERS: dict[str, type[ReportByAddress]] = {
    "CPU": CpuReport,
    "WLMGL": WorkloadReport,
    "CF": CouplingReport,
    "XCF": XcfReport,
}
"""Reports of which more has to be known than the catalogue says."""


class TwinReport(Protocol):
    """Reads the segments of a report into rows of its twin tables."""

    def segment(self, segment: Segment) -> Iterator[tuple[str, dict[str, object]]]:
        """Rows from a complete segment."""

    def finish(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Rows from the report as a whole."""


def twin_of(report: Report, known: Catalogue) -> TwinReport | None:
    """The reader of a report that has twins; None for any other report."""
    metric = (report.id or "").upper()
    if report.gatherer == MONITOR3:
        metric = f"{_OF_MONITOR3}{metric}"
    elif report.gatherer != POSTPROCESSOR:
        return None
    specs = known.of_report(PREFIX, metric)
    return _READERS.get(metric, ReportByAddress)(report, specs) if specs else None
