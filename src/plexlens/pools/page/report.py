"""The report of `plexlens pools`: each analysis of the 2014 study as a section."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plexlens.metrics.display import with_symbol
from plexlens.metrics.unit import COUNT, PER_SECOND, Unit
from plexlens.pools.cost import Assumption, IoCost
from plexlens.pools.curves import PoolCurve
from plexlens.pools.objects import Io, objects_of, pools_of
from plexlens.pools.observation import Observation
from plexlens.pools.page.catalog import catalog_section
from plexlens.pools.page.curves import curves_section
from plexlens.pools.page.group import GroupChange, group_figures, group_section
from plexlens.pools.page.memory import clusters_section, residency_section, working_sets_section
from plexlens.pools.page.objects import (
    STORAGE,
    TENTHS,
    TRACE,
    delays_section,
    objects_section,
    pools_section,
    storage_unit,
)
from plexlens.pools.page.replay import replay_section
from plexlens.pools.page.steps import prediction_section, recommendation_section
from plexlens.pools.page.whole import LOST_LEAD, OF_MEMBERS, lost_notes, whole_report
from plexlens.pools.prediction import Prediction
from plexlens.pools.replay import Replay
from plexlens.pools.responses import Response
from plexlens.pools.search.recommendation import Recommendation
from plexlens.pools.trace import TraceFacts
from plexlens.pools.work import Work
from plexlens.report.blocks.responses import response_blocks
from plexlens.report.model import Column, ColumnKind, Figure, KeyFigures, Note, Report, Section, Table
from plexlens.report.model.display import counted
from plexlens.report.model.fields import Definitions, Field


@dataclass(frozen=True)
class PoolsAnalysis:
    """Inputs of a pools report.

    Attributes
    ----------
    sources
        Names of the trace's files.
    facts
        What the trace held and lost.
    observation
        The pools as they are, simulated and looked at.
    cost
        Prices of I/O.
    curves
        Curves of the pools with the objects where they are.
    curves_after
        The same with the objects where they are recommended to be; empty where none moves.
    recommendation
        What to change; None where nobody asked.
    prediction
        The pools before and after a change that was asked for; None where no pool's size is known.
    responses
        Times of the data sets and devices behind the objects.
    notes
        What was assumed, for the reader.
    replay
        The simulation of the present pools next to what was recorded; None where their sizes are not known.
    work
        Objects of the trace, which an extract of the catalog may describe.
    """

    sources: Sequence[str]
    facts: TraceFacts
    observation: Observation
    cost: IoCost
    curves: Sequence[PoolCurve] = ()
    curves_after: Sequence[PoolCurve] = ()
    recommendation: Recommendation | None = None
    prediction: Prediction | None = None
    responses: Sequence[Response] = ()
    notes: Sequence[str] = ()
    replay: Replay | None = None
    work: Work | None = None

    @property
    def change(self) -> Prediction | None:
        """The prediction, if the present pools are known and the prediction changes them."""
        prediction = self.prediction
        return prediction if prediction is not None and prediction.is_change else None

    @property
    def group(self) -> GroupChange | None:
        """The group before and after the change; None for a single Db2."""
        change = self.recommendation or self.prediction
        if change is None or not change.after.uses:
            return None
        now = change.before if change.before.configuration.pools else change.after
        return GroupChange(now, change.after, self.observation.seconds)


def pools_report(analysis: PoolsAnalysis) -> Report:
    """The report.

    Parameters
    ----------
    analysis
        Everything that was found.

    Returns
    -------
    Report
        Sections: replay, summary, recommendation, the change asked for, curves, pools, group buffer pools, objects,
        catalog, working sets, clusters, residency, I/O delay, cost assumptions, lost data and assumptions; those that
        have nothing are not there. Of a group every pool has the name of its member before its own.
    """
    definitions = Definitions()
    observation, cost = analysis.observation, analysis.cost
    seconds = observation.seconds
    sections: list[Section | None] = [
        None if analysis.replay is None else replay_section(analysis.replay, definitions),
        _summary(analysis, definitions),
    ]
    if analysis.recommendation is not None:
        sections.append(recommendation_section(analysis.recommendation, seconds, definitions))
    if analysis.change is not None:
        sections.append(prediction_section(analysis.change, definitions))
    group = analysis.group
    sections += [
        curves_section(
            analysis.curves,
            seconds,
            definitions,
            note=OF_MEMBERS if group is not None else "",
            now={name: pool.size for name, pool in observation.settings.items()},
            recommended=_recommended(analysis),
            after=analysis.curves_after,
            word="asked for" if analysis.recommendation is None else "recommended",
        ),
        pools_section(observation, cost, definitions),
        None if group is None else group_section(group, definitions),
        objects_section(observation, cost, definitions),
        None if analysis.work is None else catalog_section(analysis.work, definitions),
        working_sets_section(observation, definitions),
        clusters_section(observation, cost, definitions),
        residency_section(observation, definitions),
        delays_section(
            observation, cost, definitions, response_blocks(analysis.responses, definitions, objects_of(observation))
        ),
        prices_section(cost.assumptions, cost.notes),
        _losses(analysis),
    ]
    return whole_report(analysis.sources, analysis.facts, sections, definitions, grouped=group is not None)


def _recommended(analysis: PoolsAnalysis) -> dict[str, int]:
    """Recommended or requested sizes."""
    change = analysis.recommendation or analysis.change
    if change is None:
        return {}
    return {name: pool.size for name, pool in change.after.configuration.pools.items()}


def _summary(analysis: PoolsAnalysis, definitions: Definitions) -> Section:
    observation, cost = analysis.observation, analysis.cost
    pools = pools_of(observation)
    seconds = observation.seconds

    def total(value: Callable[[Io], float | None]) -> float:
        return sum(value(pool) or 0.0 for pool in pools)

    if seconds > 0:
        numbers = [
            _Number(
                "read_ios_per_second", "Read I/O", total(lambda row: row.read_ios_per_second), PER_SECOND,
                "Σ read I/Os of the pools / seconds of the trace", f"most in {pools[0].pool}" if pools else "",
            ),
            _Number(
                "getpages_per_second", "Getpages", total(lambda row: row.per_second(row.getpages)), PER_SECOND,
                "Σ getpages of the pools / seconds of the trace",
            ),
            _Number(
                "cpu_per_day", "CPU of read I/O in 24 hours", total(lambda row: row.cpu_per_day(cost)), TENTHS,
                "Σ CPU of read I/O of the pools x 86400 / seconds of the trace", f"{cost.sync_read.origin} price",
            ),
            _Number(
                "delay_per_day", "Delay in 24 hours", total(lambda row: row.delay_per_day(cost)), TENTHS,
                "Σ I/O elapsed of the pools x 86400 / seconds of the trace", "synchronous reads",
            ),
        ]  # fmt: skip
    else:
        numbers = [
            _Number("read_ios", "Read I/Os", total(lambda row: row.read_ios), COUNT, "Σ read I/Os of the pools"),
            _Number("getpages", "Getpages", total(lambda row: row.getpages), COUNT, "Σ getpages of the pools"),
        ]
    figures = [
        Figure(number.name, number.title, number.value, number.unit, definitions.add(number.field()), number.detail)
        for number in numbers
    ]
    size = sum(pool.bytes for pool in observation.settings.values())
    detail = counted(len(observation.settings), "pool")
    figures.append(Figure("storage", STORAGE.title, size, storage_unit(size), definitions.add(STORAGE), detail))
    lead = "The present pools, simulated event by event over the trace."
    group = analysis.group
    if group is not None:
        figures += group_figures(GroupChange(group.before, group.before, group.seconds), definitions)
        lead = "The pools of all members and their group buffer pools, simulated event by event."
    return Section("summary", "Summary", (KeyFigures("pools_summary", tuple(figures)),), lead)


@dataclass(frozen=True)
class _Number:
    """A key figure of the whole trace."""

    name: str
    title: str
    value: float
    unit: Unit
    formula: str
    detail: str = ""

    def field(self) -> Field[None]:
        source = "The trace, and a simulation of the pools over it"
        return Field(TRACE, self.name, self.title, lambda _: self.value, self.unit, self.formula, source)


def prices_section(assumptions: Sequence[Assumption], notes: Sequence[str]) -> Section:
    """Prices of an I/O, and their sources."""
    rows = tuple(
        (
            assumption.title,
            with_symbol(assumption.value, assumption.unit),
            _range(assumption),
            str(assumption.origin),
            assumption.source,
        )
        for assumption in assumptions
    )
    columns = tuple(
        Column(name, title, ColumnKind.TEXT, key=name == "what")
        for name, title in (
            ("what", "What"), ("value", "Value"), ("range", "95 % confidence"), ("origin", "Origin"),
            ("source", "Where from"),
        )
    )  # fmt: skip
    table = Table("cost_assumptions", "Prices of I/O", columns, rows, top=len(rows))
    return Section(
        "cost",
        "Cost assumptions",
        (table, *(Note(f"{note}.") for note in notes)),
        "Cost of an I/O. CPU and delay in this report are counts times these numbers.",
    )


def _range(assumption: Assumption) -> str:
    if assumption.low is None or assumption.high is None:
        return ""
    return f"{with_symbol(assumption.low, assumption.unit)} to {with_symbol(assumption.high, assumption.unit)}"


def _losses(analysis: PoolsAnalysis) -> Section:
    facts = analysis.facts
    extra = analysis.recommendation.notes if analysis.recommendation is not None else ()
    assumptions = [*facts.notes, *analysis.notes, *extra]
    if analysis.group is not None and analysis.observation.delays:
        assumptions.append("I/O times of an object come from the records of all members together")
    return Section("assumed", "Lost data and assumptions", lost_notes(facts, assumptions), LOST_LEAD)
