"""The application that every command joins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import Annotated, Any

import typer
from typer.core import TyperCommand


class _Command(TyperCommand):
    """A command whose numbers are numbers: ``nan`` and ``inf`` pass every bound that an option states."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        for option in self.params:
            value = ctx.params.get(option.name)
            if isinstance(value, float) and not math.isfinite(value):
                ctx.fail(f"Invalid value for '{option.opts[0]}': {value} is not a number")
        return rest


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
    return _checked(result)


def _checked(whole: typer.Typer) -> typer.Typer:
    """The application with commands, those of its groups included, that check their numbers."""
    result = copy(whole)
    result.registered_commands = [copy(info) for info in whole.registered_commands]
    for command in result.registered_commands:
        command.cls = _Command
    result.registered_groups = [copy(info) for info in whole.registered_groups]
    for group in result.registered_groups:
        if group.typer_instance is not None:
            group.typer_instance = _checked(group.typer_instance)
    return result


def command_name(info: typer.models.CommandInfo) -> str:
    """The word that calls a command: its name, else that of its function."""
    return info.name or (info.callback.__name__.replace("_", "-") if info.callback else "")
