"""`plexlens metrics`: available metrics, and the definition of a number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from plexlens.cli import completion
from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, Json, Rules
from plexlens.cli.output import RowsFormat, RowsOut, target
from plexlens.cli.rows import Rows, text_or_json
from plexlens.report.forms import ROW_FORMS, TEXT_FORMS


@app.command()
def metrics(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[NAME]",
            help="A grain, a metric or fact of a grain (GRAIN.METRIC), or the name of a metric or fact.",
            autocompletion=completion.metrics,
            show_default=False,
        ),
    ] = "",
    *,
    as_json: Json = False,
    form: RowsFormat = None,
    output: RowsOut = None,
    rules: Rules = None,
    catalogue: Catalogue = None,
) -> None:
    """List the metrics, or explain one: formula, fields, unit, source, and the rules and pages that use it.

    The list is a table; the explanation of a metric is text or JSON.
    """
    from plexlens.metrics import GRAINS
    from plexlens.report.explained import explained, grain_json, grain_lines

    where = target("metrics", output, form, as_json=as_json, forms=TEXT_FORMS if name else ROW_FORMS)
    if not name:
        heads = ("grain", "what", "metrics", "facts")
        rows = [[grain.name, grain.title, len(grain.metrics), len(grain.facts)] for grain in GRAINS.values()]
        where.show(Rows(heads, rows, lambda: {"grains": [grain_json(grain) for grain in GRAINS.values()]}).made)
        return
    if name in GRAINS:
        where.show(text_or_json(lambda: grain_lines(GRAINS[name]), lambda: grain_json(GRAINS[name])))
        return
    from plexlens.findings import load_rules
    from plexlens.report.pages import PAGES

    results = explained(name, GRAINS, load_rules(rules or ()), PAGES)

    def lines() -> Iterator[str]:
        for number, explanation in enumerate(results):
            yield from [""] if number else []
            yield from explanation.lines()

    where.show(text_or_json(lines, lambda: {"metrics": [explanation.to_json() for explanation in results]}))
