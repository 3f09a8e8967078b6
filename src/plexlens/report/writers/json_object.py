"""A report as one JSON object: the numbers of the page in base units, with their definitions."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from plexlens.report.model import (
    Advice,
    Cell,
    Column,
    ColumnKind,
    Figure,
    KeyFigures,
    Missing,
    Note,
    PrintedNumber,
    Report,
    Table,
)
from plexlens.report.model.chart import Chart
from plexlens.report.model.heat import HeatMap
from plexlens.report.model.xy import XYChart


def to_json(report: Report) -> dict[str, Any]:
    """The report's numbers; only JSON types.

    Returns
    -------
    dict
        ``title``, ``systems``, ``sysplexes``, ``span``, ``local_span`` (of reports in local time, if there are others),
        ``utc_offset`` (seconds), ``selection``, ``alerts``, ``definitions`` by id, and ``sections`` in order. A
        section has ``figures``, ``tables`` (``columns``, ``rows`` as objects), ``charts`` (``times`` and ``series``),
        ``xy_charts`` (over a number; ``points`` of each series, ``marks``), ``heat_maps`` (``days``, and 24 ``values``
        for each), ``advice``, ``notes`` and ``missing``. ``findings`` holds the results of the rules
        (`plexlens.findings.Findings.to_json`), or null. Numbers are in the base unit given with them; not
        recorded and undefined are both null. A number of a column of kind ``printed`` is an object: the text as
        ``printed``, and the ``value`` it stands for.
    """
    return {
        "title": report.title,
        "generator": report.generator,
        "systems": list(report.systems),
        "sysplexes": list(report.sysplexes),
        "span": [_time(report.start), _time(report.end)],
        "local_span": [_time(report.local_start), _time(report.local_end)],
        "utc_offset": report.utc_offset,
        "selection": report.selection or None,
        "alerts": [_note(alert) for alert in report.alerts],
        "sections": [
            {
                "id": section.id,
                "title": section.title,
                "selection": section.selection or None,
                "figures": [
                    _figure(figure)
                    for block in section.blocks
                    if isinstance(block, KeyFigures)
                    for figure in block.figures
                ],
                "tables": [_table(block) for block in section.blocks if isinstance(block, Table)],
                "charts": [_chart(block) for block in section.blocks if isinstance(block, Chart)],
                "xy_charts": [_xy(block) for block in section.blocks if isinstance(block, XYChart)],
                "heat_maps": [_heat(block) for block in section.blocks if isinstance(block, HeatMap)],
                "advice": [_advice(block) for block in section.blocks if isinstance(block, Advice)],
                "notes": [_note(block) for block in section.blocks if isinstance(block, Note)],
                "missing": [
                    {"what": block.what, "ways": [{"kind": way.kind, "how": way.how} for way in block.ways]}
                    for block in section.blocks
                    if isinstance(block, Missing)
                ],
            }
            for section in report.sections
        ],
        "findings": report.findings.to_json() if report.findings is not None else None,
        "definitions": {
            key: {
                "title": definition.title,
                "grain": definition.grain,
                "row": definition.row,
                "unit": definition.unit.base,
                "shown_in": definition.unit.symbol,
                "formula": definition.formula or None,
                "rollup": definition.rollup or None,
                "source": definition.source,
                "caveat": definition.caveat or None,
            }
            for key, definition in report.definitions.items()
        },
    }


def _time(moment: datetime | None) -> str | None:
    """ISO 8601: UTC with a Z; local time of unknown offset without a zone."""
    if moment is None or moment.tzinfo is None:
        return None if moment is None else moment.isoformat()
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def value_of(cell: Cell) -> Any:
    """A cell as a JSON value: times in UTC, null for unknown values."""
    if isinstance(cell, datetime):
        return _time(cell)
    if isinstance(cell, PrintedNumber):
        return {"printed": cell.text, "value": value_of(cell.value)}
    if isinstance(cell, tuple):
        return [value_of(number) for number in cell]
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    return cell


def _note(note: Note) -> dict[str, Any]:
    return {"level": str(note.level), "text": note.text, "details": list(note.details)}


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "name": figure.name,
        "title": figure.title,
        "value": value_of(figure.value),
        "unit": figure.unit.base if figure.unit is not None else None,
        "definition": figure.definition or None,
        "detail": figure.detail or None,
        "percentiles": {name: value_of(value) for name, value in figure.percentiles} or None,
    }


def _column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "title": f"{column.group}: {column.title}" if column.group else column.title,
        "kind": str(column.kind),
        "unit": column.unit.base if column.unit is not None else None,
        "definition": column.definition or None,
    }


def _table(table: Table) -> dict[str, Any]:
    # Sparklines only repeat, thinned out, what the metrics hold.
    kept = [index for index, column in enumerate(table.columns) if column.kind is not ColumnKind.SPARK]
    names = [table.columns[index].name for index in kept]
    return {
        "name": table.name,
        "title": table.title,
        "group": table.group or None,
        "columns": [_column(table.columns[index]) for index in kept],
        "rows": [dict(zip(names, (value_of(row[index]) for index in kept), strict=True)) for row in table.rows],
        "total_rows": table.total_rows,
        "query": table.query or None,
        "note": table.note or None,
        "origin": table.origin or None,
    }


def _advice(advice: Advice) -> dict[str, Any]:
    """Advice as a JSON object; numbers and names of its objects are in ``findings``, at the top."""
    return {
        "name": advice.name,
        "rank": advice.rank,
        "severity": advice.severity,
        "title": advice.title,
        "text": advice.text,
        "objects": advice.objects,
        "cost": advice.cost or None,
        "action": advice.action,
        "command": advice.command or None,
        "undo": advice.undo or None,
        "remarks": list(advice.remarks),
        "condition": advice.condition,
        "source": advice.source,
        "url": advice.url or None,
    }


def _chart(chart: Chart) -> dict[str, Any]:
    return {
        "name": chart.name,
        "title": chart.title,
        "unit": chart.unit.base,
        "definition": chart.definition or None,
        "times": [_time(moment) for moment in chart.times],
        "ends": [_time(moment) for moment in chart.ends],
        "series": [
            {
                "name": series.name,
                "mean": value_of(chart.mean_of(series)),
                "values": [value_of(v) for v in series.values],
            }
            for series in chart.series
        ],
        "left_out": chart.left_out,
    }


def _heat(heat: HeatMap) -> dict[str, Any]:
    return {
        "name": heat.name,
        "title": heat.title,
        "unit": heat.unit.base,
        "definition": heat.definition or None,
        "days": [day.isoformat() for day in heat.days],
        "values": [[value_of(value) for value in row] for row in heat.rows],
        "note": heat.note or None,
        "origin": heat.origin or None,
    }


def _xy(chart: XYChart) -> dict[str, Any]:
    return {
        "name": chart.name,
        "title": chart.title,
        "x": {"title": chart.x_title, "unit": chart.x_unit.base, "definition": chart.x_definition or None},
        "y": {"title": chart.y_title, "unit": chart.y_unit.base, "definition": chart.definition or None},
        "stacked": chart.stacked,
        "series": [
            {
                "name": series.name,
                "points": [[value_of(x), value_of(y)] for x, y in series.points],
                "band": [[value_of(number) for number in pair] for pair in series.band] or None,
            }
            for series in chart.series
        ],
        "marks": [{"x": value_of(mark.x), "label": mark.label} for mark in chart.marks],
        "left_out": chart.left_out,
        "note": chart.note or None,
        "origin": chart.origin or None,
    }
