"""The one application that every command joins."""

from __future__ import annotations

from typing import Annotated

import typer

from plexlens import __version__

app = typer.Typer(
    name="plexlens",
    help="An open performance workbench for IBM Z: SMF and RMF in, metrics and reports out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"plexlens {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    pass
