"""From the numbers of a page of the report to the pages of their grains, under the same selection and condition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Grain
from plexlens.report.blocks.page import ChartSpec, FigureSpec, HeatSpec, Page, Pick, Spec, TableSpec
from plexlens.report.build import within_a_sentence
from plexlens.report.model import Advice, Cell, Column, ColumnKind, Figure, KeyFigures, Report, Table
from plexlens.report.model.chart import Chart
from plexlens.report.model.heat import HeatMap
from plexlens.report.pages import PAGES
from plexlens.report.writers.drill import Leading, Ways
from plexlens.serve.look import PARTS, keys_of, numbers_of
from plexlens.serve.shell import address

#: Everything that pages of the report declare, by name.
SPECS: dict[str, Spec] = {spec.name: spec for page in PAGES for spec in page.specs}

Pairs = Sequence[tuple[str, str]]

#: What the name of a heat map's table has behind that of its declaration.
_HEAT_TABLE = re.compile(r"_\d+_table(?:_from_noon)?$")


def ways_of(report: Report, pairs: Pairs) -> Ways:
    """The links of a report's blocks to the pages of the grains that their numbers come from.

    Parameters
    ----------
    report
        A report of some pages.
    pairs
        The parameters of the selection, which the links keep.
    """
    rows: dict[str, Leading] = {}
    blocks: dict[str, list[tuple[str, str]]] = {}
    figures: dict[str, str] = {}
    fired = () if report.findings is None else report.findings.fired
    rules = {entry.rule.id: entry.rule.grain for finding in fired for entry in finding.all}
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, KeyFigures):
                figures |= {figure.name: href for figure in block.figures if (href := _figure(figure, pairs))}
            elif isinstance(block, Chart | HeatMap):
                blocks[block.name] = list(_chart(block, pairs))
            elif isinstance(block, Advice):
                for table in (block.evidence, *block.more):
                    _take(rows, table, rules.get(block.name, ""), pairs)
            elif isinstance(block, Table):
                _take(rows, block, "", pairs)
                spec = SPECS.get(block.name)
                if isinstance(spec, TableSpec):
                    blocks[block.name] = [_whole(spec, spec.order, spec.by, pairs)]
    return Ways(rows, blocks, figures)


def _take(rows: dict[str, Leading], table: Table, grain: str, pairs: Pairs) -> None:
    """Note the links of a table's rows, if it is of one grain."""
    result = GRAINS.get(grain) or _grain_of(table)
    # A row of a heat map's table is a day, and its columns are hours.
    if result is None or isinstance(SPECS.get(_HEAT_TABLE.sub("", table.name)), HeatSpec):
        return
    spec = SPECS.get(table.name)
    part = spec.name if spec is not None and spec.name in PARTS else ""
    order = spec.order if isinstance(spec, TableSpec) else ""
    rows[table.name] = _leading(table, result, order, part, pairs)


def _grain_of(table: Table) -> Grain | None:
    """The grain of a table's numbers; None if it has none, or several."""
    named = {column.definition.partition(".")[0] for column in table.columns if column.definition}
    return GRAINS.get(named.pop()) if len(named) == 1 else None


def _leading(table: Table, grain: Grain, order: str, part: str, pairs: Pairs) -> Leading:
    known = keys_of(grain)
    there = numbers_of(grain)
    names = [column.name for column in table.columns]
    keys = tuple(index for index, column in enumerate(table.columns) if column.name in known and _is_text(column))
    first = order if order in there else next((name for name in names if name in there), "")

    def to(row: tuple[Cell, ...], metric: str) -> str:
        chosen = [("metric", metric)] if metric else []
        filters = [("where", f"{names[i]}={row[i]}") for i in keys if row[i] not in (None, "")]
        return address(f"/grain/{grain.name}", [*chosen, *filters, *_part(part), *pairs])

    def cell(row: tuple[Cell, ...], index: int) -> str:
        column = table.columns[index]
        name = column.definition.partition(".")[2] or column.name
        return to(row, name) if name in there else ""

    return Leading(keys, lambda row: to(row, first), cell=cell)


def _is_text(column: Column) -> bool:
    return column.kind is ColumnKind.TEXT


def _part(name: str) -> list[tuple[str, str]]:
    return [("part", name)] if name in PARTS else []


def _whole(spec: Spec, metric: str, by: tuple[str, ...] | None, pairs: Pairs) -> tuple[str, str]:
    """Text and address of a link to all objects of a block."""
    grain = GRAINS[spec.grain]
    known = keys_of(grain)
    split = [("by", ",".join(key for key in by[:4] if key in known))] if by else []
    chosen = metric if metric in numbers_of(grain) else ""
    pairs = [*split, *([("metric", chosen)] if chosen else []), *_part(spec.name), *pairs]
    title = grain.column(chosen).title if chosen else grain.title
    return within_a_sentence(title), address(f"/grain/{grain.name}", pairs)


def _chart(block: Chart | HeatMap, pairs: Pairs) -> Iterator[tuple[str, str]]:
    """Links to each number of a chart; a chart of some intervals, or of one entity, has a longer name."""
    spec: Any = SPECS.get(block.name) or SPECS.get(block.name.rpartition("_")[0])
    if isinstance(spec, ChartSpec):
        for column in spec.columns:
            yield _whole(spec, column, spec.by, pairs)
    elif isinstance(spec, HeatSpec):
        yield _whole(spec, spec.column, spec.by, pairs)


def _figure(figure: Figure, pairs: Pairs) -> str:
    """Address of a key figure's number; restricted to the entity that the figure names, if any."""
    spec = SPECS.get(figure.name)
    if not isinstance(spec, FigureSpec):
        return ""
    grain = GRAINS[spec.grain]
    entity = figure.detail.split(" / ") if spec.pick is not Pick.WHOLE else []
    # The sysplex stands in front where there are several.
    by = spec.by if len(entity) == len(spec.by) else ("sysplex", *spec.by)
    named = zip(by, entity, strict=True) if len(entity) == len(by) else ()
    filters = [("where", f"{key}={value}") for key, value in named if key in keys_of(grain)]
    return address(f"/grain/{grain.name}", [("metric", spec.column), *filters, *_part(spec.name), *pairs])


def pages_of(grain: Grain) -> list[Page]:
    """The pages of the report that show a grain."""
    return [page for page in PAGES if grain.name in page.grains]
