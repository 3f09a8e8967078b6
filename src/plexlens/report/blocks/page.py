"""Pages as data: the grains they read and the numbers they show.

A page is a module of `plexlens.report.pages` with a `Page` in ``PAGE``, discovered automatically. It names grains and
columns only. Titles, units, formulas and sources come from the definitions of those columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from plexlens.report.model import Block, Way
from plexlens.report.model.chart import ChartKind, Reference

if TYPE_CHECKING:
    from plexlens.report.blocks.context import Context


@dataclass(frozen=True)
class Shown:
    """A fact, metric or attribute of a grain as a column of a table.

    Attributes
    ----------
    column
        Its name in the grain.
    title
        Heading instead of the definition's, where the column group already says part of it.
    group
        Heading over neighbouring columns that belong together.
    bar
        Whether a bar shows the size.
    """

    column: str
    title: str = ""
    group: str = ""
    bar: bool = False


@dataclass(frozen=True)
class TableSpec:
    """A table with a row per entity, over the whole time of the report.

    Attributes
    ----------
    by
        Keys, attributes, ``system``, ``sysplex`` that tell rows apart; None for the system and all keys of the grain.
    order
        Column by which rows stand, the largest first (the smallest with ``descending`` off); nulls last.
    course
        Column whose course over time stands at the end of the row as a sparkline; empty for none.
    drill
        Name of the table, on any page, that shows the parts of a row; a row leads there by the keys both tables have.
    across_systems
        Whether the table only repeats another one where a single system is there, and is then left out.
    profile, profile_title
        Columns drawn side by side as one small histogram at the end of the row, and its heading.
    """

    name: str
    title: str
    grain: str
    columns: tuple[str | Shown, ...]
    order: str
    by: tuple[str, ...] | None = None
    descending: bool = True
    where: str | None = None
    top: int = 12
    course: str = ""
    profile: tuple[str, ...] = ()
    profile_title: str = ""
    across_systems: bool = False
    note: str = ""
    folded: bool = False
    drill: str = ""


@dataclass(frozen=True)
class ChartSpec:
    """A chart over time.

    A series is an entity (``by``), a column of the grain (several ``columns``, all in one unit), or both.

    Attributes
    ----------
    most, lowest
        Series drawn; those with the largest mean are kept, or with the smallest. In a stack the rest is drawn as one
        layer.
    timeline
        Whether the chart stands in the timeline at the top instead of on the page.
    """

    name: str
    title: str
    grain: str
    columns: tuple[str, ...]
    by: tuple[str, ...] = ()
    kind: ChartKind = ChartKind.LINES
    where: str | None = None
    most: int = 7
    lowest: bool = False
    references: tuple[Reference, ...] = ()
    timeline: bool = False
    note: str = ""


@dataclass(frozen=True)
class HeatSpec:
    """A heat map by hour and day, if the data covers more than a day; one per entity.

    Attributes
    ----------
    by
        What an entity is.
    most
        Entities drawn; those with the largest mean are kept.
    """

    name: str
    title: str
    grain: str
    column: str
    by: tuple[str, ...] = ("system",)
    where: str | None = None
    most: int = 4


class Pick(StrEnum):
    """Choice of the row that a key figure refers to."""

    WHOLE = "whole"
    """All entities together."""
    HIGHEST = "highest"
    """The entity with the largest value."""
    LOWEST = "lowest"
    """The entity with the smallest value."""


@dataclass(frozen=True)
class FigureSpec:
    """A key figure for the summary.

    Attributes
    ----------
    by
        What an entity is, for `Pick.HIGHEST` and `Pick.LOWEST`.
    peak
        Whether to name the interval with the largest value; for `Pick.WHOLE`.
    """

    name: str
    title: str
    grain: str
    column: str
    by: tuple[str, ...] = ()
    pick: Pick = Pick.WHOLE
    where: str | None = None
    peak: bool = True


#: What a block of a page is declared by.
Spec = TableSpec | ChartSpec | FigureSpec | HeatSpec


@dataclass(frozen=True)
class Page:
    """A section of the report.

    Attributes
    ----------
    order
        Place among the sections: 100 findings, 200 what was read, 300 summary, 400 timeline, 500 cpu, 600 workload,
        700 coupling, 800 Db2, 850 CICS, 900 MQ, 1000 paging, 1100 DASD, 1200 RMF reports as printed,
        9000 definitions.
    id
        Anchor and key in JSON.
    what
        Subject of the section, as the object of "no data on": ``coupling facilities and their structures``.
    ways
        For each kind of source that the page's grains can come from: how it is collected.
    blocks
        Blocks that cannot be stated as specs; they stand first. A page of no grains that has none is left out.
    prepare
        What ``blocks`` will ask of grains, said (`plexlens.metrics.roll_ups.RollUps.need`) before the first question
        about any.
    """

    order: int
    id: str
    title: str
    lead: str
    what: str = ""
    ways: tuple[Way, ...] = ()
    figures: tuple[FigureSpec, ...] = ()
    charts: tuple[ChartSpec, ...] = ()
    tables: tuple[TableSpec, ...] = ()
    heat_maps: tuple[HeatSpec, ...] = ()
    blocks: Callable[[Context], Sequence[Block]] | None = None
    prepare: Callable[[Context], None] | None = None

    @property
    def specs(self) -> tuple[Spec, ...]:
        """All that it declares."""
        return (*self.tables, *self.charts, *self.figures, *self.heat_maps)

    @property
    def grains(self) -> tuple[str, ...]:
        """Names of the grains it reads, in the order of first use."""
        return tuple(dict.fromkeys(spec.grain for spec in self.specs))
