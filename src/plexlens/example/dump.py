"""The example's records in the order of a dump, and the dump."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pyarrow as pa

from plexlens import _core
from plexlens.example.cics_classes import class_records
from plexlens.example.cics_region import region_records
from plexlens.example.coupling import coupling_records
from plexlens.example.db2_accounting import accounting_records
from plexlens.example.db2_statistics import statistics_records
from plexlens.example.plan import Plan
from plexlens.example.processors import processor_records
from plexlens.example.record import Record, Row
from plexlens.example.workload import workload_records
from plexlens.layouts_path import layout_folders
from plexlens.whole_file import whole_file

#: A dump of this size takes this long.
_DUMP_TIME = timedelta(seconds=1)


def example_records(plan: Plan) -> list[Record]:
    """All records, in the order in which they were written: by end of interval, then system, then record type."""
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
    return sorted(records, key=lambda record: (record.end, record.system, record.map))


def _batch(catalogue: _core.Catalogue, section: str, rows: list[Row]) -> pa.RecordBatch:
    """Rows as columns of the section's types; only the columns that a row names."""
    named = {name for row in rows for name in row}
    fields = [field for field in catalogue.schema(section) if field.name in named]
    return pa.RecordBatch.from_pylist(rows, schema=pa.schema(fields))


def _connectors(catalogue: _core.Catalogue, record: Record) -> list[int] | None:
    """Connectors of the fields that performance records hold; None for other records."""
    if not record.dictionary_fields:
        return None
    numbers = {row["cmodhead"]: row["cmodconn"] for row in _core.standard_dictionary(catalogue).to_pylist()}
    return sorted(numbers[name] for name in record.dictionary_fields)


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
    catalogue = _core.Catalogue(layout_folders())
    with whole_file(path) as unfinished, _core.DumpWriter(unfinished) as dump:
        dump.dump_header(plan.writer, plan.written)
        for record in example_records(plan):
            sections = {name: _batch(catalogue, name, rows) for name, rows in record.sections.items()}
            identity = {"system": record.system, "written_at": record.written_at}
            if record.subsystem:
                identity["subsystem"] = record.subsystem
            dump.write(
                _core.encode_record(
                    catalogue,
                    record.map,
                    identity,
                    sections,
                    lengths=record.lengths,
                    connectors=_connectors(catalogue, record),
                )
            )
        dump.dump_trailer(plan.writer, plan.written + _DUMP_TIME)
