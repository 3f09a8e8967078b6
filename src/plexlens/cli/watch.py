"""`plexlens watch`: dumps that arrive in folders, and intervals of RMF servers."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, Rules, Site
from plexlens.cli.sources import Reading, reads_dumps, tell
from plexlens.cli.terminal import err
from plexlens.errors import UsageError

if TYPE_CHECKING:
    from plexlens.pdb import Pdb
    from plexlens.watch.dds.client import Client
    from plexlens.watch.dds.server import Server
    from plexlens.watch.watcher import Counts, Watcher


@app.command()
@reads_dumps
def watch(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="FOLDER|ADDRESS...",
            help="Folders in which dumps and reports arrive, and addresses of RMF Distributed Data Servers "
            "(https://HOST:8803).",
        ),
    ],
    pdb: Annotated[
        Path, typer.Option("--pdb", metavar="PDB", help="Performance database: a folder, created if it does not exist.")
    ],
    *,
    interval: Annotated[
        float,
        typer.Option(
            "--interval",
            metavar="SECONDS",
            help="Time between two looks at a folder; a file is taken if its size and time are the same in both.",
        ),
    ] = 30.0,
    once: Annotated[
        bool,
        typer.Option(
            "--once", help="Look twice, ingest what has settled and the intervals that servers have now, and end."
        ),
    ] = False,
    command: Annotated[
        str,
        typer.Option(
            "--command", metavar="COMMAND", help="Run this for each new finding, with its JSON on standard input."
        ),
    ] = "",
    webhook: Annotated[
        str, typer.Option("--webhook", metavar="URL", help="Post the JSON of each new finding to this address.")
    ] = "",
    reports: Annotated[
        list[str] | None,
        typer.Option(
            "--reports",
            metavar="NAMES",
            help="Monitor III reports to ask a server for, with commas between them. Unless given: CPC,SYSINFO,"
            "CHANNEL,DEVR.",
        ),
    ] = None,
    postprocessor: Annotated[
        list[str] | None,
        typer.Option(
            "--postprocessor",
            metavar="NAMES",
            help="Postprocessor reports to ask a server for every quarter of an hour, such as CPU,WLMGL.",
        ),
    ] = None,
    systems: Annotated[
        list[str] | None,
        typer.Option("--system", metavar="PATTERN", help="Ask for reports of these systems only; repeatable."),
    ] = None,
    catch_up: Annotated[
        float,
        typer.Option("--catch-up", metavar="HOURS", help="How far back missed intervals are asked for."),
    ] = 24.0,
    authorities: Annotated[
        Path | None,
        typer.Option(
            "--ca",
            metavar="FILE",
            help="Certificates (PEM) that vouch for a server, in place of those of this machine.",
        ),
    ] = None,
    rules: Rules = None,
    site: Site = None,
    catalogue: Catalogue = None,
    reading: Reading,
) -> None:
    """Ingest dumps as they arrive in folders and intervals of RMF servers, and print new findings.

    Each file is taken once, when it no longer grows. A file that cannot be read stays where it is, with the reason in
    FILE.reason next to it. Each interval of a server is taken once; user and password come from the variables
    PLEXLENS_DDS_USER and PLEXLENS_DDS_PASSWORD. Each new finding is a line of JSON on standard output. Ctrl-C ends the
    watch after the file or answer that is being read.
    """
    from plexlens.findings import load_decisions, load_rules
    from plexlens.pdb import Pdb
    from plexlens.pdb.place import is_object
    from plexlens.watch.dds.address import is_address
    from plexlens.watch.judging import Judge
    from plexlens.watch.passing_on import Receivers
    from plexlens.watch.settling import Folders
    from plexlens.watch.watcher import Watcher

    addresses = [source for source in sources if is_address(source)]
    folders = [Path(source) for source in sources if not is_address(source)]
    _check(folders, interval, catch_up)
    clients = _clients(addresses, authorities)
    receivers = Receivers(_line, tell, command, webhook)
    receivers.check()
    judged_by = load_rules(rules or ())
    decisions = load_decisions(site, judged_by) if site is not None else ()
    options = _asked(reports, postprocessor)
    if is_object(pdb):
        raise UsageError(
            file=str(pdb),
            what="a watch keeps what it has judged in the folder of its database, and object storage has none",
            remedy="watch into a folder, or run plexlens ingest for each dump",
        )
    content = Pdb.open_or_create(pdb)
    servers = _servers(clients, content, options, systems or (), catch_up)
    judge = Judge(content, judged_by, decisions)
    watcher = Watcher(
        Folders(folders, tell), content, judge, receivers, reading=reading, tell=err.print, servers=servers
    )
    with _stopping() as stop:
        counts = watcher.run(interval, stop, once=once)
    err.print("; ".join(_summary(watcher, counts)) + (" (stopped)" if stop.is_set() else ""))
    if not stop.is_set() and (
        (once and counts.set_aside) or any(server.failure is not None or server.is_over for server in servers)
    ):
        raise typer.Exit(3)


def _check(folders: list[Path], interval: float, catch_up: float) -> None:
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(
                file=str(folder), what="there is no such folder", remedy="name the folder in which dumps arrive"
            )
        if (folder / "manifest.json").is_file():
            raise UsageError(
                file=str(folder),
                what="this is a performance database, not a folder in which dumps arrive",
                remedy="name the folder in which dumps arrive, and the database with --pdb",
            )
    if not 0 < interval <= 86_400:
        raise UsageError(
            file="",
            what=f"--interval {interval:g} is out of range",
            remedy="give a number of seconds above 0 and at most 86400",
        )
    if not 0 <= catch_up <= 24 * 366:
        raise UsageError(
            file="", what=f"--catch-up {catch_up:g} is out of range", remedy="give hours from 0, at most a year"
        )


def _clients(addresses: list[str], authorities: Path | None) -> list[Client]:
    from plexlens.watch.dds.address import credentials_of, parse_address
    from plexlens.watch.dds.client import Client

    if authorities is not None and not addresses:
        raise UsageError(
            file="", what="--ca is for a server, and none is named", remedy="give its address, or leave --ca out"
        )
    clients = []
    for address in dict.fromkeys(map(parse_address, addresses)):
        credentials = credentials_of(address)
        if credentials is not None and address.scheme == "http":
            tell(f"{address}: the password goes over the network without TLS; use https if the server offers it")
        clients.append(Client(address, credentials, authorities=authorities))
    return clients


def _asked(reports: list[str] | None, postprocessor: list[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    from plexlens.watch.dds.questions import REPORTS, named_reports

    return named_reports(reports or ()) or REPORTS, named_reports(postprocessor or ())


def _servers(
    clients: list[Client],
    pdb: Pdb,
    options: tuple[tuple[str, ...], tuple[str, ...]],
    systems: Sequence[str],
    hours: float,
) -> list[Server]:
    from plexlens.watch.dds.server import Server

    return [
        Server(
            client,
            (ingest.file for ingest in pdb.ingests),
            reports=options[0],
            postprocessor=options[1],
            systems=systems,
            catch_up=timedelta(hours=hours),
            tell=tell,
        )
        for client in clients
    ]


def _summary(watcher: Watcher, counts: Counts) -> Iterator[str]:
    """Counts of the watch, then of each server, then of findings that wait."""
    yield f"{counts.ingested} files ingested, {counts.set_aside} set aside, {counts.findings} new findings"
    for server in watcher.servers:
        done = server.counts
        parts = [f"{server.client.address}: {done.intervals} intervals taken"]
        parts += [f"{done.missed} could not be had"] if done.missed else []
        parts += [f"{done.unanswered} reports missing in them"] if done.unanswered else []
        parts += [f"{done.failures} looks without an answer"] if done.failures else []
        yield ", ".join(parts)
    if len(watcher.outbox):
        yield f"{len(watcher.outbox)} findings wait for their receiver, and are given when the watch starts again"


def _line(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


@contextmanager
def _stopping() -> Iterator[Event]:
    """An event that Ctrl-C and the end of the service set; a second Ctrl-C ends at once."""
    stop = Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def handle(number: int, frame: FrameType | None) -> None:
        stop.set()
        signal.signal(number, before[signal.SIGINT])

    for number in before:
        signal.signal(number, handle)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
