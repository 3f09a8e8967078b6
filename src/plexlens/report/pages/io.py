"""I/O queuing: logical control units, aliases, I/O processors."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.model import Way

_UNIT = ("system", "lcu")

_ALIASED = "alias_ios > 0"

PAGE = Page(
    order=1120,
    id="io",
    title="I/O queuing",
    lead="Where I/Os wait for a logical control unit, a path or an alias, and how busy the I/O processors are.",
    what="I/O queuing",
    ways=(Way("SMF 78-3", "Monitor I option IOQ(DASD) of RMF or the z/OS Data Gatherer, and TYPE(78) in SMFPRMxx."),),
    figures=(
        FigureSpec(
            "io_no_alias",
            "Most I/Os that found no alias",
            "io_queue",
            "alias_wait_fraction",
            by=_UNIT,
            pick=Pick.HIGHEST,
        ),
        FigureSpec(
            "io_channel_wait",
            "Longest wait in the channel subsystem",
            "io_queue",
            "channel_wait_time",
            by=_UNIT,
            pick=Pick.HIGHEST,
        ),
        FigureSpec(
            "io_busiest_processor",
            "Busiest I/O processor",
            "io_processor",
            "utilization",
            by=("system", "io_processor"),
            pick=Pick.HIGHEST,
        ),
    ),
    charts=(
        ChartSpec("io_rate_course", "I/O rate, by logical control unit", "io_queue", ("io_rate",), by=_UNIT),
        ChartSpec(
            "io_alias_course",
            "I/Os that found no alias, by logical control unit",
            "io_queue",
            ("alias_wait_fraction",),
            by=_UNIT,
            where=_ALIASED,
        ),
        ChartSpec(
            "io_processor_course",
            "Utilization of I/O processors, by system",
            "io_processor",
            ("utilization",),
            by=("system",),
        ),
    ),
    tables=(
        TableSpec(
            "io_units",
            "Logical control units",
            "io_queue",
            (
                Shown("control_unit"),
                Shown("io_rate", bar=True),
                Shown("channel_wait_time", "Channel subsystem", group="Wait of an I/O"),
                Shown("busy_unit_time", "Control unit busy", group="Wait of an I/O"),
                Shown("command_response_time", "Initial command response", group="Wait of an I/O"),
                Shown("busy_unit_fraction", "Control unit", group="Busy when tried"),
                Shown("busy_port_fraction", "Director port", group="Busy when tried"),
                Shown("contention_rate"),
                Shown("queue_length"),
                Shown("incorrect_paths"),
            ),
            by=_UNIT,
            order="io_rate",
            course="io_rate",
            top=30,
        ),
        TableSpec(
            "io_aliases",
            "Aliases",
            "io_queue",
            (
                Shown("alias_mode"),
                Shown("alias_group"),
                Shown("alias_wait_fraction", bar=True),
                Shown("most_aliases"),
                Shown("most_aliases_of_device"),
                Shown("most_queued"),
                Shown("alias_use_fraction"),
                Shown("away_fraction"),
                Shown("queued_per_need"),
                Shown("aliases_per_need"),
                Shown("borrow_rate"),
                Shown("loan_rate"),
            ),
            by=_UNIT,
            order="alias_wait_fraction",
            where=_ALIASED,
            note="Logical control units without HyperPAV or SuperPAV are left out. Peaks are those of the interval.",
        ),
        TableSpec(
            "io_processors",
            "I/O processors",
            "io_processor",
            (
                Shown("utilization", bar=True),
                Shown("start_rate"),
                Shown("interrupt_rate"),
                Shown("activity_rate"),
                Shown("queue_length"),
                Shown("retries_per_start", "All", group="Retries for each I/O started"),
                Shown("path_retries_per_start", "Channel path", group="Retries for each I/O started"),
                Shown("port_retries_per_start", "Director port", group="Retries for each I/O started"),
                Shown("unit_retries_per_start", "Control unit", group="Retries for each I/O started"),
                Shown("device_retries_per_start", "Device", group="Retries for each I/O started"),
            ),
            by=("system", "io_processor"),
            order="utilization",
            folded=True,
            note="I/O processors serve all systems of a machine: each of its systems records the same.",
        ),
    ),
)
