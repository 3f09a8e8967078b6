"""`plexlens anonymise` and `plexlens reveal`: data for others, and their answers translated back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.options import CodePage, Codepage, Json, Layouts
from plexlens.cli.output import write_file
from plexlens.cli.terminal import emit, err, progress_bar
from plexlens.errors import UsageError
from plexlens.whole_file import check_file

_KEY = "plexlens-key.json"

KeyFile = Annotated[
    Path,
    typer.Option(
        "--key",
        metavar="FILE",
        help="Key file: the secret, the shift of times and the names. Keep it to yourself.",
    ),
]


@app.command()
def anonymise(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="SMF dumps, RMF XML files, text reports, page traces, or folders of these; performance databases.",
        ),
    ],
    *,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FILE|FOLDER", help="File for one input, new or empty folder for several."
        ),
    ],
    key: KeyFile = Path(_KEY),
    shift: Annotated[
        int | None,
        typer.Option(
            "--shift",
            metavar="DAYS",
            help="Days added to every date; multiples of 7 keep the day of the week. By default a whole number of "
            "weeks back, from the key.",
        ),
    ] = None,
    drop_unknown: Annotated[
        bool,
        typer.Option("--drop-unknown", help="Leave out records without a layout, and count them."),
    ] = False,
    account: Annotated[
        Path | None,
        typer.Option("--account", metavar="FILE.json", help="Write what was replaced and what was kept, by field."),
    ] = None,
    as_json: Json = False,
    layouts: Layouts = None,
    codepage: Codepage = CodePage.LATIN_1047,
) -> None:
    """Replace names and move times in data that you give to others; numbers stay.

    Systems, jobs, users, plans, data sets, volumes and every other name become other names of the same length, the same
    everywhere. Bytes that no layout explains become zero; records without a layout are refused. The key file has the
    names: with it, plexlens verify --same-metrics proves that every metric is the same, and plexlens reveal translates
    the names in an answer back.
    """
    from plexlens.hand_over.key import Key
    from plexlens.hand_over.run import Job, hand_over
    from plexlens.ingest.kinds import expand

    databases = [path for path in inputs if (path / "manifest.json").is_file()]
    files = (*(path for path, _ in expand([path for path in inputs if path not in databases])), *databases)
    for path in (key, account, output if not output.is_dir() else None):
        check_file(path, files)
    if key.exists():
        secret = Key.read(key)
        if shift is not None and shift != secret.days:
            raise UsageError(
                file=str(key),
                what=f"the key moves times by {secret.days} days, and --shift asks for {shift}",
                remedy="leave out --shift, or name a new key file",
            )
    else:
        secret = Key.new(shift)
    with progress_bar() as progress:
        accounts = hand_over(Job(files, output, secret, tuple(layouts or ()), codepage, drop_unknown), progress)
    secret.write(key)
    summary = {
        "key": str(key),
        "days": secret.days,
        "names": len(secret.words),
        "sources": [copied.data() for copied in accounts],
    }
    if account is not None:
        import json

        write_file(account, json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
    if as_json:
        emit(summary)
        return
    for copied in accounts:
        _show(copied)
    err.print(
        f"written: {key} ({len(secret.words):,} words of names; times moved by {secret.days:+,} days); "
        "keep it to yourself"
    )


def _show(account: Any) -> None:
    done: dict[str, int] = {}
    for (_, _, what), count in account.fields.items():
        done[what] = done.get(what, 0) + count
    counts = ", ".join(f"{count:,} values {what}" for what, count in sorted(done.items()))
    typer.echo(f"{account.source}: {account.kind}, {account.records:,} records; {counts}")
    for what, count in account.left_out.items():
        typer.echo(f"  left out: {count:,} {what}" if what.startswith("bytes") else f"  left out: {count:,} of {what}")
    blanked = sum(account.blanked.values())
    if blanked:
        typer.echo(f"  blanked: {blanked:,} bytes and sections that no field explains")
    for note in account.notes:
        typer.echo(f"  {note}")
    err.print(f"written: {account.output}")


@app.command()
def reveal(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT...", help="Text with names; standard input by default.")
    ] = None,
    *,
    key: KeyFile = Path(_KEY),
) -> None:
    """Translate names of an anonymised copy back, in a text: a name, a finding, a whole answer."""
    from plexlens.hand_over.key import Key
    from plexlens.hand_over.translation import back

    secret = Key.read(key)
    text = " ".join(words) + "\n" if words else sys.stdin.read()
    typer.echo(back(secret, text), nl=False)
