"""Reports: pages of metrics as HTML, plain text, JSON and CSV.

``build`` evaluates every page over a database and gives a `Report`; ``render_html``, ``render_text``,
``render_csv`` and ``to_json`` format it. A page is one module of `plexlens.report.pages`.
"""

from __future__ import annotations

from plexlens.report.build import Options, build
from plexlens.report.csv_cells import render_csv, rows_left_out
from plexlens.report.html import render_html
from plexlens.report.json_object import to_json
from plexlens.report.model import Report
from plexlens.report.readings import Readings
from plexlens.report.text import render_text

__all__ = [
    "Options",
    "Readings",
    "Report",
    "build",
    "render_csv",
    "render_html",
    "render_text",
    "rows_left_out",
    "to_json",
]
