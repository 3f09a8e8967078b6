"""Direct access devices: rate and components of the response time."""

from __future__ import annotations

from typing import Any

from plexlens.report.model import ChartKind, Way
from plexlens.report.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec


def _used(facts: Any) -> Any:
    return facts.ios > 0


_COMPONENTS = (
    Shown("response_time", "Response", group="Time of an I/O", bar=True),
    Shown("ios_queue_time", "IOS queue", group="Time of an I/O"),
    Shown("pending_time", "Pending", group="Time of an I/O"),
    Shown("disconnect_time", "Disconnect", group="Time of an I/O"),
    Shown("connect_time", "Connect", group="Time of an I/O"),
)

PAGE = Page(
    order=1100,
    id="dasd",
    title="DASD",
    lead="I/O rate and response time of direct access devices, and what the response time is made of.",
    what="direct access devices",
    ways=(
        Way(
            "SMF 74-1",
            "Monitor I option DEVICE(DASD) (on by default) of RMF or the z/OS Data Gatherer, and TYPE(74) in SMFPRMxx.",
        ),
    ),
    figures=(
        FigureSpec("dasd_rate", "DASD I/O rate", "dasd_device", "io_rate"),
        FigureSpec("dasd_response", "DASD response time", "dasd_device", "response_time"),
        FigureSpec("dasd_queue", "of it IOS queue time", "dasd_device", "ios_queue_time"),
        FigureSpec(
            "dasd_busiest",
            "Highest I/O intensity of a volume",
            "dasd_device",
            "io_intensity",
            by=("device", "volume"),
            pick=Pick.HIGHEST,
        ),
    ),
    charts=(
        ChartSpec(
            "dasd_rate_course",
            "DASD I/O rate, by system",
            "dasd_device",
            ("io_rate",),
            by=("system",),
            kind=ChartKind.STACK,
            timeline=True,
        ),
        ChartSpec(
            "dasd_response_course",
            "DASD response time and its components, all devices",
            "dasd_device",
            ("connect_time", "disconnect_time", "pending_time", "ios_queue_time"),
            kind=ChartKind.STACK,
        ),
        ChartSpec(
            "dasd_rate_group",
            "DASD I/O rate, by storage group",
            "dasd_device",
            ("io_rate",),
            by=("storage_group",),
            kind=ChartKind.STACK,
        ),
    ),
    tables=(
        TableSpec(
            "dasd_volumes",
            "Volumes with the highest I/O intensity",
            "dasd_device",
            (
                Shown("storage_group"),
                Shown("lcu"),
                Shown("io_rate"),
                *_COMPONENTS,
                Shown("io_intensity"),
                Shown("device_busy_time"),
                Shown("command_response_time"),
                Shown("utilization"),
            ),
            by=("device", "volume"),
            order="io_intensity",
            where=_used,
            course="io_rate",
            top=20,
            note="All systems together; devices without an I/O are left out.",
        ),
        TableSpec(
            "dasd_groups",
            "Storage groups",
            "dasd_device",
            (Shown("devices"), Shown("io_rate"), *_COMPONENTS, Shown("io_intensity")),
            by=("storage_group",),
            order="io_intensity",
        ),
        TableSpec(
            "dasd_units",
            "Logical control units",
            "dasd_device",
            (Shown("devices"), Shown("io_rate"), *_COMPONENTS, Shown("io_intensity"), Shown("control_unit_queue_time")),
            by=("lcu",),
            order="io_intensity",
            folded=True,
        ),
        TableSpec(
            "dasd_systems",
            "DASD by system",
            "dasd_device",
            (Shown("io_rate", bar=True), *_COMPONENTS, Shown("io_intensity")),
            by=("system",),
            order="io_rate",
            across_systems=True,
        ),
        TableSpec(
            "dasd_sync",
            "Synchronous I/O (zHyperLink)",
            "dasd_device",
            (
                Shown("sync_io_rate", bar=True),
                Shown("sync_read_time"),
                Shown("sync_write_time"),
                Shown("sync_success_fraction"),
                Shown("sync_bytes_per_second"),
            ),
            by=("device", "volume"),
            order="sync_io_rate",
            where=lambda facts: (facts.sync_reads > 0) | (facts.sync_writes > 0),
            folded=True,
        ),
    ),
)
