"""z/VM: processors, I/O and paging of CP, storage, users, virtual machines by their virtual I/O."""

from __future__ import annotations

from plexlens.report.blocks.page import Page, Shown, TableSpec
from plexlens.report.model import Way

_HOW = "MONITOR SAMPLE ENABLE and MONITOR START of z/VM, collected by MONWRITE: domain {domain}, record {record}."

PAGE = Page(
    order=960,
    id="zvm",
    title="z/VM",
    lead="Processors of z/VM systems, I/O and paging by CP, storage and users, from monitor records; virtual machines "
    "from accounting records. The layouts of monitor records that come with Plexlens have low confidence.",
    what="z/VM",
    ways=(
        *(Way(f"z/VM D0R{record}", _HOW.format(domain=0, record=record)) for record in (1, 2, 3, 5, 7, 8)),
        Way(
            "z/VM accounting",
            "RECORDING ACCOUNT ON and, at the beginning and the end of the time to look at, ACNT ALL; the file ACCOUNT "
            "of the accounting virtual machine, sent in binary with records of 80 bytes.",
        ),
    ),
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
            (Shown("pageable_pages"), Shown("pageable_pages_per_user"), Shown("available_fraction", bar=True)),
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
        TableSpec(
            "vm_classes",
            "Virtual machines by virtual I/O",
            "vm_user_class",
            (
                Shown("users"),
                Shown("user_fraction", bar=True),
                Shown("study_user_fraction"),
                Shown("cpu_fraction", bar=True),
                Shown("study_cpu_fraction"),
                Shown("virtual_ios_per_second"),
            ),
            by=("user_class",),
            order="user_class",
            descending=False,
            note="Classes of the VM/ESA report of 1992, by virtual I/O per hour connected: none (VIO0), below 1,000 "
            "(VIO1), 2,500, 5,000, 20,000, 25,000, 50,000 and 100,000 (VIO7). Its customer's shares are of all "
            "processor time, of which they are 75.4 % with service machines, which the report shows by name. Service "
            "machines are classed by their rate here.",
        ),
        TableSpec(
            "vm_machines",
            "Virtual machines",
            "vm_user",
            (
                Shown("processors_used"),
                Shown("tvr"),
                Shown("virtual_ios_per_second"),
                Shown("page_reads_per_second"),
            ),
            by=("user",),
            order="processors_used",
        ),
    ),
)
