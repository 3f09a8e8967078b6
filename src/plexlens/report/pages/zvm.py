"""z/VM: processors, I/O and paging of CP, storage, users."""

from __future__ import annotations

from plexlens.report.blocks.page import Page, Shown, TableSpec
from plexlens.report.model import Way

_HOW = "MONITOR SAMPLE ENABLE and MONITOR START of z/VM, collected by MONWRITE: domain {domain}, record {record}."

PAGE = Page(
    order=960,
    id="zvm",
    title="z/VM",
    lead="Processors of z/VM systems, I/O and paging by CP, storage and users, from monitor records. The layouts that "
    "come with Plexlens have low confidence.",
    what="z/VM",
    ways=tuple(Way(f"z/VM D0R{record}", _HOW.format(domain=0, record=record)) for record in (1, 2, 3, 5, 7, 8)),
    tables=(
        TableSpec(
            "vm_processors",
            "z/VM processors",
            "vm_processor",
            (
                Shown("total"),
                Shown("utilization_per_processor", bar=True),
                Shown("emulation"),
                Shown("cp"),
                Shown("tvr"),
            ),
            by=("system",),
            order="utilization_per_processor",
        ),
        TableSpec(
            "vm_rates",
            "I/O and paging of z/VM",
            "vm_activity",
            (
                Shown("real_ios_per_second"),
                Shown("page_reads_per_second"),
                Shown("page_writes_per_second"),
                Shown("diagnoses_per_second"),
                Shown("simulated_instructions_per_second"),
            ),
            by=("system",),
            order="real_ios_per_second",
        ),
        TableSpec(
            "vm_expanded",
            "Expanded storage of z/VM",
            "vm_expanded_storage",
            (Shown("page_ins_per_second"), Shown("page_outs_per_second")),
            by=("system",),
            order="page_ins_per_second",
        ),
        TableSpec(
            "vm_frames",
            "Real storage of z/VM",
            "vm_storage",
            (Shown("pageable_pages"), Shown("available_fraction", bar=True)),
            by=("system",),
            order="pageable_pages",
        ),
        TableSpec(
            "vm_shared",
            "Shared storage of z/VM",
            "vm_shared_storage",
            (Shown("shared_pages"),),
            by=("system",),
            order="shared_pages",
        ),
        TableSpec(
            "vm_logged_on",
            "Users of z/VM",
            "vm_users",
            (Shown("logged_on"),),
            by=("system",),
            order="logged_on",
        ),
    ),
)
