"""Records of Db2's performance trace (SMF 102) as references, names, delays and losses.

Codes of IFCID 198, as DSNDQW02 explains them: function G getpage, S set write intent, R release; page status H hit,
M miss, N page not read; access S sequential, R random, L list of a getpage (N, D, M of a release: standard,
destructive, most recently used). A getpage with D is taken as dynamic prefetch's, as IFCID 6 has it. Other codes are
counted under a reason: unknown functions are left out, getpages of unknown access are taken as random.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from plexlens import _core
from plexlens.ingest.page_trace.delays import IoDelays, events
from plexlens.ingest.page_trace.named_columns import SCHEMA
from plexlens.ingest.page_trace.names import MOST_MEMBERS, TraceNames
from plexlens.ingest.page_trace.sequence import Sequence

PAGES, READ_STARTS, READ_ENDS, WRITES = "smf102_ifcid198", "smf102_ifcid6", "smf102_ifcid7", "smf102_ifcid10"
DATA_BASES, OPENS, DATA_SETS, HEADERS = "smf102_ifcid105", "smf102_ifcid107", "smf102_ifcid199", "db2_qwhs"

#: The tables of which a trace is made.
TABLES = (PAGES, READ_STARTS, READ_ENDS, WRITES, DATA_BASES, OPENS, DATA_SETS, HEADERS)

#: The columns of these tables that are looked at.
COLUMNS = (
    *("subsystem", "interval_end", "record_no", "qwhsiid", "qwhsiseq"),
    *("qw0198db", "qw0198ob", "qw0198bp", "qw0198fc", "qw0198ps", "qw0198at", "qw0198pn", "qw0198pt", "qw0198ac"),
    *("qw0006db", "qw0006ob", "qw0006bp", "qw0006pn", "qw0006f", "qw0006ac"),
    *("qw0007db", "qw0007ob", "qw0007mm", "qw0007ac", "qw0007np"),
    *("qw0010db", "qw0010ob", "qw0010bp", "qw0010np"),
    *("qw0105db", "qw0105ob", "qw0105dn", "qw0105tn", "qw0107db", "qw0107ob", "qw0107dn", "qw0107tn"),
    *("qw0199db", "qw0199ob", "qw0199bp", "qw0199dn", "qw0199ty", "qw0199sr", "qw0199sa", "qw0199sm"),
    *("qw0199ar", "qw0199ap", "qw0199aa", "qw0199am"),
)

_FUNCTIONS = {"G": "getpage", "S": "set_write", "R": "release"}
_ACCESSES = {"R": "random", "S": "sequential", "L": "list", "D": "dynamic"}
_STATUSES = {"H": "hit", "M": "miss", "N": "no_read"}

#: IFCID 6: how it reads. R is synchronous, the others are prefetch.
_READ_TYPES = {"R": ("read", "random"), "S": ("prefetch", "sequential"), "L": ("prefetch", "list")}
_READ_TYPES |= {"D": ("prefetch", "dynamic")}

_NO_TIME = "records without a time (QWHSSTCK = 0)"


@dataclass
class Db2Records:
    """Results of a pass over Db2 records.

    Attributes
    ----------
    names
        Where names go.
    subsystem
        The Db2 whose records count; empty for all.
    delays
        I/Os of objects.
    sequences
        Sequence numbers of IFCID 198, by subsystem.
    left_out
        Rows that are not in the trace, by reason.
    taken_as
        Rows that are in the trace by an assumption, by what was assumed.
    ifcids
        Records by IFCID.
    references
        References of IFCID 198 given.
    """

    names: TraceNames
    subsystem: str = ""
    delays: IoDelays = field(default_factory=IoDelays)
    sequences: dict[str, Sequence] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    taken_as: Counter[str] = field(default_factory=Counter)
    ifcids: Counter[int] = field(default_factory=Counter)
    references: int = 0

    @property
    def lost_records(self) -> int:
        """Records of IFCID 198 that are missing."""
        return sum(sequence.lost for sequence in self.sequences.values())

    @property
    def lost(self) -> int:
        """References lost: missing records times the average number of references per record."""
        records = sum(sequence.records for sequence in self.sequences.values())
        return round(self.lost_records * self.references / records) if records else 0

    def batch(self, tables: Mapping[str, pa.RecordBatch]) -> pa.RecordBatch | None:
        """The references of a batch of records, in record order; other facts in it are noted.

        Parameters
        ----------
        tables
            Rows by table name, as `plexlens._core.SmfReader` gives them.
        """
        tables = {name: self.own(rows) for name, rows in tables.items()}
        self.note(tables)
        pages = self.references_of(tables[PAGES]) if PAGES in tables else None
        starts = self.reads_of(tables[READ_STARTS]) if READ_STARTS in tables else None
        self.pair(tables.get(READ_STARTS), tables.get(READ_ENDS))
        parts = [part for part in (pages, starts) if part is not None]
        if len(parts) < 2:
            return parts[0].remove_column(0) if parts else None
        both = pa.concat_batches(parts)
        order = np.argsort(both.column(0).to_numpy(), kind="stable")
        return both.take(pa.array(order)).remove_column(0)

    def own(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of the selected Db2."""
        if not self.subsystem:
            return rows
        return rows.filter(pc.fill_null(pc.equal(rows["subsystem"], self.subsystem), False))

    def note(self, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Note facts other than references and read I/Os: names, writes, data sets, sequence numbers."""
        for table, prefix in ((DATA_BASES, "qw0105"), (OPENS, "qw0107")):
            if table in tables:
                self._note_names(tables[table], prefix)
        if DATA_SETS in tables:
            self._note_data_sets(tables[DATA_SETS])
        if WRITES in tables:
            rows = tables[WRITES]
            self.delays.add_writes(rows["qw0010bp"].to_numpy(), _objects(rows, "qw0010"), _int64(rows["qw0010np"]))
        if HEADERS in tables:
            self._note_headers(tables[HEADERS])

    def references_of(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """References of IFCID 198, with the number of their record before the columns of a trace."""
        functions, unknown = _codes(rows["qw0198fc"], _FUNCTIONS, _core.TRACE_FUNCTIONS)
        self._count(self.left_out, "IFCID 198 records with unknown function {}", unknown)
        getpages = functions == _core.TRACE_FUNCTIONS.index("getpage")
        accesses, unknown = _codes(rows["qw0198at"], _ACCESSES, _core.TRACE_ACCESSES, getpages)
        self._count(self.taken_as, "getpages with unknown access {}, counted as random", unknown)
        dynamic = int(np.count_nonzero(getpages & (accesses == _core.TRACE_ACCESSES.index("dynamic"))))
        if dynamic:
            self.taken_as["getpages with access 'D', counted as dynamic"] += dynamic
        accesses = np.where(getpages & (accesses >= 0), accesses, 0).astype(np.uint8)
        statuses = self._statuses(rows["qw0198ps"], getpages)
        partition = rows["qw0198pt"] if "qw0198pt" in rows.schema.names else None
        results = {
            "pool": rows["qw0198bp"].to_numpy().astype(np.uint16),
            "object": _objects(rows, "qw0198"),
            "partition": np.zeros(rows.num_rows, np.uint16)
            if partition is None
            else pc.fill_null(partition, 0).to_numpy().astype(np.uint16),
            "page": rows["qw0198pn"].to_numpy().astype(np.uint64),
            "function": functions.astype(np.uint8),
            "access": accesses,
            "agent": rows["qw0198ac"].to_numpy().astype(np.uint32),
            "status": statuses,
        }
        made_rows = self._made(rows, results, functions >= 0)
        self.references += made_rows.num_rows
        return made_rows

    def reads_of(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Read I/Os of IFCID 6 as references, with the number of their record before the columns of a trace."""
        functions, unknown = _codes(
            rows["qw0006f"], {code: name for code, (name, _) in _READ_TYPES.items()}, _core.TRACE_FUNCTIONS
        )
        self._count(self.left_out, "IFCID 6 records with unknown kind of read {}", unknown)
        accesses, _ = _codes(
            rows["qw0006f"], {code: name for code, (_, name) in _READ_TYPES.items()}, _core.TRACE_ACCESSES
        )
        results = {
            "pool": rows["qw0006bp"].to_numpy().astype(np.uint16),
            "object": _objects(rows, "qw0006"),
            "partition": np.zeros(rows.num_rows, np.uint16),
            "page": rows["qw0006pn"].to_numpy().astype(np.uint64),
            "function": functions.astype(np.uint8),
            "access": accesses.astype(np.uint8),
            "agent": rows["qw0006ac"].to_numpy().astype(np.uint32),
            "status": np.zeros(rows.num_rows, np.uint8),
        }
        return self._made(rows, results, functions >= 0)

    def pair(self, starts: pa.RecordBatch | None, ends: pa.RecordBatch | None) -> None:
        """Pair starts (IFCID 6) and ends (IFCID 7) of read I/Os."""
        self.delays.add(
            None
            if starts is None
            else events(
                self._who(starts, "qw0006ac"),
                _objects(starts, "qw0006"),
                _times(starts),
                pool=starts["qw0006bp"].to_numpy().astype(np.uint16),
                sync=pc.equal(starts["qw0006f"], "R").to_numpy(zero_copy_only=False),
            ),
            None
            if ends is None
            else events(
                self._who(ends, "qw0007ac"),
                _objects(ends, "qw0007"),
                _times(ends),
                pages=_int64(ends["qw0007np"]),
                failed=ends["qw0007mm"].to_numpy() != 0,
            ),
        )

    def _made(self, rows: pa.RecordBatch, results: dict[str, Any], known: npt.NDArray[np.bool_]) -> pa.RecordBatch:
        """A batch of the rows that have a time and known codes."""
        times = rows["interval_end"]
        results = {"time": _times(rows), "member": self._members(rows)} | results
        batch = pa.record_batch(
            [rows["record_no"], *(pa.array(results[name]) for name in SCHEMA.names)],
            schema=pa.schema([pa.field("record_no", pa.uint64()), *SCHEMA]),
        )
        if times.null_count:
            self.left_out[_NO_TIME] += times.null_count
            known = known & ~times.is_null().to_numpy(zero_copy_only=False)
        return batch if known.all() else batch.filter(pa.array(known))

    def _members(self, rows: pa.RecordBatch) -> npt.NDArray[np.uint8]:
        encoded = pc.fill_null(rows["subsystem"], "").dictionary_encode()
        numbers = [self.names.member_of(name) for name in encoded.dictionary.to_pylist()]
        # More than fit are a defect of the data: 32 members is what a group can have.
        table = np.array([number % MOST_MEMBERS for number in numbers], np.uint8)
        members: npt.NDArray[np.uint8] = table[encoded.indices.to_numpy()]
        return members

    def _who(self, rows: pa.RecordBatch, agent: str) -> npt.NDArray[np.uint64]:
        members = self._members(rows).astype(np.uint64) << np.uint64(32)
        who: npt.NDArray[np.uint64] = members | rows[agent].to_numpy().astype(np.uint64)
        return who

    def _statuses(self, column: pa.Array, getpages: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
        """Status codes of getpages; 0 of other references and of unknown statuses."""
        codes, unknown = _codes(column, _STATUSES, _core.TRACE_STATUSES, getpages)
        self._count(self.taken_as, "getpages with unknown page status {}, counted as neither hit nor miss", unknown)
        statuses: npt.NDArray[np.uint8] = np.where(getpages & (codes >= 0), codes, 0).astype(np.uint8)
        return statuses

    def _note_names(self, rows: pa.RecordBatch, prefix: str) -> None:
        databases, names = (rows[f"{prefix}{field}"].to_pylist() for field in ("dn", "tn"))
        for number, database, name in zip(_objects(rows, prefix).tolist(), databases, names, strict=True):
            if database and name:
                self.names.tell(number, f"{database}.{name}")

    def _note_data_sets(self, rows: pa.RecordBatch) -> None:
        for row in rows.to_pylist():
            number = row["qw0199db"] << 16 | row["qw0199ob"]
            kind = {"T": "tablespace", "I": "index"}.get(row["qw0199ty"] or "")
            if kind:
                self.names.tell_kind(number, kind)
            self.delays.add_sums(
                row["qw0199bp"],
                number,
                row["qw0199dn"],
                (row["qw0199sr"], row["qw0199sa"], row["qw0199sm"]),
                (row["qw0199ar"], row["qw0199ap"], row["qw0199aa"], row["qw0199am"]),
            )

    def _note_headers(self, rows: pa.RecordBatch) -> None:
        numbers = rows["qwhsiid"].to_numpy()
        counts = np.bincount(numbers)
        for ifcid in np.flatnonzero(counts).tolist():
            self.ifcids[ifcid] += int(counts[ifcid])
        pages = numbers == 198
        if not pages.any():
            return
        rows = rows.filter(pa.array(pages)) if not pages.all() else rows
        subsystems = pc.fill_null(rows["subsystem"], "").dictionary_encode()
        sequence, times = rows["qwhsiseq"].to_numpy(), _times(rows)
        which = subsystems.indices.to_numpy()
        for number, name in enumerate(subsystems.dictionary.to_pylist()):
            own = which == number
            self.sequences.setdefault(name, Sequence()).add(sequence[own], times[own])

    @staticmethod
    def _count(counts: Counter[str], text: str, unknown: Mapping[str, int]) -> None:
        for code, count in unknown.items():
            counts[text.format(repr(code))] += count


def _codes(
    column: pa.Array,
    meanings: Mapping[str, str],
    codes: list[str],
    among: npt.NDArray[np.bool_] | None = None,
) -> tuple[npt.NDArray[np.int16], dict[str, int]]:
    """Codes of a column of letters, -1 for unknown letters; and the count of each unknown letter (in rows
    ``among``).
    """
    encoded = pc.fill_null(column, "").dictionary_encode()
    letters = encoded.dictionary.to_pylist()
    known = np.array([codes.index(meanings[letter]) if letter in meanings else -1 for letter in letters], np.int16)
    indices = encoded.indices.to_numpy()
    unknown = {}
    if (known < 0).any():
        counts = np.bincount(indices if among is None else indices[among], minlength=len(letters))
        unknown = {letter: int(counts[at]) for at, letter in enumerate(letters) if known[at] < 0 and counts[at]}
    return known[indices], unknown


def _objects(rows: pa.RecordBatch, prefix: str) -> npt.NDArray[np.uint32]:
    """Database id and page set id combined in one number."""
    database, page_set = (rows[f"{prefix}{field}"].to_numpy().astype(np.uint32) for field in ("db", "ob"))
    objects: npt.NDArray[np.uint32] = (database << np.uint32(16)) | page_set
    return objects


def _times(rows: pa.RecordBatch) -> npt.NDArray[np.int64]:
    times: npt.NDArray[np.int64] = pc.fill_null(rows["interval_end"].cast(pa.int64()), 0).to_numpy()
    return times


def _int64(column: pa.Array) -> npt.NDArray[np.int64]:
    values: npt.NDArray[np.int64] = column.to_numpy().astype(np.int64)
    return values


def described(records: Mapping[str, int], ifcids: Mapping[int, int]) -> str:
    """Contents of a dump, in words: records by type and subtype, those of SMF 102 by IFCID if they are read."""
    kinds = [f"{count} of type {kind}" for kind, count in sorted(records.items()) if not re.fullmatch(r"[23]", kind)]
    if not kinds:
        return "no records"
    traced = ", ".join(f"{count} of IFCID {ifcid}" for ifcid, count in sorted(ifcids.items()))
    return (
        "records: "
        + ", ".join(kinds[:8])
        + (" and others" if len(kinds) > 8 else "")
        + (f" (SMF 102: {traced})" if traced else "")
    )
