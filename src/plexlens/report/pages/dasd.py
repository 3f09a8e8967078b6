"""Direct access devices, data sets and channel paths: rates, and components of the response time."""

from __future__ import annotations

from typing import Any

from plexlens.report.model import ChartKind, Way
from plexlens.report.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec


def _used(facts: Any) -> Any:
    return facts.ios > 0


def _measured(facts: Any) -> Any:
    return facts.channel_seconds > 0


def _sends_messages(facts: Any) -> Any:
    return facts.partition_messages > 0


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
    lead="I/O rate and response time of devices and data sets, what that time is made of, and the channels.",
    what="direct access devices, data sets and channel paths",
    ways=(
        Way(
            "SMF 74-1",
            "Monitor I option DEVICE(DASD) (on by default) of RMF or the z/OS Data Gatherer, and TYPE(74) in SMFPRMxx.",
        ),
        Way(
            "RMF XML DEVICE",
            "RMF Postprocessor with REPORTS(DEVICE(DASD)) and XPRPTS, or /gpm/rmfpp.xml of its server.",
        ),
        Way("RMF XML CHAN", "RMF Postprocessor with REPORTS(CHAN) and XPRPTS, or /gpm/rmfpp.xml of its server."),
        Way(
            "SMF 42-6",
            "TYPE(42) in SMFPRMxx, not left out by subtype. It is written at CLOSE, and after each interval record of "
            "SMF 30, so that data sets open for long need INTERVAL(SMF,SYNC).",
        ),
        Way(
            "SMF 73",
            "Monitor I option CHAN (on by default) of RMF or the z/OS Data Gatherer, and TYPE(73) in SMFPRMxx.",
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
        FigureSpec(
            "dasd_channel",
            "Busiest channel path",
            "channel",
            "utilization",
            by=("system", "channel"),
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
        ChartSpec(
            "dasd_channel_course",
            "Channel utilization, all partitions, by channel path",
            "channel",
            ("utilization",),
            by=("system", "channel"),
            where=_measured,
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
        TableSpec(
            "dasd_data_sets",
            "Data sets with the most time in I/O",
            "data_set",
            (
                Shown("organization"),
                Shown("ios"),
                Shown("response_seconds", "All I/Os together", bar=True),
                Shown("io_rate"),
                Shown("response_time", "Response", group="Time of an I/O"),
                Shown("connect_time", "Connect", group="Time of an I/O"),
                Shown("disconnect_time", "Disconnect", group="Time of an I/O"),
                Shown("pending_time", "Pending", group="Time of an I/O"),
                Shown("other_time", "Rest", group="Time of an I/O"),
                Shown("read_fraction"),
                Shown("cache_hit_fraction", "All", group="Cache hits"),
                Shown("read_hit_fraction", "Reads", group="Cache hits"),
                Shown("longest_response_seconds"),
            ),
            by=("data_set", "volume"),
            order="response_seconds",
            where=_used,
            top=20,
            note="All jobs together; rates are per second that a job had the data set open.",
        ),
        TableSpec(
            "dasd_data_set_jobs",
            "Jobs with the most time in I/O to data sets",
            "data_set",
            (
                Shown("service_class"),
                Shown("ios"),
                Shown("response_seconds", "All I/Os together", bar=True),
                Shown("response_time"),
                Shown("disconnect_time"),
                Shown("cache_hit_fraction"),
                Shown("zhpf_fraction"),
                Shown("sync_success_fraction"),
                Shown("read_bytes"),
                Shown("write_bytes"),
            ),
            by=("job",),
            order="response_seconds",
            where=_used,
            folded=True,
        ),
        TableSpec(
            "dasd_channels",
            "Channel paths",
            "channel",
            (
                Shown("channel_type"),
                Shown("speed"),
                Shown("sharing"),
                Shown("utilization", "All partitions", group="Utilization", bar=True),
                Shown("partition_utilization", "This partition", group="Utilization"),
                Shown("bus_utilization", "Bus", group="Utilization"),
                Shown("read_bytes_per_second", "All partitions", group="Read"),
                Shown("partition_read_bytes_per_second", "This partition", group="Read"),
                Shown("write_bytes_per_second", "All partitions", group="Written"),
                Shown("partition_write_bytes_per_second", "This partition", group="Written"),
                Shown("ficon_rate", "Rate", group="FICON operations"),
                Shown("ficon_active_operations", "Active", group="FICON operations"),
                Shown("ficon_defer_rate", "Deferred", group="FICON operations"),
                Shown("zhpf_rate", "Rate", group="zHPF operations"),
                Shown("zhpf_active_operations", "Active", group="zHPF operations"),
                Shown("zhpf_defer_rate", "Deferred", group="zHPF operations"),
            ),
            by=("system", "channel"),
            order="utilization",
            where=_measured,
            course="utilization",
            top=20,
        ),
        TableSpec(
            "dasd_message_channels",
            "Channel paths that send messages (HiperSockets)",
            "channel",
            (
                Shown("channel_type"),
                Shown("message_rate", bar=True),
                Shown("message_length"),
                Shown("send_failure_rate"),
                Shown("receive_failure_rate"),
            ),
            by=("system", "channel"),
            order="message_rate",
            where=_sends_messages,
            folded=True,
        ),
    ),
)
