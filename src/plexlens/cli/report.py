"""`plexlens report`: dumps or a performance database in, a report out."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, DatabaseOrSources, Json, Rules, Site
from plexlens.cli.output import Format, PageOut, page, target
from plexlens.cli.selection import selectable
from plexlens.cli.sources import Reading, reads_dumps
from plexlens.cli.terminal import err, progress_bar
from plexlens.errors import IngestFailuresError, PlexlensError
from plexlens.report.forms import Form

if TYPE_CHECKING:
    from plexlens.metrics.selection import Selection


class FailOn(StrEnum):
    """Severities for ``--fail-on``, the lowest first."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


@app.command()
@selectable
@reads_dumps
def report(
    sources: DatabaseOrSources,
    *,
    output: PageOut = None,
    form: Format = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="Heading of the report.")] = "",
    as_json: Json = False,
    catalogue: Catalogue = None,
    rules: Rules = None,
    site: Site = None,
    fail_on: Annotated[
        FailOn | None,
        typer.Option("--fail-on", help="Exit with code 1 if a finding has this severity or a higher one."),
    ] = None,
    reading: Reading,
    selection: Selection,
) -> None:
    """Read dumps and write a report of findings, metrics and charts.

    Without -o, --format and --json the report is written to
    report.html.
    """
    from plexlens.findings import Severity, load_decisions, load_rules
    from plexlens.pdb.opening import database
    from plexlens.report.build import Options
    from plexlens.report.model.display import counted
    from plexlens.report.of_database import report_of

    where = target("report", output, form, as_json=as_json, default=Form.HTML, inputs=sources)
    judged_by = load_rules(rules or ())
    decisions = load_decisions(site, judged_by) if site is not None else ()
    with database(sources) as (pdb, dumps), progress_bar() as progress:
        results: list[Any] = []
        failures: list[PlexlensError] = []
        if dumps:
            try:
                results = reading.into(pdb, dumps, progress)
            except IngestFailuresError as error:
                # What could be read is reported, with what could not be at its top.
                if not error.results:
                    raise
                results, failures = list(error.results), list(error.failures)
        made = report_of(
            pdb,
            str(sources[0]),
            selection=selection,
            options=Options(title=title, rules=judged_by, decisions=decisions),
            results=results,
            failures=failures,
            progress=progress,
        )
    where.show(page(lambda: made.report, made.to_json))
    for failure in failures:
        err.print(f"plexlens: {failure}")
    if failures:
        raise typer.Exit(min(failure.exit_code for failure in failures))
    found = made.report.findings
    grave = found.at_or_above(Severity(fail_on)) if fail_on and found else ()
    if grave:
        err.print(f"plexlens: {counted(len(grave), 'finding')} of severity {fail_on} or higher (--fail-on)")
        raise typer.Exit(1)
