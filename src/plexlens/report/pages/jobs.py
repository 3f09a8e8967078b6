"""Address spaces, steps and jobs: CPU users, long elapsed times, failures."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.model import Way

_JOB = ("job",)
_STEP = ("job", "job_id", "step_number", "step", "program")

_STARTED_TASKS = "work_type = 'STC'"

_OVERFLOW = "ziip_on_cp_seconds > 0"

_OVERFLOW_OF_STARTED_TASKS = "work_type = 'STC' and ziip_on_cp_seconds > 0"

_PAGED = "(page_ins > 0) or (page_outs > 0)"

_DID_IO = "excps > 0"

_ENDED = "elapsed_seconds > 0"

_ABENDED = "abends > 0"


_KINDS = (
    Shown("tcb_seconds", "TCB", group="General processors"),
    Shown("srb_seconds", "SRB", group="General processors"),
    Shown("initiator_tcb_seconds", "Initiator TCB", group="General processors"),
    Shown("initiator_srb_seconds", "Initiator SRB", group="General processors"),
    Shown("io_interrupt_seconds", "I/O interrupts", group="General processors"),
    Shown("region_control_seconds", "Region control", group="General processors"),
    Shown("hiperspace_seconds", "Hiperspace", group="General processors"),
)
_WITHIN_TCB = (
    Shown("preemptable_srb_seconds", "Preemptable SRBs", group="Within TCB"),
    Shown("enclave_seconds", "Independent enclaves", group="Within TCB"),
    Shown("dependent_enclave_seconds", "Dependent enclaves", group="Within TCB"),
    Shown("ziip_on_cp_seconds", "zIIP-eligible", group="Within TCB"),
)
_DASD = (
    Shown("dasd_ios", "I/Os", group="DASD"),
    Shown("dasd_response_time", "Response time", group="DASD"),
    Shown("dasd_connect_time", "Connect", group="DASD"),
    Shown("dasd_disconnect_time", "Disconnect", group="DASD"),
    Shown("dasd_pending_time", "Pending", group="DASD"),
)

PAGE = Page(
    order=880,
    id="jobs",
    title="Jobs and address spaces",
    lead="CPU use, longest steps, abends, and zIIP work that ran on general processors.",
    what="address spaces, jobs and steps",
    ways=(
        Way(
            "SMF 30 intervals",
            "TYPE(30) and INTERVAL(SMF,SYNC) for SYS and each SUBSYS in SMFPRMxx; without INTERVAL there are no "
            "subtypes 2, 3 and 6.",
        ),
        Way("SMF 30-4", "TYPE(30) in SMFPRMxx, not left out by subtype, for SYS and each SUBSYS."),
        Way("SMF 30 jobs", "TYPE(30) in SMFPRMxx, not left out by subtype, for SYS and each SUBSYS."),
    ),
    figures=(
        FigureSpec("jobs_cpu", "CPU time of address spaces", "address_space", "cpu_seconds"),
        FigureSpec(
            "jobs_largest",
            "Largest user of general processors",
            "address_space",
            "cp_seconds",
            by=_JOB,
            pick=Pick.HIGHEST,
        ),
        FigureSpec("jobs_overflow", "zIIP overflow to general processors", "address_space", "ziip_overflow_fraction"),
        FigureSpec("jobs_abends", "Steps abended", "job_step", "abends"),
    ),
    charts=(
        ChartSpec(
            "jobs_cpu_course",
            "General processors used, by started task",
            "address_space",
            ("cp_processors",),
            by=_JOB,
            where=_STARTED_TASKS,
            note="The chart shows started tasks, which run through whole intervals; the tables include jobs and "
            "sessions.",
        ),
        ChartSpec(
            "jobs_ziip_course",
            "General processors used by zIIP-eligible work, by started task",
            "address_space",
            ("ziip_on_cp_processors",),
            by=_JOB,
            where=_OVERFLOW_OF_STARTED_TASKS,
        ),
    ),
    tables=(
        TableSpec(
            "jobs_address_spaces",
            "CPU use",
            "address_space",
            (
                Shown("work_type"),
                Shown("service_class"),
                Shown("cpu_seconds", "All engines", group="CPU time", bar=True),
                Shown("cp_seconds", "General processors", group="CPU time"),
                Shown("ziip_engine_seconds", "zIIP, as run", group="CPU time"),
                Shown("srb_fraction", "SRB", group="Share of general processor time"),
                Shown("enclave_fraction", "Enclaves", group="Share of general processor time"),
                Shown("cp_processors"),
                Shown("ziip_processors"),
                Shown("highest_task_fraction"),
                Shown("excp_rate"),
            ),
            by=_JOB,
            order="cpu_seconds",
            course="cp_processors",
            top=20,
            drill="jobs_cpu_kinds",
            note="By job name, all systems together.",
        ),
        TableSpec(
            "jobs_service_classes",
            "CPU by service class",
            "address_space",
            (
                Shown("cpu_seconds", "All engines", group="CPU time", bar=True),
                Shown("cp_seconds", "General processors", group="CPU time"),
                Shown("ziip_engine_seconds", "zIIP, as run", group="CPU time"),
                Shown("ziip_on_cp_seconds", "zIIP-eligible on CP", group="CPU time"),
                Shown("ziip_overflow_fraction"),
                Shown("excps"),
                Shown("page_ins"),
                Shown("service_units"),
            ),
            by=("service_class",),
            order="cpu_seconds",
            note="Service class of the address space; enclaves in it can have other classes.",
        ),
        TableSpec(
            "jobs_cpu_kinds",
            "CPU by kind",
            "address_space",
            (*_KINDS, *_WITHIN_TCB, Shown("crypto_services")),
            by=_JOB,
            order="tcb_seconds",
            folded=True,
        ),
        TableSpec(
            "jobs_ziip",
            "zIIP work, and its part on general processors",
            "address_space",
            (
                Shown("service_class"),
                Shown("ziip_engine_seconds", "On zIIP, as run", group="Time"),
                Shown("ziip_seconds", "On zIIP, normalized", group="Time"),
                Shown("ziip_on_cp_seconds", "On general processors", group="Time", bar=True),
                Shown("java_ziip_seconds", "On zIIP", group="Java"),
                Shown("java_on_cp_seconds", "On general processors", group="Java"),
                Shown("ziip_eligible_fraction"),
                Shown("ziip_overflow_fraction"),
            ),
            by=_JOB,
            order="ziip_on_cp_seconds",
            where=_OVERFLOW,
            course="ziip_on_cp_processors",
            note="Address spaces without overflow are left out.",
        ),
        TableSpec(
            "jobs_steps",
            "Steps that took longest",
            "job_step",
            (
                Shown("elapsed_seconds", bar=True),
                Shown("cp_seconds"),
                Shown("ziip_engine_seconds"),
                Shown("cp_fraction", "CPU", group="Share of elapsed time"),
                Shown("dasd_fraction", "DASD I/O", group="Share of elapsed time"),
                Shown("allocation_seconds"),
                Shown("excps"),
                Shown("service_class"),
                Shown("completion"),
            ),
            by=_STEP,
            order="elapsed_seconds",
            where=_ENDED,
            top=20,
        ),
        TableSpec(
            "jobs_abends_steps",
            "Steps that abended",
            "job_step",
            (
                Shown("completion"),
                Shown("abends"),
                Shown("elapsed_seconds", bar=True),
                Shown("cp_seconds"),
                Shown("service_class"),
                Shown("user"),
            ),
            by=_STEP,
            order="elapsed_seconds",
            where=_ABENDED,
        ),
        TableSpec(
            "jobs_jobs",
            "Jobs, sessions and started tasks",
            "job",
            (
                Shown("work_type"),
                Shown("job_class"),
                Shown("service_class"),
                Shown("elapsed_seconds", "Running", group="Time", bar=True),
                Shown("queue_seconds", "For an initiator", group="Time"),
                Shown("held_seconds", "Held", group="Time"),
                Shown("cpu_seconds"),
                Shown("cp_fraction"),
                Shown("excps"),
                Shown("completion"),
                Shown("counted_from"),
            ),
            by=("job", "job_id"),
            order="cpu_seconds",
            top=20,
        ),
        TableSpec(
            "jobs_programs",
            "Programs, by CPU time of their steps",
            "job_step",
            (
                Shown("ended"),
                Shown("abends"),
                Shown("cpu_seconds", bar=True),
                Shown("elapsed_seconds"),
                Shown("cp_fraction"),
                Shown("dasd_fraction"),
                Shown("excps"),
            ),
            by=("program",),
            order="cpu_seconds",
            folded=True,
        ),
        TableSpec(
            "jobs_io",
            "I/O by address space",
            "address_space",
            (Shown("excps", bar=True), Shown("excp_rate"), Shown("connect_seconds"), *_DASD),
            by=_JOB,
            order="excps",
            where=_DID_IO,
            folded=True,
            note="DASD times exclude IOS queue time; I/Os of independent enclaves are counted separately.",
        ),
        TableSpec(
            "jobs_storage",
            "Storage by address space",
            "address_space",
            (
                Shown("user_below_bytes", "Below 16 MiB", group="Most used"),
                Shown("user_above_bytes", "Above 16 MiB", group="Most used"),
                Shown("above_bar_bytes", "Above the bar", group="Most used", bar=True),
                Shown("data_space_bytes", "Data spaces", group="Most used"),
                Shown("memory_limit_bytes"),
                Shown("memory_limit_fraction"),
                Shown("above_bar_frames"),
                Shown("above_bar_slots"),
            ),
            by=_JOB,
            order="above_bar_bytes",
            folded=True,
        ),
        TableSpec(
            "jobs_paging",
            "Address spaces that paged",
            "address_space",
            (
                Shown("page_ins", bar=True),
                Shown("page_in_rate"),
                Shown("page_outs"),
                Shown("blocked_page_ins"),
                Shown("vio_page_ins"),
                Shown("shared_page_ins"),
                Shown("service_class"),
            ),
            by=_JOB,
            order="page_ins",
            where=_PAGED,
        ),
    ),
)
