"""Cache of control units: hits by volume, what physical storage did, the state of the cache."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.model import Way

_USED = "reads > 0 or writes > 0"

PAGE = Page(
    order=1110,
    id="cache",
    title="DASD cache",
    lead="Cache hits by control unit and volume, reads and writes of physical storage, and the state of the cache.",
    what="the cache of control units",
    ways=(
        Way(
            "SMF 74-5",
            "Monitor I option CACHE of RMF or the z/OS Data Gatherer on one of the systems that share the control "
            "units, and TYPE(74) in SMFPRMxx.",
        ),
    ),
    figures=(
        FigureSpec("cache_hits", "Cache hits", "cache_device", "hit_fraction"),
        FigureSpec("cache_read_hits", "Read hits", "cache_device", "read_hit_fraction"),
        FigureSpec("cache_misses", "Misses", "cache_device", "miss_rate"),
        FigureSpec(
            "cache_worst",
            "Most misses of a volume",
            "cache_device",
            "miss_rate",
            by=("control_unit", "volume"),
            pick=Pick.HIGHEST,
        ),
    ),
    charts=(
        ChartSpec(
            "cache_hits_course",
            "Cache hits, by control unit",
            "cache_device",
            ("hit_fraction",),
            by=("control_unit",),
        ),
        ChartSpec(
            "cache_misses_course",
            "Misses, by control unit",
            "cache_device",
            ("miss_rate",),
            by=("control_unit",),
        ),
        ChartSpec(
            "cache_disk_course",
            "Time of a read of physical storage, by control unit",
            "cache_device",
            ("disk_read_time",),
            by=("control_unit",),
        ),
    ),
    tables=(
        TableSpec(
            "cache_units",
            "Control units",
            "cache_device",
            (
                Shown("control_unit_type"),
                Shown("io_rate"),
                Shown("read_fraction"),
                Shown("hit_fraction", "All", group="Cache hits", bar=True),
                Shown("read_hit_fraction", "Reads", group="Cache hits"),
                Shown("write_hit_fraction", "Writes", group="Cache hits"),
                Shown("miss_rate"),
                Shown("disk_read_time", "Read", group="Time of physical storage"),
                Shown("disk_write_time", "Write", group="Time of physical storage"),
                Shown("read_bytes_per_second", "Read", group="Data"),
                Shown("write_bytes_per_second", "Written", group="Data"),
                Shown("zhpf_fraction"),
            ),
            by=("control_unit",),
            order="io_rate",
            where=_USED,
            note="All systems that share a control unit together: it counts for all of them.",
        ),
        TableSpec(
            "cache_volumes",
            "Volumes with the most misses",
            "cache_device",
            (
                Shown("io_rate"),
                Shown("read_fraction"),
                Shown("read_hit_fraction", "Reads", group="Cache hits"),
                Shown("write_hit_fraction", "Writes", group="Cache hits"),
                Shown("miss_rate", bar=True),
                Shown("sequential_read_fraction"),
                Shown("stage_rate"),
                Shown("destage_rate"),
                Shown("storage_delay_fraction"),
                Shown("disk_read_time"),
                Shown("copy_rate"),
                Shown("extent_pool"),
            ),
            by=("control_unit", "device", "volume"),
            order="miss_rate",
            where=_USED,
            course="miss_rate",
            top=20,
            note="Volumes without I/O are left out.",
        ),
        TableSpec(
            "cache_pools",
            "Extent pools",
            "cache_device",
            (
                Shown("io_rate"),
                Shown("miss_rate"),
                Shown("disk_read_rate", "Reads", group="Physical storage"),
                Shown("disk_read_time", "Time of a read", group="Physical storage"),
                Shown("disk_write_rate", "Writes", group="Physical storage"),
                Shown("disk_write_time", "Time of a write", group="Physical storage"),
                Shown("disk_read_bytes_per_second", "Read", group="Data of physical storage"),
                Shown("disk_write_bytes_per_second", "Written", group="Data of physical storage"),
            ),
            by=("control_unit", "extent_pool"),
            order="disk_read_rate",
            where=_USED,
            folded=True,
        ),
        TableSpec(
            "cache_state",
            "State of the cache",
            "cache_subsystem",
            (
                Shown("control_unit_type"),
                Shown("cache_bytes", "Configured", group="Cache"),
                Shown("available_bytes", "Available", group="Cache"),
                Shown("pinned_bytes", "Pinned", group="Cache"),
                Shown("offline_bytes", "Offline", group="Cache"),
                Shown("write_storage_bytes", "Configured", group="Non-volatile storage"),
                Shown("write_storage_pinned_bytes", "Pinned", group="Non-volatile storage"),
                Shown("caching_inactive"),
                Shown("fast_write_inactive"),
                Shown("failed_fraction"),
            ),
            by=("control_unit", "subsystem_id"),
            order="failed_fraction",
            folded=True,
            note="A collection that failed has no devices: its counts are missing above.",
        ),
    ),
)
