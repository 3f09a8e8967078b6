"""`plexlens verify`: a bundle computed again, and proof that two sources have the same metrics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, Json, engine_memory
from plexlens.cli.sources import Reading, reads_dumps
from plexlens.cli.terminal import emit, progress_bar
from plexlens.errors import UsageError

if TYPE_CHECKING:
    from plexlens.hand_over.translation import Translation
    from plexlens.metrics.user_query import Limits

_DIFFERENT = 1


@app.command()
@reads_dumps
def verify(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="BUNDLE.zip [FILE...]|ORIGINAL COPY",
            help="A bundle, and to read them again the files that it is of; with --same-metrics two performance "
            "databases, dumps, reports, folders of these, or two page traces.",
        ),
    ],
    *,
    same_metrics: Annotated[
        bool,
        typer.Option("--same-metrics", help="Compare every metric, fact and finding; names and times by the key."),
    ] = False,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key", metavar="FILE", help="Key file of the copy; without a key, names and times must be equal."
        ),
    ] = None,
    as_json: Json = False,
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit", metavar="SECONDS", min=0.0, help="Time that a bundle's definitions may take; 0 for any."
        ),
    ] = 600.0,
    memory: Annotated[
        str,
        typer.Option("--memory", metavar="SIZE", help="Memory of the engine for a bundle, such as 512MiB or 4GiB."),
    ] = "1GiB",
    catalogue: Catalogue = None,
    reading: Reading,
) -> None:
    """Compute every number of a bundle again, or prove that a copy has the metrics of the original.

    A bundle is what plexlens report --bundle writes. Its numbers are computed from the records in it, by the
    definitions in it. With the files that it is of, its records are compared with those in the files too.

    With --same-metrics, an anonymised copy is compared with the original: metrics and findings.

    Exit code 1 if something differs; the first differences are listed.
    """
    if not same_metrics and key is None and catalogue is None:
        from plexlens.metrics.user_query import Limits

        limits = Limits(time_limit or None, engine_memory(memory))
        _verify_bundle(sources[0], sources[1:], reading, limits, as_json=as_json)
        return
    if not same_metrics:
        raise UsageError(
            file="",
            what="--key and --catalogue are of --same-metrics; a bundle brings its definitions along",
            remedy="give: plexlens verify BUNDLE.zip, or plexlens verify --same-metrics ORIGINAL COPY",
        )
    from plexlens.hand_over.holds import known_words
    from plexlens.hand_over.key import Key
    from plexlens.hand_over.run import TRACE, kind_of
    from plexlens.hand_over.same import compare
    from plexlens.hand_over.translation import Translation
    from plexlens.metrics.opening import inputs_of

    if len(sources) != 2:
        raise UsageError(
            file="",
            what="verify compares the metrics of two sources",
            remedy="give: plexlens verify --same-metrics ORIGINAL COPY --key plexlens-key.json",
        )
    secret = Key.read(key) if key is not None else Key(b"", 0)
    translation = Translation(secret, known_words(reading.layouts))
    if all(path.is_file() and kind_of(path) == TRACE for path in sources):
        _compare_traces(sources[0], sources[1], translation, as_json=as_json)
        return
    with (
        progress_bar(lines=False) as progress,
        inputs_of(sources[:1], reading, progress) as before,
        inputs_of(sources[1:], reading, progress) as after,
    ):
        comparison = compare(before, after, translation)
    rows = sum(comparison.rows.values())
    if as_json:
        emit(
            {
                "same": not comparison.differing,
                "grains": comparison.rows,
                "numbers": comparison.numbers,
                "findings": comparison.findings,
                "differing": comparison.differing,
                "differences": comparison.differences,
            }
        )
    else:
        grains = f"{len(comparison.rows)} grains, {rows:,} rows"
        size = f"{grains}, {comparison.numbers:,} values, {comparison.findings} findings"
        typer.echo(
            f"the same: {size}" if not comparison.differing else f"{comparison.differing:,} differences in {size}"
        )
        for difference in comparison.differences:
            typer.echo(f"  {difference}")
    if comparison.differing:
        raise typer.Exit(_DIFFERENT)


def _compare_traces(first: Path, other: Path, translation: Translation, *, as_json: bool) -> None:
    from plexlens.hand_over.trace import same_references

    compared = same_references(first, other, translation)
    if as_json:
        emit({"same": not compared.first, "references": compared.references, "difference": compared.first or None})
    elif compared.first:
        typer.echo(f"different: {compared.first}")
    else:
        typer.echo(f"the same: {compared.references:,} references, and the names of members and objects")
    if compared.first:
        raise typer.Exit(_DIFFERENT)


def _verify_bundle(path: Path, files: list[Path], reading: Reading, limits: Limits, *, as_json: bool) -> None:
    from plexlens.proof.check import check

    if path.is_dir():
        raise UsageError(
            file=str(path),
            what="it is a folder, and a bundle is a ZIP file",
            remedy="name a bundle that plexlens report --bundle wrote; to compare two sources give --same-metrics",
        )
    with progress_bar(lines=False) as progress:
        checked = check(path, files, reading, progress, limits=limits)
    if as_json:
        emit(checked.to_json())
    else:
        for line in checked.lines():
            typer.echo(line)
    if not checked.is_proved:
        raise typer.Exit(_DIFFERENT)
