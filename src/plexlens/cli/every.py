"""The application with every command, for the help, its tests and the man pages."""

from __future__ import annotations

import typer

from plexlens.cli import (
    anonymise,
    changes,
    compare,
    cost,
    drive,
    example,
    export,
    findings,
    forecast,
    ingest,
    lab,
    layouts,
    metrics,
    monwrite,
    pdb,
    plan,
    pools,
    records,
    report,
    run,
    sample,
    serve,
    sharing,
    simulate,
    sql,
    study,
    trend,
    verify,
    watch,
    ways_in,
    why,
)
from plexlens.cli.app import app
from plexlens.cli.examples import add_examples

__all__ = ["app"]

#: Modules of the commands, in the order of the help.
_ORDER = (
    report,
    ingest,
    sql,
    export,
    metrics,
    records,
    pools,
    layouts,
    findings,
    example,
    study,
    compare,
    ways_in,
    plan,
    cost,
    forecast,
    changes,
    sharing,
    simulate,
    trend,
    why,
    drive,
    lab,
    sample,
    run,
    serve,
    watch,
    pdb,
    anonymise,
    verify,
    monwrite,
)

_PLACES = {module.__name__: place for place, module in enumerate(_ORDER)}


def _place(info: typer.models.CommandInfo) -> int:
    """Place of a command in the help; the command line of this process may have loaded it before the others."""
    assert info.callback is not None, "a command is a function"
    return _PLACES[info.callback.__module__]


def _place_of_group(info: typer.models.TyperInfo) -> int:
    assert info.typer_instance is not None, "a group has an application of its own"
    return _place(info.typer_instance.registered_commands[0])


app.registered_commands.sort(key=_place)
app.registered_groups.sort(key=_place_of_group)
add_examples(app)
