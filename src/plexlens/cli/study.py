"""`plexlens study`: published studies, and a user's own, recomputed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from plexlens.cli import completion
from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, Json
from plexlens.cli.output import Format, PageOut, page, target
from plexlens.cli.terminal import progress_bar
from plexlens.errors import UsageError
from plexlens.report.forms import Form


@app.command()
def study(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME|FOLDER...",
            help="Bundled studies, such as sysplex-1996, or folders of your own with a study.toml.",
            autocompletion=completion.studies,
        ),
    ] = None,
    *,
    all_of_them: Annotated[bool, typer.Option("--all", help="Recompute every bundled study.")] = False,
    goals: Annotated[
        list[str] | None,
        typer.Option("--goal", metavar="CURVE=NUMBER", help="Your own goal for a curve over load or size; repeatable."),
    ] = None,
    predictions: Annotated[
        list[str] | None,
        typer.Option(
            "--predict",
            metavar="CURVE=N,N...",
            help="Numbers of processors to predict from a capacity curve; repeatable.",
        ),
    ] = None,
    catalogue: Catalogue = None,
    as_json: Json = False,
    form: Format = None,
    output: PageOut = None,
) -> None:
    """Recompute the tables of a published study, or of your own.

    Each derived cell is shown as printed and as computed from its inputs; cells that the inputs cannot produce are
    listed with the arithmetic. The CSV file and the workbook have bounds and arithmetic of each derived cell.
    studies/README.md shows how to write a study.
    """
    from plexlens.compare.analysis.analysis import analyse
    from plexlens.compare.analysis.asked import asked_of, check_asked
    from plexlens.compare.analysis.json_object import to_object as analysis_object
    from plexlens.compare.audit.audit import audit
    from plexlens.compare.audit.json_object import to_object
    from plexlens.compare.page.study import study_csv, study_report
    from plexlens.compare.page.study_workbook import study_workbook
    from plexlens.compare.study.places import study_names
    from plexlens.compare.study.reader import load_study

    if bool(names) == all_of_them:
        raise UsageError(
            file="",
            what="a study and --all are both given" if names else "no study is named",
            remedy=f"give one of {', '.join(study_names())}, or a folder with a study.toml, or --all",
        )
    read = [Path(name) / "study.toml" for name in names or ()]
    where = target("study", output, form, as_json=as_json, inputs=read)
    options = asked_of(goals or (), predictions or ())
    studies = [load_study(name) for name in names or study_names()]
    for number, asked_study in enumerate(studies):
        if any(asked_study.name == before.name for before in studies[:number]):
            raise UsageError(
                file=str(asked_study.path),
                what=f"two studies are named {asked_study.name!r}",
                remedy="name each study once, or change the name in one study.toml",
            )
    with progress_bar("studies", lines=False) as progress:
        audits, analyses = [], []
        for number, asked_study in enumerate(studies):
            progress(number, len(studies), "recomputing")
            audits.append(audit(asked_study))
        check_asked(options, [analyse(recomputed) for recomputed in audits] if options else [])
        for number, result in enumerate(audits):
            progress(number, len(audits), "analysing")
            analyses.append(analyse(result, options))

    def values() -> Any:
        objects = [
            {**to_object(recomputed), **analysis_object(shown)}
            for recomputed, shown in zip(audits, analyses, strict=True)
        ]
        return {"studies": objects} if len(objects) > 1 else objects[0]

    # Bounds and arithmetic of each derived cell are columns of these two, and colours and comments of the workbook.
    own: dict[Form, Callable[[], str | bytes]] = {
        Form.CSV: lambda: study_csv(audits),
        Form.XLSX: lambda: study_workbook(audits, analyses),
    }
    where.show(page(lambda: study_report(audits, analyses), values, own))
