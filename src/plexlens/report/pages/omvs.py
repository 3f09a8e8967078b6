"""z/OS UNIX: system calls, how near its limits it comes, caching by HFS."""

from __future__ import annotations

from plexlens.report.blocks.page import Page, Shown, TableSpec
from plexlens.report.model import Way

PAGE = Page(
    order=940,
    id="omvs",
    title="z/OS UNIX",
    lead="System calls of z/OS UNIX, and how near processes, users, message queues and storage come to the limits of "
    "BPXPRMxx; buffers and caches of HFS.",
    what="z/OS UNIX",
    ways=(
        Way("SMF 74-3", "Monitor III of RMF or the z/OS Data Gatherer with SMF recording, and TYPE(74) in SMFPRMxx."),
        Way(
            "SMF 74-6",
            "HFS statistics of RMF, the z/OS Data Gatherer or BMC AMI Ops Monitor for CMF (HFS Extractor control "
            "statement), and TYPE(74) in SMFPRMxx.",
        ),
    ),
    tables=(
        TableSpec(
            "omvs_limits",
            "Limits of z/OS UNIX",
            "omvs_resource",
            (
                Shown("used_fraction", bar=True),
                Shown("in_use"),
                Shown("most_in_use"),
                Shown("allowed"),
                Shown("refusals"),
            ),
            by=("system", "limited"),
            order="used_fraction",
            note="Limits are MAXPROCSYS, MAXUIDS, MAXPROCUSER, IPCMSGNIDS, IPCSEMNIDS, IPCSHMNIDS, IPCSHMSPAGES, "
            "MAXMMAPAREA, MAXSHAREPAGES, SHRLIBRGNSIZE and MAXQUEUEDSIGS of BPXPRMxx.",
        ),
        TableSpec(
            "omvs_calls",
            "System calls",
            "omvs_kernel",
            (Shown("system_call_rate", bar=True), Shown("failed_forks")),
            by=("system",),
            order="system_call_rate",
        ),
        TableSpec(
            "omvs_hfs_storage",
            "HFS",
            "omvs_hfs",
            (
                Shown("limit_bytes", "Limit", group="Virtual storage"),
                Shown("virtual_bytes", "In use", group="Virtual storage"),
                Shown("virtual_fraction", "In use", group="Virtual storage", bar=True),
                Shown("fixed_bytes"),
                Shown("metadata_rate", "Found", group="Metadata"),
                Shown("metadata_hit_fraction", "Found", group="Metadata"),
                Shown("metadata_misses", "Not found", group="Metadata"),
                Shown("first_page_rate", "Found", group="First pages"),
                Shown("first_page_hit_fraction", "Found", group="First pages"),
                Shown("first_page_misses", "Read", group="First pages"),
            ),
            by=("system",),
            order="metadata_misses",
        ),
        TableSpec(
            "omvs_hfs_pools",
            "Buffer pools of HFS",
            "omvs_hfs_pool",
            (
                Shown("data_spaces"),
                Shown("pool_bytes"),
                Shown("fixed_bytes"),
                Shown("io_rate"),
                Shown("fixed_fraction", bar=True),
            ),
            by=("system", "buffer_pages"),
            order="io_rate",
        ),
        TableSpec(
            "omvs_file_systems",
            "File systems of HFS",
            "omvs_file_system",
            (
                Shown("size_bytes"),
                Shown("cached_bytes"),
                Shown("io_rate", bar=True),
                Shown("sequential_fraction"),
                Shown("metadata_hit_fraction", "Metadata", group="Found in the cache"),
                Shown("first_page_hit_fraction", "First pages", group="Found in the cache"),
                Shown("index_hit_fraction", "Index pages", group="Found in the cache"),
                Shown("index_splits"),
            ),
            by=("system", "file_system"),
            order="io_rate",
            top=30,
        ),
    ),
)
