"""The example's records in the order of a dump."""

from __future__ import annotations

from plexlens.example.coupling import coupling_records
from plexlens.example.plan import Plan
from plexlens.example.processors import processor_records
from plexlens.example.record import Record
from plexlens.example.workload import workload_records


def example_records(plan: Plan) -> list[Record]:
    """All records, in the order in which RMF wrote them: by end of interval, then system, then record type."""
    records = [*processor_records(plan), *workload_records(plan), *coupling_records(plan)]
    # Sorting is stable: classes and facilities of one record type stay in the order of their tables.
    return sorted(records, key=lambda record: (record.end, str(record.header["sid"]), record.map))
