"""A family small enough to work out by hand: queues that serve requests, two systems, two intervals of 10 minutes.

Requests and seconds of service, by system and queue::

                     10:00              10:10
    A  Q1       600    0.60 s     1,200    2.40 s
    A  <b>Q2    0      0          0        0
    B  Q1       300    0.15 s     0        0
    B  Q3       60     none       60       none       (service not recorded)
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa

from plexlens.ingest.source import Damage, Severity
from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import COUNT, FRACTION, MICROSECONDS, PER_SECOND, SECONDS
from plexlens.pdb.engine import add_table, connect
from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.blocks.readings import FileRead, Readings, RecordCount, State
from plexlens.report.model import Way
from plexlens.report.model.chart import ChartKind, Reference

FIRST = datetime(2026, 3, 9, 10, 0, tzinfo=UTC)
SECOND = FIRST + timedelta(minutes=10)
END = FIRST + timedelta(minutes=20)

#: A name that would be markup if a page did not escape it.
HOSTILE = "<b>Q2"


QUEUE = Grain(
    name="shop_queue",
    title="Queues",
    row="one queue of one system in one interval",
    keys=(Key("queue", "Queue"),),
    attributes=(Attribute("kind", "Kind"),),
    facts=(
        Fact("interval_seconds", "Interval", SECONDS, Rollup.SPAN, "SMF 250 length"),
        Fact("requests", "Requests", COUNT, Rollup.COUNT, "SMF 250 requests"),
        Fact("service_seconds", "Service time of requests", SECONDS, Rollup.COUNT, "SMF 250 service"),
        Fact("never", "Never recorded", COUNT, Rollup.COUNT, "SMF 250 nothing"),
    ),
    metrics=(
        Metric(
            "rate",
            "Request rate",
            PER_SECOND,
            "requests / interval_seconds",
            "the manual, page 1",
            given_words="requests / interval",
        ),
        Metric(
            "service_time",
            "Service time",
            MICROSECONDS,
            "service_seconds / requests",
            "the manual, page 2",
            "A mean; the worst is far above it.",
            "service / requests",
        ),
        Metric(
            "busy",
            "Busy",
            FRACTION,
            "service_seconds / interval_seconds",
            "the manual, page 3",
            given_words="service / interval",
        ),
    ),
    sources=(Source("SMF 250", ("shop_raw",), table="shop_raw"),),
)

ABSENT = Grain(
    name="shop_absent",
    title="Tills",
    row="one till",
    keys=(Key("till", "Till"),),
    facts=(Fact("interval_seconds", "Interval", SECONDS, Rollup.SPAN, "SMF 251"),),
    metrics=(Metric("open", "Open", SECONDS, "interval_seconds", "the manual", given_words="interval"),),
    sources=(Source("SMF 251", ("shop_tills",), table="shop_tills"),),
)

GRAINS = {grain.name: grain for grain in (QUEUE, ABSENT)}

PAGE = Page(
    order=500,
    id="shop",
    title="Shop",
    lead="What the queues did.",
    what="queues",
    ways=(Way("SMF 250", "Switch the queues' records on."), Way("SMF 251", "Switch the tills' records on.")),
    figures=(
        FigureSpec("shop_rate", "Requests", "shop_queue", "rate"),
        FigureSpec("shop_slowest", "Slowest", "shop_queue", "service_time", by=("system", "queue"), pick=Pick.HIGHEST),
        FigureSpec("shop_fastest", "Fastest", "shop_queue", "service_time", by=("system", "queue"), pick=Pick.LOWEST),
    ),
    charts=(
        ChartSpec("shop_timeline", "Requests by queue", "shop_queue", ("rate",), by=("queue",), timeline=True),
        ChartSpec(
            "shop_stack",
            "Requests by system and queue",
            "shop_queue",
            ("rate",),
            by=("system", "queue"),
            kind=ChartKind.STACK,
            most=2,
            references=(Reference("limit", 5.0),),
        ),
    ),
    tables=(
        TableSpec(
            "shop_queues",
            "Queues",
            "shop_queue",
            (
                Shown("requests"),
                Shown("rate", bar=True),
                Shown("service_time", "Mean", group="Service"),
                Shown("busy", "Busy", group="Service"),
                Shown("never"),
            ),
            by=("queue",),
            order="rate",
            course="rate",
        ),
        TableSpec("shop_systems", "By system", "shop_queue", ("kind", "rate"), order="rate", top=2),
        TableSpec("shop_tills", "Tills", "shop_absent", ("open",), order="open"),
    ),
)


def database(times: int = 2) -> Inputs:
    """The facts above; with ``times`` 1, those of the first interval alone."""
    rows = [
        ("A", "Q1", (600, 0.6), (1200, 2.4)),
        ("A", HOSTILE, (0, 0.0), (0, 0.0)),
        ("B", "Q1", (300, 0.15), (0, 0.0)),
        ("B", "Q3", (60, None), (60, None)),
    ]
    listed = [
        {
            "system": system,
            "sysplex": "PLEX1",
            "interval_start": start,
            "interval_end": start + timedelta(minutes=10),
            "queue": queue,
            "kind": "busy" if queue == "Q1" else "idle",
            "interval_seconds": 600.0,
            "requests": requests,
            "service_seconds": seconds,
        }
        for system, queue, *values in rows
        for start, (requests, seconds) in list(zip((FIRST, SECOND), values, strict=True))[:times]
    ]
    connection = connect()
    add_table(connection, "shop_raw", pa.Table.from_pylist(listed))
    return Inputs(connection)


def readings(*, damaged: bool = False, offset: float | None = -18000.0) -> Readings:
    """What was read: one good file, or that and damage and a file that could not be read."""
    files = [FileRead("day1.smf", "SMF", 3 * 2**20, 1204, 4, "2026-03-09 05:00:00", "2026-03-09 05:20:00")]
    damage: tuple[Damage, ...] = ()
    counts = {}
    if damaged:
        files.append(FileRead("<i>day2.smf", state=State.FAILED, reason="no descriptor words; transfer it in binary"))
        damage = (
            Damage("s1", "day1.smf", 17, 4096, "truncated", Severity.DATA_LOSS, "40 of 96 bytes", "send it again"),
        )
        counts = {("truncated", Severity.DATA_LOSS): 3}
    return Readings(
        files=tuple(files),
        records=(RecordCount("SMF 250", "A", 600, 600), RecordCount("SMF 99", "A", 604, 0)),
        damage=damage,
        damage_counts=counts,
        offsets=() if offset is None else (offset,),
    )
