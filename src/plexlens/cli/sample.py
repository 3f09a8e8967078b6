"""`plexlens sample`: CPU time of processes, threads and control groups of a Linux server, sampled to a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Json
from plexlens.cli.terminal import emit, err, progress_bar
from plexlens.errors import UsageError
from plexlens.whole_file import check_file


@app.command()
def sample(
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE.csv", help="File to write while samples are taken.")
    ],
    process: Annotated[
        list[str] | None,
        typer.Option(
            "--process",
            metavar="NAME|PID",
            help="Process to sample, by name ('java*') or number; repeatable (default: all).",
        ),
    ] = None,
    cgroup: Annotated[
        list[str] | None,
        typer.Option("--cgroup", metavar="PATH", help="Control group below /sys/fs/cgroup to sample; repeatable."),
    ] = None,
    threads: Annotated[bool, typer.Option("--threads", help="Sample the threads of the processes too.")] = False,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=0.05, max=3600.0, help="Time between samples.")
    ] = 1.0,
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="SECONDS", min=0.1, help="Length (default: until Ctrl-C).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Sample the CPU time of a Linux server while a load test runs.

    Ctrl-C ends it, and what was sampled is kept. plexlens run --samples joins the file with the results of the test:
    CPU time per request by process, thread and control group.
    """
    from plexlens.sampling.recording import record, wanted

    if output.suffix.lower() != ".csv":
        raise UsageError(file=str(output), what="the result is a CSV file", remedy="end the name in .csv")
    what = wanted(tuple(process or ()), threads, tuple(cgroup or ()))
    check_file(output)
    if seconds is None:
        err.print("plexlens: sampling until Ctrl-C")
    with progress_bar("s") as progress:
        recorded = record(
            output, what, every, seconds, lambda now: progress(round(now), round(seconds or now), "sampling")
        )
    values: dict[str, Any] = {
        "file": str(output),
        "seconds": recorded.seconds,
        "samples": recorded.samples,
        "missed": recorded.missed,
        "lines": recorded.lines,
        "processes": recorded.seen,
        "stopped": recorded.stopped,
    }
    if as_json:
        emit(values)
    else:
        number = sum(recorded.seen.values())
        sys.stdout.write(
            f"{output}: {recorded.samples:,} samples of {number:,} processes in {recorded.seconds:,.1f} s, "
            f"{recorded.lines:,} lines\n"
        )
        if recorded.missed:
            sys.stdout.write(
                f"WARNING: {recorded.missed:,} samples were not taken, since the one before took too long; "
                "give a larger --every, or name the processes with --process\n"
            )
    if recorded.stopped and seconds is not None:
        err.print(f"plexlens: stopped before its end; {output} holds what was sampled")
        raise typer.Exit(130)
    err.print(f"next: plexlens run RESULTS --samples {output}")
