"""Virtual storage: common areas, CSA by key, private areas of jobs."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.model import Way

_AREA = ("system", "area")

PAGE = Page(
    order=1005,
    id="virtual",
    title="Virtual storage",
    lead="How much of CSA and SQA is allocated below and above 16 MiB, in which storage keys, and how near private "
    "areas of jobs come to their limits.",
    what="virtual storage",
    ways=(
        Way(
            "SMF 78-2",
            "Monitor I option VSTOR of RMF or the z/OS Data Gatherer (VSTOR(S) is the default, VSTOR(S,job) adds the "
            "private area of a job), and TYPE(78) in SMFPRMxx.",
        ),
    ),
    figures=(
        FigureSpec(
            "virtual_fullest",
            "Fullest common area",
            "virtual_area",
            "most_allocated_percentage",
            by=_AREA,
            pick=Pick.HIGHEST,
        ),
    ),
    charts=(
        ChartSpec(
            "virtual_area_course",
            "Common areas: allocated, of the size",
            "virtual_area",
            ("allocated_percentage",),
            by=_AREA,
        ),
    ),
    tables=(
        TableSpec(
            "virtual_areas",
            "Common areas",
            "virtual_area",
            (
                Shown("size_bytes"),
                Shown("allocated_bytes", "Mean", group="Allocated"),
                Shown("most_allocated_bytes", "At most", group="Allocated"),
                Shown("allocated_percentage", "Mean", group="Of the size", bar=True),
                Shown("most_allocated_percentage", "At most", group="Of the size"),
                Shown("least_free_bytes", "At least", group="Free"),
                Shown("least_block_bytes", "Largest block, at least", group="Free"),
                Shown("most_expanded_bytes"),
            ),
            by=_AREA,
            order="most_allocated_percentage",
            course="allocated_percentage",
            note="SQA that is full expands into CSA.",
        ),
        TableSpec(
            "virtual_csa_keys",
            "CSA by storage key",
            "virtual_csa_key",
            (
                Shown("allocated_bytes", bar=True),
                Shown("below_bytes", "Mean", group="CSA"),
                Shown("most_below_bytes", "At most", group="CSA"),
                Shown("above_bytes", "Mean", group="ECSA"),
                Shown("most_above_bytes", "At most", group="ECSA"),
                Shown("most_227_bytes", "227", group="CSA by subpool, at most"),
                Shown("most_228_bytes", "228", group="CSA by subpool, at most"),
                Shown("most_231_bytes", "231", group="CSA by subpool, at most"),
                Shown("most_241_bytes", "241", group="CSA by subpool, at most"),
            ),
            by=("system", "storage_key"),
            order="allocated_bytes",
            folded=True,
        ),
        TableSpec(
            "virtual_privates",
            "Private areas",
            "virtual_private",
            (
                Shown("program"),
                Shown("limit_bytes"),
                Shown("user_bytes", "Mean", group="Allocated"),
                Shown("most_user_bytes", "At most", group="Allocated"),
                Shown("most_used_fraction", bar=True),
                Shown("system_bytes", "Mean", group="LSQA, SWA, 229, 230, 249"),
                Shown("most_system_bytes", "At most", group="LSQA, SWA, 229, 230, 249"),
            ),
            by=("system", "job", "part"),
            order="most_used_fraction",
            note="The limit is that of GETMAIN below 2 GiB, MEMLIMIT above. Allocated is the user region, above 2 GiB "
            "memory objects.",
        ),
    ),
)
