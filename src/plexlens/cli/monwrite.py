"""`plexlens monwrite`: the records of z/VM monitor data, counted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Json
from plexlens.cli.output import RowsFormat, RowsOut, target
from plexlens.cli.rows import Rows
from plexlens.report.forms import ROW_FORMS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from plexlens.ingest.monwrite import Account

_HEADS = ("file", "domain", "domain_name", "record", "name", "kind", "records", "bytes", "first", "last", "fields")


@app.command()
def monwrite(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="MONWRITE file, or a stream saved from /dev/monreader.")
    ],
    *,
    as_json: Json = False,
    form: RowsFormat = None,
    output: RowsOut = None,
) -> None:
    """Count the records of z/VM monitor data by domain and record.

    Every byte is accounted for: control information, records, rests of frames, bytes that cannot be read. Fields of the
    records are not decoded.
    """
    from plexlens.ingest.monwrite import read_account
    from plexlens.ingest.recognition import read_head
    from plexlens.report.writers.names import printable

    where = target("monwrite", output, form, as_json=as_json, forms=ROW_FORMS, inputs=files)
    accounts = [read_account(path, read_head(path)) for path in files]
    rows = [row for account in accounts for row in _rows(account)]
    where.show(
        Rows(
            _HEADS,
            rows,
            lambda: {"files": [_values(account) for account in accounts]},
            lambda: (printable(line) for account in accounts for line in _lines(account)),
        ).made
    )


def _rows(account: Account) -> Iterator[list[Any]]:
    from plexlens.ingest.monwrite import DOMAINS, RECORDS

    for (domain, number, kind), tally in sorted(account.tallies.items()):
        name, _ = RECORDS.get((domain, number), ("", ""))
        fields = "no layout" if domain in DOMAINS else "domain not known"
        times = [_time(tally.first), _time(tally.last)]
        yield [
            *(account.file, domain, DOMAINS.get(domain, ""), number, name, kind, tally.records, tally.bytes),
            *(*times, fields),
        ]


def _values(account: Account) -> dict[str, Any]:
    return {
        "file": account.file,
        "form": account.form,
        "records": account.records,
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
        "by_record": [dict(zip(_HEADS[1:], row[1:], strict=True)) for row in _rows(account)],
    }


def _lines(account: Account) -> Iterator[str]:
    from plexlens.ingest.monwrite import RECORDS

    yield f"{account.file}: {account.form}, {account.records:,} records; fields are not decoded, no layout is known"
    for row in _rows(account):
        _, domain, domain_name, number, name, kind, records, size, first, last, _ = row
        title = RECORDS.get((domain, number), ("", ""))[1]
        label = f"D{domain}R{number}"
        names = f"{domain_name or 'domain not known'} {kind}"
        counts = f"records {records:>9,}  bytes {size:>13,}"
        yield f"  {label:<8} {names:<24} {counts}  {first} to {last}  {name} {title}".rstrip()
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
    if account.suspensions:
        yield (
            f"  suspensions of the collection of event data by CP: {account.suspensions:,}; "
            f"event records lost: {account.lost_events:,}; "
            "enlarge the event part of the monitor DCSS"
        )


def _time(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}Z" if moment else ""
