"""Tables in a notebook: the rows as the report writes them, below a chart."""

from __future__ import annotations

from functools import cache

import jinja2
from markupsafe import Markup

from plexlens.report.chart.time_svg import draw
from plexlens.report.model import Table
from plexlens.report.model.chart import Chart
from plexlens.report.model.clock import Clock
from plexlens.report.writers.table_html import table_view


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("plexlens.api", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("notebook.html.j2")


def shown_rows(table: Table, chart: Chart | None, clock: Clock) -> str:
    """HTML of a table, below its chart if there is one; its style reaches nothing else on the page.

    Parameters
    ----------
    table
        The rows to show; it says how many there are.
    chart
        The chart; None for none.
    clock
        How times are told.
    """
    drawing = None if chart is None else draw(chart, clock, chart.times[0], max(chart.ends))
    view = table_view(table, {}, clock)
    rows = len(table.rows)
    count = f"{rows:,} of {table.total_rows:,} rows" if table.left_out else view["size"]
    return str(
        Markup(
            _template().render(
                chart=chart,
                drawing=drawing,
                heads=view["heads"],
                body=view["body"],
                count=count,
                note=clock.note if any(column.kind == "time" for column in table.columns) else "",
            )
        )
    )


class DrawnChart:
    """A chart of a number over time; in a notebook it shows itself.

    Parameters
    ----------
    chart
        The chart as a report has it.
    clock
        How times are told.
    """

    def __init__(self, chart: Chart, clock: Clock) -> None:
        self.chart = chart
        self._clock = clock

    def __repr__(self) -> str:
        drawn = f"{len(self.chart.series)} lines, {len(self.chart.times)} times"
        return f"<chart of {self.chart.title}: {drawn}>"

    def _repr_html_(self) -> str:
        drawing = draw(self.chart, self._clock, self.chart.times[0], max(self.chart.ends))
        note = self._clock.note
        return str(
            Markup(_template().render(chart=self.chart, drawing=drawing, heads=[], body="", count="", note=note))
        )
