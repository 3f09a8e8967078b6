"""Answers that are pages: what a command shows, as an object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from plexlens.api.selecting import AnyPath
from plexlens.json_text import json_text, json_value
from plexlens.report.forms import PAGE_FORMS, Form, form_of, render
from plexlens.report.model import Report
from plexlens.whole_file import check_file, write, write_bytes

#: Height of a page in a notebook.
_HEIGHT = "46rem"


class Answer:
    """An answer of a command.

    Parameters
    ----------
    values
        Makes its plain values.
    """

    def __init__(self, values: Callable[[], Any]) -> None:
        self._values = values

    @cached_property
    def _plain(self) -> Any:
        return json_value(self._values())

    def to_json(self) -> Any:
        """The values that the command prints with ``--json``, as plain Python values; numbers are in base units."""
        return self._plain


class Page(Answer):
    """A page of a command. In a notebook it shows itself as the page that the command writes.

    Parameters
    ----------
    report
        Makes the page.
    values
        Makes its plain values.
    inputs
        What was read; none of it is replaced by `save`.
    """

    def __init__(self, report: Callable[[], Report], values: Callable[[], Any], *, inputs: Sequence[Path] = ()) -> None:
        super().__init__(values)
        self._make = report
        self._inputs = tuple(inputs)

    @cached_property
    def report(self) -> Report:
        """The page as a model: sections of charts, tables and advice."""
        return self._make()

    def html(self) -> str:
        """The page as one self-contained HTML document."""
        return str(render(self.report, Form.HTML))

    def text(self) -> str:
        """The page as text of 132 columns."""
        return str(render(self.report, Form.TEXT))

    def save(self, path: AnyPath) -> Path:
        """Write the page to a file in the form that its ending names, completely or not at all.

        Raises
        ------
        UsageError
            The ending names no form of a page, or the file cannot be written.
        """
        target = Path(path)
        check_file(target, self._inputs)
        form = form_of(target, PAGE_FORMS)
        content = json_text(self._values()) if form is Form.JSON else render(self.report, form)
        if isinstance(content, str):
            write(target, content)
        else:
            write_bytes(target, content)
        return target

    def __repr__(self) -> str:
        sections = ", ".join(section.title for section in self.report.sections)
        return f"<{self.report.kind}: {self.report.title}. {sections}>"

    def _repr_html_(self) -> str:
        # A document of its own: its style and the notebook's do not touch, and it may do nothing but show itself.
        return (
            f'<iframe sandbox="allow-scripts" title="{escape(self.report.title)}" srcdoc="{escape(self.html())}" '
            f'style="width:100%;height:{_HEIGHT};border:1px solid #8886;box-sizing:border-box"></iframe>'
        )
