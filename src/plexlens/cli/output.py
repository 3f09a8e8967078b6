"""Destination and form of a command's answer, decided in a single place.

Without ``-o`` the answer goes to standard output as text. ``-o FILE`` writes a file in the form that its ending names,
``-o -`` writes to standard output; ``--format`` names the form where no ending does. ``--json`` prints one JSON object
on standard output, whether a file is written or not. A file that exists is replaced, whole or not at all; a file that
the command reads is never replaced.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plexlens.cli.terminal import check_writable, err, json_text, write, write_bytes
from plexlens.errors import UsageError
from plexlens.whole_file import cannot_write

if TYPE_CHECKING:
    from plexlens.report.model import Report


class Form(StrEnum):
    """Output forms of answers; not every command supports every form."""

    HTML = "html"
    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    ZIP = "zip"
    XLSX = "xlsx"
    PARQUET = "parquet"


#: The form that the ending of a file name stands for.
ENDINGS = {
    ".html": Form.HTML,
    ".htm": Form.HTML,
    ".txt": Form.TEXT,
    ".json": Form.JSON,
    ".csv": Form.CSV,
    ".zip": Form.ZIP,
    ".xlsx": Form.XLSX,
    ".parquet": Form.PARQUET,
}

#: What stands behind an ending in the help of ``-o``.
_EXPLAINED = {Form.ZIP: " (one CSV file per table)"}

#: Forms that go to a file named after the command where neither a file nor standard output is named.
_FILES_ONLY = (Form.HTML, Form.ZIP, Form.XLSX, Form.PARQUET)

#: What ``-o`` calls standard output.
STANDARD_OUTPUT = Path("-")


class PageFormat(StrEnum):
    """Output forms of a report page, as offered by ``--format``."""

    HTML = "html"
    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    ZIP = "zip"
    XLSX = "xlsx"


class RowFormat(StrEnum):
    """Output forms of an answer that is a single table, as offered by ``--format``."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    XLSX = "xlsx"
    PARQUET = "parquet"


class PlainFormat(StrEnum):
    """Output forms of an answer that is neither a page nor a table, as offered by ``--format``."""

    TEXT = "text"
    JSON = "json"


PAGE_FORMS = tuple(Form(one) for one in PageFormat)
ROW_FORMS = tuple(Form(one) for one in RowFormat)
TEXT_FORMS = tuple(Form(one) for one in PlainFormat)


def endings_of(forms: Sequence[Form], explained: Mapping[Form, str] | None = None) -> str:
    """The file endings for these forms, as in ``.html, .txt or .csv``."""
    known = [
        ending + (explained or {}).get(form, "")
        for ending, form in ENDINGS.items()
        if form in forms and ending != ".htm"
    ]
    return known[0] if len(known) == 1 else f"{', '.join(known[:-1])} or {known[-1]}"


def _output_option(forms: Sequence[Form]) -> Any:
    told = f"File to write (- = standard output); its ending names the form: {endings_of(forms, _EXPLAINED)}."
    return typer.Option("-o", "--output", metavar="FILE", help=told)


_FORMAT_HELP = "Form of the output where no file ending names it."

PageOut = Annotated[Path | None, _output_option(PAGE_FORMS)]
RowsOut = Annotated[Path | None, _output_option(ROW_FORMS)]
TextOut = Annotated[Path | None, _output_option(TEXT_FORMS)]
Format = Annotated[PageFormat | None, typer.Option("--format", help=_FORMAT_HELP)]
RowsFormat = Annotated[RowFormat | None, typer.Option("--format", help=_FORMAT_HELP)]
TextFormat = Annotated[PlainFormat | None, typer.Option("--format", help=_FORMAT_HELP)]


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


def check_file(path: Path | None, inputs: Iterable[Path] = ()) -> None:
    """Refuse, before any work is done, a file that cannot be written or must not be replaced.

    Parameters
    ----------
    path
        The file to write; None for none.
    inputs
        What the command reads.

    Raises
    ------
    UsageError
        The file cannot be written, the command reads it, or it is in the folder of a performance database.
    """
    check_writable(path)
    if path is None:
        return
    if path.exists() and any(one.exists() and one.samefile(path) for one in inputs):
        raise UsageError(
            file=str(path),
            what="this command reads the file, and would replace it",
            remedy="name another file for the output",
        )
    if (path.parent / "manifest.json").is_file():
        raise cannot_write(path, f"{path.parent} is a performance database, which holds only its own files")


def check_dump(path: Path | None, inputs: Iterable[Path] = ()) -> None:
    """Refuse a file name for an SMF dump that cannot be written or has the ending of a page form.

    Raises
    ------
    UsageError
        As `check_file`, or the file would be taken for what it is not.
    """
    if path is not None and path.suffix.lower() in ENDINGS:
        raise UsageError(
            file=str(path),
            what=f"this command writes an SMF dump, not a {path.suffix} file",
            remedy="end the name in .smf",
        )
    check_file(path, inputs)


