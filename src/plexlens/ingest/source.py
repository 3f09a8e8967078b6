"""Definitions shared by all ingest modules: the common columns, damage rows, errors, and the reading itself.

An ingest module turns one source (a dump, an XML file) into tables of Arrow batches. It offers

``sniff(head, name) -> bool``
    whether the source looks like this module's kind, from its first bytes and its name;
``read(path, *, source_id, ...) -> Reading``
    the source as a stream of ``(table, batch)`` pairs, and after that its summary and its damage.

The PDB writes what a `Reading` yields without knowing which module it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import pyarrow as pa

from plexlens.errors import UnreadableInputError
from plexlens.ingest.compression import USUAL, Expansion

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

TIMESTAMP: pa.DataType = pa.timestamp("us", tz="UTC")
"""Type of every point in time in the PDB."""

COMMON_FIELDS: tuple[pa.Field, ...] = (
    pa.field("system", pa.string(), metadata={"description": "system (SMF) id"}),
    pa.field("sysplex", pa.string(), metadata={"description": "sysplex name; null where the source has none"}),
    pa.field(
        "subsystem",
        pa.string(),
        metadata={"description": "queue manager, Db2 subsystem, CICS applid; null otherwise"},
    ),
    pa.field("interval_start", TIMESTAMP, metadata={"description": "start of the interval, UTC"}),
    pa.field("interval_end", TIMESTAMP, metadata={"description": "end of the interval, UTC"}),
    pa.field("utc_offset", pa.float64(), metadata={"unit": "seconds", "description": "local minus UTC"}),
    pa.field("source_id", pa.string(), metadata={"description": "the ingest that brought the row"}),
    pa.field("record_no", pa.uint64(), metadata={"description": "number of the record in its source, from 1"}),
    pa.field("section_no", pa.uint32(), metadata={"description": "number of the entry in its record, from 1"}),
)
"""The columns before a raw table's own, in order; the same in every raw table."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options passed to a module together with the file.

    Attributes
    ----------
    source_id : str
        What the rows bear in ``source_id``.
    seen : callable
        For a day, hashes (64 bits, ascending) of the records written on it that are held already; None asks for
        records without a date.
    layouts : tuple of Path
        Folders with record layouts of the site.
    codepage : str
        EBCDIC code page of text in dumps: ``037`` or ``1047``.
    leap_seconds : bool
        Whether the clocks of the systems run ahead of UTC by the leap seconds.
    expansion : Expansion
        How far a compressed file may expand.
    threads : int
        Threads that decode a dump; 0 takes as many as there are cores.
    """

    source_id: str
    seen: Callable[[date | None], npt.NDArray[np.uint64]]
    layouts: tuple[Path, ...] = ()
    codepage: str = "1047"
    leap_seconds: bool = False
    expansion: Expansion = USUAL
    threads: int = 0


class Severity(StrEnum):
    """Effect of damage on the reader of a report."""

    INFO = "info"
    """For information; every value was read."""
    ERROR = "error"
    """A part could not be interpreted; the values around it were read."""
    DATA_LOSS = "data loss"
    """Values of the source are missing from the tables."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A defect of a source, and its remedy.

    Attributes
    ----------
    source_id : str
        The ingest that met it.
    file : str
        The file as the user named it.
    record_no : int or None
        Number of the record (SMF record, report in an XML file) from 1; None where no record can be named.
    offset : int or None
        Byte offset in the source; None where the reader knows only a line, which `detail` then names.
    reason : str
        Short fixed name by which damage is counted: ``truncated record``, ``not well-formed``.
    severity : Severity
        See `Severity`.
    detail : str
        What was found and what was expected, with line, field or length.
    remedy : str
        What the user can do.
    """

    source_id: str
    file: str
    record_no: int | None
    offset: int | None
    reason: str
    severity: Severity
    detail: str
    remedy: str

    def __str__(self) -> str:
        """The row as a line of a message."""
        where = [self.file]
        if self.record_no is not None:
            where.append(f"record {self.record_no}")
        if self.offset is not None:
            where.append(f"byte {self.offset}")
        return f"{', '.join(where)}: {self.reason}: {self.detail}; {self.remedy}"


DAMAGE_SCHEMA: pa.Schema = pa.schema(
    [
        pa.field("source_id", pa.string(), nullable=False),
        pa.field("file", pa.string(), nullable=False),
        pa.field("record_no", pa.uint64()),
        pa.field("offset", pa.uint64(), metadata={"unit": "bytes"}),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("severity", pa.string(), nullable=False),
        pa.field("detail", pa.string(), nullable=False),
        pa.field("remedy", pa.string(), nullable=False),
    ]
)
"""Schema of the damage table; the columns are the attributes of `Damage`."""


def damage_batch(rows: Iterable[Damage]) -> pa.RecordBatch:
    """Damage rows as an Arrow batch of `DAMAGE_SCHEMA`, in the order given."""
    listed = list(rows)
    return pa.RecordBatch.from_arrays(
        [pa.array([getattr(row, field.name) for row in listed], type=field.type) for field in DAMAGE_SCHEMA],
        schema=DAMAGE_SCHEMA,
    )


class SourceError(UnreadableInputError):
    """A source that cannot be read at all: problem, location and remedy.

    Damage that leaves something to read is a `Damage` row instead.
    """


@runtime_checkable
class Reading(Protocol):
    """A source being read.

    Iterate it once, to the end; `summary` and `damage` are complete only after that. The batches of one
    table all have the same schema within one reading. Iteration raises `SourceError` (or a subclass) when
    the source cannot be read at all, and nothing else on bad input.
    """

    @property
    def summary(self) -> dict[str, Any]:
        """Counts and time span of the source; JSON types only, with keys fixed by each module."""

    @property
    def damage(self) -> list[Damage]:
        """Damage to the source, in the order met."""

    def __iter__(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Pairs of table name and batch."""
