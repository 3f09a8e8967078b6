"""The report of `plexlens pools` for a data-sharing group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from plexlens import __version__
from plexlens.metrics.display import shown
from plexlens.metrics.unit import PER_SECOND
from plexlens.pools.curves import PoolCurve
from plexlens.pools.group.prediction import GroupPrediction
from plexlens.pools.group.recommend import GroupRecommendation, GroupStep
from plexlens.pools.group.states import GroupState
from plexlens.pools.trace import TraceFacts
from plexlens.report.display import byte_size, counted
from plexlens.report.model import Advice, Block, Figure, KeyFigures, Note, Report, Section, Table
from plexlens.report.pools import loss_alerts, prices_section
from plexlens.report.pools_curves import curves_section
from plexlens.report.pools_fields import Definitions
from plexlens.report.pools_group_tables import (
    CPU,
    GroupChange,
    data_set_table,
    dependent_table,
    pool_table,
    structure_table,
    whole_fields,
)
from plexlens.report.pools_objects import storage_unit


@dataclass(frozen=True)
class GroupAnalysis:
    """What a report of a group's pools is made of.

    Attributes
    ----------
    facts
        What the trace held and lost.
    curves
        Curves of the pools of each member.
    prediction
        The group before and after the change; where none is asked for, the two are the same.
    recommendation
        What to change; None where nobody asked.
    """

    facts: TraceFacts
    curves: Mapping[str, Sequence[PoolCurve]]
    prediction: GroupPrediction
    recommendation: GroupRecommendation | None = None

    @property
    def now(self) -> GroupState:
        """The group as it is; as asked for, where its present state is not known."""
        return self.prediction.before if self.prediction.before.members else self.prediction.after


def group_report(analysis: GroupAnalysis) -> Report:
    """The report.

    Parameters
    ----------
    analysis
        Everything that was found.

    Returns
    -------
    Report
        Sections: summary, recommendation or the change asked for, pools of the members, group buffer pools, what is
        GBP-dependent, data sets, curves, cost assumptions, what was lost and assumed.
    """
    definitions = Definitions()
    prediction = analysis.prediction
    sections: list[Section | None] = [_summary(analysis, definitions)]
    if analysis.recommendation is not None:
        sections.append(_recommendation(analysis.recommendation, prediction.seconds, definitions))
    elif prediction.is_change:
        sections.append(_change(prediction, definitions))
    change = GroupChange(analysis.now, prediction.after, prediction.seconds)
    sections += [
        _section(
            "members",
            "Pools of the members",
            [pool_table("member_pools", "Pools by member", change, definitions)],
            "Every member has pools of its own. A read that a group buffer pool answers does not count as a read I/O.",
        ),
        _section(
            "group_pools",
            "Group buffer pools",
            [
                structure_table("group_pools", "Group buffer pools", change, definitions),
                dependent_table(change, definitions),
            ],
            "What keeps the members' pools coherent: a page that one member changes becomes invalid at the others (XI) "
            "and is read again, from the group buffer pool if it still has it.",
        ),
        _section(
            "data_sets",
            "Data sets",
            [data_set_table(change, definitions)],
            "Which data sets read, at which member, with the pools as they are.",
        ),
        _curves(analysis, definitions),
        prices_section(prediction.cost.assumptions, prediction.cost.io.notes),
        _assumed(analysis),
    ]
    return Report(
        title=f"Buffer pools of {', '.join(analysis.facts.members)}",
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


def _subject(analysis: GroupAnalysis) -> str:
    names = list(analysis.prediction.sources)
    told = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    facts = analysis.facts
    span = f", {timedelta(seconds=round(facts.seconds))}" if facts.timed and facts.seconds > 0 else ""
    return f"Trace {told}: {facts.references['getpage']:,} getpages of {len(facts.members)} members{span}"


def _section(name: str, title: str, blocks: Sequence[Block | None], lead: str) -> Section | None:
    found = tuple(block for block in blocks if block is not None)
    return Section(name, title, found, lead) if found else None


def _summary(analysis: GroupAnalysis, definitions: Definitions) -> Section:
    now = analysis.now
    fields = whole_fields(analysis.prediction.seconds)
    figures = []
    for name, detail in (
        ("read_ios", "all members"),
        ("getpages", ""),
        ("group_requests", "reads, writes, registration and castout"),
        ("invalidations", "by changes and by directory reclaim"),
        ("cpu", "I/O and group buffer pools"),
    ):
        one = fields[name]
        value = one.value(GroupChange(now, now, analysis.prediction.seconds))
        alarm = name == "invalidations" and any(use.invalidated_by_reclaim for use in now.structures.values())
        figures.append(Figure(name, one.title, value, one.unit, definitions.add(one), detail, alarm=alarm))
    size, coupling = now.configuration.bytes, now.configuration.structure_bytes
    for name, title, value, detail in (
        ("storage", "Storage of the pools", size, counted(len(now.configuration.members), "member")),
        ("structure_storage", "Coupling facility", coupling, counted(len(now.structures), "group buffer pool")),
    ):
        one = replace(fields[name], unit=storage_unit(value))
        figures.append(Figure(name, title, value, one.unit, definitions.add(one), detail))
    lead = "The pools of all members with the group buffer pools between them, simulated event by event over the trace."
    return Section("summary", "Summary", (KeyFigures("group_summary", tuple(figures)),), lead)


def _figures(change: GroupChange, definitions: Definitions) -> KeyFigures:
    fields = whole_fields(change.seconds)
    figures = []
    for name, title in (("read_ios", "Read I/O"), ("group_requests", "Group buffer pool requests"), ("cpu", "CPU")):
        one = fields[name]
        before, after = (
            one.value(GroupChange(state, state, change.seconds)) for state in (change.before, change.after)
        )
        assert isinstance(before, int | float)
        assert isinstance(after, int | float)
        detail = f"{1 - after / before:.1%} less" if before and after < before else ""
        figures += [
            Figure(f"{name}_before", f"{title} now", before, one.unit, definitions.add(one), ""),
            Figure(f"{name}_after", f"{title} after the change", after, one.unit, definitions.add(one), detail),
        ]
    for name, title, value, now in (
        ("storage", "Storage of the pools", change.after.configuration.bytes, change.before.configuration.bytes),
        (
            "structure_storage",
            "Coupling facility",
            change.after.configuration.structure_bytes,
            change.before.configuration.structure_bytes,
        ),
    ):
        one = replace(fields[name], unit=storage_unit(value))
        figures.append(Figure(name, title, value, one.unit, definitions.add(one), f"{byte_size(now)} now"))
    return KeyFigures("group_change", tuple(figures))


def _recommendation(found: GroupRecommendation, seconds: float, definitions: Definitions) -> Section:
    change = GroupChange(found.before, found.after, seconds)
    blocks: list[Block] = [_figures(change, definitions)]
    worth = [step for step in found.steps if step.worth]
    if not worth:
        blocks.append(Note("No step is worth it: with these limits nothing was found that saves enough."))
    for number, step in enumerate(found.steps, 1):
        if step.worth:
            blocks.append(_step(number, step, seconds, definitions))
    if len(worth) > 1:
        blocks.append(_whole(found, seconds, definitions))
    for number, step in enumerate(found.steps, 1):
        if not step.worth:
            blocks.append(_step(number, step, seconds, definitions))
    gaps = ", ".join(f"{member} {gap:.2%}" for member, gap in found.gaps.items())
    told = f" The chosen sizes are within these distances of the best on these curves: {gaps}." if gaps else ""
    blocks.append(
        Note(
            f"How: sizes were chosen on curves simulated with all members, over {found.stretch:,} references of the "
            f"trace.{told} A step is judged by what is lost if it alone is left out."
        )
    )
    blocks.append(Note(next(note for note in found.notes if note.startswith("Not looked at")) + "."))
    return Section(
        "recommendation",
        "Recommendation",
        tuple(blocks),
        "Steps in their order; each was simulated on the whole trace with all members, on top of those before it.",
    )


def _saved(change: GroupChange) -> str:
    reads = change.rate(change.before.total.read_ios - change.after.total.read_ios)
    cpu = change.rate(change.before.cpu_seconds - change.after.cpu_seconds, 3600)
    if change.seconds > 0:
        return f"saves {shown(reads, PER_SECOND)} read I/O/s, {shown(cpu, CPU)} CPU s/h"
    return f"saves {reads:,.0f} read I/Os"


def _evidence(name: str, title: str, change: GroupChange, definitions: Definitions) -> Table:
    found = structure_table(name, title, change, definitions, changed=True)
    pools = pool_table(name, title, change, definitions, changed=True)
    same = change.before.configuration.members == change.after.configuration.members
    return (found if same else pools) or pools or found or Table(name, title, (), ())


def _step(number: int, step: GroupStep, seconds: float, definitions: Definitions) -> Advice:
    change = GroupChange(step.before, step.after, seconds)
    evidence = _evidence(f"step_{number}", step.title, change, definitions)
    return Advice(
        name=f"step_{number}",
        rank=number,
        severity="worth it" if step.worth else "not worth it",
        title=step.title,
        text=f"{step.why[:1].upper()}{step.why[1:]}.",
        objects=counted(len(evidence.rows), "row"),
        evidence=evidence,
        action="Run these commands.",
        condition="",
        source="",
        cost=_saved(change),
        cost_meaning="of the simulated trace; CPU of I/O and of group buffer pool requests at the cost assumptions",
        command="\n".join(step.script.change),
        undo="\n".join(step.script.reverse),
        folded=not step.worth,
    )


def _whole(found: GroupRecommendation, seconds: float, definitions: Definitions) -> Advice:
    change = GroupChange(found.before, found.after, seconds)
    evidence = pool_table("all_steps", "All steps", change, definitions, changed=True)
    return Advice(
        name="all_steps",
        rank=0,
        severity="worth it",
        title="All steps that are worth it, as one script",
        text="What the steps above do together.",
        objects=counted(sum(step.worth for step in found.steps), "step"),
        evidence=evidence or Table("all_steps", "All steps", (), ()),
        action="Run it at a quiet time, each part on its member.",
        condition="",
        source="",
        cost=_saved(change),
        command="\n".join(found.script.change),
        undo="\n".join(found.script.reverse),
        folded=True,
    )


def _change(found: GroupPrediction, definitions: Definitions) -> Section:
    change = GroupChange(found.before, found.after, found.seconds)
    evidence = _evidence("change", "The change", change, definitions)
    advice = Advice(
        name="change",
        rank=0,
        severity="as asked",
        title="The change",
        text="Simulated on the whole trace with all members before and after.",
        objects=counted(len(evidence.rows), "row"),
        evidence=evidence,
        action="Run these commands.",
        condition="",
        source="",
        cost=_saved(change),
        cost_meaning="of the simulated trace; CPU of I/O and of group buffer pool requests at the cost assumptions",
        command="\n".join(found.script.change),
        undo="\n".join(found.script.reverse),
    )
    lead = "What the change that was asked for does to the work of all members."
    return Section("change", "What if", (_figures(change, definitions), advice), lead)


def _curves(analysis: GroupAnalysis, definitions: Definitions) -> Section | None:
    prediction = analysis.prediction
    curves = [replace(one, pool=f"{member}.{one.pool}") for member, own in analysis.curves.items() for one in own]
    known = prediction.before.members
    changed = prediction.after.members if analysis.recommendation is not None or prediction.is_change else {}

    def sizes(members: Mapping[str, object]) -> dict[str, int]:
        states = prediction.before if members is known else prediction.after
        return {
            f"{member}.{pool}": one.size
            for member in members
            for pool, one in states.configuration.members[member].pools.items()
        }

    found = curves_section(
        curves,
        prediction.seconds,
        definitions,
        now=sizes(known),
        recommended=sizes(changed),
        word="asked for" if analysis.recommendation is None else "recommended",
    )
    if found is None:
        return None
    note = Note(
        "By member: these are the misses of capacity. Pages read again because another member changed them are in the "
        "simulation, and so in the tables above, not in the curves."
    )
    return replace(found, blocks=(note, *found.blocks))


def _assumed(analysis: GroupAnalysis) -> Section:
    facts = analysis.facts
    told = dict.fromkeys([*facts.notes, *analysis.prediction.notes])
    notes = [Note(f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}") for text in told]
    counts = ", ".join(f"{count:,} {name}" for name, count in facts.references.items() if count)
    return Section(
        "assumed",
        "What was lost and assumed",
        (
            Note(f"References in the trace: {counts}; lost: {facts.lost:,}."),
            *notes,
            Note(
                "Working sets, clusters, residency and I/O delay are of one Db2: give --subsystem with one of "
                f"{', '.join(facts.members)} for its own."
            ),
        ),
        "What this report does not know, and what it takes for granted.",
    )
