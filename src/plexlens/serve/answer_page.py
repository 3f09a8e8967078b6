"""A page that answers a question about the selected part of the data by a report: its form, and its tables as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plexlens.errors import NothingUsableError
from plexlens.json_text import json_text
from plexlens.metrics.selection import Selection
from plexlens.report.forms import Form, render
from plexlens.report.model import Report
from plexlens.report.writers.html import parts
from plexlens.serve.address import SELECTING, check, selecting, selection_of
from plexlens.serve.report_pages import PAGE_FILES, frame
from plexlens.serve.selection_form import selection_form
from plexlens.serve.shell import address, contents, page
from plexlens.serve.times import Chip
from plexlens.serve.workspace import Session, Workspace

#: Parameters of the selection that may be given repeatedly.
_LISTS = ("system", "shift", "class")

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Field:
    """A parameter of the question, and its place in the form.

    Attributes
    ----------
    name, label, hint
        Parameter, what a reader calls it, and an example of a value.
    is_list
        Whether several values may be given: each is a chip, and the form adds one.
    choices
        Its values, if it has a closed set of them.
    """

    name: str
    label: str
    hint: str
    is_list: bool = True
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answered:
    """An answer: its page, and its plain values."""

    report: Report
    values: Callable[[], Any]


@dataclass(frozen=True)
class Question:
    """A kind of question with a page of its own.

    Attributes
    ----------
    name, title
        Its address and the name of its files; its entry in the contents.
    about
        What the form asks for, in a sentence.
    fields
        Its parameters.
    """

    name: str
    title: str
    about: str
    fields: tuple[Field, ...]

    @property
    def path(self) -> str:
        """Address of its page."""
        return f"/{self.name}"

    def pairs(self, request: Request) -> list[tuple[str, str]]:
        """Its parameters in an address, those without a value left out.

        Raises
        ------
        UsageError
            A parameter is unknown or given twice.
        """
        names = [field.name for field in self.fields]
        lists = (*_LISTS, *(field.name for field in self.fields if field.is_list))
        check(request.query_params, (*SELECTING, *names), lists=lists)
        given = ((name, value.strip()) for name, value in request.query_params.multi_items() if name in names)
        return list(dict.fromkeys(pair for pair in given if pair[1]))


def answer_page(
    question: Question, workspace: Workspace, request: Request, pairs: Pairs, answered: Callable[[Session], Answered]
) -> Response:
    """The page of a question.

    Parameters
    ----------
    question, workspace, request
        What is asked, of what.
    pairs
        Its parameters, checked.
    answered
        Makes the answer from a session of the selected part of the data.
    """
    selection, of_selection = selection_of(request.query_params), selecting(request.query_params)

    def result() -> str:
        with workspace.fresh(selection) as session:
            listed = contents(session.inputs, question.path, of_selection)
            report = answered(session).report
        values = frame(report, workspace)
        values |= selection_form(request, workspace, selection, of_selection, pairs)
        values |= _form(question, pairs, of_selection)
        values |= {
            "contents": listed,
            "title": report.title,
            "subject": report.subject,
            "parts": parts(report),
            "files": [
                (form, address(f"{question.path}/tables.{form}", [*pairs, *of_selection])) for form in PAGE_FILES
            ],
        }
        return page("answer.html.j2", values)

    return HTMLResponse(workspace.kept((question.path, tuple(pairs), tuple(of_selection)), result))


def _form(question: Question, pairs: Pairs, of_selection: Pairs) -> dict[str, Any]:
    labels = {field.name: field.label for field in question.fields}
    single = {field.name for field in question.fields if not field.is_list}
    return {
        "about": question.about,
        "fields": question.fields,
        "given": {name: value for name, value in pairs if name in single},
        "hidden_in_form": [*(pair for pair in pairs if pair[0] not in single), *of_selection],
        "chips": [
            Chip(labels[name], value, address(question.path, [*_without(pairs, (name, value)), *of_selection]))
            for name, value in pairs
        ],
    }


def _without(pairs: Pairs, dropped: tuple[str, str]) -> list[tuple[str, str]]:
    return [pair for pair in pairs if pair != dropped]


def answer_file(
    question: Question, workspace: Workspace, request: Request, answered: Callable[[Session], Answered]
) -> Response:
    """The tables of an answer as a file, or its plain values as JSON; the parameters are checked."""
    form = request.path_params["form"]
    if form not in PAGE_FILES:
        raise NothingUsableError(
            file="", what="there is no such file", remedy=f"ask for one of {', '.join(PAGE_FILES)} of the page"
        )
    selection: Selection = selection_of(request.query_params)
    with workspace.fresh(selection) as session:
        answer = answered(session)
        content = json_text(answer.values()) if form == "json" else render(answer.report, Form(form))
    headers = {"content-disposition": f'attachment; filename="{question.name}.{form}"'}
    return Response(content, media_type=PAGE_FILES[form], headers=headers)
