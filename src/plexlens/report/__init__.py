"""Reports: pages of metrics as HTML, plain text, JSON, CSV and Excel workbooks.

`plexlens.report.build.build` evaluates every page over a database and gives a `Report`; ``render_html``,
``render_text``, ``render_csv``, ``render_zip``, ``render_xlsx`` and ``to_json`` format it. A page is one module of
`plexlens.report.pages`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plexlens.report.blocks.readings import Readings
    from plexlens.report.build import Options
    from plexlens.report.model import Report
    from plexlens.report.writers.csv_cells import render_csv, rows_left_out
    from plexlens.report.writers.csv_tables import render_zip
    from plexlens.report.writers.html import render_html
    from plexlens.report.writers.json_object import to_json
    from plexlens.report.writers.text import render_text
    from plexlens.report.writers.xlsx import render_xlsx

#: Where each name is: a page of one kind needs neither the other pages nor the other forms.
_PLACES = {
    "Options": "plexlens.report.build",
    "Readings": "plexlens.report.blocks.readings",
    "Report": "plexlens.report.model",
    "render_csv": "plexlens.report.writers.csv_cells",
    "render_html": "plexlens.report.writers.html",
    "render_text": "plexlens.report.writers.text",
    "render_xlsx": "plexlens.report.writers.xlsx",
    "render_zip": "plexlens.report.writers.csv_tables",
    "rows_left_out": "plexlens.report.writers.csv_cells",
    "to_json": "plexlens.report.writers.json_object",
}

__all__ = [
    "Options",
    "Readings",
    "Report",
    "render_csv",
    "render_html",
    "render_text",
    "render_xlsx",
    "render_zip",
    "rows_left_out",
    "to_json",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
