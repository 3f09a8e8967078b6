"""The application that every command joins."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    name="plexlens",
    help="A performance workbench for IBM Z: it reads SMF dumps, RMF XML and printed reports, and writes metrics, "
    "findings and reports.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from plexlens import __version__

        typer.echo(f"plexlens {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass
