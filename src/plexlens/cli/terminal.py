"""What commands write: answers on standard output, the rest on standard error, files whole or not at all."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from plexlens.whole_file import cannot_write, whole_file

#: Standard error: whatever is not the answer goes there.
err = Console(stderr=True, highlight=False, emoji=False, markup=False, soft_wrap=True)


def emit(value: Any) -> None:
    """One JSON object on standard output."""
    json.dump(value, sys.stdout, ensure_ascii=False, default=str)
    sys.stdout.write("\n")


def check_writable(path: Path | None) -> None:
    """Says before the work what would else be said after it."""
    if path is None:
        return
    if path.is_dir():
        raise cannot_write(path, "it is a folder")
    if not path.parent.is_dir():
        raise cannot_write(path, f"there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise cannot_write(path, f"you may not write to {path.parent}")


def write(path: Path, text: str) -> None:
    """Write a text: the whole file or none."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes: the whole file or none."""
    with whole_file(path) as part:
        part.write_bytes(data)


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar on a terminal, one line a stage elsewhere; both on standard error."""
    if not err.is_terminal:
        seen: set[str] = set()

        def line(done: int, total: int, stage: str) -> None:
            if stage not in seen:
                seen.add(stage)
                err.print(stage)

        yield line
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("", total=None)

        def update(done: int, total: int, stage: str) -> None:
            bar.update(task, completed=done, total=total or None, description=stage)

        yield update


def print_rows(names: list[str], rows: list[dict[str, Any]]) -> None:
    """A plain aligned table on standard output; numbers to the right."""
    cells = [["" if row[name] is None else str(row[name]) for name in names] for row in rows]
    numeric = [all(isinstance(row[name], (int, float, type(None))) for row in rows) for name in names]
    widths = [max([len(name), *(len(line[i]) for line in cells)]) for i, name in enumerate(names)]
    for line in [names, ["-" * width for width in widths], *cells]:
        fitted = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        ]
        typer.echo("  ".join(fitted).rstrip())
