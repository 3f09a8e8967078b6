"""`plexlens pools` without a page trace: what statistics alone say, and its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from plexlens import __version__
from plexlens.errors import NothingUsableError
from plexlens.metrics.display import storage_size
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import FRACTION, MEAN_COUNT, PAGES, PER_SECOND, SECONDS
from plexlens.pools.alter import Script, script
from plexlens.pools.cost import IoCost, fitted_cost
from plexlens.pools.headroom import Headroom, headroom_of
from plexlens.pools.howto import Rate
from plexlens.pools.page.options import Options
from plexlens.pools.page.untraced_json import effect_json, pool_json, step_json
from plexlens.pools.page.untraced_options import check_options, sizes_of
from plexlens.pools.settings import Configuration
from plexlens.pools.settings_file import read_toml
from plexlens.pools.simulated_pool import with_trial
from plexlens.pools.sources import of_database
from plexlens.pools.untraced.advice import (
    SHORT,
    Effect,
    Step,
    effect,
    placement_steps,
    size_steps,
    sizes_within,
    wanted,
    with_sizes,
)
from plexlens.pools.untraced.bounds import Range
from plexlens.pools.untraced.opening import opened
from plexlens.pools.untraced.seen import Seen, SeenObject, Statistics, statistics_of
from plexlens.report.model import Advice, Block, Note, Report, Section, Table
from plexlens.report.model.fields import Definitions, Field, Subject

#: Sizes that are shown where none are asked for, as multiples of the size now.
MULTIPLES = (0.5, 0.75, 1.25, 1.5, 2.0, 4.0)

#: Read I/Os per second that count as zero.
_NOTHING = 1e-6

#: Minutes of the trace whose volume is told.
_MINUTES = 10.0

_POOL = Subject("seen_pool", "Pools by statistics", "one buffer pool")
_SIZE = Subject("seen_size", "Pools at other sizes, by statistics", "one buffer pool at one size")
_OBJECT = Subject("seen_object", "Objects by statistics", "one page set with all its partitions")


@dataclass(frozen=True)
class UntracedAnswer:
    """Ranges that statistics give, steps within a budget, and the change that was asked for.

    Attributes
    ----------
    sources
        Names of the files.
    found
        What statistics say.
    effects
        Pools at other sizes.
    steps
        Changes of sizes within the budget, then candidates of placement.
    cost
        Prices of I/O.
    headroom
        Free storage; None if unknown.
    script
        Everything that changes sizes.
    rate
        References per second, for the volume of a trace.
    """

    sources: tuple[str, ...]
    statistics: Statistics
    effects: tuple[Effect, ...]
    steps: tuple[Step, ...]
    cost: IoCost
    headroom: Headroom | None
    script: Script
    rate: Rate
    notes: tuple[str, ...] = field(default=())

    def job(self, subsystem: str) -> tuple[str, str]:
        """The job of the changes of sizes, and that of its reverse.

        Raises
        ------
        UsageError
            Nothing changes.
        """
        from plexlens.pools.jcl import jobs

        return jobs(self.script, (subsystem or self.statistics.subsystem).upper())

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "trace": False,
            "subsystem": self.statistics.subsystem,
            "pools": [pool_json(pool) for pool in self.statistics.pools],
            "sizes": [effect_json(entry) for entry in self.effects],
            "objects": [asdict(seen_object) | {"name": seen_object.name} for seen_object in self.statistics.objects],
            "steps": [step_json(step) for step in self.steps],
            "trace_would_add": self.trace_text,
            "notes": [*self.notes, *self.statistics.left_out],
        }

    @property
    def trace_text(self) -> tuple[str, ...]:
        """Benefit and cost of a trace, in sentences."""
        subsystem = self.statistics.subsystem or "SSID"
        return (
            "A page trace (IFCID 198) replaces every range on this page by a number: reads at every size, object by "
            "object, and the effect of moving any object.",
            f"{_MINUTES:g} minutes of it write {storage_size(int(self.rate.bytes_in(_MINUTES)))} of SMF 102 at "
            f"{self.rate.getpages:,.0f} getpages per second; the CPU time of the trace is not known beforehand: start "
            f"with a minute and look. plexlens pools --howto --subsystem {subsystem} prints commands and jobs.",
            "Without a trace, SPSIZE narrows the range of one larger size on the live load: -ALTER BUFFERPOOL(BPn) "
            "SPSIZE(n), two statistics intervals, and this command again on their SMF 100.",
        )

    def report(self) -> Report:
        """The report."""
        definitions = Definitions()
        statistics = self.statistics
        sections = [
            Section("pools", "Pools", tuple(_pool_blocks(statistics, definitions)), "What statistics counted."),
            Section(
                "sizes",
                "Other sizes",
                tuple(_size_blocks(self.effects, definitions)),
                "What each pool may read at other sizes, as ranges: statistics do not hold the order of references.",
            ),
            _steps_section(self.steps, definitions),
            _objects_section(statistics.objects, definitions),
            Section("trace", "What a page trace would add", tuple(map(Note, self.trace_text)), "What it costs, too."),
            Section("assumed", "What is assumed", tuple(map(Note, (*self.notes, *statistics.left_out)))),
        ]
        return Report(
            title="Buffer pools" + (f" of {statistics.subsystem}" if statistics.subsystem else ""),
            sections=tuple(section for section in sections if section is not None and section.blocks),
            definitions=definitions.found,
            generator=f"Plexlens {__version__}",
            kind="Buffer pool report without a page trace",
            subject=f"Statistics of {', '.join(self.sources[:3])}"
            + (f" and {len(self.sources) - 3} more" if len(self.sources) > 3 else ""),
        )


def untraced_answer(
    sources: Sequence[Path],
    settings: Path | None,
    options: Options,
    *,
    subsystem: str,
    minutes: float | None = None,
) -> UntracedAnswer:
    """Answer from the statistics of pools.

    Parameters
    ----------
    sources
        Dumps, a database, or printed output.
    settings
        File with the present pools; None for what the sources say.
    options
        Sizes, changes of sizes, and limits.
    subsystem
        The Db2; empty where there is one.
    minutes
        Length of an interval that does not say it.

    Raises
    ------
    UsageError
        Options that need a trace, or several Db2s and no choice.
    NothingUsableError
        No statistics of pools.
    UnreadableInputError
        A source cannot be read.
    """
    check_options(options)
    with opened(sources, options.layouts) as connection:
        inputs = Inputs(connection)
        now = _present(of_database(connection, subsystem=subsystem or None), settings, subsystem, options)
        owner = subsystem or _owner(inputs)
        statistics = statistics_of(inputs, now, owner, minutes=minutes)
        cost, headroom = fitted_cost(inputs, subsystem=owner), headroom_of(connection)
        rate = _rate(inputs, owner, statistics)
    counts = sizes_of(statistics, options)
    sizes = {pool.name: pool.settings.size for pool in statistics.pools} | counts
    notes = list(statistics.configuration.notes)
    if options.recommends:
        budget = options.budgets([""])[""]
        sizes = sizes_within(statistics.pools, budget, cost, options.delay_weight, pinned=counts)
        notes += _budget_notes(statistics, budget, sizes, headroom)
    effects = [
        effect(pool, size)
        for pool in statistics.pools
        for size in _sizes(pool, options.sizes)
        if size != pool.settings.size
    ]
    steps = [*size_steps(statistics, sizes), *placement_steps(statistics)]
    after = with_sizes(statistics, sizes)
    whole = with_trial(script(statistics.configuration, after, {}, {}), statistics.configuration, after, {})
    return UntracedAnswer(
        tuple(path.name for path in sources),
        statistics,
        tuple(effects),
        tuple(steps),
        cost,
        headroom,
        whole,
        rate,
        tuple(notes),
    )


def _present(configuration: Configuration, settings: Path | None, subsystem: str, options: Options) -> Configuration:
    """The pools now: a settings file says more than SMF 100 does."""
    if settings is None:
        return configuration
    if settings.suffix.lower() == ".toml":
        other = read_toml(settings, ("",))
    else:
        with opened([settings], options.layouts) as connection:
            other = of_database(connection, subsystem=subsystem or None)
    missing = set(configuration.pools) - set(other.pools)
    notes = other.notes
    if missing:
        notes = (
            *notes,
            f"{', '.join(sorted(missing))}: not in {settings.name}, so the settings are those of the statistics.",
        )
    return Configuration({**configuration.pools, **other.pools}, other.placement, notes)


def _owner(inputs: Inputs) -> str:
    from plexlens.metrics import GRAINS
    from plexlens.metrics.evaluate import rolled_up

    names = {row["subsystem"] for row in rolled_up(inputs, GRAINS["db2_pool"], by=("subsystem",), time="all")}
    named = sorted(name for name in names if name)
    return named[0] if len(named) == 1 else ""


def _rate(inputs: Inputs, subsystem: str, statistics: Statistics) -> Rate:
    from plexlens.pools.howto import rate_in

    try:
        return rate_in(inputs, subsystem)
    except NothingUsableError:
        getpages = sum(pool.getpages_per_second for pool in statistics.pools)
        return Rate(getpages, 0.0, getpages, 1)


def _sizes(pool: Seen, numbers: Sequence[int]) -> list[int]:
    return list(numbers) or [round(pool.settings.size * factor) for factor in MULTIPLES]


def _budget_notes(
    statistics: Statistics, budget: int, sizes: Mapping[str, int], headroom: Headroom | None
) -> list[str]:
    now = sum(pool.settings.bytes for pool in statistics.pools)
    then = sum(sizes[pool.name] * pool.settings.page_bytes for pool in statistics.pools)
    names = [storage_size(size) for size in (now, budget, then)]
    notes = [f"The pools have {names[0]}; the budget is {names[1]}, and the steps use {names[2]}."]
    if then > budget:
        notes.append(
            "The pools stay above the budget: a pool that hardly reads is left, since nothing tells how many of its "
            "buffers it needs, and a pool keeps 1,000 buffers at least."
        )
    elif budget > now and then < budget - (budget - now) // 2:
        notes.append(
            f"The rest is not used: no other pool has 10 read I/Os per second, or pages would stay for more than "
            f"{SHORT / 60:g} minutes."
        )
    if headroom is not None:
        notes.append(f"{headroom}.")
    return notes


def _pool_blocks(result: Statistics, definitions: Definitions) -> list[Block]:
    statistics = "SMF 100 IFCID 2, or -DISPLAY BUFFERPOOL"

    def bound(pool: Seen, least: bool, seconds: float = SHORT) -> float | None:
        size = wanted(pool, seconds)
        return None if size is None else (size.least if least else size.most)

    fields: list[Field[Seen]] = [
        Field(_POOL, "pool", "Pool", lambda pool: pool.name, key=True),
        Field(_POOL, "size", "Size", lambda pool: pool.settings.size, PAGES, "", statistics),
        Field(
            _POOL, "getpages", "Getpages", lambda pool: pool.getpages_per_second, PER_SECOND,
            "getpages / seconds at this size", statistics,
        ),
        Field(
            _POOL, "sequential", "Sequential",
            lambda pool: pool.sequential / pool.getpages if pool.sequential is not None and pool.getpages else None,
            FRACTION, "sequential getpages / getpages", statistics,
        ),
        Field(
            _POOL, "reads", "Read I/O", lambda pool: pool.reads_per_second, PER_SECOND,
            "(synchronous reads + prefetch I/Os) / seconds at this size", statistics,
        ),
        Field(
            _POOL, "pages", "Pages read", lambda pool: pool.pages_per_second, PER_SECOND,
            "(synchronous reads + pages read by prefetch) / seconds at this size", statistics,
        ),
        Field(
            _POOL, "residency", "A page stays at most", lambda pool: pool.residency, SECONDS,
            "size / pages read per second", "db2utor, Page Residency Time (2011)",
            "An upper bound: a page that is read and never found again leaves as late as any other.",
        ),
        Field(
            _POOL, "five_least", "At least", lambda pool: bound(pool, True), PAGES,
            "the smaller of size x square root of (300 s / residency) and pages read in 300 s", statistics,
            group="Size for 5 minutes",
        ),
        Field(
            _POOL, "five_most", "At most", lambda pool: bound(pool, False), PAGES,
            "the larger of size x square root of (300 s / residency) and pages read in 300 s", statistics,
            group="Size for 5 minutes",
        ),
    ]  # fmt: skip
    table = definitions.table(
        "pools", "Pools", fields, result.pools,
        note="Where pages stay less than 5 minutes more buffers may pay; beyond 15 minutes fewer may do.",
    )  # fmt: skip
    return [] if table is None else [table]


def _size_blocks(effects: Sequence[Effect], definitions: Definitions) -> list[Block]:
    unknown = "none: the pool hardly reads"

    def part(of: str, which: str) -> Any:
        def value(entry: Effect) -> float | None:
            result: Range | None = getattr(entry, of)
            return None if result is None else float(getattr(result, which))

        return value

    rule = "reads x size lie between those now and those of a pool whose reads do not change"
    source, caveat = "Statistics", "A rule, not a law: docs/pools.md shows how often it holds."
    law = "a larger LRU pool reads no more, a smaller one no less (Mattson and others 1970)"
    fields: list[Field[Effect]] = [
        Field(_SIZE, "pool", "Pool", lambda effect: effect.pool.name, key=True),
        Field(_SIZE, "size", "Size", lambda row: row.size, PAGES, "", "Asked for, or a multiple of the size now"),
        Field(
            _SIZE, "now", "Now", lambda row: row.pool.reads_per_second, PER_SECOND, "read I/Os / seconds", source,
            group="Read I/O",
        ),
        Field(
            _SIZE, "likely_least", "At least", part("likely", "least"), PER_SECOND, rule, source, caveat,
            group="Likely",
        ),
        Field(
            _SIZE, "likely_most", "At most", part("likely", "most"), PER_SECOND, rule, source, caveat, group="Likely"
        ),
        Field(_SIZE, "least", "At least", part("possible", "least"), PER_SECOND, law, source, group="Possible"),
        Field(_SIZE, "most", "At most", part("possible", "most"), PER_SECOND, law, source, group="Possible"),
    ]  # fmt: skip
    table = definitions.table("sizes", "Other sizes", fields, effects, top=60)
    if table is None:
        return []
    blocks: list[Block] = [table]
    if any(entry.likely is None for entry in effects):
        blocks.append(
            Note(
                f"A smaller size without a likely range ({unknown}) may add any number of reads up to the possible one."
            )
        )
    return blocks


def _steps_section(steps: Sequence[Step], definitions: Definitions) -> Section | None:
    if not steps:
        return None
    blocks: list[Block] = []
    for number, step in enumerate(steps, 1):
        table = _size_blocks(step.effects, Definitions(definitions.found))
        evidence = table[0] if table and isinstance(table[0], Table) else Table(f"step_{number}", "Sizes", (), ())
        blocks.append(
            Advice(
                name=f"step_{number}",
                rank=number,
                severity="a candidate" if step.objects else "size",
                title=step.title,
                text=f"{step.why}.",
                objects=f"{len(step.objects) or 1} {'objects' if step.objects else 'pool'}",
                evidence=Table(f"step_{number}", evidence.title, evidence.columns, evidence.rows),
                action="Run the commands at a quiet time, and compare statistics of the same hours before and after.",
                condition="",
                source="",
                cost=f"{_told(step.saved)} (possible: {_told(step.possibly_saved)})",
                cost_meaning="likely range; statistics do not tell more",
                command="\n".join(step.script.change),
                undo="\n".join(step.script.reverse),
            )
        )
    lead = "Changes that statistics support. Each can be made by itself and reversed."
    return Section("steps", "What to change", tuple(blocks), lead)


def _told(saved: Range) -> str:
    def entry(value: float) -> str:
        return f"{abs(value):,.1f}"

    if saved.least >= -_NOTHING:
        return f"saves {entry(saved.least)} to {entry(saved.most)} read I/Os per second"
    if saved.most <= _NOTHING:
        return f"adds {entry(saved.most)} to {entry(saved.least)} read I/Os per second"
    return f"from {entry(saved.least)} more to {entry(saved.most)} fewer read I/Os per second"


def _objects_section(objects: Sequence[SeenObject], definitions: Definitions) -> Section | None:
    is_displayed = any(entry.is_displayed for entry in objects)
    source, mean = "SMF 102 IFCID 199", "mean of the intervals with a record"
    if is_displayed:
        source, mean = "-DISPLAY BUFFERPOOL LSTATS", "mean of the displays with a row"
    fields: list[Field[SeenObject]] = [
        Field(_OBJECT, "name", "Object", lambda entry: entry.name, key=True),
        Field(_OBJECT, "pool", "Pool", lambda seen_object: seen_object.pool, key=True),
        Field(
            _OBJECT, "least", "At least", lambda row: row.ios_per_second[0], PER_SECOND,
            "I/Os recorded / seconds of all intervals", source, group="I/O",
        ),
        Field(
            _OBJECT, "most", "At most", lambda row: row.ios_per_second[1], PER_SECOND,
            "(I/Os recorded + one per second where nothing is recorded) / seconds of all intervals", source,
            group="I/O",
        ),
        Field(
            _OBJECT, "pages", "Pages per asynchronous I/O", lambda row: row.pages_per_async_io, MEAN_COUNT,
            "pages of asynchronous I/Os / asynchronous I/Os", source,
        ),
        Field(_OBJECT, "cached", "Pages in the pool", lambda row: row.cached, PAGES, mean, source),
        Field(_OBJECT, "changed", "Changed", lambda row: row.changed, PAGES, mean, source),
    ]  # fmt: skip
    table = definitions.table("objects", "Objects", fields, objects, top=50)
    if table is None:
        return None
    note = Note(
        "LSTATS(*) shows all open data sets, LSTATS(ACTIVE) those in use at that moment. It has no getpages."
        if is_displayed
        else "IFCID 199 has data sets with at least one I/O per second; objects that are always found in the pool are "
        "missing. It has no getpages."
    )
    return Section("objects", "Objects", (table, note), "Whose I/O it is, and whose pages are in the pools.")
