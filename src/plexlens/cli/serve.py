"""`plexlens serve`: a performance database in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import DATABASE, Catalogue, Location, engine_memory, located
from plexlens.errors import UsageError

_MEMORY = "Memory limit of the engine, such as 512MiB or 4GiB; beyond it the engine spills to disk."


@app.command()
def serve(
    pdb: Annotated[Location, typer.Argument(metavar="PDB", parser=located, help=f"{DATABASE}.")],
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8711,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Address to listen on; an address other than loopback needs TLS and a token."
        ),
    ] = "127.0.0.1",
    name: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="HOST", help="Host name by which browsers reach the server; repeatable."),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TLS certificate of the server (PEM).")
    ] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="Private key of the certificate (PEM).")] = None,
    token: Annotated[bool, typer.Option("--token", help="Require a token on the loopback address too.")] = False,
    no_tls: Annotated[
        bool,
        typer.Option(
            "--no-tls", help="Listen without TLS on an address other than loopback, because a proxy provides TLS."
        ),
    ] = False,
    memory: Annotated[str, typer.Option(metavar="SIZE", help=_MEMORY)] = "1GiB",
    threads: Annotated[
        int | None, typer.Option(min=1, max=256, help="Threads per query (default: the number of cores).")
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option("--prices", metavar="FILE", help="Prices of the site (TOML) for the page of cost."),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            min=1.0,
            help="Time that an answer may take (default: 60, and 30 for a question in SQL).",
        ),
    ] = None,
    catalogue: Catalogue = None,
) -> None:
    """Look at a performance database in a browser.

    It shows the pages of the report, each number by any key down to the
    records behind it, and answers to questions in SQL. It runs until Ctrl-C.
    """
    from plexlens.serve.running import Place, run

    if not (pdb / "manifest.json").is_file():
        raise UsageError(
            file=str(pdb),
            what="this is not a performance database",
            remedy="make one of dumps and reports first: plexlens ingest FILE... --pdb PDB",
        )
    place = Place(host, port, tuple(name or ()), certificate, key, token, no_tls)

    def tell(address: str) -> None:
        typer.echo(f"{pdb}: open {address}")
        if no_tls and not place.is_loopback:
            typer.echo("Without TLS, anyone on the network path can read the token and every page.", err=True)

    limit = f"{engine_memory(memory) // 1024}KiB"
    run(pdb, place, memory_limit=limit, threads=threads, prices=prices, tell=tell, seconds=time_limit)
