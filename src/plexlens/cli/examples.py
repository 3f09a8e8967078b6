"""Examples at the end of each command's help, from ``examples.toml``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import tomli
import typer

from plexlens.cli.app import command_name


@cache
def examples() -> dict[str, dict[str, str]]:
    """Examples by the words of the command: description and arguments of each."""
    return tomli.loads(Path(__file__).with_name("examples.toml").read_text(encoding="utf-8"))


def help_text(command: str) -> str:
    """The examples of a command for its help; empty if it has none."""
    lines = [
        line
        for what, arguments in examples().get(command, {}).items()
        for line in (f"  # {what}", f"  plexlens {command} {arguments}")
    ]
    # The character \b keeps the lines of a paragraph as they are.
    return "\n".join(["\b", "Examples:", *lines]) if lines else ""


def add_examples(app: typer.Typer) -> None:
    """Put the examples of every command at the end of its help."""
    for name, info in commands_of(app):
        info.epilog = help_text(name)


def commands_of(app: typer.Typer, group: str = "") -> Iterator[tuple[str, typer.models.CommandInfo]]:
    """The words and the description of every command of an application, including those of its groups."""
    for info in app.registered_commands:
        yield f"{group} {command_name(info)}".strip(), info
    for inner in app.registered_groups:
        if inner.typer_instance is not None:
            yield from commands_of(inner.typer_instance, f"{group} {inner.name}".strip())
