"""`plexlens report`: dumps or a performance database in, a report out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.engine import Computing, computes
from plexlens.cli.options import Catalogue, DatabaseOrSources, Json, Rules, Site
from plexlens.cli.output import Format, PageOut, check_apart, check_bundle, page, target
from plexlens.cli.selection import selectable
from plexlens.cli.sources import Reading, reads_dumps
from plexlens.cli.terminal import err, progress_bar
from plexlens.errors import IngestFailuresError, PlexlensError, UsageError
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
@computes
def report(
    sources: DatabaseOrSources,
    *,
    output: PageOut = None,
    form: Format = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="Heading of the report.")] = "",
    bundle: Annotated[
        Path | None,
        typer.Option(
            "--bundle",
            metavar="FILE.zip",
            help="Write the page with the records and definitions that its numbers follow from; plexlens verify "
            "computes it again.",
        ),
    ] = None,
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
    computing: Computing,
) -> None:
    """Read dumps and write a report of findings, metrics and charts.

    Without -o, --format, --json and --bundle the report is written to
    report.html.
    """
    from plexlens.findings import Severity, load_decisions, load_rules
    from plexlens.pdb.opening import database
    from plexlens.report.build import Options
    from plexlens.report.model.display import counted
    from plexlens.report.of_database import report_of

    where = None
    if bundle is not None and computing.master:
        raise UsageError(
            file="--bundle",
            what="the numbers of a bundle are computed by the embedded engine",
            remedy="leave out --engine spark",
        )
    computing.check(sources)
    if bundle is not None:
        check_bundle(bundle, sources)
        check_apart({"-o": output, "--bundle": bundle})
    if bundle is None or output is not None or form is not None or as_json:
        where = target("report", output, form, as_json=as_json, default=Form.HTML, inputs=sources)
    judged_by = load_rules(rules or ())
    decisions = load_decisions(site, judged_by) if site is not None else ()
    with database(sources, reading) as (pdb, dumps), progress_bar() as progress:
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
        if bundle is not None:
            from plexlens.pdb.staging import sha256_of
            from plexlens.proof.bundle import Asked, write_bundle

            wanted = Asked(str(sources[0]), title, selection, tuple(rules or ()), site)
            database_report = write_bundle(pdb, bundle, wanted, results=results, failures=failures, progress=progress)
            err.print(f"written: {bundle} (SHA-256 {sha256_of(bundle)})")
        else:
            database_report = report_of(
                pdb,
                str(sources[0]),
                selection=selection,
                options=Options(title=title, rules=judged_by, decisions=decisions),
                results=results,
                failures=failures,
                progress=progress,
                brought=computing.brought(pdb, progress),
            )
    if where is not None:
        where.show(page(lambda: database_report.report, database_report.to_json))
    for failure in failures:
        err.print(f"plexlens: {failure}")
    if failures:
        raise typer.Exit(min(failure.exit_code for failure in failures))
    findings = database_report.report.findings
    grave = findings.at_or_above(Severity(fail_on)) if fail_on and findings else ()
    if grave:
        err.print(f"plexlens: {counted(len(grave), 'finding')} of severity {fail_on} or higher (--fail-on)")
        raise typer.Exit(1)
