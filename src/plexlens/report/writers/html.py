"""A report as a single self-contained HTML page with style, script and drawings.

The page allows itself no network at all (``Content-Security-Policy``), and only the two scripts whose hashes it names,
so that a name in a dump can never become code. It can be read in full without scripts.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from plexlens.metrics.unit import Unit
from plexlens.report.chart.heat_svg import draw_heat
from plexlens.report.chart.time_svg import draw, spark
from plexlens.report.chart.xy_svg import draw_xy
from plexlens.report.model import (
    Advice,
    Block,
    Cell,
    Definition,
    Figure,
    KeyFigures,
    Missing,
    Note,
    Report,
    Section,
    Table,
)
from plexlens.report.model.chart import Chart, ChartKind
from plexlens.report.model.clock import Clock
from plexlens.report.model.display import NULL, listed, shown, with_units
from plexlens.report.model.heat import HeatMap
from plexlens.report.model.xy import XYChart
from plexlens.report.writers.drill import NO_WAYS, Drills, Ways
from plexlens.report.writers.kept_templates import KeptTemplates
from plexlens.report.writers.names import printable
from plexlens.report.writers.table_html import linked, table_view

#: A chart is drawn over the report's whole time where its own covers at least this share of it.
SHARED_AXIS = 0.2


@cache
def environment() -> jinja2.Environment:
    """The templates of pages, their filters, and what becomes of every value."""
    result = jinja2.Environment(
        loader=jinja2.PackageLoader("plexlens.report.writers", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_harmless,
        bytecode_cache=KeptTemplates(Path(__file__).parent / "templates" / "__pycache__", Path(__file__)),
    )
    result.filters["verbatim"] = _verbatim
    result.filters["linked"] = linked
    return result


def _harmless(value: Any) -> Any:
    """Values safe for the template: texts without control characters, numbers with their units; markup is unchanged."""
    return with_units(printable(value)) if isinstance(value, str) and not isinstance(value, Markup) else value


def _verbatim(text: str) -> Markup:
    """A text to be copied into other programs; blanks are preserved."""
    return escape(printable(text))


@cache
def asset(name: str) -> str:
    """A style sheet or script of the page."""
    source, _, _ = environment().loader.get_source(environment(), name)  # type: ignore[union-attr]
    return source


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def render_html(report: Report) -> str:
    """The report as one self-contained HTML page.

    Parameters
    ----------
    report
        As `plexlens.report.build` makes it.

    Returns
    -------
    str
        The page; to be written as UTF-8.
    """
    clock = report.clock
    early, js = asset("early.js"), asset("page.js")
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            report=report,
            css=asset("page.css"),
            early=early,
            js=js,
            script_hashes=f"{_hash(early)} {_hash(js)}",
            period=period(report, clock),
            about=about(report),
            offset=report.utc_offset or 0,
            zone=clock.zone,
            parts=parts(report),
            grains=defined(report),
        )
    )


def parts(report: Report, ways: Ways = NO_WAYS) -> list[dict[str, Any]]:
    """The sections of a report for the macro ``sections`` of ``blocks.html.j2``.

    Parameters
    ----------
    report
        The report.
    ways
        Links to other pages; those of rows replace the ones between tables of the report.
    """
    drills = Drills.of(block for section in report.sections for block in section.blocks if isinstance(block, Table))
    if ways.rows:
        drills = Drills({**drills.ways, **ways.rows})
    return [_part(section, report, drills, ways) for section in report.sections]


def period(report: Report, clock: Clock) -> str:
    """The period of the report, for its heading."""
    if report.start is None or report.end is None:
        return report.subject or "No interval was read"
    placed = f"{clock.span(report.start, report.end)} {clock.zone_of(report.start)}"
    if report.local_start is None or report.local_end is None:
        return placed
    # The span of a moment that is marked as local says so itself.
    return f"{placed}; {clock.span(report.local_start, report.local_end)} time"


def about(report: Report) -> str:
    """Systems, sysplexes and the display of times, in a line."""
    parts = []
    for names, singular, many in ((report.systems, "System", "Systems"), (report.sysplexes, "sysplex", "sysplexes")):
        if names:
            parts.append(f"{singular if len(names) == 1 else many} {listed(names)}")
    return ". ".join([", ".join(parts), report.time_note]) if parts else report.time_note


def _part(section: Section, report: Report, drills: Drills, ways: Ways) -> dict[str, Any]:
    views = [(_kind(block), _view(block, report, drills, ways)) for block in section.blocks]
    return {
        "id": section.id,
        "title": section.title,
        "lead": section.lead,
        "selection": section.selection,
        "group": section.group,
        "empty": bool(section.blocks) and all(isinstance(block, Missing) for block in section.blocks),
        "groups": [(kind, [view for _, view in group]) for kind, group in groupby(views, key=lambda view: view[0])],
    }


def _kind(block: Block) -> str:
    return _KINDS[type(block)]


_KINDS = {
    KeyFigures: "figures",
    Chart: "chart",
    XYChart: "chart",
    HeatMap: "chart",
    Table: "table",
    Note: "note",
    Missing: "missing",
    Advice: "advice",
}


def _view(block: Block, report: Report, drills: Drills, ways: Ways) -> Any:
    clock = report.clock
    if isinstance(block, KeyFigures):
        return {
            "figures": [_figure(figure, ways.figures.get(figure.name, "")) for figure in block.figures],
            "title": block.title,
            "section": block.section,
        }
    if isinstance(block, Chart):
        return _chart(block, report, clock) | {"ways": ways.blocks.get(block.name, ())}
    if isinstance(block, XYChart | HeatMap):
        return _xy(block) if isinstance(block, XYChart) else _heat(block)
    if isinstance(block, Table):
        return table_view(block, report.definitions, clock, drills) | {"ways": ways.blocks.get(block.name, ())}
    if isinstance(block, Advice):
        return _advice(block, report, clock, drills)
    return block


def _advice(advice: Advice, report: Report, clock: Clock, drills: Drills) -> dict[str, Any]:
    return {
        "block": advice,
        "command": _lines(advice.command),
        "undo": _lines(advice.undo),
        "evidence": table_view(advice.evidence, report.definitions, clock, drills),
        "more": [table_view(table, report.definitions, clock, drills) for table in advice.more],
    }


def _lines(command: str) -> Markup:
    """A command with separate lines; each line is escaped by the join."""
    return Markup("\n").join(printable(line) for line in command.splitlines())


def _figure(figure: Figure, href: str = "") -> dict[str, Any]:
    number = isinstance(figure.value, int | float)
    return {
        "title": figure.title,
        "definition": figure.definition,
        "value": shown(figure.value, figure.unit) if number else _text(figure.value),  # type: ignore[arg-type]
        "unit": figure.unit.symbol if figure.unit is not None and number else "",
        "detail": figure.detail,
        "spark": spark(figure.trend, f"{figure.title} over time") if len(figure.trend) > 1 else "",
        "alarm": figure.alarm,
        "href": href,
    }


def _text(value: Cell) -> str:
    return NULL if value is None else printable(str(value))


def _chart(chart: Chart, report: Report, clock: Clock) -> dict[str, Any]:
    start, end = domain(chart, report)
    total = len(chart.series) + chart.left_out
    return {
        "name": chart.name,
        "over_time": True,
        "title": chart.title,
        "definition": chart.definition,
        "axis_unit": chart.unit.symbol or chart.unit.base,
        "stacked": chart.kind is ChartKind.STACK,
        "drawing": draw(chart, clock, start, end),
        "references": chart.references,
        "note": chart.note,
        "left_out": chart.left_out,
        "shown_of": f"{len(chart.series)} of {total:,} are drawn; the table shows all.",
        "origin": chart.origin,
    }


def _heat(heat: HeatMap) -> dict[str, Any]:
    return {"kind": "heat", "heat": heat, "drawing": draw_heat(heat)}


def _xy(chart: XYChart) -> dict[str, Any]:
    total = len(chart.series) + chart.left_out
    return {
        "over_time": False,
        "chart": chart,
        "y_title": _axis_title(chart.y_title, chart.y_unit),
        "x_title": _axis_title(chart.x_title, chart.x_unit),
        "drawing": draw_xy(chart),
        "shown_of": f"{len(chart.series)} of {total:,} are drawn; the table shows all.",
    }


def _axis_title(title: str, unit: Unit) -> str:
    return f"{title} ({unit.symbol})" if unit.symbol and unit.symbol not in title.split() else title


def domain(chart: Chart, report: Report) -> tuple[datetime, datetime]:
    """The time axis of a chart: the report's, unless that would make the chart too narrow."""
    first, last = chart.times[0], max(chart.ends)
    start, end = report.start, report.end
    if chart.is_local and report.local_start is not None:
        start, end = report.local_start, report.local_end
    if start is None or end is None or (start.tzinfo is None) != chart.is_local:
        return first, last
    whole = (end - start).total_seconds()
    own = (last - first).total_seconds()
    if own < SHARED_AXIS * whole:
        return first, last
    return min(start, first), max(end, last)


def defined(report: Report) -> list[dict[str, Any]]:
    """The definitions of a report by grain, for the macro ``definitions`` of ``blocks.html.j2``."""
    grains: dict[tuple[str, str], list[Definition]] = {}
    for definition in report.definitions.values():
        grains.setdefault((definition.grain, definition.row), []).append(definition)
    return [
        {
            "title": title,
            "row": row,
            "entries": sorted(entries, key=lambda definition: (not definition.formula, definition.title)),
        }
        for (title, row), entries in grains.items()
    ]
