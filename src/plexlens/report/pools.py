"""The report of `plexlens pools`: each analysis of the 2014 study as a section of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from plexlens import __version__
from plexlens.metrics.display import with_symbol
from plexlens.metrics.unit import COUNT, PER_SECOND, Unit
from plexlens.pools.cost import Assumption, IoCost
from plexlens.pools.curves import PoolCurve
from plexlens.pools.objects import Io, objects_of, pools_of
from plexlens.pools.observation import Observation
from plexlens.pools.prediction import Prediction
from plexlens.pools.responses import Response
from plexlens.pools.search.recommendation import Recommendation
from plexlens.pools.trace import LOST_WARNED, TraceFacts
from plexlens.report.display import counted
from plexlens.report.model import Column, ColumnKind, Figure, KeyFigures, Level, Note, Report, Section, Table
from plexlens.report.pools_curves import curves_section
from plexlens.report.pools_fields import Definitions, Field
from plexlens.report.pools_memory import clusters_section, residency_section, working_sets_section
from plexlens.report.pools_objects import (
    STORAGE,
    TENTHS,
    TRACE,
    delays_section,
    objects_section,
    pools_section,
    storage_unit,
)
from plexlens.report.pools_responses import response_blocks
from plexlens.report.pools_steps import prediction_section, recommendation_section


@dataclass(frozen=True)
class PoolsAnalysis:
    """What a report of pools is made of.

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

    @property
    def change(self) -> Prediction | None:
        """The prediction, if it is of a change: the pools before it are known, and it changes them."""
        found = self.prediction
        if found is None or not found.before.configuration.pools:
            return None
        same = found.before.configuration == found.after.configuration and not found.commands
        return None if same else found


def pools_report(analysis: PoolsAnalysis) -> Report:
    """The report.

    Parameters
    ----------
    analysis
        Everything that was found.

    Returns
    -------
    Report
        Sections: summary, recommendation, the change asked for, curves, pools, objects, working sets, clusters,
        residency, I/O delay, cost assumptions, what was lost and assumed; those that have nothing are not there.
    """
    definitions = Definitions()
    observation, cost = analysis.observation, analysis.cost
    seconds = observation.seconds
    sections: list[Section | None] = [_summary(analysis, definitions)]
    if analysis.recommendation is not None:
        sections.append(recommendation_section(analysis.recommendation, seconds, definitions))
    if analysis.change is not None:
        sections.append(prediction_section(analysis.change, definitions))
    sections += [
        curves_section(
            analysis.curves,
            seconds,
            definitions,
            now={name: pool.size for name, pool in observation.settings.items()},
            recommended=_recommended(analysis),
            after=analysis.curves_after,
            word="asked for" if analysis.recommendation is None else "recommended",
        ),
        pools_section(observation, cost, definitions),
        objects_section(observation, cost, definitions),
        working_sets_section(observation, definitions),
        clusters_section(observation, cost, definitions),
        residency_section(observation, definitions),
        delays_section(
            observation, cost, definitions, response_blocks(analysis.responses, definitions, objects_of(observation))
        ),
        prices_section(cost.assumptions, cost.notes),
        _losses(analysis),
    ]
    members = ", ".join(analysis.facts.members)
    return Report(
        title="Buffer pools" + (f" of {members}" if members else ""),
        systems=(),
        sysplexes=(),
        start=None,
        end=None,
        utc_offset=None,
        time_note="",
        alerts=loss_alerts(analysis.facts),
        sections=tuple(section for section in sections if section is not None),
        definitions=definitions.found,
        generator=f"Plexlens {__version__}",
        kind="Buffer pool report",
        subject=_subject(analysis),
    )


def _subject(analysis: PoolsAnalysis) -> str:
    names = list(analysis.sources)
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    facts = analysis.facts
    span = f", {timedelta(seconds=round(facts.seconds))}" if facts.timed and facts.seconds > 0 else ""
    return f"Trace {shown}: {facts.references['getpage']:,} getpages{span}"


