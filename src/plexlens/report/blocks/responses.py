"""Objects compared with their devices: the parts of a response time, cache hits, and pairs that differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Grain
from plexlens.metrics.unit import COUNT, MILLISECONDS, RATIO
from plexlens.pools.responses import Contrast, Response, contrasts, timed_objects, timed_responses
from plexlens.report.model import Block, Cell, Note
from plexlens.report.model.fields import Definitions, Field, Subject

if TYPE_CHECKING:
    from plexlens.pools.objects import Io

#: What the table of responses asks of the grain ``data_set``.
COLUMNS = (
    "ios", "response_seconds", "response_time", "connect_time", "disconnect_time", "pending_time", "other_time",
    "cache_hit_fraction", "read_hit_fraction", "read_disconnect_time", "longest_response_seconds",
)  # fmt: skip

PAIR = Subject(
    "pool_pair", "Objects with similar I/O counts", "two objects with similar I/O counts and different delays"
)


def of_grain(grain: Grain, name: str, value: Callable[[Response], Cell]) -> Field[Response]:
    """A fact or metric of a grain as a column, under its own definition."""
    subject = Subject(grain.name, grain.title, grain.row)
    for fact in grain.facts:
        if fact.name == name:
            return Field(subject, name, fact.title, value, fact.unit, "", fact.source)
    metric = grain.metric(name)
    return Field(subject, name, metric.title, value, metric.unit, metric.words, metric.source, metric.caveat)


def _of_data_set(name: str) -> Field[Response]:
    return of_grain(GRAINS["data_set"], name, lambda data_set: data_set.get(name))


def response_blocks(
    responses: Sequence[Response], definitions: Definitions, ios: Sequence[Io] = ()
) -> tuple[Block, ...]:
    """The objects compared with their devices, and the pairs that differ.

    Parameters
    ----------
    responses
        From SMF 42-6; empty without it.
    definitions
        Where definitions go.
    ios
        Objects with the delays that Db2 recorded, from which pairs are told where there is no SMF 42-6.
    """
    grain = GRAINS["data_set"]
    subject = Subject(grain.name, grain.title, grain.row)
    time = "Time per I/O"
    table = definitions.table(
        "responses",
        "Objects and their devices",
        [
            Field[Response](subject, "object", "Object", lambda block: block.name, key=True),
            Field[Response](subject, "catalog", "Catalog", lambda block: block.catalog),
            Field[Response](subject, "volumes", "Volumes", lambda block: ", ".join(block.volumes[:4]) or None),
            _of_data_set("ios"),
            _of_data_set("response_seconds").within("", "All I/Os together"),
            _of_data_set("response_time").within(time, "Response").with_bar(),
            _of_data_set("connect_time").within(time, "Connect"),
            _of_data_set("disconnect_time").within(time, "Disconnect"),
            _of_data_set("pending_time").within(time, "Pending"),
            _of_data_set("other_time").within(time, "Rest"),
            _of_data_set("cache_hit_fraction").within("Cache hits", "All"),
            _of_data_set("read_hit_fraction").within("Cache hits", "Reads"),
            _of_data_set("read_disconnect_time"),
            _of_data_set("longest_response_seconds"),
            of_grain(GRAINS["dasd_device"], "response_time", lambda device: device.device_response).within(
                "Its volumes", "Response"
            ),
            of_grain(GRAINS["dasd_device"], "disconnect_time", lambda device: device.device_disconnect).within(
                "Its volumes", "Disconnect"
            ),
            of_grain(GRAINS["db2_data_set"], "sync_delay", lambda block: block.db2_delay).within(
                "", "As recorded by Db2"
            ),
        ],
        responses,
        sorted_by=("response_seconds", True),
        note="SMF 42-6 of the data sets of each object, next to SMF 74-1 of their volumes (means weighted with the "
        "object's I/Os to each) and the delay of a synchronous I/O that Db2 itself recorded.",
    )
    pairs = contrasts(timed_responses(responses) or timed_objects(ios))
    compared = definitions.table("contrasts", "Similar I/O counts, different delays", _pair_fields(), pairs, top=10)
    blocks: list[Block] = [block for block in (compared, table) if block is not None]
    notes = [Note(f"{pair.slow.name} and {pair.fast.name}: {pair.why}") for pair in pairs[:3]]
    return (*notes, *blocks)


def _pair_fields() -> list[Field[Contrast]]:
    data_set = "SMF 42-6, or else the delay that Db2 recorded"
    return [
        Field(PAIR, "slow", "Slower object", lambda row: row.slow.name, key=True),
        Field(PAIR, "fast", "Faster object", lambda row: row.fast.name),
        Field(PAIR, "slow_ios", "Slower", lambda row: row.slow.ios, COUNT, "", data_set, group="I/Os"),
        Field(PAIR, "fast_ios", "Faster", lambda row: row.fast.ios, COUNT, "", data_set, group="I/Os"),
        Field(
            PAIR, "slow_time", "Slower", lambda row: row.slow.seconds, MILLISECONDS, "", data_set,
            group="Time per I/O",
        ),
        Field(
            PAIR, "fast_time", "Faster", lambda row: row.fast.seconds, MILLISECONDS, "", data_set,
            group="Time per I/O",
        ),
        Field(
            PAIR, "ratio", "Delay ratio", lambda row: row.ratio, RATIO,
            "time of an I/O of the slower / of the faster", data_set,
        ),
        Field(PAIR, "why", "Why", lambda row: row.why),
    ]  # fmt: skip
