"""`plexlens drive`: run a test plan by Locust, and write a line per request."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Json
from plexlens.cli.terminal import emit, err, progress_bar
from plexlens.errors import UsageError
from plexlens.whole_file import check_file


@app.command()
def drive(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="Test plan (TOML); see docs/driver.md.")],
    *,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FILE.csv", help="Result file to write, a line per request."),
    ],
    as_json: Json = False,
) -> None:
    """Send the requests of a test plan to a server, and write what became of each.

    Locust sends them; it comes with plexlens[load]. Ctrl-C ends the test early, and what was measured is kept.
    plexlens run reads the result file.
    """
    from plexlens.driver import process
    from plexlens.driver.plan import read_plan

    if output.suffix.lower() != ".csv":
        raise UsageError(file=str(output), what="the result is a CSV file", remedy="end the name in .csv")
    read = read_plan(plan)
    check_file(output, [plan])
    process.check()
    with progress_bar("s") as progress:
        driven = process.drive(
            read, output, lambda seconds: progress(round(seconds), round(read.seconds), "sending requests")
        )
    if as_json:
        emit(process.to_object(driven))
    else:
        sys.stdout.write("\n".join(process.lines_of(driven)) + "\n")
    if driven.stopped:
        err.print(f"plexlens: stopped before its end; {output} holds what was measured")
        raise typer.Exit(130)
    err.print(f"next: plexlens run {output}")
