"""`plexlens study`: published studies recomputed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Json
from plexlens.cli.terminal import check_writable, err, write, write_bytes
from plexlens.errors import UsageError
from plexlens.whole_file import cannot_write


@app.command()
def study(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME...", help="Studies: sysplex-1996, ...")] = None,
    *,
    all_of_them: Annotated[bool, typer.Option("--all", help="Every study that there is.")] = False,
    goals: Annotated[
        list[str] | None, typer.Option("--goal", help="CURVE=NUMBER: a goal of your own for a curve over load or size.")
    ] = None,
    predictions: Annotated[
        list[str] | None, typer.Option("--predict", help="CURVE=N,N...: processors to predict with a capacity curve.")
    ] = None,
    as_json: Json = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write: .html, .txt, .csv, .xlsx or .json.")
    ] = None,
) -> None:
    """Recompute the tables of a published study: printed, computed, difference, and what cannot be right in print."""
    from plexlens import compare
    from plexlens.compare.analysis import analyse
    from plexlens.compare.analysis_object import to_object as analysis_object
    from plexlens.compare.asked import asked_of, check_asked
    from plexlens.compare.json_object import to_object
    from plexlens.report import render_html, render_text
    from plexlens.report.study import study_csv, study_report
    from plexlens.report.study_xlsx import study_workbook

    if bool(names) == all_of_them:
        raise UsageError(
            file="",
            what="a study and --all are both given" if names else "no study is named",
            remedy=f"name one of {', '.join(compare.study_names())}, or give --all",
        )
    form = "json" if as_json else output.suffix.removeprefix(".").lower() if output else "txt"
    if form not in ("html", "txt", "csv", "json", "xlsx"):
        raise cannot_write(Path(output or ""), f"a study has no form {output.suffix!r}" if output else "")
    check_writable(output)
    asked = asked_of(goals or (), predictions or ())
    audits = [compare.audit(compare.load_study(name)) for name in names or compare.study_names()]
    check_asked(asked, [analyse(one) for one in audits] if asked else [])
    analyses = [analyse(one, asked) for one in audits]
    if form == "xlsx" and output is not None:
        write_bytes(output, study_workbook(audits, analyses))
        err.print(f"written: {output}")
        return
    if form == "json":
        objects = [{**to_object(one), **analysis_object(shown)} for one, shown in zip(audits, analyses, strict=True)]
        text = json.dumps({"studies": objects} if len(objects) > 1 else objects[0], ensure_ascii=False) + "\n"
    elif form == "csv":
        text = study_csv(audits)
    else:
        text = (render_html if form == "html" else render_text)(study_report(audits, analyses))
    if output is None:
        sys.stdout.write(text)
    else:
        write(output, text)
        err.print(f"written: {output}")
