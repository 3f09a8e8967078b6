"""`plexlens pools`: buffer pools of a page-reference trace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Json
from plexlens.cli.terminal import emit, print_rows, progress_bar
from plexlens.errors import UsageError


@app.command()
def pools(
    traces: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACE...", help="A page-reference trace: CSV, Parquet, Arrow, oracleGeneral; in pieces."
        ),
    ],
    *,
    sizes: Annotated[str, typer.Option(help="Pool sizes in pages: 1000,5000. Without it, a choice of sizes.")] = "",
    sample: Annotated[
        float | None, typer.Option(help="Look at this share of the pages (0.01) and state the error.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Read misses of every buffer pool of a trace at any size, from one pass over it."""
    from plexlens.pools import curves_of, to_json

    try:
        wanted = [int(size) for size in sizes.split(",") if size.strip()]
    except ValueError as error:
        raise UsageError(
            file="", what=f"--sizes {sizes} is no list of numbers", remedy="give pages, as in --sizes 1000,5000"
        ) from error
    with progress_bar() as progress:
        curves = curves_of(traces, sizes=wanted, sample=sample, progress=progress)
    if as_json:
        emit(to_json(curves, sample=sample))
        return
    names = ["pool", "pages", "read misses", "misses/getpage"] + ([] if sample is None else ["standard error"])
    rows = [
        {
            "pool": curve.pool,
            "pages": size,
            "read misses": round(misses),
            "misses/getpage": f"{misses / curve.getpages:.4f}" if curve.getpages else None,
            "standard error": round(error),
        }
        for curve in curves
        for size, misses, error in curve.points
    ]
    print_rows(names, rows)
