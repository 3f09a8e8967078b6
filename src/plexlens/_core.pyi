"""The compiled core: reading and writing SMF records by layouts.

Tables cross the boundary as Arrow data without copying. Every error is a `SmfError` whose text says what is wrong,
where, and what to do.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Any, Self, final

import pyarrow as pa

__version__: str

class SmfError(ValueError):
    """Input that cannot be used.

    Attributes
    ----------
    reason : str
        Fixed name of the fault: ``layout``, ``unreadable``, ``empty``, ``no_records``, ``text_mode_transfer``, ...
    file : str or None
        File as it was named.
    record_no : int or None
        Record in the file, from 1.
    offset : int or None
        Byte offset in the file.
    line : int or None
        Line of a layout file.
    field : str or None
        Field or column.
    remedy : str or None
        What to do.
    """

    reason: str
    file: str | None
    record_no: int | None
    offset: int | None
    line: int | None
    field: str | None
    remedy: str | None

@final
class Catalogue:
    """Section layouts and record maps.

    Parameters
    ----------
    folders
        Folders of section files (``*.csv``), with record maps in their ``records`` folders. A file of a later
        folder replaces the file of the same name of an earlier one.

    Raises
    ------
    SmfError
        ``reason`` is ``layout``; ``file``, ``line`` and ``field`` say where.
    """

    def __new__(cls, folders: Sequence[str | PathLike[str]]) -> Self: ...
    def tables(self) -> list[str]:
        """Names of the tables that decoding can fill, ``smf_record`` among them."""

    def sections(self) -> list[str]:
        """Names of all section layouts, header sections among them."""

    def describe(self, table: str) -> list[dict[str, Any]]:
        """Fields of a section, in file order.

        Each has ``field``, ``column``, ``offset`` (None where a dictionary in the data places it), ``length``,
        ``format``, ``recorded_unit``, ``unit``, ``arrow_type``, ``description``, ``since``, ``source``,
        ``confidence``.
        """

    def records(self) -> list[dict[str, Any]]:
        """Record maps.

        Each has ``record``, ``record_type``, ``subtype``, ``ifcid``, ``class``, ``identity``, and ``sections``: a
        list with ``layout``, ``triplet``, ``rule``, ``when`` (which entries it is for; None for all), ``table``
        (which it fills; None for headers), ``description``, ``source``, ``confidence``.
        """

    def schema(self, table: str) -> pa.Schema:
        """Arrow schema of a table.

        The metadata of a section's fields are ``unit``, ``recorded_unit``, ``description``, ``source``,
        ``confidence`` and ``since``.
        """

    def decode_records(
        self, section: str, data: bytes, lengths: Sequence[int], *, codepage: str = "1047", leap_seconds: bool = False
    ) -> tuple[pa.RecordBatch, list[dict[str, Any]]]:
        """Fields of records that are one section each, and notes on them, as in `SmfReader.summary`.

        Parameters
        ----------
        section
            The layout.
        data
            The records, one behind the other.
        lengths
            Bytes of each record.
        codepage, leap_seconds
            As of `SmfReader`.

        Raises
        ------
        SmfError
            There is no such layout, or no such code page.
        ValueError
            The lengths do not add up to the data.
        """

@final
class DecodedBatch:
    """The columns of one batch of records.

    Attributes
    ----------
    tables : dict of str to pyarrow.RecordBatch
        By table name; tables without rows are left out. Rows are in the order of the dump.
    records : int
        Records in the batch, duplicates left out.
    bytes_read : int
        Bytes read from the file (before decompression) when the batch was complete.
    """

    @property
    def tables(self) -> dict[str, pa.RecordBatch]: ...
    @property
    def records(self) -> int: ...
    @property
    def bytes_read(self) -> int: ...

@final
class SmfReader:
    """Reads and decodes one dump: an iterator of `DecodedBatch`, in file order, in flat memory.

    Parameters
    ----------
    path
        The dump: records after RDW, blocks after BDW, gzip or zstd; told by looking.
    catalogue
        The layouts.
    source_id
        Written into the ``source_id`` column.
    codepage
        ``037`` or ``1047``.
    leap_seconds
        Whether TOD clock values run ahead of UTC by the leap seconds, which reading then takes off.
    tables
        Tables to fill; None for all.
    columns
        Columns to fill, of whichever table has them; None for all.
    threads
        Decoding threads; 0 for as many as there are processors.
    batch_bytes
        About how many bytes of records a batch holds; 8 MiB by default, since a batch of a hundred tables costs a
        hundred tables' worth of handling whatever its size.
    form
        ``rdw``, ``bdw`` or ``no_descriptors``; None tells it from the file.
    seen
        Asked once for each day (days since 1970 of the date in record headers) for the hashes already held: any
        array of unsigned 64-bit integers. Records with one of them, and records that came before in this file, are
        left out and counted as duplicates; dump headers and trailers never are.
    once
        Whether records are left out as duplicates at all. It takes memory for each record of a day; without, memory is
        flat whatever the dump.
    max_expansion
        How many times its own size a compressed file may expand to, once that is more than 256 MiB; 1,000 by default.
    max_expanded_bytes
        How many bytes a compressed file may expand to; 1 TiB by default.
    split
        The part of the file to read, as `SplitPlanner.plan` gave it for the same tables, with its form; None for all.

    Raises
    ------
    SmfError
        The file cannot be read, or is no SMF dump; on iteration, when it cannot be read any further.
    """

    def __new__(
        cls,
        path: str | PathLike[str],
        catalogue: Catalogue,
        *,
        source_id: str,
        codepage: str = "1047",
        leap_seconds: bool = False,
        tables: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        threads: int = 0,
        batch_bytes: int = ...,
        form: str | None = None,
        seen: Callable[[int], Any] | None = None,
        once: bool = True,
        max_expansion: int | None = None,
        max_expanded_bytes: int | None = None,
        split: Mapping[str, Any] | None = None,
    ) -> Self: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> DecodedBatch: ...
    def summary(self) -> dict[str, Any]:
        """Counts, damage and notes so far; JSON types only; complete after the last batch.

        ``complete``; once complete ``file``, ``form``, ``compression``, ``file_bytes``, ``bytes``, ``segments``,
        ``spanned_records``, ``joined_records``, ``joined_parts``, ``dump_headers``, ``dump_trailers``,
        ``skipped_bytes``; ``records`` (counts by ``type.subtype``, duplicates included), ``span`` (first and last
        local time stamp, ISO 8601), ``duplicates``, ``forgotten_days`` (days whose duplicates within the file may
        have been missed), ``damage`` (``record_no``, ``offset``, ``reason``, ``severity``, ``section``,
        ``skipped_bytes``, ``detail``, ``remedy``; the first ten thousand of each kind), ``damage_counts`` (all, by
        reason), ``notes`` (``kind``, ``severity``, ``section``, ``field``, ``count``, ``max_bytes``).
        """

@final
class SplitPlanner:
    """Plans how dumps are read in parts, dump after dump: a record in several of them belongs to the first.

    Parameters
    ----------
    catalogue
        The layouts.
    split_bytes
        About how many bytes a part has.
    tables
        The tables that will be read; None for all.
    codepage
        ``037`` or ``1047``.
    """

    def __new__(
        cls,
        catalogue: Catalogue,
        *,
        split_bytes: int,
        tables: Sequence[str] | None = None,
        codepage: str = "1047",
    ) -> Self: ...
    def plan(self, path: str | PathLike[str]) -> list[dict[str, Any]]:
        """The parts of a dump in its order, each for ``SmfReader(split=...)``.

        ``part`` (form; offset, record number and end of the block where it begins; None for the whole file), ``until``
        (offset of its end; None for that of the file), ``waiting`` (parts of records that RMF split, from before),
        ``came_before`` (hashes of its records that came before, eight bytes each), ``dictionaries`` (records) and
        ``zones`` (of CICS regions and of systems).

        Raises
        ------
        SmfError
            The file cannot be read, or is no SMF dump.
        """

def scan(path: str | PathLike[str], *, form: str | None = None, batch_bytes: int = ...) -> dict[str, Any]:
    """Inventory of a dump: the dictionary of `SmfReader.summary`, with nothing decoded and no duplicates looked for.

    Raises
    ------
    SmfError
        The file cannot be read, or is no SMF dump.
    """

def encode_record(
    catalogue: Catalogue,
    record: str,
    identity: Mapping[str, Any] | None,
    sections: Mapping[str, pa.RecordBatch | pa.Table],
    *,
    codepage: str = "1047",
    leap_seconds: bool = False,
    lengths: Mapping[str, int] | None = None,
    dictionary: pa.RecordBatch | pa.Table | None = None,
    connectors: Sequence[int] | None = None,
) -> bytes:
    """One record from the rows of its sections: the inverse of decoding it.

    Parameters
    ----------
    catalogue
        The layouts.
    record
        Name of the record map, such as ``smf74_4``.
    identity
        What the record says of itself: ``system``, ``ssid``, ``subtype``, ``sysplex``, ``subsystem``,
        ``written_at`` (local, naive datetime; cut to 0.01 s), ``interval_start``, ``interval_end`` (aware
        datetimes), ``utc_offset`` (seconds or timedelta). What is left out comes from the key columns of the
        sections' first rows; ``written_at`` then from the end of the interval. It fills header and product section
        where their rows have no value of their own.
    sections
        Rows by section name, in base units, any of the section's columns; header sections with one row. Missing
        columns and nulls are written as blanks (text) or zeros. Numbers between two that a field can hold are
        rounded to the nearest. Key columns (``record_no`` and so on) may be there. Lengths, triplets and header
        chains are computed.
    codepage
        ``037`` or ``1047``.
    leap_seconds
        Whether TOD clock values are written ahead of UTC by the leap seconds.
    lengths
        Bytes of a section's entries, where they differ from the layout: shorter leaves fields out, longer pads. Where
        a record map has layouts for entries of other lengths, it picks one of them.
    dictionary
        Rows of ``smf110_1_dictionary`` by which CICS performance records are written; by default those of
        `standard_dictionary`.
    connectors
        Which fields of the dictionary CICS performance records hold, in order; by default all.

    Returns
    -------
    bytes
        The record with its descriptor word.

    Raises
    ------
    SmfError
        ``reason`` is ``encode``; the text names table, column, row, value and limit.
    """

@final
class EncodedRecords:
    """Records in order: a sequence of bytes, each record with its descriptor word."""

    def __len__(self) -> int: ...
    def __getitem__(self, number: int) -> bytes: ...

def encode_records(
    catalogue: Catalogue,
    record: str,
    sections: Mapping[str, pa.RecordBatch | pa.Table],
    *,
    identity: Mapping[str, Any] | None = None,
    codepage: str = "1047",
    leap_seconds: bool = False,
    lengths: Mapping[str, int] | None = None,
    dictionary: pa.RecordBatch | pa.Table | None = None,
    connectors: Sequence[int] | None = None,
    oversize: str = "refuse",
) -> EncodedRecords:
    """Many records of one kind from tables with a ``record_no`` column.

    Rows of one number make one record; the numbers must not go back within a table. Identity comes from the key
    columns of each record's first rows (a table ``smf_record`` may bring ``system``, ``ssid``, ``written_at``), so
    that tables of one decoded dump can be written again; ``identity`` overrides it for all records.

    Parameters
    ----------
    oversize
        What becomes of a record longer than the 32756 bytes that SMF takes: ``refuse``, ``spread`` (several
        records, each entry in one of them) or ``rmf_parts`` (split as RMF does, with a reassembly area).
    catalogue, record, sections, identity, codepage, leap_seconds, lengths, dictionary, connectors
        As for `encode_record`.

    Raises
    ------
    SmfError
        ``reason`` is ``encode``.
    """

def standard_dictionary(catalogue: Catalogue, table: str = "smf110_1_performance") -> pa.RecordBatch:
    """A dictionary of all fields of a section that dictionaries place: rows of ``smf110_1_dictionary``.

    Raises
    ------
    SmfError
        There is no such section.
    """

@final
class DumpWriter:
    """Writes records to a dump file; a context manager.

    Parameters
    ----------
    path
        The file; what is there is replaced.
    form
        ``rdw`` (records after descriptor words), ``bdw`` (blocks of them), or ``no_descriptors``.
    block
        Longest block in bytes, for ``bdw``.
    segment
        Longest segment in bytes: longer records are written as spanned segments. None spans only what does not fit
        the form otherwise.

    Raises
    ------
    SmfError
        Lengths that no data set has, or a record that is none.
    OSError
        The file cannot be written.
    """

    def __new__(
        cls, path: str | PathLike[str], *, form: str = "rdw", block: int = 32760, segment: int | None = None
    ) -> Self: ...
    def write(self, record: bytes) -> None:
        """Write one record, with its descriptor word."""

    def write_all(self, records: EncodedRecords) -> None:
        """Write records in order."""

    def dump_header(self, system: str, written_at: datetime) -> None:
        """Write the type 2 record that opens a dump; the time is local and naive."""

    def dump_trailer(self, system: str, written_at: datetime) -> None:
        """Write the type 3 record that closes a dump."""

    @property
    def records(self) -> int:
        """Records written so far."""

    def close(self) -> None:
        """Write what is left and close the file."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

TRACE_COLUMNS: list[tuple[str, str]]
"""Columns of a trace batch and their Arrow types; times in microseconds, no nulls. The last two may be missing: then
all references are by one agent, and nothing is known of what became of them."""
TRACE_FUNCTIONS: list[str]
"""Meanings of the function codes 0, 1, ..."""
TRACE_ACCESSES: list[str]
"""Meanings of the access codes 0, 1, ..."""
TRACE_STATUSES: list[str]
"""Meanings of the status codes 0, 1, ...: what became of a getpage, as the trace records it."""

class PoolError(ValueError):
    """A trace or a pool's settings that cannot be used: its text says what is wrong and what to do."""

@final
class PoolCurves:
    """LRU read misses of every size of every pool of a trace, from one pass over its getpages.

    Parameters
    ----------
    sample
        Share of the pages to look at, above 0 and at most 1; None looks at all and is exact.
    placement
        Pools of data sets (object, partition) that are to be looked at elsewhere than the trace has them.
    share_sizes
        Pool sizes at which shares of data sets are exact, without a sample; None keeps every size up to 64, then 64 to
        each doubling.

    Raises
    ------
    PoolError
        An impossible share.
    """

    def __new__(
        cls,
        *,
        sample: float | None = None,
        placement: Mapping[tuple[int, int], int] | None = None,
        share_sizes: Sequence[int] | None = None,
    ) -> Self: ...
    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next stretch of the trace; where it is cut changes nothing.

        Raises
        ------
        PoolError
            A column of `TRACE_COLUMNS` is missing, of another type, or has nulls; an unknown code.
        """

    @property
    def rate(self) -> float:
        """The sampling rate; 1 where all pages are looked at."""

    def pools(self) -> list[int]:
        """Pool ids, rising."""

    def events(self, pool: int) -> dict[str, int]:
        """Events of a pool by function, sampled or not.

        Raises
        ------
        KeyError
            The trace has no such pool; so do the methods below.
        """

    def distinct_pages(self, pool: int) -> float:
        """Pages referenced; estimated from a sample."""

    def enough(self, pool: int) -> int:
        """The smallest number of buffers at which only first references miss."""

    def read_misses(self, pool: int, sizes: Sequence[int]) -> list[tuple[float, float]]:
        """Misses of an LRU pool of each size (buffers), with their standard error: 0 where they are exact."""

    def shares(self, pool: int, sizes: Sequence[float]) -> list[tuple[int, int, float, float, list[float]]]:
        """What each data set contributes.

        Returns
        -------
        list
            Object, partition, getpages, distinct pages, and its misses at these sizes (buffers) of the pool. Shares
            are kept at sizes 1.6 % apart or less, or at ``share_sizes``; between them misses are interpolated.
        """

    def priced_misses(self, pool: int, prices: Mapping[int, float]) -> pa.RecordBatch:
        """Misses of all data sets together, each at the price of its object, by size of the pool.

        Returns
        -------
        pyarrow.RecordBatch
            Columns ``size`` and ``cost`` (float64), a row for each size at which shares are kept, rising, up to the
            size after which misses fall no further. Of a sample both count what it has seen.

        Raises
        ------
        KeyError
            An object with getpages has no price.
        """

@final
class DataSetCurves:
    """LRU curve of each data set of a trace as if it were in a pool of its own, from one pass over its getpages.

    Parameters
    ----------
    sample
        Share of the pages to look at, above 0 and at most 1; None looks at all and is exact.

    Raises
    ------
    PoolError
        An impossible share.
    """

    def __new__(cls, *, sample: float | None = None) -> Self: ...
    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next stretch of the trace; where it is cut changes nothing.

        Raises
        ------
        PoolError
            As for `PoolCurves.add`.
        """

    @property
    def rate(self) -> float:
        """The sampling rate; 1 where all pages are looked at."""

    def data_sets(self) -> list[tuple[int, int, int, float]]:
        """Object, partition, getpages (sampled or not), distinct pages (estimated from a sample) of each data set."""

    def enough(self, object: int, partition: int) -> int:
        """The smallest number of buffers at which only first references miss.

        Raises
        ------
        KeyError
            The trace has no getpage of this data set; so does `read_misses`.
        """

    def read_misses(self, object: int, partition: int, sizes: Sequence[int]) -> list[tuple[float, float]]:
        """Misses of an LRU pool of each size (buffers), with their standard error: 0 where they are exact."""

