"""`plexlens export`: metric views to files for other tools."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plexlens.cli import completion
from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, DatabaseOrSources, Json, Where
from plexlens.cli.output import STANDARD_OUTPUT, write_file
from plexlens.cli.selection import selectable
from plexlens.cli.sources import Reading, reads_dumps
from plexlens.cli.terminal import emit, err, progress_bar
from plexlens.errors import UsageError
from plexlens.report.forms import ENDINGS, Form, form_of
from plexlens.whole_file import check_file

if TYPE_CHECKING:
    from plexlens.export.views import Wanted
    from plexlens.metrics.selection import Selection


class Every(StrEnum):
    """Lengths of time of a row."""

    INTERVAL = "interval"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    WHOLE = "whole"


class ExportForm(StrEnum):
    """Forms of exports."""

    PARQUET = "parquet"
    CSV = "csv"
    XLSX = "xlsx"
    JSON = "json"
    OPENMETRICS = "openmetrics"


@app.command()
@selectable
@reads_dumps
def export(
    sources: DatabaseOrSources,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FOLDER|FILE",
            help="Folder for a file per grain, or a single file; its ending names the format: .parquet or .csv (one "
            "grain), .xlsx or .json (any number).",
        ),
    ] = None,
    grain: Annotated[
        list[str] | None,
        typer.Option(
            "--grain",
            metavar="NAME[,NAME]",
            help="Export these grains; every grain with data by default; repeatable.",
            autocompletion=completion.metrics,
        ),
    ] = None,
    every: Annotated[
        Every, typer.Option("--every", help="Time covered by a row; whole = a single row for all of it.")
    ] = Every.INTERVAL,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", metavar="NAME[,NAME]", help="Export only these metrics and facts; repeatable."),
    ] = None,
    where: Where = "",
    form: Annotated[
        ExportForm | None,
        typer.Option(
            "--format",
            help="Format of the files in a folder; or openmetrics: the last interval as text for Prometheus, to -o "
            "FILE or standard output.",
        ),
    ] = None,
    timestamps: Annotated[
        bool, typer.Option("--timestamps", help="With openmetrics: give each sample the end of its interval as time.")
    ] = False,
    as_json: Json = False,
    catalogue: Catalogue = None,
    reading: Reading,
    selection: Selection,
) -> None:
    """Export metric views to Parquet, CSV, Excel or JSON.

    A view has a row per entity and interval (or hour, day, week, month, or the whole time), with facts and metrics in
    base units. Parquet files have the units in the metadata of their fields; a table of columns has them in every form.
    """
    from plexlens.export.views import Wanted

    is_text = form is ExportForm.OPENMETRICS
    wanted = Wanted(
        _names(grain), "all" if every is Every.WHOLE else every.value, _names(metric), where, facts=not is_text
    )
    list(wanted.questions())
    if timestamps and not is_text:
        raise UsageError(
            file="", what="--timestamps applies only to OpenMetrics", remedy="add --format openmetrics, or leave it out"
        )
    if is_text:
        if as_json or every is not Every.INTERVAL:
            raise UsageError(
                file="",
                what="OpenMetrics text holds the last interval only, and is not JSON",
                remedy="leave out --every and --json",
            )
        if output is not None and ENDINGS.get(output.suffix.lower(), Form.TEXT) is not Form.TEXT:
            raise UsageError(
                file=str(output),
                what=f"the ending {output.suffix} names a format other than OpenMetrics",
                remedy=f"end the file in .prom or .txt, or leave out --format {form}",
            )
        _metrics(sources, wanted, reading=reading, selection=selection, output=output, timestamps=timestamps)
        return
    if as_json and output is not None:
        raise UsageError(
            file=str(output), what="--json goes to standard output, and -o names a file", remedy="leave one of them out"
        )
    to_standard_output = as_json or output == STANDARD_OUTPUT
    if output is None and not as_json:
        raise UsageError(
            file=str(sources[0]),
            what="no file or folder is named for the export",
            remedy="give -o FOLDER, -o FILE.xlsx, or --json for standard output",
        )
    if to_standard_output:
        _print(sources, wanted, reading, selection, Form(form or Form.JSON))
    elif output is not None:
        stated = None if form is None else Form(form)
        _write(sources, wanted, reading=reading, selection=selection, output=output, form=stated)


def _print(sources: list[Path], wanted: Wanted, reading: Reading, selection: Selection, form: Form) -> None:
    from plexlens.export.files import to_object
    from plexlens.export.views import views
    from plexlens.metrics.opening import inputs_of

    if form is not Form.JSON:
        raise UsageError(
            file="", what=f"{form} cannot be written to standard output", remedy=f"give -o FOLDER or -o FILE.{form}"
        )
    with progress_bar(lines=False) as progress, inputs_of(sources, reading, progress, selection) as inputs:
        results = to_object(views(inputs, wanted, str(sources[0])))
        emit(results | {"selection": inputs.selection.to_json()})


def _write(
    sources: list[Path],
    wanted: Wanted,
    *,
    reading: Reading,
    selection: Selection,
    output: Path,
    form: Form | None,
) -> None:
    from plexlens.export import files
    from plexlens.export.views import views
    from plexlens.metrics.opening import inputs_of

    is_file = output.suffix.lower() in ENDINGS and not output.is_dir()
    if is_file:
        form = form_of(output, files.FORMS, form)
        check_file(output, sources)
    else:
        files.check_folder(output)
    name = str(sources[0])
    with progress_bar(lines=False) as progress, inputs_of(sources, reading, progress, selection) as inputs:
        answers = views(inputs, wanted, name)
        if is_file and form is not None:
            write_file(output, files.single(answers, form, str(output)))
            return
        for path in files.write_folder(answers, output, form or Form.PARQUET):
            err.print(f"written: {path}")


def _metrics(
    sources: list[Path],
    wanted: Wanted,
    *,
    reading: Reading,
    selection: Selection,
    output: Path | None,
    timestamps: bool,
) -> None:
    from plexlens.export.openmetrics import openmetrics
    from plexlens.export.views import views
    from plexlens.metrics.opening import inputs_of

    path = None if output == STANDARD_OUTPUT else output
    check_file(path, sources)
    with progress_bar(lines=False) as progress, inputs_of(sources, reading, progress, selection) as inputs:
        text = openmetrics(views(inputs, wanted, str(sources[0])), timestamps=timestamps)
    if path is None:
        typer.echo(text, nl=False)
    else:
        write_file(path, text)


def _names(texts: list[str] | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for text in texts or () for name in text.split(",") if name.strip()))
