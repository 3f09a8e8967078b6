"""The application that every command joins."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
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


def narrowed(whole: typer.Typer, words: Sequence[str]) -> typer.Typer:
    """The application with the command alone that the words begin with, or all of it if they begin with none.

    Typer makes the options of all commands before it runs one, which takes a third of the start of a command.
    """
    commands = [info for info in whole.registered_commands if words and command_name(info) == words[0]]
    groups = [info for info in whole.registered_groups if words and info.name == words[0]]
    if not commands and not groups:
        return whole
    result = copy(whole)
    result.registered_commands, result.registered_groups = commands, groups
    return result


def command_name(info: typer.models.CommandInfo) -> str:
    """The word that calls a command: its name, else that of its function."""
    return info.name or (info.callback.__name__.replace("_", "-") if info.callback else "")