@final
class DataSetAges:
    """How long the pages of each data set rest between references: what a pool of any composition needs to know of it.

    A pool that steals what was not referenced for the last ``T`` getpages reads a page at the end of each rest longer
    than ``T`` and at each first reference. It holds the pages of the last ``T`` getpages: on average over all windows
    of this length the pages there are, less the sum of ``rest - T`` over all rests longer than ``T`` divided by the
    number of windows, where the rests before the first reference to a page and after its last one count too (Xiang and
    others, "HOTL", 2013). Rests are counted in getpages of the whole trace, in steps of an eighth of a doubling; with
    ``T`` at the end of a step both are exact.

    Parameters
    ----------
    sample
        Share of the pages to look at, above 0 and at most 1; None for all.

    Raises
    ------
    PoolError
        An impossible share.
    """

    def __new__(cls, *, sample: float | None = None) -> Self: ...
    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next stretch of the trace; where it is cut changes nothing.

        Raises
        ------
        PoolError
            As for `PoolCurves.add`.
        """

    @property
    def rate(self) -> float:
        """The sampling rate, to the precision of the hash; 1 without a sample."""

    @property
    def getpages(self) -> int:
        """Getpages of the trace, sampled or not."""

    def data_sets(self) -> list[tuple[int, int, int, int, int, int]]:
        """Object, partition; random getpages and others, sampled or not; first references to a page of the sample,
        random and others.
        """

    def rests(self) -> pa.RecordBatch:
        """Rests of the sample: a row for each data set and step that has any.

        Returns
        -------
        RecordBatch
            ``object``, ``partition``; ``longest``, the end of the step in getpages; ``random``, ``sequential``:
            getpages that end a rest of the step; ``ends``: pages that rest so long before their first reference or
            after their last; ``sum``: of all these rests.
        """

@final
class TraceSample:
    """The sampled references of a trace, held: any grouping of its data sets has its curve without another pass.

    Parameters
    ----------
    sample
        Share of the pages, above 0 and at most 1; 1 holds all getpages and is exact. Memory is 13 bytes a held
        reference, up to three times that while it grows.

    Raises
    ------
    PoolError
        An impossible share.
    """

    def __new__(cls, *, sample: float) -> Self: ...
    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next stretch of the trace; where it is cut changes nothing.

        Raises
        ------
        PoolError
            As for `PoolCurves.add`.
        """

    @property
    def rate(self) -> float:
        """The sampling rate, to the precision of the hash."""

    def __len__(self) -> int:
        """References held."""

    def data_sets(self) -> list[tuple[int, int, int]]:
        """Object, partition and getpages (sampled or not) of each data set."""

    def read_misses(
        self, groups: Sequence[Sequence[tuple[int, int]]], sizes: Sequence[int], *, errors: bool = False
    ) -> list[list[tuple[float, float]]]:
        """Misses of an LRU pool that holds the data sets (object, partition) of a group and no others.

        Groups are worked on side by side on all cores; a group costs a scan of the held references and work for those
        of its data sets.

        Returns
        -------
        list
            Of each group: misses at each size (buffers) and their standard error; 0 without `errors`, which take as
            long again.

        Raises
        ------
        KeyError
            The trace has no getpage of a data set.
        """

    def shares(
        self, groups: Sequence[Sequence[tuple[int, int]]]
    ) -> list[list[tuple[int, int, list[tuple[float, float]]]]]:
        """What each data set contributes to the curve of its group.

        Returns
        -------
        list
            Of each group, of each data set in the order given: object, partition, and its misses at sizes of the
            group's pool, smallest first, up to the size after which they fall no further.

        Raises
        ------
        KeyError
            The trace has no getpage of a data set.
        """

