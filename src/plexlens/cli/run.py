"""`plexlens run`: the results of a load test, joined with SMF of the same minutes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, Json
from plexlens.cli.output import Format, PageOut, check_apart, page, target, write_file
from plexlens.cli.sources import Reading, reads_dumps
from plexlens.cli.terminal import progress_bar
from plexlens.errors import UsageError
from plexlens.storage_size import parse_size
from plexlens.whole_file import check_file, make_folder

if TYPE_CHECKING:
    from plexlens.load import Way

_PAIR, _WAY, _BY_SECOND = "--name-of", "--way", "--by-second"
#: Seconds of three years, the longest time of a test.
_LONGEST = 1e8


@app.command()
@reads_dumps
def run(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...",
            help="Result file of JMeter, Gatling, k6, tsung, Locust, wrk or HdrHistogram, or a CSV of requests; "
            "several are repeats of a test.",
        ),
    ],
    *,
    smf: Annotated[
        list[Path] | None,
        typer.Option("--smf", metavar="PDB|FILE", help="SMF of the same minutes: dumps or a database; repeatable."),
    ] = None,
    samples: Annotated[
        list[Path] | None,
        typer.Option(
            "--samples", metavar="FILE", help="Samples of a Linux server (plexlens sample); repeatable, one per server."
        ),
    ] = None,
    warm_up: Annotated[
        float | None,
        typer.Option("--warm-up", metavar="SECONDS", min=0.0, help="Length of the warm-up (default: found)."),
    ] = None,
    since: Annotated[
        str,
        typer.Option("--from", metavar="TIME", help="Begin of the steady part: 2026-03-02T09:05 (UTC) or with +01:00."),
    ] = "",
    until: Annotated[str, typer.Option("--to", metavar="TIME", help="End of the steady part.")] = "",
    clock: Annotated[
        float,
        typer.Option(
            "--clock", metavar="SECONDS", help="Seconds by which the driver's clock is ahead of z/OS and the servers."
        ),
    ] = 0.0,
    front: Annotated[
        list[str] | None,
        typer.Option("--front", metavar="APPLID", help="CICS region that the requests reach first; repeatable."),
    ] = None,
    name_of: Annotated[
        list[str] | None,
        typer.Option(_PAIR, metavar="REQUEST=TRAN", help="CICS transaction of a request; repeatable."),
    ] = None,
    criteria: Annotated[
        str,
        typer.Option(
            "--criteria",
            metavar="NAME",
            help="Judge the run by criteria of the catalogue or of a site, such as cb84.",
        ),
    ] = "",
    study: Annotated[
        Path | None,
        typer.Option(
            "--study", metavar="FOLDER", help="Study folder that gets a row for this test; made if not there."
        ),
    ] = None,
    label: Annotated[
        str, typer.Option("--label", metavar="TEXT", help="Name of the row (default: the name of RESULTS).")
    ] = "",
    way: Annotated[
        str,
        typer.Option(
            _WAY,
            metavar="NAME:PAYLOAD:CONNECTION:SECURITY",
            help="Way into the server, for plexlens ways-in --study: https:32KB:per-request:ssl. Its tests are a table "
            "of the study.",
        ),
    ] = "",
    by_second: Annotated[
        Path | None,
        typer.Option(
            _BY_SECOND,
            metavar="FILE.csv",
            help="Write requests, failures and response time of each transaction in each second of the test.",
        ),
    ] = None,
    memory: Annotated[
        str,
        typer.Option(
            "--memory", metavar="SIZE", help="Memory for the requests of all files, 200 bytes each: 512MiB, 4GiB."
        ),
    ] = "2GiB",
    catalogue: Catalogue = None,
    form: Format = None,
    output: PageOut = None,
    as_json: Json = False,
    reading: Reading,
) -> None:
    """Read the results of a load test, and say what each request cost on z/OS and on Linux servers.

    Response times, rates and failures are of the steady part of the test. With SMF of the same minutes: CPU time per
    request by address space and class, and the response split into network, CICS and Db2. With samples of Linux
    servers: CPU time per request by process, thread and control group.

    Several files are repeats of a test: each is judged, and the valid repeats are pooled.
    """
    from plexlens.ingest.load_test import read, read_repeats
    from plexlens.load import (
        Costs,
        Validity,
        costs_of,
        criteria_named,
        intervals_of,
        repeats_of,
        run_of,
        study_files,
        validity_of,
        with_servers,
    )
    from plexlens.load.page.repeats import repeats_report
    from plexlens.load.page.repeats import to_object as repeats_object
    from plexlens.load.page.report import run_report, to_object
    from plexlens.load.page.seconds import csv_by_second
    from plexlens.metrics.opening import inputs_of
    from plexlens.metrics.selection import between
    from plexlens.sampling.samples import read_samples

    limit = parse_size(memory)
    inputs = [*results, *(smf or ()), *(samples or ())]
    where = target("run", output, form, as_json=as_json, inputs=inputs)
    check_file(by_second, inputs)
    check_apart({"-o": where.path, _BY_SECOND: by_second})
    _check_seconds({"--warm-up": warm_up, "--clock": clock})
    if len(results) > 1:
        given = {
            "--smf": smf,
            "--samples": samples,
            "--from": since,
            "--to": until,
            "--study": study,
            _WAY: way,
            _BY_SECOND: by_second,
            "--criteria": criteria,
            "--front": front,
            _PAIR: name_of,
        }
        _check_single(len(results), given)
        tests = read_repeats(results, reading.layouts, reading.expansion, limit)
        repeats = repeats_of([run_of(test, warm_up_seconds=warm_up, clock_seconds=clock) for test in tests])
        where.show(page(lambda: repeats_report(repeats), lambda: repeats_object(repeats)))
        return
    result = results[0]
    names = dict(_pair(text) for text in name_of or ())
    taken = _way(way) if way else None
    if taken is not None and study is None:
        raise UsageError(
            file="", what=f"{_WAY} names a table of a study, and no study is given", remedy="give a folder with --study"
        )
    if study is not None and not smf and not samples:
        raise UsageError(
            file=str(study),
            what="a row of a study needs CPU time",
            remedy="give SMF of the same minutes with --smf, or samples of the servers with --samples",
        )
    wanted = criteria_named(criteria) if criteria else None
    window = between(since, until)
    test = read(result, reading.layouts, reading.expansion, limit)
    driven = run_of(
        test,
        warm_up_seconds=warm_up,
        since=_utc(window.start),
        until=_utc(window.end),
        clock_seconds=clock,
    )
    costs: Costs | None = None
    validity: Validity | None = None
    if smf:
        with progress_bar() as progress, inputs_of(smf, reading, progress) as opened:
            costs = costs_of(driven, opened, str(smf[0]), front=front or (), names=names)
            if wanted is not None:
                validity = validity_of(wanted, driven, intervals_of(opened, str(smf[0]), costs.start, costs.end))
    elif wanted is not None:
        validity = validity_of(wanted, driven, None)
    if samples:
        costs = with_servers(driven, [read_samples(path) for path in samples], costs)
    files = {} if by_second is None else {by_second: csv_by_second(driven)}
    if study is not None and costs is not None:
        files |= study_files(study, driven, costs, label or result.name, validity=validity, way=taken)
        make_folder(study)
    for path, text in files.items():
        write_file(path, text)
    where.show(page(lambda: run_report(driven, costs, validity), lambda: to_object(driven, costs, validity)))


def _check_seconds(lengths: Mapping[str, float | None]) -> None:
    for option, value in lengths.items():
        if value is not None and not abs(value) <= _LONGEST:
            raise UsageError(
                file="", what=f"{option} {value:g} is not a number of seconds", remedy="give one of at most three years"
            )


def _check_single(number: int, given: Mapping[str, object]) -> None:
    if wrong := [option for option, value in given.items() if value]:
        raise UsageError(
            file="",
            what=f"{wrong[0]} is for a single test, and {number} files are given",
            remedy=f"leave {wrong[0]} out, or run the command for each file",
        )


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.rpartition("=")
    if not (name and sign and value):
        raise UsageError(
            file="",
            what=f"{_PAIR} {text!r} is not of the form REQUEST=TRAN",
            remedy=f'give {_PAIR} "name of request"=TRAN',
        )
    return name, value


def _way(text: str) -> Way:
    from plexlens.compare.analysis.ways_in import CONNECTIONS, SECURITIES, payload_bytes
    from plexlens.load import Way

    parts = text.split(":")
    if len(parts) != 4 or parts[2] not in CONNECTIONS or parts[3] not in SECURITIES:
        raise UsageError(
            file="",
            what=f"{_WAY} {text!r} is not of the form NAME:PAYLOAD:CONNECTION:SECURITY",
            remedy=f"give {_WAY} https:32KB:per-request:ssl, with a connection of {' or '.join(CONNECTIONS)} and a "
            f"security of {' or '.join(SECURITIES)}",
        )
    return Way(parts[0], payload_bytes(parts[1]), parts[2], parts[3])


def _utc(time: datetime | None) -> datetime | None:
    return time if time is None or time.tzinfo is not None else time.replace(tzinfo=UTC)