def _recommended(analysis: PoolsAnalysis) -> dict[str, int]:
    """Sizes that are recommended, or asked for."""
    change = analysis.recommendation or analysis.change
    if change is None:
        return {}
    return {name: pool.size for name, pool in change.after.configuration.pools.items()}


def loss_alerts(facts: TraceFacts) -> tuple[Note, ...]:
    """What stands above a report of a trace that lost references."""
    if facts.lost_share < LOST_WARNED:
        return ()
    return (
        Note(
            f"{facts.lost:,} of {facts.lost + facts.rows:,} references ({facts.lost_share:.1%}) were lost while "
            "tracing: misses are off by about as much.",
            Level.LOSS,
        ),
    )


def _summary(analysis: PoolsAnalysis, definitions: Definitions) -> Section:
    observation, cost = analysis.observation, analysis.cost
    pools = pools_of(observation)
    seconds = observation.seconds

    def total(value: Callable[[Io], float | None]) -> float:
        return sum(value(one) or 0.0 for one in pools)

    if seconds > 0:
        numbers = [
            _Number(
                "read_ios_per_second", "Read I/O", total(lambda one: one.read_ios_per_second), PER_SECOND,
                "Σ read I/Os of the pools / seconds of the trace", f"most in {pools[0].pool}" if pools else "",
            ),
            _Number(
                "getpages_per_second", "Getpages", total(lambda one: one.per_second(one.getpages)), PER_SECOND,
                "Σ getpages of the pools / seconds of the trace",
            ),
            _Number(
                "cpu_per_day", "CPU of read I/O in 24 hours", total(lambda one: one.cpu_per_day(cost)), TENTHS,
                "Σ CPU of read I/O of the pools x 86400 / seconds of the trace", f"{cost.sync_read.origin} price",
            ),
            _Number(
                "delay_per_day", "Delay in 24 hours", total(lambda one: one.delay_per_day(cost)), TENTHS,
                "Σ I/O elapsed of the pools x 86400 / seconds of the trace", "synchronous reads",
            ),
        ]  # fmt: skip
    else:
        numbers = [
            _Number("read_ios", "Read I/Os", total(lambda one: one.read_ios), COUNT, "Σ read I/Os of the pools"),
            _Number("getpages", "Getpages", total(lambda one: one.getpages), COUNT, "Σ getpages of the pools"),
        ]
    figures = [
        Figure(one.name, one.title, one.value, one.unit, definitions.add(one.field()), one.detail) for one in numbers
    ]
    size = sum(pool.bytes for pool in observation.settings.values())
    detail = counted(len(observation.settings), "pool")
    figures.append(Figure("storage", STORAGE.title, size, storage_unit(size), definitions.add(STORAGE), detail))
    lead = "The pools as they are, simulated event by event over the trace."
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
    """What an I/O costs, and where that comes from."""
    rows = tuple(
        (
            one.title,
            with_symbol(one.value, one.unit),
            _range(one),
            str(one.origin),
            one.source,
        )
        for one in assumptions
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
        "What an I/O costs. CPU and delay of this report are counts times these numbers.",
    )


def _range(one: Assumption) -> str:
    if one.low is None or one.high is None:
        return ""
    return f"{with_symbol(one.low, one.unit)} to {with_symbol(one.high, one.unit)}"


def _losses(analysis: PoolsAnalysis) -> Section | None:
    facts = analysis.facts
    extra = analysis.recommendation.notes if analysis.recommendation is not None else ()
    told = dict.fromkeys([*facts.notes, *analysis.notes, *extra])
    notes = [Note(f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}") for text in told]
    counts = ", ".join(f"{count:,} {name}" for name, count in facts.references.items() if count)
    return Section(
        "assumed",
        "What was lost and assumed",
        (Note(f"References in the trace: {counts}; lost: {facts.lost:,}."), *notes),
        "What this report does not know, and what it takes for granted.",
    )