@final
class PoolSimulation:
    """One configuration of each pool of a trace, simulated event by event.

    Parameters
    ----------
    pools
        Settings by pool id: ``size`` (buffers), ``page_bytes``, ``steal`` (``lru``, ``fifo``, ``none``), ``vpseqt``,
        ``dwqt``, ``vdwqt`` (per cent), ``vdwqt_pages``, ``prefetch``, ``releases`` (the trace records them),
        ``checkpoint`` (microseconds). What is not given is as Db2 has it by default, with 40,000 buffers of 4 KB.
    interval
        Microseconds after which counters are kept, again and again; None keeps none.
    placement
        Pools of data sets (object, partition) that are to be simulated elsewhere than the trace has them.

    Raises
    ------
    PoolError
        An unknown or impossible setting.
    """

    def __new__(
        cls,
        pools: Mapping[int, Mapping[str, Any]],
        *,
        interval: int | None = None,
        placement: Mapping[tuple[int, int], int] | None = None,
    ) -> Self: ...
    def set_pages(self, object: int, partition: int, pages: int) -> None:
        """Say how many pages a data set has, before its first reference: prefetch ends there."""

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next stretch of the trace; where it is cut changes nothing.

        Raises
        ------
        PoolError
            As for `PoolCurves.add`.
        """

    def counters(self) -> dict[int, dict[str, int]]:
        """Counters of each pool since the beginning, by the names of `fields`."""

    def snapshots(self, pool: int) -> list[tuple[int, int, int, dict[str, int]]]:
        """Counters at the end of each full interval.

        Returns
        -------
        list
            Time, fewest and most buffers on the sequential chain in the interval, counters since the beginning.

        Raises
        ------
        KeyError
            The pool has no configuration.
        """

    def data_sets(self, pool: int) -> list[tuple[int, int, dict[str, int]]]:
        """Object, partition and counters of each data set of a pool.

        Raises
        ------
        KeyError
            The pool has no configuration.
        """

    def without_configuration(self) -> dict[int, int]:
        """Rows left out, by pools that have no configuration."""

    @staticmethod
    def fields() -> list[tuple[str, str, str]]:
        """Name, field of the Db2 statistics record (empty: it has none), and meaning of each counter."""

@final
class PoolSimulations:
    """Several configurations of the pools of a trace, simulated event by event side by side.

    Each counts as a `PoolSimulation` of its own; they share the work on the trace itself.

    Parameters
    ----------
    runs
        Of each configuration: settings by pool id, and pools of data sets (object, partition) that are to be simulated
        elsewhere than the trace has them, as for `PoolSimulation`.

    Raises
    ------
    PoolError
        An unknown or impossible setting.
    """

    def __new__(
        cls,
        runs: Sequence[tuple[Mapping[int, Mapping[str, Any]], Mapping[tuple[int, int], int] | None]],
    ) -> Self: ...
    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next stretch of the trace; where it is cut changes nothing.

        Raises
        ------
        PoolError
            As for `PoolCurves.add`.
        """

    def counters(self, run: int) -> dict[int, dict[str, int]]:
        """Counters of each pool of a configuration since the beginning, by the names of `PoolSimulation.fields`.

        Raises
        ------
        IndexError
            There is no such configuration.
        """

    def data_sets(self, run: int, pool: int) -> pa.RecordBatch:
        """A row for each data set of a pool: ``object``, ``partition``, and its counters.

        Raises
        ------
        IndexError
            There is no such configuration.
        KeyError
            It does not have the pool.
        """

    def without_configuration(self, run: int) -> dict[int, int]:
        """Rows left out of a configuration, by pools that it does not have.

        Raises
        ------
        IndexError
            There is no such configuration.
        """

