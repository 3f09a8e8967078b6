"""z/OS UNIX: system calls, and how near its limits it comes."""

from __future__ import annotations

from plexlens.report.blocks.page import Page, Shown, TableSpec
from plexlens.report.model import Way

PAGE = Page(
    order=940,
    id="omvs",
    title="z/OS UNIX",
    lead="System calls of z/OS UNIX, and how near processes, users, message queues and storage come to the limits of "
    "BPXPRMxx.",
    what="z/OS UNIX",
    ways=(
        Way("SMF 74-3", "Monitor III of RMF or the z/OS Data Gatherer with SMF recording, and TYPE(74) in SMFPRMxx."),
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
    ),
)
