"""`plexlens compare`: two runs side by side, or a prediction against what came."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import CodePage, Codepage, Json, Layouts, LeapSeconds, Out
from plexlens.cli.report import database
from plexlens.cli.terminal import check_writable, err, progress_bar, write
from plexlens.errors import UsageError


class Format(StrEnum):
    """Forms of a comparison."""

    HTML = "html"
    TEXT = "text"


def _share(name: str, value: float) -> float:
    if not 0 <= value <= 100:
        raise UsageError(file="", what=f"--{name} {value:g} is no percentage", remedy=f"give percent, as in --{name} 5")
    return value / 100


@app.command()
def compare(
    base: Annotated[
        str,
        typer.Argument(
            metavar="BASE",
            help="A performance database or dumps (PATH, PATH@2008-09-03, PATH@FROM..TO), a run of a study "
            "(STUDY:TABLE or STUDY:TABLE:ROW), or a prediction saved by plexlens pools (FILE.json).",
        ),
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="What BASE is compared with.")],
    *,
    output: Out = None,
    form: Annotated[Format, typer.Option("--format", help="HTML page or plain text.")] = Format.TEXT,
    as_json: Json = False,
    rate_bound: Annotated[
        float, typer.Option(help="Percent by which rates may differ and the runs still be comparable.")
    ] = 5.0,
    mix_bound: Annotated[float, typer.Option(help="Percent of the work that may have moved between objects.")] = 5.0,
    object_bound: Annotated[
        float, typer.Option(help="Percent of the work that objects may do that one run alone has.")
    ] = 1.0,
    layouts: Layouts = None,
    codepage: Codepage = CodePage.LATIN_1047,
    leap_seconds: LeapSeconds = False,
) -> None:
    """Compare two runs: environment, whether they are comparable, what changed and why, every number by group.

    Text and JSON go to standard output unless -o names a file; a page needs -o (compare.html by default).
    """
    from plexlens.compare.address import DatabaseAddress, PredictionAddress, address
    from plexlens.compare.comparability import Bounds
    from plexlens.compare.comparison import compare as compare_runs
    from plexlens.compare.database_run import database_run
    from plexlens.compare.run import Run
    from plexlens.compare.study_run import StudyAddress, study_run
    from plexlens.metrics.inputs import Inputs
    from plexlens.pdb import ingest
    from plexlens.report import render_html, render_text
    from plexlens.report.compare import compare_json, compare_report

    if output is not None and output.suffix == ".html":
        form = Format.HTML
    if output is None and form is Format.HTML and not as_json:
        output = Path("compare.html")
    check_writable(output)
    bounds = Bounds(
        _share("rate-bound", rate_bound), _share("mix-bound", mix_bound), _share("object-bound", object_bound)
    )
    first, second = address(base), address(new)
    with ExitStack() as stack, progress_bar() as progress:
        opened: dict[Path, Inputs] = {}

        def inputs_of(path: Path) -> Inputs:
            """The tables of a database, or of dumps read into a temporary one; each path is read once."""
            if path not in opened:
                pdb, dumps = stack.enter_context(database([path]))
                if dumps:
                    ingest(
                        dumps,
                        pdb,
                        progress=progress,
                        layouts=tuple(layouts or ()),
                        codepage=codepage,
                        leap_seconds=leap_seconds,
                    )
                opened[path] = Inputs(pdb.connect(memory_limit="1GiB"))
            return opened[path]

        def run_of(where: DatabaseAddress | StudyAddress) -> Run:
            if isinstance(where, StudyAddress):
                return study_run(where)
            progress(0, 0, f"reading the numbers of {where.text}")
            return database_run(inputs_of(where.path), where.text, window=where.window)

        if isinstance(second, PredictionAddress):
            raise UsageError(
                file=str(second.path),
                what="a prediction can only be BASE",
                remedy="name the prediction first and the measured run second",
            )
        if isinstance(first, PredictionAddress):
            raise UsageError(file=str(first.path), what="predictions are not read yet", remedy="name two runs")
        made = compare_runs(run_of(first), run_of(second), bounds=bounds)
        report = compare_report(made)
        if as_json:
            text = json.dumps(compare_json(made), ensure_ascii=False, default=str) + "\n"
        else:
            text = render_html(report) if form is Format.HTML else render_text(report)
    if output is None:
        sys.stdout.write(text)
    else:
        write(output, text)
        err.print(f"written: {output}")
