"""Effects of a pool change: steps of a recommendation with their commands, or a requested change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plexlens.metrics.display import shown
from plexlens.metrics.unit import PAGES, PER_SECOND, Unit
from plexlens.pools.page.frontier import frontier_blocks
from plexlens.pools.page.group import GroupChange, structure_figure, structure_table
from plexlens.pools.page.objects import STORAGE, storage_unit
from plexlens.pools.page.storage import storage_blocks
from plexlens.pools.prediction import Activity, Prediction, State
from plexlens.pools.search.recommendation import Recommendation, Step
from plexlens.report.model import Advice, Block, Figure, KeyFigures, Note, Section, Table
from plexlens.report.model.display import byte_size, counted
from plexlens.report.model.fields import Definitions, Field, Subject

CHANGE = Subject("pool_change", "Change of pools", "one buffer pool, or all of them, before and after the change")

_BOTH = "The trace, simulated with the pools before and after"
_HOUR, _DAY = 3600.0, 86400.0
_CPU = Unit("s/h", "s/h", 1.0, 2)
_DELAY = Unit("s", "s", 1.0, 0)
_COUNT = Unit("", "count", 1.0, 0)


@dataclass(frozen=True)
class PoolChange:
    """A pool before and after; None if it has no buffers."""

    pool: str
    seconds: float
    before_size: int | None
    after_size: int | None
    before: Activity
    after: Activity

    @property
    def is_change(self) -> bool:
        """Whether the change is worth a row."""
        return self.before_size != self.after_size or self.before != self.after

    def rate(self, amount: float, length: float = 1.0) -> float:
        """An amount of the trace per given number of seconds; the total if the trace has no times."""
        return amount * length / self.seconds if self.seconds > 0 else amount


def changes(before: State, after: State, seconds: float) -> list[PoolChange]:
    """Every pool of the two states."""
    names = dict.fromkeys([*before.configuration.pools, *after.configuration.pools])
    return [
        PoolChange(
            name,
            seconds,
            before.configuration.pools[name].size if name in before.configuration.pools else None,
            after.configuration.pools[name].size if name in after.configuration.pools else None,
            _activity(before, name),
            _activity(after, name),
        )
        for name in names
    ]


def _activity(state: State, name: str) -> Activity:
    """Activity of a pool; its CPU includes its requests to the group buffer pool."""
    return replace(state.pools.get(name, Activity()), cpu_seconds=state.cost_of(name))


def _total(state: State) -> Activity:
    """Activity of all pools; the CPU includes all requests to group buffer pools."""
    return replace(state.total, cpu_seconds=state.cpu_seconds)


def _priced(state: State) -> str:
    """Components of the CPU time."""
    return "read and write I/O" + (" and group buffer pool requests" if state.structures else "")


def _fields(timed: bool) -> list[Field[PoolChange]]:
    rate, cpu = (PER_SECOND, _CPU) if timed else (_COUNT, Unit("s", "s", 1.0, 2))
    of_time = " / seconds of the trace" if timed else ""
    of_hour = " x 3600 / seconds of the trace" if timed else ""
    day = " x 86400 / seconds of the trace" if timed else ""

    def saved(change: PoolChange) -> float:
        return change.rate(change.before.read_ios - change.after.read_ios)

    return [
        Field(CHANGE, "pool", "Pool", lambda row: row.pool, key=True),
        Field(CHANGE, "size_before", "Before", lambda row: row.before_size, PAGES, "", "Settings", group="Buffers"),
        Field(CHANGE, "size_after", "After", lambda row: row.after_size, PAGES, "", "The change", group="Buffers"),
        Field(
            CHANGE, "reads_before", "Before", lambda row: row.rate(row.before.read_ios), rate,
            f"read I/Os with the pools as they are{of_time}", _BOTH, group="Read I/O",
        ),
        Field(
            CHANGE, "reads_after", "After", lambda row: row.rate(row.after.read_ios), rate,
            f"read I/Os with the pools as changed{of_time}", _BOTH, group="Read I/O",
        ),
        Field(
            CHANGE, "reads_saved", "Saved", saved, rate, f"(read I/Os before - read I/Os after){of_time}", _BOTH,
            group="Read I/O",
        ),
        Field(
            CHANGE, "cpu_saved", "CPU saved",
            lambda row: row.rate(row.before.cpu_seconds - row.after.cpu_seconds, _HOUR), cpu,
            f"CPU of read and write I/O, before less after{of_hour}", "Cost assumptions",
        ),
        Field(
            CHANGE, "delay_saved", "Delay saved in 24 hours" if timed else "Delay saved",
            lambda row: row.rate(row.before.delay_seconds - row.after.delay_seconds, _DAY), _DELAY,
            f"synchronous reads x delay of a read, before minus after{day}", "Cost assumptions",
        ),
    ]  # fmt: skip


def _table(name: str, title: str, rows: Sequence[PoolChange], definitions: Definitions) -> Table | None:
    timed = any(row.seconds > 0 for row in rows)
    return definitions.table(name, title, _fields(timed), [row for row in rows if row.is_change], top=50)


def _figures(before: State, after: State, seconds: float, definitions: Definitions) -> KeyFigures:
    whole = PoolChange("", seconds, None, None, _total(before), _total(after))
    fields = {field.name: field for field in _fields(seconds > 0)}

    def figure(name: str, title: str, detail: str) -> Figure:
        field = fields[name]
        return Figure(name, title, field.value(whole), field.unit, definitions.add(field, title), detail)

    bytes_before, bytes_after = before.configuration.bytes, after.configuration.bytes
    saved = whole.before.read_ios - whole.after.read_ios
    share = f"{saved / whole.before.read_ios:.1%} less" if whole.before.read_ios and saved > 0 else ""
    return KeyFigures(
        "pool_change",
        (
            figure("reads_before", "Read I/O now", ""),
            figure("reads_after", "Read I/O after the change", share),
            figure("cpu_saved", "CPU saved", _priced(after)),
            figure("delay_saved", "Delay saved" + (" in 24 hours" if seconds > 0 else ""), "synchronous reads"),
            Figure(
                "storage",
                "Storage of the pools",
                bytes_after,
                storage_unit(bytes_after),
                definitions.add(STORAGE),
                f"{byte_size(bytes_before)} now",
            ),
            *_structure_figure(before, after, definitions),
        ),
    )


def _structure_figure(before: State, after: State, definitions: Definitions) -> list[Figure]:
    if not after.structures:
        return []
    return [structure_figure(after, definitions, f"{byte_size(before.configuration.structure_bytes)} now")]


def _evidence(name: str, title: str, change: GroupChange, definitions: Definitions) -> tuple[Table, tuple[Table, ...]]:
    """Pools and group buffer pools affected by a change."""
    before, after, seconds = change.before, change.after, change.seconds
    pools = _table(name, title, changes(before, after, seconds), definitions)
    structures = None
    if before.structures and before.configuration.structures != after.configuration.structures:
        structures = structure_table(f"{name}_group_pools", title, change, definitions, changed=True)
    tables = [structure for structure in (structures, pools) if structure is not None]
    return (tables[0], tuple(tables[1:])) if tables else (Table(name, title, (), ()), ())


def recommendation_section(recommendation: Recommendation, seconds: float, definitions: Definitions) -> Section:
    """The recommended steps, with text for Db2 and its reverse."""
    blocks: list[Block] = [_figures(recommendation.before, recommendation.after, seconds, definitions)]
    worth = [step for step in recommendation.steps if step.worth]
    if not worth:
        blocks.append(Note("No step is worthwhile: within these limits, no change saves I/O."))
    rows = changes(recommendation.before, recommendation.after, seconds)
    table = _table("pool_changes", "All steps together, by pool", rows, definitions)
    if table is not None:
        blocks.append(table)
    blocks += frontier_blocks(recommendation, seconds, definitions)
    blocks += storage_blocks(recommendation, seconds, definitions)
    steps = [_step(number, step, seconds, definitions) for number, step in enumerate(recommendation.steps, 1)]
    blocks += [block for block, step in zip(steps, recommendation.steps, strict=True) if step.worth]
    if len(worth) > 1:
        blocks.append(_whole(recommendation, definitions, seconds))
    blocks += [block for block, step in zip(steps, recommendation.steps, strict=True) if not step.worth]
    blocks.append(Note(_how(recommendation)))
    if recommendation.headroom is not None:
        blocks.append(Note(f"{recommendation.headroom}."))
    return Section(
        "recommendation",
        "Recommendation",
        tuple(blocks),
        "Steps in order; each was simulated on the whole trace, in addition to the earlier steps.",
    )


def _how(recommendation: Recommendation) -> str:
    now, then = recommendation.curve_costs
    sampled = f", on {recommendation.sample:.1%} of the pages" if recommendation.sample < 1 else ""
    saved = f" By the curves, the pools cost {1 - then / now:.1%} less." if now > 0 else ""
    return (
        f"Method: placements of objects were searched on simulated curves{sampled} and scored by simulation, within "
        f"{byte_size(recommendation.budget)}; "
        f"the sizes are within {recommendation.gap:.2%} of the optimum for these groups.{saved}"
    )


def _saved(before: State, after: State, seconds: float) -> str:
    change = PoolChange("", seconds, None, None, _total(before), _total(after))
    reads = change.rate(change.before.read_ios - change.after.read_ios)
    cpu = change.rate(change.before.cpu_seconds - change.after.cpu_seconds, _HOUR)
    if seconds > 0:
        return f"saves {shown(reads, PER_SECOND)} read I/O/s, {shown(cpu, _CPU)} CPU s/h"
    return f"saves {reads:,.0f} read I/Os"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _step(number: int, step: Step, seconds: float, definitions: Definitions) -> Advice:
    name = f"step_{number}"
    evidence, more = _evidence(name, step.title, GroupChange(step.before, step.after, seconds), definitions)
    return Advice(
        name=name,
        rank=number,
        severity="worth it" if step.worth else "not worthwhile",
        title=step.title,
        text=_sentence(step.why),
        objects=counted(len(step.objects), "object") if step.objects else counted(len(evidence.rows), "pool"),
        evidence=evidence,
        action=f"Move {', '.join(step.objects)}." if step.objects else "Run these commands.",
        condition="",
        source="",
        cost=_saved(step.before, step.after, seconds),
        cost_meaning=f"in the simulated trace; CPU of {_priced(step.after)} at the cost assumptions",
        command="\n".join(step.script.change),
        undo="\n".join(step.script.reverse),
        folded=not step.worth,
        more=more,
    )


def _whole(recommendation: Recommendation, definitions: Definitions, seconds: float) -> Advice:
    table = _table("all_steps", "All steps", changes(recommendation.before, recommendation.after, seconds), definitions)
    return Advice(
        name="all_steps",
        rank=0,
        severity="worth it",
        title="All worthwhile steps as one script",
        text="Effect of all steps together.",
        objects=counted(sum(step.worth for step in recommendation.steps), "step"),
        evidence=table or Table("all_steps", "All steps", (), ()),
        action="Run it at a quiet time, and compare before and after with the saved prediction.",
        condition="",
        source="",
        cost=_saved(recommendation.before, recommendation.after, seconds),
        command="\n".join(recommendation.script.change),
        undo="\n".join(recommendation.script.reverse),
        folded=True,
    )


def prediction_section(prediction: Prediction, definitions: Definitions) -> Section:
    """A requested change."""
    seconds = prediction.seconds
    blocks: list[Block] = [_figures(prediction.before, prediction.after, seconds, definitions)]
    table, more = _evidence(
        "pool_changes", "By pool", GroupChange(prediction.before, prediction.after, seconds), definitions
    )
    if not table.rows:
        blocks.append(Note("The change has no effect: every pool reads the same pages as before."))
    elif prediction.commands:
        blocks.append(
            Advice(
                name="change",
                rank=0,
                severity="as asked",
                title="The change",
                text=_sentence(prediction.engine.text or "simulated event by event with the pools before and after"),
                objects=counted(len(table.rows), "pool"),
                evidence=table,
                action="Run these commands.",
                condition="",
                source="",
                cost=_saved(prediction.before, prediction.after, seconds),
                cost_meaning=f"in the simulated trace; CPU of {_priced(prediction.after)} at the cost assumptions",
                command="\n".join(prediction.commands),
                undo="\n".join(prediction.reverse),
                more=more,
            )
        )
    else:
        blocks.append(table)
    blocks += [Note(note) for note in prediction.notes]
    lead = "Effect of the requested change on the work of the trace."
    return Section("change", "What if", tuple(blocks), lead)
