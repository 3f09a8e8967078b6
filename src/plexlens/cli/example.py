"""`plexlens example`: the bundled example dump."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.output import check_dump
from plexlens.cli.terminal import err


@app.command()
def example(output: Annotated[Path, typer.Option("-o", "--output", help="The dump to write.")]) -> None:
    """Write the example dump: figures of two published studies as SMF 70, 72 and 74."""
    from plexlens.example import write_example

    check_dump(output)
    write_example(output)
    err.print(f"written: {output}")