@final
class GroupInterest:
    """Which data sets of each pool more than one member uses and one at least changes, found in a pass over a trace."""

    def __new__(cls) -> Self: ...
    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next stretch of the trace.

        Raises
        ------
        PoolError
            As for `PoolCurves.add`.
        """

    def dependent(self) -> dict[int, list[tuple[int, int]]]:
        """Data sets (object, partition) by pool; a pool without any has an empty list."""

@final
class GroupSimulation:
    """Pools of a data-sharing group with group buffer pools between their members, simulated event by event.

    Parameters
    ----------
    pools
        Settings of each pool's members: pool id, member, settings as of `PoolSimulation`.
    structures
        Settings of the group buffer pool of each of these pools: ``data_entries`` (pages), ``directory_entries``,
        ``page_bytes``, ``class_threshold`` (CLASST, per cent), ``class_pages`` (the same in pages, where the per cent
        are 0), ``pool_threshold`` (GBPOOLT, per cent), ``updates_a_commit`` (updates after which a member commits;
        None: only commits of the trace count). What is not given: 4,000 data and 20,000 directory entries of 4 KB,
        CLASST 5, GBPOOLT 30, every update committed at once. Changed pages are never written around the group buffer
        pool.
    dependent
        Data sets (object, partition) of each pool that are kept coherent; `GroupInterest` finds them.

    Raises
    ------
    PoolError
        An unknown or impossible setting; a pool without a structure or a structure without pools.
    """

    def __new__(
        cls,
        pools: Mapping[int, Mapping[int, Mapping[str, Any]]],
        structures: Mapping[int, Mapping[str, Any]],
        dependent: Mapping[int, Sequence[tuple[int, int]]],
    ) -> Self: ...
    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next stretch of the trace; where it is cut changes nothing.

        Raises
        ------
        PoolError
            As for `PoolCurves.add`.
        """

    def structure(self, pool: int) -> dict[str, int]:
        """Counters of a pool's group buffer pool since the beginning, by the names of `structure_fields`.

        Raises
        ------
        KeyError
            The pool has no configuration; so do the three methods below.
        """

    def members(self, pool: int) -> dict[int, dict[str, int]]:
        """What each member counts of the group buffer pool, by the names of `member_fields`."""

    def pools(self, pool: int) -> dict[int, dict[str, int]]:
        """Counters of each member's pool, by the names of `PoolSimulation.fields`."""

    def data_sets(self, pool: int) -> dict[int, list[tuple[int, int, dict[str, int]]]]:
        """Object, partition and counters of each data set in each member's pool, as of `PoolSimulation.data_sets`."""

    def without_configuration(self) -> dict[tuple[int, int], int]:
        """Rows left out because their pool has no configuration at their member, by pool and member."""

    @staticmethod
    def structure_fields() -> list[tuple[str, str, str]]:
        """Name, field of the Db2 statistics record (empty: it has none), and meaning of each counter of a structure."""

    @staticmethod
    def member_fields() -> list[tuple[str, str, str]]:
        """The same of what a member counts of a group buffer pool."""

