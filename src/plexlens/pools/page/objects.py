"""Pools and objects of a trace by read I/O, with its cost in CPU and delay."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plexlens.metrics.page_numbers import page_numbers
from plexlens.metrics.unit import GIB, MIB, UNITS, Unit
from plexlens.pools.cost import IoCost
from plexlens.pools.objects import Io, objects_of, partitions_of, pools_of
from plexlens.pools.observation import Observation
from plexlens.report.model import Block, Cell, Note, Section
from plexlens.report.model.fields import Definitions, Field, Subject, of_number

#: CPU and delay: seconds with a digit more than whole ones, since a trace may be of minutes.
TENTHS = UNITS["tenth_seconds"]

TRACE = Subject("pool_whole", "The trace", "all pools of the trace together")
OBJECT = Subject("pool_object", "Objects of a trace", "one object in one pool, all its partitions together")
POOL = Subject("pool_trace", "Pools of a trace", "one buffer pool, simulated with its settings over the trace")

IO = page_numbers("pool_io")

STORAGE: Field[None] = Field(
    TRACE, "storage", "Storage of the pools", lambda row: None, GIB, "Σ buffers x page size", "Settings of the pools"
)


def storage_unit(size: float) -> Unit:
    """The display unit for an amount of storage."""
    return GIB if size >= 1 << 30 else MIB


def fields(subject: Subject, cost: IoCost, *, with_name: bool = True) -> dict[str, Field[Io]]:
    """The columns by name."""
    by_program: dict[str, Callable[[Io], Cell]] = {
        "partitions": lambda io: io.partitions,
        "objects": lambda io: io.partitions,
        "getpages": lambda io: io.getpages,
        "read_ios": lambda io: io.read_ios,
        "cpu_seconds": lambda io: io.cpu_seconds(cost),
        "cpu_per_day": lambda io: io.cpu_per_day(cost),
        "elapsed_seconds": lambda io: io.elapsed_seconds(cost),
        "delay_per_day": lambda io: io.delay_per_day(cost),
        "sync_delay": lambda io: io.sync_delay,
        "sync_delay_longest": lambda io: io.sync_delay_longest,
        "prefetch_delay": lambda io: io.prefetch_delay,
    }
    results: list[Field[Io]] = [
        Field(subject, "pool", "Pool", lambda io: io.pool, key=True),
        *([Field[Io](subject, "object", "Object", lambda io: io.name, key=True)] if with_name else []),
        Field(subject, "kind", "Kind", lambda io: io.kind or None),
        *(of_number(subject, name, number, by_program.get(name, number.of)) for name, number in IO.numbers.items()),
    ]
    return {field.name: field for field in results}


def _columns(by_name: dict[str, Field[Io]], timed: bool) -> list[Field[Io]]:
    rates = [
        by_name["getpages_per_second"],
        by_name["random_share"],
        by_name["read_ios_per_second"].within("Read I/O", "All").with_bar(),
        by_name["sync_reads_per_second"].within("Read I/O", "Synchronous"),
        by_name["prefetch_reads_per_second"].within("Read I/O", "Prefetch"),
        by_name["recorded_reads_per_second"].within("Read I/O", "As recorded"),
        by_name["cpu_per_day"].within("In 24 hours", "CPU"),
        by_name["delay_per_day"].within("In 24 hours", "Delay"),
    ]
    counts = [by_name["getpages"], by_name["random_share"], by_name["read_ios"].with_bar()]
    moved = [by_name["pages_read_per_second"], by_name["write_ios_per_second"]]
    return [
        *(rates if timed else counts),
        by_name["cpu_seconds"].within("In the trace", "CPU"),
        by_name["elapsed_seconds"].within("In the trace", "I/O elapsed"),
        *(moved if timed else ()),
        by_name["pages_per_write"],
        by_name["application_hit_ratio"].within("Hit ratio", "Application"),
        by_name["system_hit_ratio"].within("Hit ratio", "System"),
    ]


def pools_section(observation: Observation, cost: IoCost, definitions: Definitions) -> Section:
    """Pools ranked by read I/O."""
    own = fields(POOL, cost, with_name=False)
    order = ("read_ios_per_second" if observation.timed else "read_ios", True)
    table = definitions.table(
        "pools",
        "Pools, by read I/O",
        [own["pool"], own["objects"], *_columns(own, observation.timed)],
        pools_of(observation),
        sorted_by=order,
        note="Hit ratios are shown for reference; no recommendation uses them.",
        drill="objects",
    )
    blocks: list[Block] = [table] if table is not None else []
    blocks += [
        Note(f"Pool {name} is not simulated: {rows:,} references to it are left out.")
        for name, rows in observation.left_out.items()
    ]
    return Section("pools", "Pools", tuple(blocks), "Reads of each pool with its present settings.")


def objects_section(observation: Observation, cost: IoCost, definitions: Definitions) -> Section:
    """Objects ranked by read I/O, and the partitions of objects that have several."""
    own = fields(OBJECT, cost)
    order = ("read_ios_per_second" if observation.timed else "read_ios", True)
    names = [own["pool"], own["object"]]
    parts = partitions_of(observation)
    tables = [
        definitions.table(
            "objects",
            "Objects, by read I/O",
            [*names, own["kind"], *([own["partitions"]] if parts else []), *_columns(own, observation.timed)],
            objects_of(observation),
            sorted_by=order,
            top=25,
        ),
        definitions.table(
            "partitions",
            "Partitions, by read I/O",
            [*names, *_columns(_without_recorded(own), observation.timed)],
            parts,
            sorted_by=order,
            folded=True,
        ),
    ]
    return Section(
        "objects",
        "Objects",
        tuple(table for table in tables if table is not None),
        "The objects that cost most. The first few usually cause most of the cost: check how they are accessed before "
        "you enlarge a pool.",
    )


def _without_recorded(own: dict[str, Field[Io]]) -> dict[str, Field[Io]]:
    """The columns without recorded I/O, which is not recorded by partition."""
    nothing = own["recorded_reads_per_second"]
    return own | {nothing.name: Field(nothing.subject, nothing.name, nothing.title, lambda io: None, nothing.unit)}


def delays_section(observation: Observation, cost: IoCost, definitions: Definitions, more: Sequence[Block]) -> Section:
    """Recorded I/O times of each object."""
    own = fields(OBJECT, cost)
    timed = [
        object_io
        for object_io in objects_of(observation)
        if object_io.sync_delay is not None or object_io.prefetch_delay is not None
    ]
    timed.sort(key=lambda object_io: -(object_io.elapsed_seconds(cost) or 0.0))
    sources = sorted({delay.source for delay in observation.delays})
    table = definitions.table(
        "delays",
        "I/O delay of objects",
        [
            own["pool"], own["object"],
            own["read_ios_per_second"] if observation.timed else own["read_ios"],
            own["sync_delay"].within("Synchronous read", "Mean").with_bar(),
            own["sync_delay_longest"].within("Synchronous read", "Longest"),
            own["prefetch_delay"],
            own["elapsed_seconds"],
            own["delay_per_day"].within("In 24 hours", "Delay"),
        ],
        timed,
        sorted_by=("elapsed_seconds", True),
        note=f"Times from {' and '.join(sources)}." if sources else "",
    )  # fmt: skip
    blocks: list[Block] = [table] if table is not None else []
    if table is None:
        blocks.append(
            Note(
                "No I/O times were recorded: every synchronous read is assumed to take the time in the cost "
                "assumptions. "
                "IFCID 6 and 7 (or 199) in the trace record I/O times by object, SMF 42-6 and 74-1 by data set and "
                "volume."
            )
        )
    return Section(
        "delay",
        "I/O delay",
        (*blocks, *more),
        "Two objects with the same number of I/Os can differ much in delay, which depends on their devices.",
    )
