"""Reports: pages of metrics as HTML, plain text, JSON, CSV and Excel workbooks.

``build`` evaluates every page over a database and gives a `Report`; ``render_html``, ``render_text``, ``render_csv``,
``render_zip``, ``render_xlsx`` and ``to_json`` format it. A page is one module of `plexlens.report.pages`.
"""

from __future__ import annotations

from plexlens.report.build import Options, build
from plexlens.report.csv_cells import render_csv, rows_left_out
from plexlens.report.csv_tables import render_zip
from plexlens.report.html import render_html
from plexlens.report.json_object import to_json
from plexlens.report.model import Report
from plexlens.report.readings import Readings
from plexlens.report.text import render_text
from plexlens.report.xlsx import render_xlsx

__all__ = [
    "Options",
    "Readings",
    "Report",
    "build",
    "render_csv",
    "render_html",
    "render_text",
    "render_xlsx",
    "render_zip",
    "rows_left_out",
    "to_json",
]
