"""`plexlens metrics`: what there is to be measured, and what a number is made of."""

from __future__ import annotations

from typing import Annotated

import typer

from plexlens.cli import completion
from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, Json, Rules
from plexlens.cli.terminal import emit, print_rows


@app.command()
def metrics(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[NAME]",
            help="A grain, a metric or fact of one (GRAIN.METRIC), or a metric or fact by its name alone.",
            autocompletion=completion.metrics,
            show_default=False,
        ),
    ] = "",
    as_json: Json = False,
    rules: Rules = None,
    catalogue: Catalogue = None,
) -> None:
    """List the metrics, or explain one: formula, fields, unit, source, and the rules and pages that use it."""
    from plexlens.metrics import GRAINS
    from plexlens.report.explained import explained, grain_json, grain_lines

    if not name:
        if as_json:
            emit({"grains": [grain_json(grain) for grain in GRAINS.values()]})
            return
        rows = [
            {"grain": grain.name, "what": grain.title, "metrics": len(grain.metrics), "facts": len(grain.facts)}
            for grain in GRAINS.values()
        ]
        print_rows(["grain", "what", "metrics", "facts"], rows)
        return
    if name in GRAINS:
        if as_json:
            emit(grain_json(GRAINS[name]))
            return
        for line in grain_lines(GRAINS[name]):
            typer.echo(line)
        return
    from plexlens.findings import load_rules
    from plexlens.report.pages import PAGES

    found = explained(name, GRAINS, load_rules(rules or ()), PAGES)
    if as_json:
        emit({"metrics": [one.to_json() for one in found]})
        return
    for number, one in enumerate(found):
        for line in [*([""] if number else []), *one.lines()]:
            typer.echo(line)
