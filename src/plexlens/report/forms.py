"""Forms of output: for each, its file ending, the answers that have it, and its writer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from plexlens.errors import UsageError

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


def forms_of(answer: Answer) -> tuple[Form, ...]:
    """The forms of a kind of answer."""
    return tuple(form for form, kind in FORMS.items() if answer in kind.answers)


PAGE_FORMS = forms_of(Answer.PAGE)
ROW_FORMS = forms_of(Answer.TABLE)
TEXT_FORMS = forms_of(Answer.PLAIN)


def endings_of(forms: Sequence[Form], *, explained: bool = False) -> str:
    """The file endings for these forms, as in ``.html, .txt or .csv``."""
    known = [kind.endings[0] + kind.explained * explained for form, kind in FORMS.items() if form in forms]
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


def render(report: Report, form: Form) -> str | bytes:
    """A report in a form other than JSON: text, or bytes of a form that is not text."""
    module, _, function = FORMS[form].writer.partition(":")
    contents: str | bytes = getattr(import_module(f"plexlens.report.writers.{module}"), function)(report)
    return contents
