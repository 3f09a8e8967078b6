"""The first section of a pools report: does the simulation of the present pools count what Db2 counted?"""

from __future__ import annotations

from plexlens.metrics.unit import COUNT, PERCENTAGE
from plexlens.pools.recorded import COUNTERS
from plexlens.pools.replay import BUSIEST, LEAST, OBJECT_BOUND, POOL_BOUND, Check, Replay
from plexlens.report.model import Block, Level, Note, Section
from plexlens.report.model.fields import Definitions, Field, Subject

REPLAY = Subject("pool_replay", "Replay of a trace", "one count of a pool or object, simulated and recorded")

#: Names of what is compared.
TITLES = {
    "sync_reads": "synchronous reads",
    "prefetch_ios": "prefetch I/Os",
    "prefetch_pages": "pages read by prefetch",
    "write_ios": "write I/Os",
    "pages_written": "pages written",
    "read_ios": "read I/Os of both kinds",
}
assert TITLES.keys() == {*COUNTERS, "read_ios"}

_LEAD = (
    "The trace was replayed through the present pools. Where the two counts differ, look for the reason before you use "
    "any other number of this report."
)


def _verdict(check: Check) -> str:
    """Whether a count agrees."""
    if check.is_contradicted:
        return "no"
    return "yes" if check.agrees else "open"


def replay_section(replay: Replay, definitions: Definitions) -> Section:
    """Recorded and simulated counts, and what their difference means for the advice."""
    fields: list[Field[Check]] = [
        Field(REPLAY, "pool", "Pool", lambda check: check.pool, key=True),
        Field(REPLAY, "count", "Count", lambda check: TITLES[check.what], key=True),
        Field(
            REPLAY, "simulated", "Simulated", lambda check: check.simulated, COUNT,
            "counts of the simulation over the whole trace", "A simulation of the present pools over the trace",
        ),
        Field(
            REPLAY, "recorded", "Recorded", lambda check: check.recorded, COUNT,
            "misses of IFCID 198; else SMF 100 IFCID 2 for the time of the trace; else I/Os of IFCID 6, 7 and 10, or "
            "the sums of IFCID 199",
            "What Db2 recorded",
        ),
        Field(
            REPLAY, "error", "Error", lambda check: check.error, PERCENTAGE,
            "(simulated - recorded) / recorded", "Both",
        ),
        Field(
            REPLAY, "unsure", "May differ by", lambda check: check.unsure + check.surplus or None, COUNT,
            "writes: Σ over updated data sets of the fewer of VDWQT and their updates, at most DWQT; reads of shared "
            "data: data entries of the group buffer pool; prefetch, only more: the fewer of buffers and pages that it "
            "read",
            "Pages that were changed, in the group buffer pool, or there for prefetch, when the trace began: nothing "
            "records them",
        ),
        Field(REPLAY, "source", "Recorded by", lambda check: check.source),
        Field(
            REPLAY, "agrees", "Agrees", _verdict,
            formula=f"yes: within {POOL_BOUND:.0%} of a pool, {OBJECT_BOUND:.0%} of an object, or less than one in "
            f"{LEAST:,} getpages apart; open: no further apart than it may differ",
        ),
    ]  # fmt: skip
    name: Field[Check] = Field(REPLAY, "object", "Object", lambda check: check.name, key=True)
    tables = [
        definitions.table("replay_pools", "Pools, recorded and simulated", fields, replay.pools, top=len(replay.pools)),
        definitions.table(
            "replay_objects",
            f"The {BUSIEST} objects with the most getpages, recorded and simulated",
            [fields[0], name, *fields[1:]],
            replay.objects,
            top=10,
        ),
    ]
    blocks: list[Block] = [Note(replay.text, Level.WARNING if replay.contradictions else Level.INFO)]
    blocks += [Note(replay.advice, Level.WARNING)] if replay.advice else []
    blocks += [table for table in tables if table is not None]
    blocks += [Note(text) for text in replay.missing]
    return Section("replay", "Replay", tuple(blocks), _LEAD)
