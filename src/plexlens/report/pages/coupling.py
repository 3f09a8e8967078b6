"""Coupling facilities, their structures, and signalling between systems."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, HeatSpec, Page, Pick, Shown, TableSpec
from plexlens.report.blocks.ways import CF_TEXT
from plexlens.report.model import Way
from plexlens.report.model.chart import ChartKind

_STRUCTURE = ("facility", "structure")

_LOCK = "contains(lower(structure_type), 'lock')"

_CACHE = "contains(lower(structure_type), 'cache')"


_SERVICE = (
    Shown("requests_per_second", bar=True),
    Shown("sync_fraction", "Share", group="Synchronous"),
    Shown("sync_service_time", "Service", group="Synchronous"),
    Shown("sync_service_deviation", "Deviation", group="Synchronous"),
    Shown("async_service_time", "Service", group="Asynchronous"),
    Shown("async_service_deviation", "Deviation", group="Asynchronous"),
    Shown("changed_fraction"),
    Shown("delayed_fraction", "Requests", group="Delayed"),
    Shown("delay_of_all", "Over all", group="Delayed"),
    Shown("sync_processors"),
)

PAGE = Page(
    order=700,
    id="coupling",
    title="Coupling facilities",
    lead="Utilisation of coupling facilities, cost of their structures, contention, and XCF signalling.",
    what="coupling facilities, structures and XCF",
    ways=(
        Way(
            "SMF 74-4",
            "Monitor III gatherer of RMF or the z/OS Data Gatherer with option CFDETAIL (the default), and TYPE(74) in "
            "SMFPRMxx. Every connected system writes its own requests: give the dumps of all systems of the sysplex.",
        ),
        Way(
            "RMF XML CF",
            "Postprocessor control statement SYSRPTS(CF) with output to ddname XPXSRPTS, or the Distributed Data "
            "Server at /gpm/rmfpp.xml?reports=CF.",
        ),
        Way("SMF 74-2", "Monitor III gatherer of RMF or the z/OS Data Gatherer, and TYPE(74) in SMFPRMxx."),
        Way(
            "RMF XML XCF",
            "Postprocessor control statement REPORTS(XCF) with output to ddname XPRPTS, or the Distributed Data Server "
            "at /gpm/rmfpp.xml?reports=XCF.",
        ),
        CF_TEXT,
    ),
    figures=(
        FigureSpec(
            "cf_utilization",
            "Busiest coupling facility",
            "coupling_facility",
            "utilization",
            by=("facility",),
            pick=Pick.HIGHEST,
        ),
        FigureSpec("cf_requests", "Coupling facility requests", "coupling_facility", "requests_per_second"),
        FigureSpec(
            "cf_sync_time",
            "Synchronous service time",
            "coupling_structure",
            "sync_service_time",
        ),
        FigureSpec(
            "cf_sync_processors",
            "Processors held by synchronous requests",
            "coupling_structure",
            "sync_processors",
        ),
        FigureSpec(
            "false_contention",
            "Worst false contention",
            "coupling_structure",
            "false_contention_fraction",
            by=_STRUCTURE,
            pick=Pick.HIGHEST,
            where=_LOCK,
        ),
    ),
    charts=(
        ChartSpec(
            "cf_utilization_course",
            "Coupling facility processors busy",
            "coupling_facility",
            ("utilization",),
            by=("facility",),
            timeline=True,
        ),
        ChartSpec(
            "cf_requests_course",
            "Coupling facility requests, by facility",
            "coupling_facility",
            ("requests_per_second",),
            by=("facility",),
            kind=ChartKind.STACK,
            timeline=True,
        ),
        ChartSpec(
            "structure_requests",
            "Requests, by structure",
            "coupling_structure",
            ("requests_per_second",),
            by=_STRUCTURE,
            kind=ChartKind.STACK,
        ),
        ChartSpec(
            "structure_sync_processors",
            "Processors held by synchronous requests, by structure",
            "coupling_structure",
            ("sync_processors",),
            by=_STRUCTURE,
            kind=ChartKind.STACK,
        ),
    ),
    heat_maps=(
        HeatSpec("cf_request_hours", "Coupling facility requests", "coupling_structure", "requests_per_second"),
    ),
    tables=(
        TableSpec(
            "coupling_facilities",
            "Coupling facilities",
            "coupling_facility",
            (
                Shown("cf_level"),
                Shown("utilization", bar=True),
                Shown("effective_processors", "Effective", group="Processors"),
                Shown("busy_processors", "Busy", group="Processors"),
                Shown("requests_per_second"),
                Shown("sync_service_time", "Synchronous", group="Service time"),
                Shown("async_service_time", "Asynchronous", group="Service time"),
                Shown("cf_time_per_request"),
                Shown("delayed_fraction", "No subchannel", group="Delayed"),
                Shown("path_busy_fraction", "Path busy", group="Delayed"),
                Shown("subchannel_utilization"),
                Shown("storage_fraction", "In use", group="Storage"),
                Shown("storage_bytes", "Size", group="Storage"),
            ),
            by=("facility",),
            order="utilization",
            course="utilization",
        ),
        TableSpec(
            "coupling_facility_systems",
            "Requests to each coupling facility, by system",
            "coupling_facility",
            (
                Shown("requests_per_second", bar=True),
                Shown("sync_per_second", "Rate", group="Synchronous"),
                Shown("sync_service_time", "Service", group="Synchronous"),
                Shown("async_per_second", "Rate", group="Asynchronous"),
                Shown("async_service_time", "Service", group="Asynchronous"),
                Shown("sync_processors"),
                Shown("delayed_fraction", "No subchannel", group="Delayed"),
                Shown("path_busy_fraction", "Path busy", group="Delayed"),
                Shown("subchannels"),
                Shown("subchannel_utilization"),
            ),
            by=("facility", "system"),
            across_systems=True,
            order="requests_per_second",
        ),
        TableSpec(
            "coupling_structures",
            "Structures",
            "coupling_structure",
            (Shown("structure_type"), *_SERVICE),
            by=_STRUCTURE,
            order="requests_per_second",
            course="requests_per_second",
            top=20,
            note="All systems together.",
        ),
        TableSpec(
            "coupling_locks",
            "Contention in lock structures",
            "coupling_structure",
            (
                Shown("external_per_second"),
                Shown("deferred_fraction"),
                Shown("contention_fraction", "All", group="Contention"),
                Shown("real_contention_fraction", "Contention other than false", group="Contention"),
                Shown("false_contention_fraction", "False", group="Contention", bar=True),
                Shown("lock_entries", "Entries", group="Lock table"),
                Shown("lock_entries_fraction", "In use", group="Lock table"),
                Shown("list_entries", "Entries", group="Record data"),
                Shown("list_entries_fraction", "In use", group="Record data"),
            ),
            by=_STRUCTURE,
            order="false_contention_fraction",
            where=_LOCK,
            course="contention_fraction",
        ),
        TableSpec(
            "coupling_caches",
            "Cache structures",
            "coupling_structure",
            (
                Shown("reads_per_second"),
                Shown("read_hit_fraction", bar=True),
                Shown("writes_per_second"),
                Shown("castouts_per_second"),
                Shown("cross_invalidations_per_second", "All", group="Cross-invalidations"),
                Shown("reclaim_invalidations_per_second", "By directory reclaim", group="Cross-invalidations"),
                Shown("directory_reclaims_per_second"),
                Shown("directory_entries", "Directory", group="Entries"),
                Shown("data_elements", "Data", group="Entries"),
                Shown("directory_to_data_ratio", "Directory per data", group="Entries"),
                Shown("data_rate"),
            ),
            by=_STRUCTURE,
            order="reads_per_second",
            where=_CACHE,
        ),
        TableSpec(
            "coupling_structure_systems",
            "Structures, by system",
            "coupling_structure",
            (Shown("structure_type"), *_SERVICE),
            by=("facility", "structure", "system"),
            across_systems=True,
            order="requests_per_second",
            folded=True,
        ),
        TableSpec(
            "coupling_structure_storage",
            "Storage of structures",
            "coupling_structure",
            (
                Shown("structure_type"),
                Shown("structure_bytes", bar=True),
                Shown("structure_bytes_maximum"),
                Shown("list_entries", "There", group="List entries"),
                Shown("list_entries_fraction", "In use", group="List entries"),
                Shown("directory_entries", "Directory", group="Entries"),
                Shown("data_elements", "Data", group="Entries"),
                Shown("changed_entries", "Changed", group="Entries"),
            ),
            by=_STRUCTURE,
            order="structure_bytes",
            folded=True,
        ),
        TableSpec(
            "coupling_xcf_classes",
            "XCF transport classes",
            "coupling_xcf_class",
            (
                Shown("messages_per_second", bar=True),
                Shown("small_fraction", "Smaller", group="Message length and class length"),
                Shown("fit_fraction", "Fit", group="Message length and class length"),
                Shown("big_fraction", "Too big", group="Message length and class length"),
                Shown("no_buffer_fraction"),
                Shown("class_length"),
                Shown("paths"),
            ),
            order="messages_per_second",
        ),
        TableSpec(
            "coupling_xcf_paths",
            "XCF paths",
            "coupling_xcf_path",
            (
                Shown("path_type"),
                Shown("transport_class"),
                Shown("signals_per_second", bar=True),
                Shown("busy_fraction"),
                Shown("transfer_time"),
                Shown("refused_per_second"),
                Shown("restarts"),
            ),
            order="signals_per_second",
            folded=True,
        ),
        TableSpec(
            "coupling_xcf_members",
            "XCF group members",
            "coupling_xcf_member",
            (Shown("job"), Shown("sent_per_second", bar=True), Shown("received_per_second")),
            order="sent_per_second",
            folded=True,
        ),
    ),
)
