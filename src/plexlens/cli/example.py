"""`plexlens example`: the bundled example dump."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.output import check_dump
from plexlens.cli.terminal import err


@app.command()
def example(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.smf", help="SMF dump to write.")],
) -> None:
    """Write the bundled example dump.

    It has the numbers of published studies as SMF records.
    """
    from plexlens.example import write_example

    check_dump(output)
    write_example(output)
    err.print(f"written: {output}")
