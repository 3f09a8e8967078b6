"""`plexlens watch`: dumps that arrive in folders."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, Rules, Site
from plexlens.cli.sources import Reading, reads_dumps, tell
from plexlens.cli.terminal import err
from plexlens.errors import UsageError


@app.command()
@reads_dumps
def watch(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="Folders in which dumps and reports arrive.")
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
            help="Time between two looks; a file is taken if its size and time are the same in both.",
        ),
    ] = 30.0,
    once: Annotated[bool, typer.Option("--once", help="Look twice, ingest what has settled, and end.")] = False,
    command: Annotated[
        str,
        typer.Option(
            "--command", metavar="COMMAND", help="Run this for each new finding, with its JSON on standard input."
        ),
    ] = "",
    webhook: Annotated[
        str, typer.Option("--webhook", metavar="URL", help="Post the JSON of each new finding to this address.")
    ] = "",
    rules: Rules = None,
    site: Site = None,
    catalogue: Catalogue = None,
    reading: Reading,
) -> None:
    """Ingest dumps as they arrive in folders, and print new findings.

    Each file is taken once, when it no longer grows. A file that cannot be read stays where it is, with the reason in
    FILE.reason next to it. Each new finding is a line of JSON on standard output. Ctrl-C ends the watch after the file
    that is being read.
    """
    from plexlens.findings import load_decisions, load_rules
    from plexlens.pdb import Pdb
    from plexlens.watch.judging import Judge
    from plexlens.watch.passing_on import Receivers
    from plexlens.watch.settling import Folders
    from plexlens.watch.watcher import Watcher

    _check(folders, interval)
    receivers = Receivers(_line, tell, command, webhook)
    receivers.check()
    judged_by = load_rules(rules or ())
    decisions = load_decisions(site, judged_by) if site is not None else ()
    held = Pdb.open_or_create(pdb)
    watcher = Watcher(
        Folders(folders, tell), held, Judge(held, judged_by, decisions), receivers, reading=reading, tell=err.print
    )
    with _stopping() as stop:
        counts = watcher.run(interval, stop, once=once)
    err.print(
        f"{counts.ingested} files ingested, {counts.set_aside} set aside, {counts.findings} new findings"
        + (" (stopped)" if stop.is_set() else "")
    )
    if once and counts.set_aside:
        raise typer.Exit(3)


def _check(folders: list[Path], interval: float) -> None:
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(
                file=str(folder), what="there is no such folder", remedy="name the folder in which dumps arrive"
            )
        if (folder / "manifest.json").is_file():
            raise UsageError(
                file=str(folder),
                what="a performance database is not watched for dumps",
                remedy="name the folder in which dumps arrive, and the database with --pdb",
            )
    if not 0 < interval <= 86_400:
        raise UsageError(
            file="", what=f"--interval {interval:g} is out of range", remedy="give seconds above 0, at most a day"
        )


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
