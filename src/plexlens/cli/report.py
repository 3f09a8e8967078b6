"""`plexlens report`: dumps or a performance database in, a report out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.options import CodePage, Codepage, Json, Layouts, LeapSeconds, Out, Rules, Sources
from plexlens.cli.terminal import check_writable, err, progress_bar, write
from plexlens.errors import IngestFailuresError, PlexlensError, UsageError


class FailOn(StrEnum):
    """Severities that a report can fail on, the lowest first."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Format(StrEnum):
    """Forms of a report."""

    HTML = "html"
    TEXT = "text"


@app.command()
def report(
    sources: Sources,
    *,
    output: Out = None,
    form: Annotated[Format, typer.Option("--format", help="HTML page or plain text.")] = Format.HTML,
    title: Annotated[str, typer.Option(help="Heading of the report.")] = "",
    as_json: Json = False,
    layouts: Layouts = None,
    codepage: Codepage = CodePage.LATIN_1047,
    leap_seconds: LeapSeconds = False,
    rules: Rules = None,
    fail_on: Annotated[
        FailOn | None, typer.Option("--fail-on", help="End with 1 if a finding is of this severity or a higher one.")
    ] = None,
) -> None:
    """Read dumps and write the report: the main job. A performance database can be given in place of dumps.

    The page goes to report.html, plain text and JSON to standard output, unless -o names a file.
    """
    from plexlens.findings import Severity, load_rules
    from plexlens.metrics.inputs import Inputs
    from plexlens.pdb import ingest
    from plexlens.report import Options, build, render_html, render_text, to_json
    from plexlens.report.readings import readings_of

    if output is None and not as_json and form is Format.HTML:
        output = Path("report.html")
    check_writable(output)
    judged_by = load_rules(rules or ())
    with database(sources) as (pdb, dumps), progress_bar() as progress:
        results: list[Any] = []
        failures: list[PlexlensError] = []
        if dumps:
            try:
                results = ingest(
                    dumps,
                    pdb,
                    progress=progress,
                    layouts=tuple(layouts or ()),
                    codepage=codepage,
                    leap_seconds=leap_seconds,
                )
            except IngestFailuresError as error:
                # What could be read is reported, with what could not be at its top.
                if not error.results:
                    raise
                results, failures = list(error.results), list(error.failures)
        progress(0, 0, "writing the report")
        # What outgrows this spills to disk, so that the report's memory does not grow with the dump.
        backend = pdb.connect(memory_limit="1GiB")
        readings = readings_of(backend, results=results, failures=failures)
        made = build(Inputs(backend), readings, options=Options(title=title, rules=judged_by))
        if as_json:
            text = json.dumps(to_json(made), ensure_ascii=False, default=str) + "\n"
        else:
            text = render_html(made) if form is Format.HTML else render_text(made)
    if output is None:
        sys.stdout.write(text)
    else:
        write(output, text)
        err.print(f"written: {output}")
    for failure in failures:
        err.print(f"plexlens: {failure}")
    if failures:
        raise typer.Exit(failures[0].exit_code)
    grave = made.findings.at_or_above(Severity(fail_on)) if fail_on and made.findings else ()
    if grave:
        err.print(f"plexlens: findings of severity {fail_on} or higher: {len(grave)}")
        raise typer.Exit(1)


@contextmanager
def database(sources: list[Path]) -> Iterator[tuple[Any, list[Path]]]:
    """The PDB to report on and the dumps to read into it: a PDB that was named, or a temporary one."""
    from plexlens.pdb import Pdb

    held = [path for path in sources if (path / "manifest.json").is_file()]
    if held and len(sources) > 1:
        raise UsageError(
            file=str(held[0]),
            what="a performance database stands beside other sources",
            remedy="report on it alone, or ingest the others into it first (plexlens ingest ... --pdb)",
        )
    if held:
        yield Pdb.open(held[0]), []
    else:
        with Pdb.temporary() as pdb:
            yield pdb, sources
