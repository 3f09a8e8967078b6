"""`plexlens monwrite`: the records of z/VM monitor data, counted or decoded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.options import CodePage, Codepage, Json, Layouts, LeapSeconds
from plexlens.cli.output import RowsFormat, RowsOut, target
from plexlens.cli.rows import Rows
from plexlens.errors import NothingUsableError, UsageError
from plexlens.report.forms import ROW_FORMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    import pyarrow as pa

    from plexlens.ingest.monitor_map import MonitorMap, RecordKind
    from plexlens.ingest.monwrite import Account

_HEADS = ("file", "domain", "domain_name", "record", "name", "kind", "records", "bytes", "first", "last", "fields")
_LABEL = re.compile(r"D(\d{1,3})R(\d{1,5})", re.IGNORECASE)


@app.command()
def monwrite(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="MONWRITE file, or a stream saved from /dev/monreader.")
    ],
    *,
    record: Annotated[
        str | None, typer.Option(metavar="D0R2", help="Show the fields of this kind of record, a row per record.")
    ] = None,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="With --record: counters as what they counted since the record before.")
    ] = False,
    layouts: Layouts = None,
    codepage: Codepage = CodePage.LATIN_1047,
    leap_seconds: LeapSeconds = False,
    as_json: Json = False,
    form: RowsFormat = None,
    output: RowsOut = None,
) -> None:
    """Count the records of z/VM monitor data by domain and record, or decode those of one kind.

    Every byte is accounted for: control information, records, rests of frames, bytes that cannot be read.
    """
    from plexlens.ingest.monitor_map import MonitorMap

    if intervals and record is None:
        raise UsageError(file="", what="--intervals needs a kind of record", remedy="name it: --record D0R2")
    where = target("monwrite", output, form, as_json=as_json, forms=ROW_FORMS, inputs=files)
    monitor_map = MonitorMap(tuple(layouts or ()))
    if record is not None:
        choices = {"codepage": str(codepage), "leap_seconds": leap_seconds}
        kind = _kind(record, monitor_map)
        table = _decoded(files, kind, monitor_map, choices)
        if intervals:
            from plexlens.metrics.monitor_intervals import between_records

            layout = monitor_map.layout(kind.domain, kind.record) or kind.table
            table = between_records(table, kind.key, monitor_map.counters_of(layout), kind=kind.label)
        left_out = ["sysplex", "subsystem", "utc_offset", "section_no", *([] if intervals else ["interval_start"])]
        table = table.drop_columns(left_out).rename_columns({"source_id": "file"})
        where.show(Rows.of(table, ", ".join(map(str, files))).made)
        return
    _count(files, monitor_map, where)


def _count(files: Sequence[Path], monitor_map: MonitorMap, where: Any) -> None:
    from plexlens.ingest.monwrite import read_account
    from plexlens.ingest.recognition import read_head
    from plexlens.report.writers.names import printable

    accounts = [read_account(path, read_head(path)) for path in files]
    rows = [row for account in accounts for row in _rows(account, monitor_map)]
    where.show(
        Rows(
            _HEADS,
            rows,
            lambda: {"files": [_values(account, monitor_map) for account in accounts]},
            lambda: (printable(line) for account in accounts for line in _lines(account, monitor_map)),
        ).made
    )


def _kind(record: str, monitor_map: MonitorMap) -> RecordKind:
    """The kind of record of a label.

    Raises
    ------
    UsageError
        It is not known, or has no layout.
    """
    label = _LABEL.fullmatch(record.strip())
    decoded = [kind.label for key, kind in sorted(monitor_map.kinds.items()) if monitor_map.layout(*key)]
    remedy = f"name one with a layout: {', '.join(decoded)}"
    if label is None:
        raise UsageError(file="", what=f"{record!r} is not a kind of record", remedy=remedy)
    key = int(label[1]), int(label[2])
    kind = monitor_map.kinds.get(key)
    if kind is None:
        raise UsageError(
            file="",
            what=f"{record.upper()} is not in the list of records",
            remedy=f"{remedy}; or add it to DIR/vm/records.csv, and give --layouts DIR",
        )
    if monitor_map.layout(*key) is None:
        raise UsageError(
            file="",
            what=f"{kind.label} ({kind.title}) has no layout",
            remedy=f"save IBM's page {kind.page}, convert it by plexlens layouts import {kind.page}.HTML -o DIR, "
            "and give --layouts DIR",
        )
    return kind


def _decoded(files: Sequence[Path], kind: RecordKind, monitor_map: MonitorMap, choices: dict[str, Any]) -> pa.Table:
    """The records of one kind in all files, a row per record."""
    import pyarrow as pa

    from plexlens.ingest.monitor import MonitorReading

    batches = []
    for path in files:
        reading = MonitorReading(path, str(path), monitor_map, only=(kind.domain, kind.record), **choices)
        batches += [batch for table, batch in reading if table == kind.table]
    if not batches:
        raise NothingUsableError(
            file=", ".join(map(str, files)),
            what=f"there is no record {kind.label} ({kind.title})",
            remedy="see which records there are: plexlens monwrite without --record",
        )
    return pa.Table.from_batches(batches)


def _rows(account: Account, monitor_map: MonitorMap) -> Iterator[list[Any]]:
    from plexlens.ingest.monwrite import DOMAINS

    for (domain, number, kind), tally in sorted(account.tallies.items()):
        known = monitor_map.kinds.get((domain, number))
        layout = monitor_map.layout(domain, number)
        fields = layout or ("no layout" if domain in DOMAINS else "domain not known")
        times = [_time(tally.first), _time(tally.last)]
        name = known.dsect if known else ""
        yield [
            *(account.file, domain, DOMAINS.get(domain, ""), number, name, kind, tally.records, tally.bytes),
            *(*times, fields),
        ]


def _without_layout(account: Account, monitor_map: MonitorMap) -> int:
    return sum(
        tally.records
        for (domain, number, _), tally in account.tallies.items()
        if monitor_map.layout(domain, number) is None
    )


def _values(account: Account, monitor_map: MonitorMap) -> dict[str, Any]:
    return {
        "file": account.file,
        "form": account.form,
        "records": account.records,
        "records_without_layout": _without_layout(account, monitor_map),
        "bytes": {
            "control": account.control_bytes,
            "records": account.record_bytes,
            "rests_of_frames": account.fill_bytes,
            "skipped": account.skipped.total(),
        },
        "skipped": [
            {"reason": reason, "bytes": count, "first_offset": account.places[reason]}
            for reason, count in account.skipped.items()
        ],
        "missing_bytes": account.missing_bytes,
        "suspensions": account.suspensions,
        "lost_event_records": account.lost_events,
        "by_record": [dict(zip(_HEADS[1:], row[1:], strict=True)) for row in _rows(account, monitor_map)],
    }


def _lines(account: Account, monitor_map: MonitorMap) -> Iterator[str]:
    from plexlens.ingest.monitor import CONFIGURATION, JOIN

    without = _without_layout(account, monitor_map)
    yield f"{account.file}: {account.form}, {account.records:,} records, {without:,} of them without a layout"
    for row in _rows(account, monitor_map):
        _, domain, domain_name, number, name, kind, records, size, first, last, fields = row
        known = monitor_map.kinds.get((domain, number))
        label = f"D{domain}R{number}"
        names = f"{domain_name or 'domain not known'} {kind}"
        counts = f"records {records:>9,}  bytes {size:>13,}"
        title = known.title if known else ""
        yield f"  {label:<8} {names:<24} {counts}  {first} to {last}  {fields:<12} {name} {title}".rstrip()
    yield (
        f"  bytes: {account.control_bytes:,} control, {account.record_bytes:,} records, "
        f"{account.fill_bytes:,} rests of frames, {account.skipped.total():,} skipped"
    )
    for reason, count in account.skipped.items():
        yield f"  skipped {count:,} bytes: {reason} (first at byte {account.places[reason]:,}); transfer the file again"
    if account.missing_bytes:
        yield (
            f"  missing {account.missing_bytes:,} bytes: the file ends before the data that its control information "
            "names; transfer the file again"
        )
    if not any((domain, number) == CONFIGURATION for domain, number, _ in account.tallies):
        yield f"  no record D1R4 names the system: {JOIN}"
    if account.suspensions:
        yield (
            f"  suspensions of the collection of event data by CP: {account.suspensions:,}; "
            f"event records lost: {account.lost_events:,}; "
            "enlarge the event part of the monitor DCSS"
        )


def _time(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}Z" if moment else ""
