"""`plexlens lab`: servers and a driver on this machine, as a test of how CPU time per request is measured."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Json
from plexlens.cli.output import Format, PageOut, page, target
from plexlens.cli.terminal import err, progress_bar
from plexlens.errors import NothingUsableError, UsageError


@app.command()
def lab(
    *,
    way: Annotated[
        list[str] | None,
        typer.Option("--way", metavar="NAME", help="Way to measure, such as http-tls-full-new; repeatable."),
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", min=1, max=100, help="Runs of each way.")] = 5,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="SECONDS", min=2.0, max=3600.0, help="Length of a run.")
    ] = 12.0,
    study: Annotated[
        Path | None,
        typer.Option("--study", metavar="FOLDER", help="New folder that gets a study for each repeat."),
    ] = None,
    form: Format = None,
    output: PageOut = None,
    as_json: Json = False,
) -> None:
    """Drive servers of this machine, and compare two accounts of their CPU time per request.

    The arithmetic of plexlens ways-in over samples from outside has to agree with the account that each process keeps
    itself. Locust drives; it comes with plexlens[load].
    """
    from plexlens.lab import WAYS, measure
    from plexlens.lab.agreement import agreements
    from plexlens.lab.measure import check
    from plexlens.lab.page.report import lab_report, to_object

    where = target("lab", output, form, as_json=as_json)
    names = [known.id for known in WAYS]
    for name in way or ():
        if name not in names:
            raise UsageError(
                file="", what=f"there is no way {name!r} in the laboratory", remedy=f"give one of {', '.join(names)}"
            )
    chosen = [known for known in WAYS if not way or known.id in way]
    check(chosen)
    with _folder(study) as folder, progress_bar("runs") as progress:
        measured = measure(chosen, repeats, seconds, progress)
        if not measured.runs:
            reasons = "; ".join(dict.fromkeys(reason for _, reason in measured.left_out))
            raise NothingUsableError(
                file="", what=f"no run can be used: {reasons}", remedy="give longer runs with --seconds"
            )
        compared = agreements(measured, folder)
    where.show(page(lambda: lab_report(measured, compared), lambda: to_object(measured, compared)))
    if measured.stopped:
        err.print("plexlens: stopped before its end; the numbers are of the runs so far")
        raise typer.Exit(130)


@contextlib.contextmanager
def _folder(study: Path | None) -> Iterator[Path]:
    """The folder of the studies; one that is forgotten if none is named."""
    if study is None:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
        return
    if study.exists():
        raise UsageError(file=str(study), what="there is already something of this name", remedy="name a new folder")
    yield study
