"""`plexlens example`: the bundled example dumps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.output import check_dump
from plexlens.cli.terminal import err, progress_bar


@app.command()
def example(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.smf", help="SMF dump to write.")],
    *,
    day: Annotated[
        bool,
        typer.Option(
            "--day", help="Write a simulated day of three members with a problem that begins at 14:10 (half a minute)."
        ),
    ] = False,
) -> None:
    """Write a bundled example dump.

    It has the numbers of published studies as SMF records, or,
    with --day, a simulated day.
    """
    check_dump(output)
    if day:
        _write_day(output)
        return
    from plexlens.example import write_example

    write_example(output)
    err.print(f"written: {output}")


def _write_day(output: Path) -> None:
    """Run the bundled scenario of a day, and write its records."""
    from plexlens.simulate.asked import Asked
    from plexlens.simulate.bundled import day_scenario
    from plexlens.simulate.sampled import sampling_text

    scenario = day_scenario()
    with progress_bar(unit="simulated s") as progress:
        _, records = Asked(output).run(
            scenario, lambda done, total: progress(round(done), round(total), "simulating a day")
        )
    err.print(sampling_text(scenario.values))
    err.print(f"written: {output}, {records} records")
