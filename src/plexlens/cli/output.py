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
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from plexlens.cli.terminal import err
from plexlens.errors import UsageError
from plexlens.json_text import json_text
from plexlens.report.forms import (
    ENDINGS,
    FORMS,
    PAGE_FORMS,
    ROW_FORMS,
    TEXT_FORMS,
    Answer,
    Form,
    endings_of,
    form_of,
    forms_of,
    render,
)
from plexlens.report.writers.names import printable_lines
from plexlens.whole_file import check_file, write, write_bytes

if TYPE_CHECKING:
    from plexlens.report.model import Report


#: What ``-o`` calls standard output.
STANDARD_OUTPUT = Path("-")


def _output_option(forms: Sequence[Form]) -> Any:
    text = f"File to write (- = standard output); its ending names the format: {endings_of(forms, explained=True)}."
    return typer.Option("-o", "--output", metavar="FILE", help=text)


_FORMAT_HELP = "Format of the output, if no file ending names it."

if TYPE_CHECKING:
    _PageFormat: TypeAlias = str
    _RowFormat: TypeAlias = str
    _PlainFormat: TypeAlias = str
else:
    # Typer reads the choices of an option from an enumeration; a type checker cannot follow one that `FORMS` gives.
    _PageFormat, _RowFormat, _PlainFormat = (
        StrEnum(f"{answer.name}_FORMAT", {str(form): str(form) for form in forms_of(answer)}) for answer in Answer
    )

PageOut = Annotated[Path | None, _output_option(PAGE_FORMS)]
RowsOut = Annotated[Path | None, _output_option(ROW_FORMS)]
TextOut = Annotated[Path | None, _output_option(TEXT_FORMS)]
Format = Annotated[_PageFormat | None, typer.Option("--format", help=_FORMAT_HELP)]
RowsFormat = Annotated[_RowFormat | None, typer.Option("--format", help=_FORMAT_HELP)]
TextFormat = Annotated[_PlainFormat | None, typer.Option("--format", help=_FORMAT_HELP)]


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


def check_bundle(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse a file name for a bundle that does not end in ``.zip`` or cannot be written.

    Raises
    ------
    UsageError
        As `check_file`, or the file would be taken for what it is not.
    """
    if path.suffix.lower() != ".zip":
        raise UsageError(
            file=str(path), what="a bundle is a ZIP file, and its name does not say so", remedy="end the name in .zip"
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

    def show(self, function: Callable[[Form], Any]) -> None:
        """Produce each requested form, then write the file and standard output.

        Parameters
        ----------
        function
            Makes a form: text, or bytes of a form that is not text.
        """
        contents = {form: function(form) for form in self.forms}
        if Form.TEXT in contents:
            contents[Form.TEXT] = printable_lines(contents[Form.TEXT])
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
            file="", what=f"this command has no format {form}", remedy=f"give one of {', '.join(forms)} with --format"
        )
    if output == STANDARD_OUTPUT:
        return _standard_output(form or (Form.JSON if as_json else Form.TEXT), as_json=as_json)
    check_file(output, inputs)
    if output is not None:
        form = form_of(output, forms, form)
    elif form is None:
        form = Form.JSON if as_json else default
    if output is None and FORMS[form].in_file:
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
    if FORMS[form].is_binary and sys.stdout.isatty():
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

    def result(form: Form) -> str | bytes:
        if form is Form.JSON:
            return json_text(values())
        if own is not None and form in own:
            return own[form]()
        from plexlens.report.writers.csv_cells import rows_left_out

        shown = report()
        for left_out in rows_left_out(shown) if FORMS[form].is_data else ():
            err.print(f"warning: {left_out}")
        return render(shown, form)

    return result