@final
class Yardstick:
    """A made trace without end, the same for the same seed: Zipf references over all pages, scans among them.

    Popular pages are spread over the whole. Scans run through consecutive pages from a random start, four at a time,
    each of 64 to 1,087 pages; their access is sequential, that of the others random. All in pool 0 at member 0, a
    microsecond apart.

    Parameters
    ----------
    pages, pages_an_object
        Distinct pages, and how many of them each object has.
    exponent
        Of the Zipf part: above 0 and not 1.
    scans
        Share of the references that belong to scans.
    seed
        Where the random numbers begin.
    changed
        Every so many rows one is a change of the page before it; 0: none is.

    Raises
    ------
    PoolError
        Impossible parameters.
    """

    def __new__(
        cls,
        *,
        pages: int = 5_000_000,
        pages_an_object: int = 100_000,
        exponent: float = 0.9,
        scans: float = 0.2,
        seed: int = 50,
        changed: int = 0,
    ) -> Self: ...
    def batch(self, rows: int) -> pa.RecordBatch:
        """The next rows, with the columns of `TRACE_COLUMNS`."""

class ScenarioError(ValueError):
    """A scenario that cannot be: its arguments are the path of the key, what is wrong, and what to do."""

def simulate(scenario: str, *, progress: Callable[[float, float], None] | None = None) -> str:
    """Run a scenario of the sysplex simulator.

    Parameters
    ----------
    scenario
        JSON with the keys of ``crates/sysplex/src/scenario.rs``.
    progress
        Called about ten times a second with the simulated seconds so far and in all, the warm-up among them. What it
        raises ends the run, and so does Ctrl-C.

    Returns
    -------
    str
        JSON: ``intervals`` with what systems, structures, members, classes and volumes did, ``responses`` with
        confidence intervals, ``events``, ``laws``, ``saturated``; seconds and counts.

    Raises
    ------
    ScenarioError
    """

