"""The example's records in the order of a dump, and the dump."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from plexlens.example.cics_classes import class_records
from plexlens.example.cics_region import region_records
from plexlens.example.coupling import coupling_records
from plexlens.example.db2_accounting import accounting_records
from plexlens.example.db2_statistics import statistics_records
from plexlens.example.plan import Plan
from plexlens.example.processors import processor_records
from plexlens.example.record import StudyRecord
from plexlens.example.workload import workload_records
from plexlens.smf_rows.dump import open_dump

#: A dump of this size takes this long.
_DUMP_TIME = timedelta(seconds=1)


def example_records(plan: Plan) -> list[StudyRecord]:
    """All records in the order of writing: by end of interval, then system, then record type."""
    records = [
        *processor_records(plan),
        *workload_records(plan),
        *coupling_records(plan),
        *statistics_records(plan.db2),
        *accounting_records(plan),
        *class_records(plan),
        *region_records(plan),
    ]
    # Sorting is stable: classes and facilities of one record type stay in the order of their tables.
    return sorted(records, key=lambda record: (record.record.end, record.record.system, record.record.map))


def write_dump(plan: Plan, path: Path) -> None:
    """Write the records between a dump header and a trailer.

    Parameters
    ----------
    plan
        What to write.
    path
        The file; what is there is replaced when the dump is complete.

    Raises
    ------
    UsageError
        The file cannot be written.
    """
    with open_dump(path, plan.writer, plan.written) as dump:
        for record in example_records(plan):
            dump.write(record.record)
        dump.finish(plan.writer, plan.written + _DUMP_TIME)
