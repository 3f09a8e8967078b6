"""Jobs, sessions and started tasks (SMF 30 subtype 5, else their intervals)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Rollup
from plexlens.metrics.expressions import count_if, interval_seconds
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.jobs.completion import completion
from plexlens.metrics.jobs.records import records
from plexlens.metrics.jobs.step import ENDED, ended_columns, job_class, span_columns
from plexlens.metrics.jobs.usage import ATTRIBUTES, FACTS, attribute_columns, usage_columns

#: Time before the job ran: fact, title, field.
_WAITS = (
    ("conversion_seconds", "JCL conversion", "SMF30JQT"),
    ("affinity_seconds", "Held for a resource or system", "SMF30RQT"),
    ("held_seconds", "Held otherwise", "SMF30HQT"),
    ("queue_seconds", "Waiting for an initiator", "SMF30SQT"),
)

#: What makes a job one of its own: job log identification and JES id.
_IDENTITY = ("system", "job", "job_id", "read_in")


def _jobs(inputs: Inputs) -> Any:
    every = records(inputs)
    ended = every.filter(every.subtype == 5)
    ended = ended.select(
        **span_columns(ended),
        read_in=ended.read_in,
        **_keys(ended),
        completion=completion(ended),
        counted_from=ibis.literal("job end"),
        **attribute_columns(ended),
        elapsed_seconds=ended.written - ended.initiated,
        **{name: ended[field.lower()].cast("float64") for name, _, field in _WAITS},
        **ended_columns(ended),
        **usage_columns(ended),
    )
    going = every.filter(every.subtype.isin([2, 3]))
    going = going.select(
        system=going.system,
        sysplex=going.sysplex,
        interval_start=going.interval_start,
        interval_end=going.interval_end,
        utc_offset=going.local_offset,
        read_in=going.read_in,
        **_keys(going),
        **attribute_columns(going),
        elapsed_seconds=interval_seconds(going),
        **{name: going[field.lower()].cast("float64") for name, _, field in _WAITS},
        **usage_columns(going),
    )
    known = ended.select(**{f"ended_{name}": ended[name] for name in _IDENTITY})
    going = going.anti_join(
        known,
        [
            *(going[name].fill_null("") == known[f"ended_{name}"].fill_null("") for name in _IDENTITY[:3]),
            going.read_in.fill_null(0.0) == known.ended_read_in.fill_null(0.0),
        ],
    )
    table = ended.drop("read_in").union(_added_up(going).select(*ended.drop("read_in").columns))
    return table.mutate(jobs=count_if(ibis.literal(True)))


def _keys(table: Any) -> dict[str, Any]:
    return {"job": table.smf30jbn, "job_id": table.smf30jnm.nullif(""), "job_class": job_class(table)}


def _added_up(going: Any) -> Any:
    """Intervals of each job in one row."""
    sums = {fact.name: fact.rollup for fact in FACTS}
    texts = ("job_class", *(attribute.name for attribute in ATTRIBUTES))
    table = going.group_by(list(_IDENTITY)).aggregate(
        sysplex=going.sysplex.max(),
        interval_start=going.interval_start.min(),
        interval_end=going.interval_end.max(),
        utc_offset=going.utc_offset.max(),
        # The intervals of these records are clock values, which are UTC.
        local_time=ibis.literal(False),
        # The class of a job can be changed while it runs: the last one stands.
        **{name: going[name].argmax(going.interval_end) for name in texts},
        elapsed_seconds=going.elapsed_seconds.sum(),
        # Every interval record repeats how long the job waited before it ran.
        **{name: going[name].max() for name, _, _ in _WAITS},
        **{name: going[name].sum() if rollup is Rollup.COUNT else going[name].max() for name, rollup in sums.items()},
    )
    nothing = ibis.null("float64")
    return table.mutate(
        completion=ibis.null("string"),
        counted_from=ibis.literal("intervals"),
        ended=count_if(ibis.literal(False)),
        **{fact.name: nothing for fact in ENDED},
    ).drop("read_in")