class SimulatedRun:
    """A run of the sysplex simulator under way, as an iterator of what it hands out, in the order of time.

    Each piece is a name and a value: ``begun`` (JSON of an interval of no length, when measuring begins), ``logged``
    (record batches by name: ``transactions`` as they ended, ``pools`` by the position of their transaction,
    ``references``), ``interval`` (JSON, as `simulate` has it; what was logged in it came before), at the end
    ``results`` (JSON, as of `simulate`). Times of logs are nanoseconds since measuring began; sums of an account are
    in seconds. The run is ahead of its reader by two pieces at most.

    Parameters
    ----------
    scenario
        JSON with the keys of ``crates/sysplex/src/scenario.rs``.
    transactions, references
        What is logged.

    Raises
    ------
    ScenarioError
    """

    seconds: float
    """Simulated seconds so far, the warm-up among them."""
    total: float
    """Simulated seconds in all."""

    def __new__(cls, scenario: str, *, transactions: bool = False, references: bool = False) -> Self: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[str, Any]: ...

class QueueingError(ValueError):
    """A network that has no solution; the text says what is wrong, where, and what to do.

    Attributes
    ----------
    station : str or None
        The station that open work is too much for.
    utilisation : float or None
        Share of its servers that the work asks for.
    """

    station: str | None
    utilisation: float | None

