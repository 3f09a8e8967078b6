"""Reports: pages of metrics as HTML, plain text, JSON, CSV and Excel workbooks.

``build`` evaluates every page over a database and gives a `Report`; ``render_html``, ``render_text``, ``render_csv``,
``render_zip``, ``render_xlsx`` and ``to_json`` format it. A page is one module of `plexlens.report.pages`.
"""

from __future__ import annotations

from plexlens.report.blocks.readings import Readings
from plexlens.report.build import Options, build
from plexlens.report.model import Report
from plexlens.report.writers.csv_cells import render_csv, rows_left_out
from plexlens.report.writers.csv_tables import render_zip
from plexlens.report.writers.html import render_html
from plexlens.report.writers.json_object import to_json
from plexlens.report.writers.text import render_text
from plexlens.report.writers.xlsx import render_xlsx

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
