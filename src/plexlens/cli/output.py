"""Where the answer of a command goes, and in which form: the one place that decides.

Without ``-o`` the answer goes to standard output as text. ``-o FILE`` writes a file in the form that its ending names;
``--format`` names the form of a file whose ending names none. ``--json`` prints one JSON object on standard output,
whether a file is written or not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plexlens.cli.terminal import check_writable, err, json_text, write, write_bytes
from plexlens.errors import UsageError

if TYPE_CHECKING:
    from plexlens.report.model import Report


class Form(StrEnum):
    """Forms that answers are written in; not every command writes every form."""

    HTML = "html"
    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    XLSX = "xlsx"
    PARQUET = "parquet"


#: The form that the ending of a file name stands for.
ENDINGS = {
    ".html": Form.HTML,
    ".htm": Form.HTML,
    ".txt": Form.TEXT,
    ".json": Form.JSON,
    ".csv": Form.CSV,
    ".xlsx": Form.XLSX,
    ".parquet": Form.PARQUET,
}

#: Forms of a report page.
PAGE_FORMS = (Form.HTML, Form.TEXT, Form.JSON, Form.CSV)

#: Forms that are not written to standard output: they go to a file named after the command.
_FILES_ONLY = (Form.HTML, Form.XLSX, Form.PARQUET)


class PageFormat(StrEnum):
    """Forms of a report page, as ``--format`` offers them."""

    HTML = "html"
    TEXT = "text"
    JSON = "json"
    CSV = "csv"


PageOut = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="File to write; its ending names the form: .html, .txt, .json or .csv."
    ),
]
Format = Annotated[
    PageFormat | None,
    typer.Option("--format", help="Form of the output where no file ending names it; html goes to a file."),
]


def endings_of(forms: Sequence[Form]) -> str:
    """The endings that name these forms, as in ``.html, .txt or .csv``."""
    known = [ending for ending, form in ENDINGS.items() if form in forms and ending != ".htm"]
    return known[0] if len(known) == 1 else f"{', '.join(known[:-1])} or {known[-1]}"


def form_of(path: Path, forms: Sequence[Form], stated: Form | None = None) -> Form:
    """The form of a file to write.

    Parameters
    ----------
    path
        The file.
    forms
        The forms that the command writes.
    stated
        The form that ``--format`` names.

    Raises
    ------
    UsageError
        The ending names no form, a form that the command does not write, or another form than ``stated``.
    """
    named = ENDINGS.get(path.suffix.lower())
    ending = f"the ending {path.suffix}" if path.suffix else "a name without an ending"
    if stated is not None and named in (None, stated):
        return stated
    if stated is not None:
        raise UsageError(
            file=str(path),
            what=f"{ending} names another form than --format {stated}",
            remedy="leave --format out, or change the ending",
        )
    if named is None:
        raise UsageError(
            file=str(path),
            what=f"{ending} names no form of output",
            remedy=f"end the name in {endings_of(forms)}",
        )
    if named not in forms:
        raise UsageError(
            file=str(path),
            what=f"this command does not write {path.suffix} files",
            remedy=f"end the name in {endings_of(forms)}",
        )
    return named


def check_dump(path: Path | None) -> None:
    """Refuse a name for an SMF dump that cannot be written or whose ending names a form of page.

    Raises
    ------
    UsageError
        The file cannot be written, or it would be taken for what it is not.
    """
    if path is not None and path.suffix.lower() in ENDINGS:
        raise UsageError(
            file=str(path),
            what=f"this command writes an SMF dump, not a {path.suffix} file",
            remedy="end the name in .smf",
        )
    check_writable(path)


@dataclass(frozen=True)
class Target:
    """Where an answer goes: a form, and a file or standard output."""

    form: Form
    path: Path | None
    as_json: bool = False

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms to make."""
        file = () if self.path is None and self.as_json else (self.form,)
        return file + ((Form.JSON,) if self.as_json else ())

    def show(self, made: Callable[[Form], Any]) -> None:
        """Make each form that is asked for, then write the file and standard output.

        Parameters
        ----------
        made
            Makes a form: text, or bytes of a form that only files have.
        """
        contents = {form: made(form) for form in self.forms}
        if self.path is not None:
            write_file(self.path, contents[self.form])
        if self.as_json:
            sys.stdout.write(contents[Form.JSON])
        elif self.path is None:
            sys.stdout.write(contents[self.form])


def target(
    command: str,
    output: Path | None,
    stated: str | None = None,
    *,
    as_json: bool = False,
    forms: Sequence[Form] = PAGE_FORMS,
    default: Form = Form.TEXT,
) -> Target:
    """Where the answer of a command goes; refused before any work is done.

    Parameters
    ----------
    command
        The command; a form that needs a file goes to ``COMMAND.ending`` in the current folder where none is named.
    output
        The file of ``-o``.
    stated
        The form of ``--format``.
    as_json
        Whether ``--json`` was given.
    forms
        The forms that the command writes.
    default
        The form without ``-o`` and ``--format``.

    Raises
    ------
    UsageError
        The file cannot be written, or the command does not write that form.
    """
    form = Form(stated) if stated is not None else None
    check_writable(output)
    if output is not None:
        form = form_of(output, forms, form)
    elif form is None:
        form = Form.JSON if as_json else default
    if output is None and form in _FILES_ONLY:
        output = Path(f"{command}.{form}")
        check_writable(output)
    return Target(form, output, as_json)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file, whole or not at all, and say so on standard error."""
    if isinstance(content, str):
        write(path, content)
    else:
        write_bytes(path, content)
    err.print(f"written: {path}")


def page(report: Callable[[], Report], values: Callable[[], Any]) -> Callable[[Form], str]:
    """What makes each form of a report page.

    Parameters
    ----------
    report
        Makes the report.
    values
        Makes its plain values, for JSON.
    """

    def made(form: Form) -> str:
        if form is Form.JSON:
            return json_text(values())
        from plexlens.report import render_csv, render_html, render_text, rows_left_out

        writers = {Form.HTML: render_html, Form.TEXT: render_text, Form.CSV: render_csv}
        shown = report()
        if form is Form.CSV:
            for left_out in rows_left_out(shown):
                err.print(f"warning: {left_out}")
        return writers[form](shown)

    return made
