"""Page-reference traces from any source: trace files, SMF dumps with IFCID 198, a PDB.

>>> rows = "time,pool,object,page", "0,BP1,PAY.TS,7", "25,BP1,PAY.TS,8"
>>> _ = Path("day1.csv").write_text(chr(10).join(rows))
>>> trace = open_trace([Path("day1.csv")])
>>> sum(batch.num_rows for batch in trace.batches())
2
>>> trace.facts.references["getpage"]
2
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from plexlens import _core
from plexlens.errors import NothingUsableError, UsageError
from plexlens.ingest.page_trace import FileTrace, LostRecordsError, TraceError, TraceNames, TraceOrderError
from plexlens.ingest.page_trace.delays import IoDelays, ObjectDelay
from plexlens.ingest.page_trace.order import Disorder, in_order, merged
from plexlens.pools.trace_sources import Piece, form_of_source, overlaps, remedy_of_order
from plexlens.progress import Progress

# Loaded where dumps, databases and files of names are, and where a trace is written: most commands need none of them.
if TYPE_CHECKING:
    from plexlens.ingest.page_trace.dump import DumpTrace
    from plexlens.pools.trace_database import DatabaseTrace

__all__ = [
    "LOST_REFUSED",
    "LOST_WARNED",
    "LostRecordsError",
    "NoReferencesError",
    "ObjectDelay",
    "Trace",
    "TraceError",
    "TraceFacts",
    "TraceNames",
    "TraceOrderError",
    "open_trace",
    "write_trace",
]


class NoReferencesError(NothingUsableError):
    """Sources that were read to their end, and hold no page reference; they may hold statistics."""


#: How to trace what is missing.
_START_TRACE = "-START TRACE(PERFM) CLASS(30) IFCID(198) DEST(SMF)"
_START_TRACE_ALL = "-START TRACE(PERFM) CLASS(30) IFCID(6,7,10,105,107,198) DEST(SMF)"

#: Share of lost references from which a user is warned, and from which a trace is refused.
LOST_WARNED, LOST_REFUSED = 0.02, 0.20


@dataclass
class TraceFacts:
    """Facts from a pass over a trace; complete when the pass has ended.

    Attributes
    ----------
    references
        References by function (`plexlens._core.TRACE_FUNCTIONS`).
    first, last
        Times of the first and last reference in microseconds; None before the first.
    timed
        Whether the trace tells times; else its rows are numbered, and there are no rates.
    seconds
        Time from first to last reference; 0 if it has no times.
    members
        Names of the members that refer to pages, by number; none where one does and has no name.
    lost
        References lost while tracing; for records, the mean number of references of a record is taken.
    lost_share
        Lost references of all that there were.
    left_out
        Records or rows that are not in the trace, by reason.
    statuses
        Getpages that found their page, and those that did not, as Db2 recorded it: ``hit``, ``miss``, ``no_read``.
    agents
        Whether the trace tells threads apart.
    notes
        What a user must know, in sentences.
    complete
        Whether the pass has ended.
    """

    references: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_core.TRACE_FUNCTIONS, 0))
    first: int | None = None
    last: int | None = None
    timed: bool = True
    seconds: float = 0.0
    members: tuple[str, ...] = ()
    lost: int = 0
    lost_share: float = 0.0
    left_out: dict[str, int] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    agents: bool = False
    notes: list[str] = field(default_factory=list)
    complete: bool = False
    _members: set[int] = field(default_factory=set, repr=False)

    @property
    def rows(self) -> int:
        """All references."""
        return sum(self.references.values())

    def name_members(self, names: TraceNames) -> None:
        """Name the members that reference pages."""
        if names.members or len(self._members) > 1:
            self.members = tuple(names.member(number) for number in sorted(self._members))

    def count_left_out(self, piece: DumpTrace | DatabaseTrace) -> None:
        """Count the skipped records of a piece, by reason."""
        records = piece.records
        for name, count in records.left_out.items():
            self.left_out[name] = self.left_out.get(name, 0) + count
        alone = {
            "read I/Os that began but did not end in the trace (IFCID 6 without 7)": records.delays.starts_alone,
            "read I/Os that began before the trace (IFCID 7 without 6)": records.delays.ends_alone,
            "read I/Os that failed": records.delays.failed,
            "IFCID 198 records that repeat a sequence number": sum(
                sequence.repeated for sequence in records.sequences.values()
            ),
        }
        self.notes += [f"{piece.path.name}: {count} {what}." for what, count in records.taken_as.items()]
        self.notes += [f"{piece.path.name}: left out: {count} {what}." for what, count in records.left_out.items()]
        self.notes += [f"{piece.path.name}: {count} {what}." for what, count in alone.items() if count]

    def count(self, batch: pa.RecordBatch) -> None:
        """Count a batch."""
        times = batch.column("time").to_numpy()
        self.first = int(times[0]) if self.first is None else self.first
        self.last = int(times[-1])
        for name, count in zip(_core.TRACE_FUNCTIONS, _counts(batch.column("function")), strict=False):
            self.references[name] += count
        self._members.update(member for member, count in enumerate(_counts(batch.column("member"))) if count)
        # numpy finds the greatest number faster than whether there is one.
        self.agents = self.agents or bool(batch.column("agent").to_numpy().max())
        for name, count in zip(_core.TRACE_STATUSES, _counts(batch.column("status")), strict=False):
            if count and name != _core.TRACE_STATUSES[0]:
                self.statuses[name] = self.statuses.get(name, 0) + count


def _counts(codes: pa.Array) -> list[int]:
    """Occurrences of each code, from 0; in many traces a column is 0 throughout."""
    values = codes.to_numpy()
    return np.bincount(values).tolist() if values.max() else [len(values)]


class Trace:
    """A page-reference trace that can be read repeatedly; memory does not grow with its length.

    Made by `open_trace`.

    Attributes
    ----------
    names : TraceNames
        Names of pools, data sets and members: they grow while batches are read, and are complete after one pass.
    facts : TraceFacts
        What the last pass found; a pass that begins replaces it.
    remarks : list of str
        What a user must know of the use of the trace; the notes of each later pass have it.
    """

    def __init__(
        self, sources: Sequence[Path], names: TraceNames, *, force: bool, layouts: Sequence[Path], subsystem: str
    ) -> None:
        self._sources = tuple(sources)
        self._force = force
        self._layouts = tuple(layouts)
        self._subsystem = subsystem
        self._delays = IoDelays()
        self._met: set[str] = set()
        self.names = names
        self.facts = TraceFacts()
        self.remarks: list[str] = []

    @property
    def sources(self) -> tuple[Path, ...]:
        """The files or folders it is read from."""
        return self._sources

    @property
    def delays(self) -> list[ObjectDelay]:
        """I/O delays of the objects, ordered by synchronous I/O, highest first; complete after a pass.

        From the I/Os traced (IFCID 6, 7 and 10) where there are any, else from IFCID 199; empty where neither is there,
        and for trace files.
        """
        return self._delays.ranked()

    def batches(self, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        """Read the trace from its beginning in time order.

        Pieces are merged by time, so that traces of several members are one trace; pieces without times follow each
        other as given. What is out of order by no more than a batch is put right, and noted.

        Parameters
        ----------
        progress
            Told bytes done, bytes in all and the file.

        Yields
        ------
        pyarrow.RecordBatch
            Columns of `plexlens._core.TRACE_COLUMNS`; none is empty.

        Raises
        ------
        UnreadableInputError
            A source cannot be read or understood.
        TraceOrderError
            A source is out of order by more than a batch.
        LostRecordsError
            At the end of the pass: 20 % of the references or more were lost, and nothing forces the trace on.
        """
        facts = self.facts = TraceFacts()
        self._delays = IoDelays()
        pieces = [self._piece(path) for path in self._sources]
        disorder = Disorder()
        total = sum(piece.size for piece in pieces)
        for batch in self._ordered(pieces, disorder):
            facts.count(batch)
            if progress:
                progress(sum(piece.position for piece in pieces), total, f"reading {self._named(pieces)}")
            yield batch
        self._conclude(facts, pieces, disorder)

    def _piece(self, path: Path) -> Piece:
        """A source at its beginning. I/Os of several dumps share a table, but are paired within each dump."""
        form = form_of_source(path)
        if form == "file":
            return FileTrace(path, self.names)
        delays = IoDelays(by_object=self._delays.by_object, summed=self._delays.summed)
        if form == "pdb":
            from plexlens.pools.trace_database import DatabaseTrace

            return DatabaseTrace(path, self.names, delays, self._subsystem)
        from plexlens.ingest.page_trace.dump import DumpTrace

        return DumpTrace(path, self.names, delays, self._layouts, self._subsystem)

    def _named(self, pieces: Sequence[Piece]) -> str:
        """The name of the piece being read: the last piece begun."""
        begun = [piece.path.name for piece in pieces if piece.position]
        return begun[-1] if begun else pieces[0].path.name

    def _ordered(self, pieces: Sequence[Piece], disorder: Disorder) -> Iterator[pa.RecordBatch]:
        first = pieces[0].batches()
        head = next(first, None)
        if not pieces[0].timed:
            assert head is not None
            yield from self._own(_chain(head, first), pieces[0])
            yield from self._numbered(pieces)
            return
        streams = [self._own(_chain(head, first), pieces[0])]
        streams += [self._own(piece.batches(), piece) for piece in pieces[1:]]
        yield from merged(
            [
                in_order(_with_times(stream, piece), disorder, file=str(piece.path), remedy=remedy_of_order(piece))
                for stream, piece in zip(streams, pieces, strict=True)
            ]
        )

    def _own(self, batches: Iterator[pa.RecordBatch], piece: Piece) -> Iterator[pa.RecordBatch]:
        """References of the selected Db2; records are selected where they are read."""
        if not self._subsystem or not isinstance(piece, FileTrace):
            yield from batches
            return
        for batch in batches:
            members = batch.column("member")
            there = members.unique().to_pylist()
            if there == [0] and not self.names.members:
                # A file without members belongs to the named Db2.
                yield batch
                continue
            wanted = [number for number in there if self._is_own(number)]
            own = batch.filter(pa.array(np.isin(members.to_numpy(), wanted)))
            if own.num_rows:
                yield own

    def _is_own(self, member: int) -> bool:
        name = self.names.member(member)
        self._met.add(name)
        return name == self._subsystem

    def _numbered(self, pieces: Sequence[Piece]) -> Iterator[pa.RecordBatch]:
        """The later pieces of a trace without times, one after another."""
        assert isinstance(pieces[0], FileTrace), "only trace files may lack times"
        rows = pieces[0].rows
        for piece in pieces[1:]:
            if not isinstance(piece, FileTrace):
                raise _mixed(piece.path, "has times, but earlier pieces do not")
            for batch in self._own(piece.starting_at(rows).batches(), piece):
                if piece.timed:
                    raise _mixed(piece.path, "has times, but earlier pieces do not")
                yield batch
            rows += piece.rows

    def _conclude(self, facts: TraceFacts, pieces: Sequence[Piece], disorder: Disorder) -> None:
        facts.timed = all(piece.timed for piece in pieces)
        if facts.timed and facts.first is not None and facts.last is not None:
            facts.seconds = (facts.last - facts.first) / 1e6
        facts.name_members(self.names)
        facts.lost = sum(piece.lost for piece in pieces)
        facts.lost_share = facts.lost / (facts.lost + facts.rows) if facts.lost else 0.0
        traced = [piece for piece in pieces if not isinstance(piece, FileTrace)]
        for piece in traced:
            facts.count_left_out(piece)
        if facts.references["getpage"] == 0:
            self._refuse_without_getpages(facts, traced)
        if not facts.timed:
            facts.notes.append("The trace has no times: its rows are numbered, and there are no rates per second.")
        if disorder.rows:
            facts.notes.append(f"References out of order of time, sorted: {disorder.rows}.")
        if len(facts.members) > 1:
            facts.notes.append(f"{', '.join(facts.members)} are assumed to be members of one data-sharing group.")
        for piece in traced:
            facts.notes += piece.remarks()
        facts.notes += [*overlaps(traced), *self.remarks]
        self._judge_losses(facts)
        facts.complete = True

    def _refuse_without_getpages(self, facts: TraceFacts, traced: Sequence[DumpTrace | DatabaseTrace]) -> None:
        if facts.rows:
            what = f"the trace has no getpage among {facts.rows} references"
            remedy = f"give a trace with getpages: IFCID 198, function G ({_START_TRACE})"
        elif self._met:
            what = f"it has no references of {self._subsystem}"
            remedy = f"give --subsystem with one of {', '.join(sorted(self._met))}"
        else:
            of = f" of {self._subsystem}" if self._subsystem else ""
            contents = "; ".join(piece.contents for piece in traced)
            what = f"it has no page references{of} (SMF 102 IFCID 198), but {contents}"
            left_out = ", ".join(f"{count} {reason}" for reason, count in facts.left_out.items())
            what += f"; left out: {left_out}" if left_out else ""
            remedy = f"record them with {_START_TRACE}; {_START_TRACE_ALL} also records names and I/O delays"
        kind = NothingUsableError if facts.rows or self._met else NoReferencesError
        raise kind(file=self._label(), what=what, remedy=remedy)

    def _judge_losses(self, facts: TraceFacts) -> None:
        if not facts.lost:
            return
        share = f"{facts.lost} of {facts.lost + facts.rows} references ({facts.lost_share:.1%}) were lost while tracing"
        if facts.lost_share >= LOST_REFUSED and not self._force:
            raise LostRecordsError(
                file=self._label(),
                what=f"{share}: the remaining references do not allow a conclusion",
                remedy="record the trace again with larger buffers, a shorter time or fewer pools; --force uses it "
                "anyway",
                lost=facts.lost,
                share=facts.lost_share,
            )
        if facts.lost_share >= LOST_WARNED:
            facts.notes.append(f"{share}: misses are off by about the same percentage.")
        else:
            facts.notes.append(f"{share}.")

    def _label(self) -> str:
        return str(self._sources[0]) if len(self._sources) == 1 else f"{self._sources[0]} and others"


def _chain(head: pa.RecordBatch | None, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    if head is not None:
        yield head
    yield from rest


def _with_times(batches: Iterator[pa.RecordBatch], piece: Piece) -> Iterator[pa.RecordBatch]:
    """The batches of a piece that must have times."""
    for batch in batches:
        if not piece.timed:
            raise _mixed(piece.path, "has no times, but earlier pieces do")
        yield batch


def _mixed(path: Path, what: str) -> TraceError:
    return TraceError(
        file=str(path), what=f"it {what}", remedy="give pieces of the same trace, either all with times or all without"
    )


def open_trace(
    sources: Sequence[Path],
    *,
    names: Path | None = None,
    force: bool = False,
    layouts: Sequence[Path] = (),
    subsystem: str = "",
) -> Trace:
    """Open a trace; only its beginning is read.

    Parameters
    ----------
    sources
        Trace files (CSV, Parquet, Arrow, formats of libCacheSim) and SMF dumps with IFCID 198, in pieces; or one PDB.
    names
        A file of names (`plexlens.ingest.page_trace.name_file`).
    force
        Take a trace that lost too much.
    layouts
        Folders with record layouts of the site, for dumps.
    subsystem
        The Db2 whose references count; empty for all, as members of one group.

    Raises
    ------
    UsageError
        No source, or a PDB among others.
    UnreadableInputError
        A source is not a trace, or the file of names cannot be used.
    """
    if not sources:
        raise UsageError(file="", what="no trace is given", remedy="give trace files, SMF dumps or a PDB")
    forms = [form_of_source(path) for path in sources]
    if "pdb" in forms:
        if len(forms) > 1:
            path = sources[forms.index("pdb")]
            raise UsageError(file=str(path), what="a PDB cannot be combined with other sources", remedy="give it alone")
        from plexlens.pdb import Pdb

        Pdb.open(sources[0])
    known = TraceNames()
    if names is not None:
        from plexlens.ingest.page_trace.name_file import read_names

        read_names(names, known)
    return Trace(sources, known, force=force, layouts=layouts, subsystem=subsystem)


def write_trace(trace: Trace, path: Path, progress: Progress | None = None) -> int:
    """Write a trace to a file that `open_trace` reads: same references, same names.

    A trace that was not read yet is read twice: its names and losses are complete after one pass.

    Parameters
    ----------
    trace
        The references.
    path
        The file; ``.csv``, ``.csv.gz``, ``.parquet`` or ``.arrow``. What is there is replaced when it is complete.
    progress
        Told bytes done, bytes in all and the file.

    Returns
    -------
    int
        References written.

    Raises
    ------
    UsageError
        A suffix that is not known, or a file that the trace is read from.
    PlexlensError
        The trace cannot be read, or the file cannot be written.
    """
    from plexlens.ingest.page_trace.writing import form_of, write_batches

    form_of(path)
    if path.exists() and any(source.exists() and source.samefile(path) for source in trace.sources):
        raise UsageError(
            file=str(path), what="the command reads the trace from this file", remedy="write to another file"
        )
    if not trace.facts.complete:
        for _ in trace.batches(progress):
            pass
    facts = trace.facts
    texts = {"time": facts.timed, "agent": facts.agents, "status": bool(facts.statuses)}
    without = [name for name in texts if not texts[name]]
    return write_batches(path, trace.batches(progress), trace.names, lost=facts.lost, without=without)
