"""Readings of a report's sources: files, records by type, damage, and omissions with reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from plexlens.errors import PlexlensError
from plexlens.ingest import plausible
from plexlens.ingest.plausible import Implausible
from plexlens.ingest.source import Damage, Severity
from plexlens.metrics.local_time import LocalReport
from plexlens.pdb.engine import Connection, quoted, tables_of

if TYPE_CHECKING:
    from plexlens.pdb import IngestResult

#: Rows of damage that a report lists; the counts by reason cover all of it.
DAMAGE_ROWS = 500

#: Kinds of ingest as a reader calls them.
_KINDS = {"smf": "SMF", "rmf_xml": "RMF XML", "text_reports": "text reports"}

#: Tables of report values: the word before the names of their reports, and the columns that identify the subject.
_REPORTS = {
    "rmf_xml_value": ("RMF XML", "system, sysplex, resource"),
    "text_report_value": ("text", "system, subsystem, sysplex"),
}


class State(StrEnum):
    """Status of a file."""

    READ = "read"
    FAILED = "not read"
    SKIPPED = "skipped"
    HELD = "held already"


@dataclass(frozen=True)
class FileRead:
    """An input file.

    Attributes
    ----------
    file
        As the user named it.
    kind
        ``SMF``, ``RMF XML``; empty where nothing of it was read.
    size
        Bytes; None where nothing of it was read.
    records
        Records or reports in it, those left out as duplicates included.
    duplicates
        Of these, how many had been read before.
    start, end
        First and last time in it, as recorded.
    reason
        Why it was not read, skipped or held already.
    """

    file: str
    kind: str = ""
    size: int | None = None
    records: int | None = None
    duplicates: int | None = None
    start: str | None = None
    end: str | None = None
    state: State = State.READ
    reason: str = ""


@dataclass(frozen=True)
class RecordCount:
    """Records of a type from a system.

    Attributes
    ----------
    kind
        ``SMF 74-4``, ``RMF XML CPU``.
    system
        None where the source does not count by system.
    decoded
        How many have their sections in tables; the others are counted only, because no layout describes their type.
    first, last
        Local time stamps of the first and last, as recorded; None where they have none.
    """

    kind: str
    system: str | None
    records: int
    decoded: int
    first: str | None = None
    last: str | None = None


@dataclass(frozen=True)
class NoteCount:
    """A count of something noteworthy that is not damage, such as sections longer than their layout."""

    note: str
    section: str
    field: str | None
    count: int
    severity: Severity = Severity.INFO


@dataclass(frozen=True)
class Readings:
    """All statements of a report about its input.

    Attributes
    ----------
    damage
        Damage met, the gravest first; at most `DAMAGE_ROWS`.
    damage_counts
        Damage by reason and severity, all of it.
    implausible
        Values above their bounds, which metrics leave out; at most `DAMAGE_ROWS`.
    implausible_count
        How many there are in all.
    offsets
        Offsets of local time from UTC (seconds) that the data names.
    local_reports
        Reports that name no offset, and what was inferred for them.
    """

    files: tuple[FileRead, ...] = ()
    records: tuple[RecordCount, ...] = ()
    damage: tuple[Damage, ...] = ()
    damage_counts: Mapping[tuple[str, Severity], int] = field(default_factory=dict)
    offsets: tuple[float, ...] = ()
    notes: tuple[NoteCount, ...] = ()
    local_reports: tuple[LocalReport, ...] = ()
    implausible: tuple[Implausible, ...] = ()
    implausible_count: int = 0

    def in_state(self, state: State) -> tuple[FileRead, ...]:
        """The files with a status."""
        return tuple(file for file in self.files if file.state is state)

    @property
    def systems(self) -> tuple[str, ...]:
        """Systems whose records were read, without a system that only wrote the dump (SMF 2 and 3)."""
        names = {record.system for record in self.records if record.system and record.kind not in ("SMF 2", "SMF 3")}
        return tuple(sorted(names))

    @property
    def size(self) -> int:
        """Bytes read."""
        return sum(reading.size or 0 for reading in self.in_state(State.READ))

    @property
    def duplicates(self) -> int:
        """Records left out because they had been read before."""
        return sum(file.duplicates or 0 for file in self.files)

    def severe(self, severity: Severity) -> int:
        """Number of damage entries with a severity."""
        return sum(count for (_, level), count in self.damage_counts.items() if level is severity)


def readings_of(
    connection: Connection,
    *,
    results: Iterable[IngestResult] = (),
    failures: Iterable[PlexlensError] = (),
    others: Iterable[FileRead] = (),
) -> Readings:
    """Readings of the sources in a performance database.

    Parameters
    ----------
    connection
        What `plexlens.pdb.Pdb.connect` gives.
    results
        What became of the files of this run: those skipped or held already are named too.
    failures
        Files of this run that could not be read.
    others
        Files of the run that filled the database which are not in it, as `not_in` gives them.
    """
    files = [
        FileRead(
            file=row["file"],
            kind=_KINDS.get(row["kind"], row["kind"]),
            size=row["size"],
            records=row["records"],
            duplicates=row["duplicates"],
            start=_recorded(row["span_start"]),
            end=_recorded(row["span_end"]),
        )
        for row in _rows(connection, "select * from source order by started_at, source_id")
    ]
    return Readings(
        files=(*files, *not_in(results, failures), *others),
        records=(*_smf_records(connection), *_reports(connection)),
        damage=_damage(connection),
        damage_counts={
            (row["reason"], Severity(row["severity"])): row["n"]
            for row in _rows(
                connection,
                # What was only counted counts here too, where values were lost or not understood.
                "select reason, severity, sum(n)::bigint n from ("
                " select reason, severity, 1 n from damage"
                " union all select replace(note, '_', ' '), severity, \"count\" from note where severity <> 'info'"
                f" and note <> '{plausible.NOTE}'"
                ") group by all",
            )
        },
        offsets=offsets_of(connection),
        notes=tuple(
            NoteCount(row["note"], row["section"], row["field"], row["n"], Severity(row["severity"]))
            for row in _rows(
                connection,
                'select note, section, field, severity, sum("count")::bigint n from note group by all'
                " order by n desc, note, section, field",
            )
        ),
        implausible=_implausible(connection),
        implausible_count=_rows(connection, f"select count(*) n from {plausible.TABLE}")[0]["n"],
    )


def not_in(results: Iterable[IngestResult], failures: Iterable[PlexlensError]) -> tuple[FileRead, ...]:
    """Files of a run that are not sources of the database: skipped, held already under another name, not readable."""
    files = []
    for result in results:
        # What a result is of is loaded; a question to a database needs nothing that stores.
        from plexlens.pdb import Outcome

        if result.outcome is Outcome.SKIPPED:
            files.append(FileRead(result.file, state=State.SKIPPED, reason=result.reason))
        elif result.outcome is Outcome.ALREADY_HELD:
            file = result.ingest.file if result.ingest is not None else ""
            files.append(FileRead(result.file, state=State.HELD, reason=f"same content as {file}"))
    for failure in failures:
        files.append(FileRead(failure.file, state=State.FAILED, reason=f"{failure.what}; {failure.remedy}"))
    return tuple(files)


def _rows(connection: Connection, sql: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = connection.execute(sql).to_arrow_table().to_pylist()
    return rows


def _recorded(text: str | None) -> str | None:
    return None if text is None else text.replace("T", " ")[:19]


def _smf_records(connection: Connection) -> tuple[RecordCount, ...]:
    if "smf_record" not in tables_of(connection):
        return ()
    rows = _rows(
        connection,
        "select record_type, subtype, system, count(*) n, count(*) filter (decoded) decoded,"
        " strftime(min(written_at), '%Y-%m-%d %H:%M:%S') as first_time,"
        " strftime(max(written_at), '%Y-%m-%d %H:%M:%S') as last_time"
        " from smf_record group by all order by record_type, subtype nulls first, system",
    )
    return tuple(
        RecordCount(
            kind=f"SMF {row['record_type']}" + (f"-{row['subtype']}" if row["subtype"] is not None else ""),
            system=row["system"],
            records=row["n"],
            decoded=row["decoded"],
            first=row["first_time"],
            last=row["last_time"],
        )
        for row in rows
    )


def _reports(connection: Connection) -> tuple[RecordCount, ...]:
    """Reports of RMF XML files and of text reports by name."""
    there = tables_of(connection)
    counts: list[RecordCount] = []
    for table, (title, owners) in _REPORTS.items():
        if table not in there:
            continue
        rows = _rows(
            connection,
            f"select report, coalesce({owners}) as name, count(distinct (source_id, record_no)) n,"
            " strftime(min(interval_start + to_seconds(coalesce(utc_offset, 0))), '%Y-%m-%d %H:%M:%S') as first_time,"
            " strftime(max(interval_end + to_seconds(coalesce(utc_offset, 0))), '%Y-%m-%d %H:%M:%S') as last_time"
            f" from {table} where report is not null group by all order by report, name",
        )
        for row in rows:
            times = row["first_time"], row["last_time"]
            counts.append(RecordCount(f"{title} {row['report']}", row["name"], row["n"], row["n"], *times))
    return tuple(counts)


def _damage(connection: Connection) -> tuple[Damage, ...]:
    rows = _rows(
        connection,
        'select source_id, file, record_no, "offset", reason, severity, detail, remedy from damage order by'
        " case severity when 'data loss' then 0 when 'error' then 1 else 2 end, file, record_no, \"offset\""
        f" limit {DAMAGE_ROWS}",
    )
    return tuple(Damage(**{**row, "severity": Severity(row["severity"])}) for row in rows)


def _implausible(connection: Connection) -> tuple[Implausible, ...]:
    """The first values of each field, so that no field hides the others."""
    rows = connection.execute(
        f"select * from {plausible.TABLE} qualify row_number() over (partition by table_name, field order by file,"
        f" record_no, section_no) <= 20 order by file, table_name, field, record_no, section_no limit {DAMAGE_ROWS}"
    )
    return tuple(Implausible.of(rows.to_arrow_table()))


def offsets_of(connection: Connection) -> tuple[float, ...]:
    """Every offset from UTC in any table."""
    tables = _rows(
        connection,
        "select distinct table_name from information_schema.columns where column_name = 'utc_offset'"
        " and table_name not like 'report\\_%' escape '\\'",
    )
    if not tables:
        return ()
    offsets = " union all ".join(f"select distinct utc_offset from {quoted(row['table_name'])}" for row in tables)
    rows = _rows(connection, f"select distinct utc_offset from ({offsets}) where utc_offset is not null")
    return tuple(sorted(row["utc_offset"] for row in rows))
