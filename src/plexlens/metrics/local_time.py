"""Offset from UTC of reports that print only local time, inferred from records of the same system and interval.

An RMF Postprocessor report in XML and every printed text report give local time and do not say how far it is from UTC.
Where a dump, or a Monitor III report, of the same system has an interval with the same local start and end, the offset
that it records is taken for the report too. Where nothing matches, or records of the interval disagree (the hour that
a clock set back passes twice), the report stays in local time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import duckdb

from plexlens.pdb.engine import Connection

#: The reports that print local time alone: one row each, `utc_offset` null where nothing tells the offset.
TABLE = "report_in_local_time"

#: The reports before anything is inferred for them, in a statement without the table.
_READ = "report_as_read"

#: Beginnings of the names of raw tables that hold reports.
REPORTS = ("rmf_xml_", "text_")

#: Raw tables of records that tell local time alone. Nothing is inferred for them: they do not name their system.
WITHOUT_ZONE = ("vm_account",)

#: Local times this many seconds apart are those of one interval: a report prints whole seconds, and systems close their
#: intervals within moments of each other.
SLACK = 30

#: Who a row is about, the most exact name first: the first that a report has is the one that a record has to share.
_OWNERS = ("system", "subsystem", "sysplex")

_COLUMNS = ("source_id", "record_no", "sysplex", "system", "subsystem", "interval_start", "interval_end", "utc_offset")


@dataclass(frozen=True)
class LocalReport:
    """Reports of a kind and system in local time.

    Attributes
    ----------
    report
        ``CPU``, ``rmf_workload``: as the raw table names it.
    owner
        System, else subsystem, else sysplex.
    start, end
        First and last printed local time, without a time zone.
    reports
        How many there are.
    utc_offset
        Local minus UTC in seconds, as inferred; None if unknown.
    inferred_from
        Raw tables whose records have the same interval.
    """

    report: str
    owner: str
    start: datetime | None
    end: datetime | None
    reports: int
    utc_offset: float | None
    inferred_from: tuple[str, ...]


def is_report(table: str) -> bool:
    """Whether a raw table holds reports, whose times are local if they have no offset."""
    return table.startswith(REPORTS)


def place(connection: Connection, names: Sequence[str]) -> bool:
    """Create the table `TABLE` of the reports in local time.

    Parameters
    ----------
    connection
        A DuckDB connection that allows temporary tables.
    names
        The raw tables there are.

    Returns
    -------
    bool
        Whether any report has an inferred offset. Where there is no report in local time, no table is made.
    """
    if not any(is_report(name) for name in names):
        return False
    tables = _with_times(connection, names)
    reports = [name for name in tables if is_report(name)]
    if not reports:
        return False
    connection.execute(f"create or replace temp table {TABLE} as {_reports(reports, tables)}")
    if not connection.execute(f"select count(*) from {TABLE}").fetchone()[0]:
        connection.execute(f"drop table {TABLE}")
        return False
    connection.execute(f"create or replace temp table {TABLE} as {_matched(tables, TABLE)}")
    result = connection.execute(f"select count(*) from {TABLE} where utc_offset is not null").fetchone()[0]
    return bool(result)


def relations(connection: Connection, names: Sequence[str]) -> dict[str, str]:
    """The selects behind the table `TABLE`, by name, for a statement that cannot use the table.

    Each reads raw tables and the selects before it. Parameters are those of `place`.
    """
    tables = _with_times(connection, names)
    reports = [name for name in tables if is_report(name)]
    return {_READ: _reports(reports, tables), TABLE: _matched(tables, _READ)}


def listed(connection: Connection) -> tuple[LocalReport, ...]:
    """The reports in local time by kind, system and inferred offset; empty if `place` found none."""
    try:
        connection.execute(f"select 1 from {TABLE} limit 0")
    except duckdb.CatalogException:
        return ()
    rows = connection.execute(
        "select report, coalesce(system, subsystem, sysplex, '') as owner, utc_offset,"
        " min(local_start) as first, max(local_end) as last,"
        " count(distinct (source_id, record_no)) as reports,"
        " list_sort(list_distinct(flatten(list(inferred_from)))) as sources"
        f" from {TABLE} group by all order by report, owner, first"
    ).fetchall()
    return tuple(
        LocalReport(report or "", owner, first, last, reports, offset, tuple(sources or ()))
        for report, owner, offset, first, last, reports, sources in rows
    )


def _with_times(connection: Connection, names: Sequence[str]) -> dict[str, frozenset[str]]:
    """Columns of each raw table that has an interval and an offset."""
    rows = connection.execute(
        "select table_name, list(column_name) from information_schema.columns group by table_name"
    ).fetchall()
    there = {name: frozenset(columns) for name, columns in rows}
    needed = {"source_id", "record_no", "interval_start", "interval_end", "utc_offset"}
    return {name: there[name] for name in sorted(names) if needed <= there.get(name, frozenset())}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _column(name: str, columns: frozenset[str]) -> str:
    return f"cast({name} as varchar) as {name}" if name in columns else f"cast(null as varchar) as {name}"


def _reports(reports: Sequence[str], tables: dict[str, frozenset[str]]) -> str:
    """A row for each report and each name in it, in local time."""
    selects = (
        f"select {', '.join(_column(name, tables[table]) for name in ('report', 'sysplex', 'system', 'subsystem'))},"
        " cast(source_id as varchar) as source_id, cast(record_no as bigint) as record_no,"
        " cast(interval_start as timestamptz) as interval_start, cast(interval_end as timestamptz) as interval_end"
        f" from {_quoted(table)} where utc_offset is null and coalesce(interval_start, interval_end) is not null"
        # What belongs to the file as a whole has number 0 and is of no report.
        + (" and (record_no > 0 or report is not null)" if "report" in tables[table] else "")
        for table in reports
    )
    return (
        "select source_id, record_no, max(report) over (partition by source_id, record_no) as report, sysplex, system,"
        f" subsystem, interval_start, interval_end from (select distinct * from ({' union all '.join(selects)}))"
        " qualify row_number() over (partition by source_id, record_no, sysplex, system, subsystem, interval_start,"
        " interval_end) = 1"
    )


def _matched(tables: dict[str, frozenset[str]], reports: str) -> str:
    """The reports with the offset of the records that have the same names and local interval."""
    # What a report asks for: its start and its end, each by the minutes that are within the slack of it.
    wanted = " union all ".join(
        f"select source_id, record_no, {which} as which, sysplex, owner, epoch(moment) as instant,"
        f" unnest(list_distinct([floor((epoch(moment) - {SLACK}) / 60), floor((epoch(moment) + {SLACK}) / 60)]))"
        f" as minute from (select *, {_owner_sql()} as owner, {column} as moment from {reports})"
        " where moment is not null and owner is not null"
        for which, column in ((0, "interval_start"), (1, "interval_end"))
    )
    records = " union all ".join(
        _records(table, which, column, tables[table])
        for table in tables
        for which, column in ((0, "coalesce(interval_start, interval_end)"), (1, "interval_end"))
    )
    return (
        f"with wanted as ({wanted}), records as ({records}),"
        " matches as (select distinct w.source_id, w.record_no, w.which, r.utc_offset, r.table_name"
        "  from records r join wanted w on r.which = w.which and r.minute = w.minute"
        "  and r.owner = w.owner"
        f"  where abs(r.instant - w.instant) <= {SLACK}"
        "  and (r.sysplex is null or w.sysplex is null or r.sysplex = w.sysplex)),"
        " bounded as (select source_id, record_no, utc_offset, list_distinct(list(table_name)) as inferred_from"
        "  from matches group by all having count(distinct which) = 2),"
        " decided as (select source_id, record_no, max(utc_offset) as utc_offset, max(inferred_from) as inferred_from"
        "  from bounded group by all having count(*) = 1)"
        " select t.* exclude (interval_start, interval_end),"
        " t.interval_start at time zone 'UTC' as local_start, t.interval_end at time zone 'UTC' as local_end,"
        " decided.utc_offset, list_sort(decided.inferred_from) as inferred_from"
        f" from {reports} t left join decided on t.source_id = decided.source_id and t.record_no = decided.record_no"
    )


def _owner_sql() -> str:
    return "coalesce(" + ", ".join(f"'{name} ' || {name}" for name in _OWNERS) + ")"


def _records(table: str, which: int, column: str, columns: frozenset[str]) -> str:
    """Start (0) and end (1) moments of the intervals in a raw table, on its records' local clock."""
    # Offsets are recorded as clock values a hair off the minute; the minute is what they mean.
    offset = "round(utc_offset / 60) * 60"
    instant = f"epoch({column}) + {offset}"
    names = ", ".join(f"'{name} ' || {name}" for name in _OWNERS if name in columns)
    sysplex = "sysplex" if "sysplex" in columns else "cast(null as varchar)"
    return (
        f"select distinct {which} as which, unnest([{names}]) as owner, sysplex, instant,"
        f" floor(instant / 60) as minute, utc_offset, {_literal(table)} as table_name"
        f" from (select {sysplex} as sysplex, {instant} as instant,"
        f" {', '.join(name for name in _OWNERS if name in columns and name != 'sysplex')},"
        f" {offset} as utc_offset from {_quoted(table)} where utc_offset is not null and {column} is not null)"
        " where floor(instant / 60) in (select minute from wanted)"
    )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
