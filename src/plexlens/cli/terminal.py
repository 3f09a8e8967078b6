"""Output of commands: answers on standard output, messages on standard error, files written completely or not at
all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from plexlens.json_text import hexadecimal, json_text
from plexlens.progress import Progress, silent
from plexlens.report.writers.names import printable, printable_lines

if TYPE_CHECKING:
    from rich.console import Console


class Messages:
    """Standard error: everything except the answer is printed there, above a visible progress bar."""

    def __init__(self) -> None:
        #: The console of the progress bar; None while none is shown.
        self.console: Console | None = None

    def print(self, text: str) -> None:
        """Print a line, with control characters of names replaced."""
        text = printable_lines(text)
        if self.console is not None:
            self.console.print(text)
        else:
            sys.stderr.write(text + "\n")


err = Messages()


def emit(value: Any) -> None:
    """Print one JSON object on standard output."""
    sys.stdout.write(json_text(value))


@contextmanager
def progress_bar(unit: str = "", *, lines: bool = True) -> Iterator[Progress]:
    """A progress bar with the remaining time on a terminal, otherwise a line per stage; both on standard error.

    Parameters
    ----------
    unit
        What is counted, in plain numbers; steps or bytes, by their size, where it is empty.
    lines
        Whether stages are lines where there is no terminal; commands that are usually short show nothing there.
    """
    if not sys.stderr.isatty():
        if not lines:
            yield silent
            return
        seen: set[str] = set()

        def line(done: int, total: int, stage: str) -> None:
            if stage not in seen:
                seen.add(stage)
                err.print(stage)

        yield line
        return
    # Imported here: rich takes half of the time that a command without a bar takes to start.
    from rich import progress as rich_progress
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[amount]}"), TimeElapsedColumn(),
        TextColumn("left:"), TimeRemainingColumn(),
    )  # fmt: skip
    console = Console(stderr=True, highlight=False, emoji=False, markup=False, soft_wrap=True)
    with rich_progress.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, amount="")
        shown = ""

        def update(done: int, total: int, stage: str) -> None:
            nonlocal shown
            if stage != shown:
                # The time left is that of the stage, whose speed is not that of the one before.
                bar.reset(task, total=total or None, description=stage)
                shown = stage
            bar.update(task, completed=done, total=total or None, amount=amount_text(done, total, unit))

        err.console = console
        try:
            yield update
        finally:
            err.console = None


def amount_text(done: int, total: int, unit: str = "") -> str:
    """Progress of a stage: steps as ``3 of 7``, bytes in MiB; empty if the total is unknown."""
    if not total:
        return ""
    if unit:
        return f"{done:,} of {total:,} {unit}"
    if total <= _MOST_STEPS:
        return f"{done} of {total}"
    return f"{done / (1 << 20):,.1f} of {total / (1 << 20):,.1f} MiB"


#: Totals above this are bytes of files: no stage has this number of steps, and smaller files are read immediately.
_MOST_STEPS = 20_000


def print_rows(names: list[str], rows: list[dict[str, Any]]) -> None:
    """Print rows in the layout of `table_text`."""
    sys.stdout.write(table_text(names, [[row[name] for name in names] for row in rows]))


def table_text(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Rows as an aligned table, numbers right-aligned, binary data in hexadecimal; unknown values are empty."""
    cells = [[_cell(value) for value in row] for row in rows]
    names = [printable(name) for name in names]
    numeric = [
        all(isinstance(row[column], (int, float, Decimal, type(None))) for row in rows) for column in range(len(names))
    ]
    widths = [max([len(name), *(len(line[column]) for line in cells)]) for column, name in enumerate(names)]
    lines = []
    for line in [list(names), ["-" * width for width in widths], *cells]:
        fitted = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        ]
        lines.append("  ".join(fitted).rstrip() + "\n")
    return "".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes):
        return hexadecimal(value)
    return json_text(value).rstrip("\n") if isinstance(value, list | dict) else printable(str(value))