def erlang_c(servers: int, busy: float) -> float:
    """Probability that an arrival has to wait for one of the servers, of which so many are busy on the average."""

def solve_network(
    stations: Sequence[tuple[str, str, int, Sequence[float]]],
    classes: Sequence[tuple[str, float | None, int, float, int, float]],
) -> dict[str, Any]:
    """Solve a queueing network by mean value analysis.

    Parameters
    ----------
    stations
        Name, kind (``queue``, ``priority``, ``delay``), servers, seconds of service for each class.
    classes
        Name, arrivals a second (None: closed), users and think time of a closed class, priority (lower goes first),
        visits to each station that its demands are divided among.

    Returns
    -------
    dict
        ``exact``, ``throughput`` and ``response`` by class, ``residence`` and ``queue`` by station and class,
        ``utilisation`` by station.

    Raises
    ------
    QueueingError
    """

def run_network(
    stations: Sequence[tuple[str, str, int, Sequence[float]]],
    classes: Sequence[tuple[str, float | None, int, float, int, float]],
    *,
    seed: int,
    warm_up: float,
    seconds: float,
    slice: float | None = None,
    constant: bool = False,
) -> dict[str, Any]:
    """Run a queueing network event by event.

    Parameters
    ----------
    slice
        Seconds after which a service goes back to the end of its queue; None serves to the end.
    constant
        Whether every service takes its mean; exponential otherwise.

    Returns
    -------
    dict
        ``events``; ``ended`` and ``response`` (mean and half of its 95 % interval, or None) by class; ``utilisation``
        by station; ``laws_hold``: whether Little's law and the utilisation law held at every station.

    Raises
    ------
    QueueingError
    """

@final
class Rewriter:
    """Writes dumps anew with other names and times.

    Parameters
    ----------
    catalogue
        The layouts.
    rules
        Treatment of character fields: layout, field, condition on another field (empty for none), first byte of the
        part, its bytes (None up to the end), and ``keep``, ``name``, ``blank``, ``clock``, ``day``, ``printed_date`` or
        ``dictionary``.
    codepage
        EBCDIC code page of text.

    Raises
    ------
    SmfError
        A rule is wrong.
    """

    def __new__(
        cls,
        catalogue: Catalogue,
        rules: Sequence[tuple[str, str, str, int, int | None, str]],
        *,
        codepage: str = "1047",
    ) -> Self: ...
    @staticmethod
    def unruled(
        catalogue: Catalogue, rules: Sequence[tuple[str, str, str, int, int | None, str]]
    ) -> list[tuple[str, str]]:
        """Character fields that no rule is for: pairs of layout and field."""

    def survey(self, path: str | PathLike[str], *, form: str | None = None) -> dict[str, Any]:
        """What a dump holds.

        Returns
        -------
        dict
            ``records``; ``unknown`` and ``dropped`` (records by reason); ``fields`` (layout, field, treatment, values
            that are not empty); ``uncovered`` (bytes that are not zero and in no field, by record map); ``sections``
            (not found, by layout and reason); ``lost_bytes``; ``names`` (texts of names, sorted).

        Raises
        ------
        SmfError
            The dump cannot be read.
        """

    def rewrite(
        self,
        path: str | PathLike[str],
        to: str | PathLike[str],
        *,
        names: Mapping[str, str],
        days: int,
        drop_unknown: bool = False,
        form: str | None = None,
    ) -> dict[str, Any]:
        """Write a dump anew, in the form that it has.

        Parameters
        ----------
        path, to
            The dump, and the file to write.
        names
            Replacements by the text of a field, of the same length.
        days
            Days added to dates and clocks.
        drop_unknown
            Whether records without a layout are left out; otherwise the first one is an error.

        Returns
        -------
        dict
            As `survey`, with ``unnamed`` and ``unmoved``: values that could not be replaced or moved and are blanked.

        Raises
        ------
        SmfError
            The dump cannot be read, the copy not be written, or a record is not known.
        """
