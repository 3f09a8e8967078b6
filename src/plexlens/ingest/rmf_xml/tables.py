"""Every table this source fills: the values as printed, and the twins of SMF sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from plexlens.ingest.rmf_xml import by_heads, coupling, cpu, paging, workload, workload_columns, xcf
from plexlens.ingest.rmf_xml.columns import TableSpec, index, number, text
from plexlens.ingest.rmf_xml.model import Report, Segment

VALUE = TableSpec(
    "rmf_xml_value",
    "one value of the file: a variable, a cell, a time, a message, an attribute, a name or any other text, as printed "
    "and as typed",
    (
        text("report", "metric id: CPU, WLMGL, CF ..."),
        text("report_title", "description of the metric"),
        text("options", "suboptions of the report: WGPER, SCPER ..."),
        text("report_type", "Interval or Duration; report, list or single for Monitor III"),
        text("gatherer", "postprocessor, monitor3, or the name of another element that holds a report"),
        text("resource", "resource as the report names it"),
        text("resource_type", "SYSTEM, SYSPLEX, MVS_IMAGE ..."),
        index("segment_no", "segment of the report, from 1"),
        text("segment", "name of the segment"),
        index("part_no", "part of the segment, from 1"),
        text("part", "name of the part"),
        text(
            "kind",
            "server, metric, version, resource, time, name, var, head, cell, message, mfpmsg, attribute, text or other",
        ),
        index("table_no", "table of the report, from 1"),
        index("row_no", "row of the table, from 1"),
        text("row_type", "type of the row as marked: SUM for totals"),
        text("row_label", "first cell of the row; for a message its id"),
        index("cell_no", "cell of the row, from 1"),
        index("column_no", "column head the cell stands under, from 1; null where the table has no such head"),
        text("column_type", "N numbers, S scaled numbers, M mixed, T text: as the head says"),
        text("name", "variable, column head, element or element@attribute"),
        text("column_head", "column head of a cell"),
        text("value", "text as printed, white space at its ends off; null when empty"),
        text("value_type", "number, duration, date, timestamp, text or empty"),
        number("number", "as number_unit", "the value in base units; null for text"),
        text("number_unit", "unit of number where the printed form tells it"),
        number("number_scale", "", "what the printed number was multiplied by; null for 1"),
        index("line", "line in the file"),
    ),
)

TWINS = (*cpu.TABLES, *workload_columns.TABLES, *coupling.TABLES, *xcf.TABLES, *paging.TABLES, *by_heads.TABLES)
ALL = (VALUE, *TWINS)


class TwinReport(Protocol):
    """Reads the segments of one report into rows of its twin tables."""

    def segment(self, segment: Segment) -> Iterator[tuple[str, dict[str, object]]]:
        """Rows that one complete segment gives."""

    def finish(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Rows that the report gives as a whole."""


_BY_METRIC: dict[str, type] = {
    "CPU": cpu.CpuReport,
    "WLMGL": workload.WorkloadReport,
    "CF": coupling.CouplingReport,
    "XCF": xcf.XcfReport,
    "PAGING": paging.PagingReport,
    **dict.fromkeys(by_heads.REPORTS, by_heads.ReportByHeads),
}


def twin_of(report: Report) -> TwinReport | None:
    """The reader of a report that has twins; None for any other."""
    if report.gatherer != "postprocessor" or report.id is None:
        return None
    reader = _BY_METRIC.get(report.id.upper())
    return None if reader is None else reader(report)
