"""`plexlens example`: the bundled example dumps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Json
from plexlens.cli.output import RowsFormat, check_apart, check_dump, target
from plexlens.cli.rows import Rows
from plexlens.cli.terminal import err, progress_bar
from plexlens.report.forms import ROW_FORMS


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
    as_json: Json = False,
    form: RowsFormat = None,
) -> None:
    """Write a bundled example dump.

    It has the numbers of published studies as SMF records, or,
    with --day, a simulated day. --json and --format add the inventory of the dump, as plexlens records has it.
    """
    check_dump(output)
    is_asked = as_json or form is not None
    where = target("example", None, form, as_json=as_json, forms=ROW_FORMS) if is_asked else None
    check_apart({"-o": output, "--format": None if where is None else where.path})
    if day:
        _write_day(output)
    else:
        from plexlens.example import write_example

        write_example(output)
        err.print(f"written: {output}")
    if where is not None:
        from plexlens.ingest import inventory

        inventories = [inventory.of_file(output)]
        where.show(
            Rows(
                inventory.HEADS,
                inventory.to_rows(inventories),
                lambda: inventory.to_json(inventories),
                lambda: inventory.to_lines(inventories),
            ).made
        )


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
