"""Page-reference traces handed over: members and objects that have names get others, and times move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from plexlens.hand_over.account import Account
from plexlens.hand_over.translation import Translation
from plexlens.ingest.page_trace import TraceNames
from plexlens.ingest.page_trace.writing import form_of, write_batches
from plexlens.pools.trace import Trace, open_trace

_DAY = 86_400_000_000

#: Microseconds from which a time is one since 1970 (3 March 1973); smaller ones are of any beginning and stay.
_ABSOLUTE = 10**14
_ROWS = 1 << 16


class TraceCopier:
    """Copies trace files under other names."""

    def survey(self, path: Path) -> dict[str, Any]:
        """The names of a trace (``names``), and the trace (``found``).

        Raises
        ------
        PlexlensError
            The trace cannot be read, or has a column that a trace does not have.
        """
        trace = open_trace([path], force=True)
        objects: set[int] = set()
        for batch in trace.batches():
            objects.update(batch["object"].unique().to_pylist())
        named = sorted(number for number in objects if trace.names.has_name(number))
        names = {*trace.names.members, *(trace.names.page_set(number) for number in named)}
        return {"names": sorted(names), "found": (trace, named), "unknown": {}}

    def copy(self, to: Path, translation: Translation, survey: dict[str, Any]) -> Account:
        """Write a trace anew, in the form that the ending of the file names.

        Raises
        ------
        UsageError
            The ending is not that of a form of trace.
        """
        trace, named = survey["found"]
        form_of(to)
        account = Account(str(trace.sources[0]), str(to), "page-reference trace")
        names = TraceNames()
        for member in trace.names.members:
            names.member_of(translation(member))
        for number in named:
            names.tell(number, translation(trace.names.page_set(number)), kind=trace.names.kind(number))
        facts = trace.facts
        columns = {"time": facts.timed, "agent": facts.agents, "status": bool(facts.statuses)}
        without = [name for name, is_there in columns.items() if not is_there]
        moved = (_moved(batch, translation.key.days) for batch in trace.batches())
        rows = account.records = write_batches(to, moved, names, lost=facts.lost, without=without)
        for name in ("pool", "partition", "page", "function", "access", *(set(columns) - set(without) - {"time"})):
            account.fields["page trace", name, "kept"] = rows
        for name, is_named in (("object", bool(named)), ("member", bool(trace.names.members))):
            account.fields["page trace", name, "replaced where it is a name" if is_named else "kept"] = rows
        if facts.timed:
            account.fields["page trace", "time", "moved" if _is_absolute(facts.first) else "kept"] = rows
        return account


def _is_absolute(first: int | None) -> bool:
    return first is not None and first >= _ABSOLUTE


def _moved(batch: pa.RecordBatch, days: int) -> pa.RecordBatch:
    time = batch["time"]
    moved = pc.if_else(pc.greater_equal(time, _ABSOLUTE), pc.add(time, days * _DAY), time)
    return batch.set_column(batch.schema.get_field_index("time"), batch.schema.field("time"), moved)


@dataclass(frozen=True)
class TracesCompared:
    """Two traces compared reference by reference.

    Attributes
    ----------
    references : int
        References of the first.
    first : str
        The first difference, a sentence; empty if there is none.
    """

    references: int
    first: str = ""


def same_references(first: Path, other: Path, translation: Translation) -> TracesCompared:
    """Compare two traces: every column of every reference, names and times by the key.

    Everything that `plexlens pools` computes follows from the references and the names alone.

    Raises
    ------
    PlexlensError
        A trace cannot be read.
    """
    traces = [open_trace([path], force=True) for path in (first, other)]
    rows = 0
    for part, copy in zip(*(_even(trace) for trace in traces), strict=False):
        wanted = pa.Table.from_batches([_moved(batch, translation.key.days) for batch in part.to_batches()])
        if part.num_rows != copy.num_rows:
            break
        for name in wanted.column_names:
            if not wanted.column(name).equals(copy.column(name)):
                differs = pc.index(pc.not_equal(wanted.column(name), copy.column(name)), value=True).as_py()
                values = wanted.column(name)[differs].as_py(), copy.column(name)[differs].as_py()
                return TracesCompared(
                    rows, f"reference {rows + differs + 1:,}, column {name}: {values[0]} against {values[1]}"
                )
        rows += part.num_rows
    counts = [sum(trace.facts.references.values()) for trace in traces]
    if counts[0] != counts[1] or traces[0].facts.lost != traces[1].facts.lost:
        return TracesCompared(rows, f"{counts[0]:,} references against {counts[1]:,}, or other losses")
    return TracesCompared(rows, _names_differ(traces[0], traces[1], translation))


def _names_differ(first: Trace, other: Trace, translation: Translation) -> str:
    members = tuple(map(translation, first.names.members))
    if members != other.names.members:
        return f"members {', '.join(members)} against {', '.join(other.names.members)}"
    objects: set[int] = set()
    for batch in first.batches():
        objects.update(batch["object"].unique().to_pylist())
    for number in sorted(objects):
        names = [trace.names.page_set(number) for trace in (first, other)]
        wanted = translation(names[0]) if first.names.has_name(number) else names[0]
        if wanted != names[1] or first.names.kind(number) != other.names.kind(number):
            return f"object {wanted} against {names[1]}"
    return ""


def _even(trace: Trace) -> Iterator[pa.Table]:
    """The references in parts of the same number of rows, whatever the file's own parts; the last may be shorter."""
    kept: list[pa.RecordBatch] = []
    rows = 0
    for batch in trace.batches():
        start = 0
        while start < batch.num_rows:
            part = batch.slice(start, _ROWS - rows)
            kept.append(part)
            start, rows = start + part.num_rows, rows + part.num_rows
            if rows == _ROWS:
                yield pa.Table.from_batches(kept)
                kept, rows = [], 0
    if kept:
        yield pa.Table.from_batches(kept)
