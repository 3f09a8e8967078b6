"""Writing of a dump from rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens import _core
from plexlens.layouts_path import layout_folders
from plexlens.smf_rows.record import Record, Row
from plexlens.whole_file import whole_file


@dataclass
class Dump:
    """A dump being written.

    Parameters
    ----------
    catalogue
        Layouts.
    written
        Records so far, dump header and trailer not counted.
    """

    catalogue: _core.Catalogue
    _writer: _core.DumpWriter = field(repr=False)
    written: int = 0
    _schemas: dict[tuple[str, frozenset[str]], pa.Schema] = field(default_factory=dict, repr=False)

    def write(self, record: Record) -> None:
        """Encode and write a record; an RMF record that is too long is split in RMF's way.

        Raises
        ------
        SmfError
            A value does not fit its field, or a record of another writer is too long.
        """
        identity: dict[str, Any] = {"system": record.system, "written_at": record.written_at}
        if record.subsystem:
            identity["subsystem"] = record.subsystem
        if record.subtype is not None:
            identity |= {"subtype": record.subtype, "ssid": record.work_type}
        encoded = _core.encode_records(
            self.catalogue,
            record.map,
            {name: self._batch(name, rows) for name, rows in record.sections.items() if rows},
            identity=identity,
            lengths=record.lengths,
            connectors=connectors(self.catalogue, record.dictionary_fields) if record.dictionary_fields else None,
            oversize="rmf_parts" if "rmf_product_section" in record.sections else "refuse",
        )
        self._writer.write_all(encoded)
        self.written += len(encoded)

    def write_encoded(self, record: bytes) -> None:
        """Write a record that is encoded already."""
        self._writer.write(record)
        self.written += 1

    def _batch(self, section: str, rows: Sequence[Row]) -> pa.RecordBatch:
        """Rows as columns of the section's types; only the named columns, which all rows of a record share."""
        named = frozenset(name for row in rows for name in row)
        schema = self._schemas.get((section, named))
        if schema is None:
            schema = pa.schema([field for field in self.catalogue.schema(section) if field.name in named])
            if unknown := named - set(schema.names):
                raise KeyError(f"{section} has no field {', '.join(sorted(unknown))}")
            self._schemas[section, named] = schema
        try:
            batch = pa.RecordBatch.from_pylist(list(rows), schema=schema)
        except (pa.ArrowInvalid, OverflowError) as error:
            raise _misfit(section, rows, schema) or error from error
        return batch.append_column("record_no", pa.array([1] * len(rows), pa.uint64()))

    def finish(self, system: str, at: datetime) -> None:
        """Write the trailer, by local time."""
        self._writer.dump_trailer(system, at)


def _misfit(section: str, rows: Sequence[Row], schema: pa.Schema) -> _core.SmfError | None:
    """The first value that its field cannot hold, named as the encoder names the values that it refuses."""
    for number, row in enumerate(rows):
        for name, value in row.items():
            try:
                pa.scalar(value, schema.field(name).type)
            except (pa.ArrowInvalid, OverflowError):
                return _core.SmfError(
                    f"{section}, column {name}, row {number}: {value} does not fit in {schema.field(name).type}"
                )
    return None


@contextmanager
def open_dump(path: Path, system: str, at: datetime) -> Iterator[Dump]:
    """A dump with its header; an existing file is replaced when the block ends without an error.

    Parameters
    ----------
    path
        The file.
    system, at
        Who dumps, and when by local time.

    Raises
    ------
    UsageError
        The file cannot be written.
    """
    with whole_file(path) as unfinished, _core.DumpWriter(unfinished) as writer:
        writer.dump_header(system, at)
        yield Dump(_core.Catalogue(layout_folders()), writer)


def connectors(catalogue: _core.Catalogue, fields: Sequence[str]) -> list[int]:
    """Connectors of the fields in CICS performance records, by their short names in the standard dictionary."""
    numbers = {row["cmodhead"]: row["cmodconn"] for row in _core.standard_dictionary(catalogue).to_pylist()}
    return sorted(numbers[name] for name in fields)
