"""Central storage, paging and page data sets."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.model import Way
from plexlens.report.model.chart import ChartKind

_SYSTEM = ("system",)

PAGE = Page(
    order=1000,
    id="paging",
    title="Storage and paging",
    lead="Available and fixed central storage, and paging.",
    what="storage and paging",
    ways=(
        Way(
            "SMF 71",
            "Monitor I option PAGING (on by default) of RMF or the z/OS Data Gatherer, and TYPE(71) in SMFPRMxx.",
        ),
        Way(
            "RMF XML PAGING",
            "Postprocessor control statement REPORTS(PAGING) with output to ddname XPRPTS, or the Distributed Data "
            "Server at /gpm/rmfpp.xml?reports=PAGING.",
        ),
        Way("SMF 75", "Monitor I option PAGESP of RMF or the z/OS Data Gatherer, and TYPE(75) in SMFPRMxx."),
    ),
    figures=(
        FigureSpec("paging_demand", "Demand paging", "paging_storage", "demand_paging_per_second"),
        FigureSpec(
            "storage_available",
            "Least storage available",
            "paging_storage",
            "lowest_available_fraction",
            by=_SYSTEM,
            pick=Pick.LOWEST,
        ),
        FigureSpec(
            "storage_fixed", "Most storage fixed", "paging_storage", "fixed_fraction", by=_SYSTEM, pick=Pick.HIGHEST
        ),
        FigureSpec(
            "slots_used",
            "Fullest local page space",
            "paging_storage",
            "slots_used_fraction",
            by=_SYSTEM,
            pick=Pick.HIGHEST,
        ),
    ),
    charts=(
        ChartSpec(
            "paging_course",
            "Demand paging, by system",
            "paging_storage",
            ("demand_paging_per_second",),
            by=_SYSTEM,
            kind=ChartKind.STACK,
            timeline=True,
        ),
        ChartSpec(
            "storage_available_course",
            "Storage available, by system",
            "paging_storage",
            ("available_fraction",),
            by=_SYSTEM,
            lowest=True,
        ),
        ChartSpec("uic_course", "UIC, by system", "paging_storage", ("uic",), by=_SYSTEM, lowest=True),
        ChartSpec(
            "slots_course",
            "Local page slots in use, by system",
            "paging_storage",
            ("slots_used_fraction",),
            by=_SYSTEM,
        ),
    ),
    tables=(
        TableSpec(
            "paging_systems",
            "Storage by system",
            "paging_storage",
            (
                Shown("storage_bytes", "Size", group="Central storage"),
                Shown("available_bytes", "Available", group="Central storage"),
                Shown("available_fraction", "Available", group="Central storage", bar=True),
                Shown("lowest_available_fraction", "Fewest frames", group="Central storage"),
                Shown("fixed_fraction", "Fixed", group="Central storage"),
                Shown("uic", "Mean", group="UIC"),
                Shown("lowest_uic", "Lowest", group="UIC"),
                Shown("demand_paging_per_second"),
                Shown("slots_used_fraction"),
                Shown("large_available_fraction", "1 MiB available", group="Large frames"),
                Shown("giant_used_fraction", "2 GiB in use", group="Large frames"),
            ),
            by=_SYSTEM,
            order="available_fraction",
            descending=False,
            course="available_fraction",
        ),
        TableSpec(
            "paging_rates",
            "Paging by system",
            "paging_storage",
            (
                Shown("demand_paging_per_second", bar=True),
                Shown("page_ins_per_second", "In", group="All paging"),
                Shown("page_outs_per_second", "Out", group="All paging"),
                Shown("scm_pages_per_second"),
                Shown("pages_per_block"),
                Shown("page_faults_per_second"),
                Shown("first_faults_per_second"),
                Shown("other_faults_per_second"),
                Shown("page_moves_per_second"),
                Shown("getmains_per_second"),
            ),
            by=_SYSTEM,
            order="demand_paging_per_second",
            course="page_faults_per_second",
        ),
        TableSpec(
            "paging_areas",
            "Storage by area",
            "paging_storage",
            (
                Shown("frames"),
                Shown("nucleus_frames", "Nucleus", group="In use"),
                Shown("sqa_frames", "SQA", group="In use"),
                Shown("lpa_frames", "LPA", group="In use"),
                Shown("csa_frames", "CSA", group="In use"),
                Shown("lsqa_frames", "LSQA", group="In use"),
                Shown("high_shared_frames", "High shared", group="In use"),
                Shown("high_common_frames", "High common", group="In use"),
                Shown("fixed_frames", "All", group="Fixed"),
                Shown("fixed_below_16m_frames", "Below 16 MiB", group="Fixed"),
                Shown("fixed_below_2g_frames", "16 MiB to 2 GiB", group="Fixed"),
            ),
            by=_SYSTEM,
            order="frames",
            folded=True,
            note="Frames of 4 KiB.",
        ),
        TableSpec(
            "paging_data_sets",
            "Page data sets",
            "paging_data_set",
            (
                Shown("space_type"),
                Shown("volume"),
                Shown("slots", "There", group="Slots"),
                Shown("used_fraction", "In use", group="Slots", bar=True),
                Shown("most_used_slots", "Most in use", group="Slots"),
                Shown("unusable_slots", "Unusable", group="Slots"),
                Shown("io_rate"),
                Shown("pages_per_second"),
                Shown("pages_per_io"),
                Shown("page_transfer_time"),
                Shown("in_use_fraction"),
            ),
            order="used_fraction",
        ),
    ),
)
