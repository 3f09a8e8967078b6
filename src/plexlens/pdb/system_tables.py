"""Tables that every PDB has: the ingested files, their notes, their damage, and implausible values."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import pyarrow as pa

from plexlens.ingest import plausible
from plexlens.ingest.source import DAMAGE_SCHEMA, TIMESTAMP
from plexlens.pdb.entries import Ingest

SOURCE_SCHEMA = pa.schema(
    [
        pa.field("source_id", pa.string(), metadata={"description": "the ingest"}),
        pa.field("file", pa.string(), metadata={"description": "the file as the user named it"}),
        pa.field("kind", pa.string(), metadata={"description": "the ingest module that read it"}),
        pa.field("sha256", pa.string(), metadata={"description": "hash of the file's bytes"}),
        pa.field("size", pa.uint64(), metadata={"unit": "bytes", "description": "size of the file"}),
        pa.field("started_at", TIMESTAMP, metadata={"description": "when the ingest began"}),
        pa.field("finished_at", TIMESTAMP, metadata={"description": "when the ingest was committed"}),
        pa.field("span_start", pa.string(), metadata={"description": "first time in the source, as recorded"}),
        pa.field("span_end", pa.string(), metadata={"description": "last time in the source, as recorded"}),
        pa.field("records", pa.uint64(), metadata={"description": "records or reports in the source"}),
        pa.field("duplicates", pa.uint64(), metadata={"description": "records left out as duplicates"}),
        pa.field("rows", pa.uint64(), metadata={"description": "rows added in all tables"}),
        pa.field("damage", pa.uint64(), metadata={"description": "rows added in the damage table"}),
    ]
)
"""The table ``source``: a row for each file that was ingested."""

NOTE_SCHEMA = pa.schema(
    [
        pa.field("source_id", pa.string(), metadata={"description": "the ingest"}),
        pa.field("file", pa.string(), metadata={"description": "the file as the user named it"}),
        pa.field("note", pa.string(), metadata={"description": "what was counted while reading"}),
        pa.field("section", pa.string(), metadata={"description": "layout or report concerned"}),
        pa.field("field", pa.string(), metadata={"description": "field concerned; null if none"}),
        pa.field("severity", pa.string(), metadata={"description": "info or error"}),
        pa.field("count", pa.uint64(), metadata={"description": "how often"}),
        pa.field(
            "max_bytes",
            pa.uint64(),
            metadata={"unit": "bytes", "description": "largest difference of a section's length; 0 otherwise"},
        ),
    ]
)
"""The table ``note``: what an ingest met that is not damage, such as sections longer than their layout."""

SYSTEM_SCHEMAS: dict[str, pa.Schema] = {
    "source": SOURCE_SCHEMA,
    "note": NOTE_SCHEMA,
    "damage": DAMAGE_SCHEMA,
    plausible.TABLE: plausible.SCHEMA,
}
"""Tables that every PDB has, with rows or without."""


def source_table(ingests: tuple[Ingest, ...]) -> pa.Table:
    """The table ``source``."""
    return pa.Table.from_pylist(
        [
            {
                "source_id": ingest.id,
                "file": ingest.file,
                "kind": ingest.kind,
                "sha256": ingest.sha256,
                "size": ingest.size,
                "started_at": datetime.fromisoformat(ingest.started_at),
                "finished_at": datetime.fromisoformat(ingest.finished_at),
                "span_start": ingest.span[0],
                "span_end": ingest.span[1],
                "records": sum(ingest.records.values()),
                "duplicates": ingest.duplicates,
                "rows": sum(ingest.rows.values()),
                "damage": sum(ingest.damage.values()),
            }
            for ingest in ingests
        ],
        schema=SOURCE_SCHEMA,
    )


def note_table(ingests: tuple[Ingest, ...]) -> pa.Table:
    """The table ``note``."""
    return pa.Table.from_pylist(
        [{"source_id": ingest.id, "file": ingest.file, **asdict(note)} for ingest in ingests for note in ingest.notes],
        schema=NOTE_SCHEMA,
    )
