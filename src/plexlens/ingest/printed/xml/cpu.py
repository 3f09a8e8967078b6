"""CPU activity report: the grain of SMF 70-1's CPU data, partition and logical processor sections."""

from __future__ import annotations

from plexlens.ingest.printed.address import key
from plexlens.ingest.printed.catalogue import TableSpec
from plexlens.ingest.printed.xml.by_address import ReportByAddress, Values
from plexlens.ingest.printed.xml.model import Part, Segment, Table


class CpuReport(ReportByAddress):
    """Rows of a CPU activity report."""

    def filled(self, spec: TableSpec, segment: Segment, part: Part, table: Table, values: Values) -> Values | None:
        """A completed row. Rows without a processor number and the row of partition totals are left out; PHYSICAL is
        the hypervisor.
        """
        if spec.name == "rmf_xml_cpu_processor":
            return values if values.get("cpu_number") is not None else None
        name = str(values.get("partition_name") or "")
        if key(name) == "total":
            return None
        is_physical = name.strip("*").upper() == "PHYSICAL"
        return {
            **values,
            "partition_name": "PHYSICAL" if is_physical else name or None,
            "is_physical": is_physical,
            "is_dedicated": bool(values.get("is_dedicated")),
        }