def check_apart(files: Mapping[str, Path | None]) -> None:
    """Refuse two outputs to the same file; ``files`` are named by their options.

    Raises
    ------
    UsageError
        Two options name the same file.
    """
    named: dict[Path, str] = {}
    for option, path in files.items():
        if path is None:
            continue
        other = named.setdefault(path.absolute(), option)
        if other != option:
            raise UsageError(
                file=str(path), what=f"{other} and {option} name the same file", remedy="name a file for each of them"
            )


@dataclass(frozen=True)
class Target:
    """Destination of an answer: a form, and a file or standard output."""

    form: Form
    path: Path | None
    as_json: bool = False

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms to produce."""
        file = () if self.path is None and self.as_json else (self.form,)
        return file + ((Form.JSON,) if self.as_json and Form.JSON not in file else ())

    def show(self, made: Callable[[Form], Any]) -> None:
        """Produce each requested form, then write the file and standard output.

        Parameters
        ----------
        made
            Makes a form: text, or bytes of a form that is not text.
        """
        contents = {form: made(form) for form in self.forms}
        if self.path is not None:
            write_file(self.path, contents[self.form])
        if self.as_json:
            sys.stdout.write(contents[Form.JSON])
        elif self.path is None:
            _print(contents[self.form])


def _print(content: str | bytes) -> None:
    if isinstance(content, str):
        sys.stdout.write(content)
    else:
        sys.stdout.buffer.write(content)


def target(
    command: str,
    output: Path | None,
    stated: str | None = None,
    *,
    as_json: bool = False,
    forms: Sequence[Form] = PAGE_FORMS,
    default: Form = Form.TEXT,
    inputs: Sequence[Path] = (),
) -> Target:
    """Destination of a command's answer; an invalid destination is refused before any work is done.

    Parameters
    ----------
    command
        The command; a form that needs a file goes to ``COMMAND.ending`` in the current folder where none is named.
    output
        The file of ``-o``, or `STANDARD_OUTPUT`.
    stated
        The form of ``--format``.
    as_json
        Whether ``--json`` was given.
    forms
        The forms that the command writes.
    default
        The form without ``-o`` and ``--format``.
    inputs
        What the command reads; none of it is replaced.

    Raises
    ------
    UsageError
        The file cannot be written, the command does not write that form, or two answers would go to standard output.
    """
    form = Form(stated) if stated is not None else None
    if form is not None and form not in forms:
        raise UsageError(
            file="", what=f"this answer has no form {form}", remedy=f"give one of {', '.join(forms)} with --format"
        )
    if output == STANDARD_OUTPUT:
        return _standard_output(form or (Form.JSON if as_json else Form.TEXT), as_json=as_json)
    check_file(output, inputs)
    if output is not None:
        form = form_of(output, forms, form)
    elif form is None:
        form = Form.JSON if as_json else default
    if output is None and form in _FILES_ONLY:
        output = Path(f"{command}.{form}")
        check_file(output, inputs)
    if output is None:
        return _standard_output(form, as_json=as_json)
    return Target(form, output, as_json)


def _standard_output(form: Form, *, as_json: bool) -> Target:
    if as_json and form is not Form.JSON:
        raise UsageError(
            file="",
            what=f"--json and --format {form} would both go to standard output",
            remedy="leave one of them out, or name a file with -o",
        )
    if form in (Form.ZIP, Form.XLSX, Form.PARQUET) and sys.stdout.isatty():
        raise UsageError(
            file="", what=f"{form} is not text and a terminal cannot show it", remedy=f"name a file: -o FILE.{form}"
        )
    return Target(form, None, as_json)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file completely or not at all, and report it on standard error."""
    if isinstance(content, str):
        write(path, content)
    else:
        write_bytes(path, content)
    err.print(f"written: {path}")


def page(
    report: Callable[[], Report],
    values: Callable[[], Any],
    own: Mapping[Form, Callable[[], str | bytes]] | None = None,
) -> Callable[[Form], str | bytes]:
    """The function that renders each form of a report page.

    Parameters
    ----------
    report
        Makes the report.
    values
        Makes its plain values, for JSON.
    own
        Forms that the page makes itself, since they say more than the report.
    """

    def made(form: Form) -> str | bytes:
        if form is Form.JSON:
            return json_text(values())
        if own is not None and form in own:
            return own[form]()
        from plexlens import report as writers

        render: Mapping[Form, Callable[[Report], str | bytes]] = {
            Form.HTML: writers.render_html,
            Form.TEXT: writers.render_text,
            Form.CSV: writers.render_csv,
            Form.ZIP: writers.render_zip,
            Form.XLSX: writers.render_xlsx,
        }
        shown = report()
        if form in (Form.CSV, Form.ZIP, Form.XLSX):
            for left_out in writers.rows_left_out(shown):
                err.print(f"warning: {left_out}")
        return render[form](shown)

    return made
