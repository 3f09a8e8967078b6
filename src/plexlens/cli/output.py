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
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from plexlens.cli.terminal import check_writable, err, write, write_bytes
from plexlens.errors import UsageError
from plexlens.json_text import json_text
from plexlens.whole_file import cannot_write

if TYPE_CHECKING:
    from plexlens.report.model import Report


class Form(StrEnum):
    """Output forms of answers; `FORMS` says what each is."""

    HTML = "html"
    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    ZIP = "zip"
    XLSX = "xlsx"
    PARQUET = "parquet"


class Answer(StrEnum):
    """Kinds of answers: a page, a single table, and what is neither."""

    PAGE = "page"
    TABLE = "table"
    PLAIN = "plain"


@dataclass(frozen=True)
class FormKind:
    """Properties of a form of output.

    Attributes
    ----------
    endings
        Endings of file names that stand for it; messages name the first.
    answers
        The kinds of answers that have it.
    writer
        ``module:function`` of `plexlens.report.writers` that makes it from a report; empty where the values themselves
        make it.
    is_data
        Whether it holds all cells for other programs, so that rows which a page leaves out are worth a warning.
    is_binary
        Whether a terminal cannot show it.
    in_file
        Whether it goes to a file named after the command where neither a file nor standard output is named.
    explained
        What stands behind its ending in the help of ``-o``.
    """

    endings: tuple[str, ...]
    answers: tuple[Answer, ...]
    writer: str = ""
    is_data: bool = False
    is_binary: bool = False
    in_file: bool = False
    explained: str = ""


_EVERY = (Answer.PAGE, Answer.TABLE, Answer.PLAIN)
_TABLES = (Answer.PAGE, Answer.TABLE)

#: Every form, in the order of messages.
FORMS = {
    Form.HTML: FormKind((".html", ".htm"), (Answer.PAGE,), "html:render_html", in_file=True),
    Form.TEXT: FormKind((".txt",), _EVERY, "text:render_text"),
    Form.JSON: FormKind((".json",), _EVERY),
    Form.CSV: FormKind((".csv",), _TABLES, "csv_cells:render_csv", is_data=True),
    Form.ZIP: FormKind(
        (".zip",),
        (Answer.PAGE,),
        "csv_tables:render_zip",
        is_data=True,
        is_binary=True,
        in_file=True,
        explained=" (one CSV file per table)",
    ),
    Form.XLSX: FormKind((".xlsx",), _TABLES, "xlsx:render_xlsx", is_data=True, is_binary=True, in_file=True),
    Form.PARQUET: FormKind((".parquet",), (Answer.TABLE,), is_binary=True, in_file=True),
}

#: The form that the ending of a file name stands for.
ENDINGS = {ending: form for form, kind in FORMS.items() for ending in kind.endings}

#: What ``-o`` calls standard output.
STANDARD_OUTPUT = Path("-")


def _forms_of(answer: Answer) -> tuple[Form, ...]:
    return tuple(form for form, kind in FORMS.items() if answer in kind.answers)


PAGE_FORMS = _forms_of(Answer.PAGE)
ROW_FORMS = _forms_of(Answer.TABLE)
TEXT_FORMS = _forms_of(Answer.PLAIN)


def endings_of(forms: Sequence[Form], *, explained: bool = False) -> str:
    """The file endings for these forms, as in ``.html, .txt or .csv``."""
    known = [kind.endings[0] + kind.explained * explained for form, kind in FORMS.items() if form in forms]
    return known[0] if len(known) == 1 else f"{', '.join(known[:-1])} or {known[-1]}"


def _output_option(forms: Sequence[Form]) -> Any:
    told = f"File to write (- = standard output); its ending names the form: {endings_of(forms, explained=True)}."
    return typer.Option("-o", "--output", metavar="FILE", help=told)


_FORMAT_HELP = "Form of the output where no file ending names it."

if TYPE_CHECKING:
    _PageFormat: TypeAlias = str
    _RowFormat: TypeAlias = str
    _PlainFormat: TypeAlias = str
else:
    # Typer reads the choices of an option from an enumeration; a type checker cannot follow one that `FORMS` gives.
    _PageFormat, _RowFormat, _PlainFormat = (
        StrEnum(f"{answer.name}_FORMAT", {str(form): str(form) for form in _forms_of(answer)}) for answer in Answer
    )

PageOut = Annotated[Path | None, _output_option(PAGE_FORMS)]
RowsOut = Annotated[Path | None, _output_option(ROW_FORMS)]
TextOut = Annotated[Path | None, _output_option(TEXT_FORMS)]
Format = Annotated[_PageFormat | None, typer.Option("--format", help=_FORMAT_HELP)]
RowsFormat = Annotated[_RowFormat | None, typer.Option("--format", help=_FORMAT_HELP)]
TextFormat = Annotated[_PlainFormat | None, typer.Option("--format", help=_FORMAT_HELP)]


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

    def made(form: Form) -> str | bytes:
        if form is Form.JSON:
            return json_text(values())
        if own is not None and form in own:
            return own[form]()
        from plexlens.report.writers.csv_cells import rows_left_out

        kind, shown = FORMS[form], report()
        for left_out in rows_left_out(shown) if kind.is_data else ():
            err.print(f"warning: {left_out}")
        module, _, function = kind.writer.partition(":")
        render = getattr(import_module(f"plexlens.report.writers.{module}"), function)
        contents: str | bytes = render(shown)
        return contents

    return made
