"""SMF dumps with Db2's performance trace (SMF 102 IFCID 198) as page-reference traces, streamed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens import _core
from plexlens.ingest.page_trace.db2 import COLUMNS, PAGES, TABLES, Db2Records, described
from plexlens.ingest.page_trace.delays import IoDelays
from plexlens.ingest.page_trace.error import TraceError
from plexlens.ingest.page_trace.names import TraceNames
from plexlens.ingest.smf import smf_error
from plexlens.layouts_path import layout_folders

#: Bytes of records decoded at a time: tens of thousands of references, several batches at once.
_BATCH_BYTES = 4 << 20


@dataclass
class DumpTrace:
    """An SMF dump being read.

    Parameters
    ----------
    path
        The dump.
    names
        Where names of objects and members go.
    layouts
        Folders with layouts of the site, which replace those of the same name.
    delays
        Where delays of I/Os go.
    subsystem
        The Db2 whose records count; empty for all.

    Attributes
    ----------
    records : Db2Records
        What the records said, besides references.
    position : int
        Bytes of the file read.
    """

    path: Path
    names: TraceNames
    delays: IoDelays
    layouts: Sequence[Path] = ()
    subsystem: str = ""
    position: int = 0
    timed: bool = True
    records: Db2Records = field(init=False)
    _summary: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.records = Db2Records(self.names, self.subsystem, self.delays)

    @property
    def lost(self) -> int:
        """References lost while tracing."""
        return self.records.lost

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The references in dump order.

        Raises
        ------
        PlexlensError
            The file is not an SMF dump or cannot be read.
        TraceError
            Most records make no sense.
        """
        try:
            reader = _core.SmfReader(
                self.path,
                _core.Catalogue(layout_folders(self.layouts)),
                source_id="trace",
                tables=list(TABLES),
                columns=list(COLUMNS),
                # A hash of every record would grow with the trace; records that are there twice show in their numbers.
                once=False,
                batch_bytes=_BATCH_BYTES,
            )
            for decoded in reader:
                self.position = decoded.bytes_read
                batch = self.records.batch(decoded.tables)
                if PAGES in decoded.tables:
                    self._make_sense()
                if batch is not None and batch.num_rows:
                    yield batch
            self._summary = reader.summary()
        except _core.SmfError as error:
            raise smf_error(self.path, error) from error

    def _make_sense(self) -> None:
        """Refuse records if most have codes that Db2 does not write: the layout does not fit them."""
        odd = sum(count for reason, count in self.records.left_out.items() if "unknown function" in reason)
        if odd > self.records.references:
            raise TraceError(
                file=str(self.path),
                what=f"{odd} of {odd + self.records.references} records of IFCID 198 have unknown function codes, so "
                "the layout's offsets do not fit",
                remedy="import the exact layout from DSNDQW02 (plexlens layouts import), and give it with --layouts",
            )

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.path.stat().st_size

    @property
    def contents(self) -> str:
        """Contents of the dump, in words."""
        return described(self._summary.get("records", {}), self.records.ifcids)

    def remarks(self) -> list[str]:
        """Remarks for the user: damage in the dump, and records lost by SMF itself."""
        texts = []
        damage = self._summary.get("damage", [])
        for reason, count in sorted(self._summary.get("damage_counts", {}).items()):
            first = next((row for row in damage if row["reason"] == reason), None)
            where = f", first at byte {first['offset']}: {first['detail']}; {first['remedy']}" if first else ""
            times = f"{count:,} {'time' if count == 1 else 'times'}"
            texts.append(f"damage in {self.path.name}: {reason}, {times}{where}.")
        lost = self._summary.get("records", {}).get("7", 0)
        if lost:
            texts.append(f"loss in {self.path.name}: {lost:,} records of type 7 report that SMF lost data.")
        return texts
