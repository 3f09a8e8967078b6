"""Processors by system and partition."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, HeatSpec, Page, Pick, Shown, TableSpec
from plexlens.report.model import Way
from plexlens.report.model.chart import ChartKind, Reference

_GENERAL = "processor_type = 'CP'"

_ZIIP = "processor_type = 'IIP'"

#: Without the line of the hypervisor's own time.
_PARTITION = "(processor_type = 'CP') and (partition != 'PHYSICAL')"


PAGE = Page(
    order=500,
    id="cpu",
    title="Processors",
    lead="General processors and zIIPs as seen by z/OS and PR/SM; capacity by partition.",
    what="processors and partitions",
    ways=(
        Way(
            "SMF 70-1",
            "Monitor I option CPU (on by default) of RMF or the z/OS Data Gatherer, and TYPE(70) in SMFPRMxx. "
            " Records of one system show every partition of its machine.",
        ),
        Way(
            "RMF XML CPU",
            "Postprocessor control statement REPORTS(CPU) with output to ddname XPRPTS, or the Distributed Data Server "
            "at /gpm/rmfpp.xml?reports=CPU.",
        ),
        Way(
            "RMF XML CPC of Monitor III",
            "plexlens watch http://HOST:8803, the address of the Distributed Data Server; or its answer to "
            "/gpm/rmfm3.xml?report=CPC.",
        ),
        Way(
            "RMF text CPU",
            "Postprocessor control statement REPORTS(CPU) with output to ddname MFRxxxxx, as text.",
        ),
    ),
    figures=(
        FigureSpec("cp_busy", "General processors busy (PR/SM)", "cpu_system", "lpar_busy", where=_GENERAL),
        FigureSpec("ziip_busy", "zIIPs busy (PR/SM)", "cpu_system", "lpar_busy", where=_ZIIP),
        FigureSpec("capture", "Capture ratio", "cpu_system", "capture_ratio", where=_GENERAL, peak=False),
        FigureSpec("msu", "MSU used", "cpu_partition", "msu_used", where=_PARTITION),
        FigureSpec("msu_rolling", "MSU, four-hour mean", "cpu_partition", "msu_rolling", where=_PARTITION),
        FigureSpec(
            "busiest_partition",
            "Busiest partition, share of the machine's processors",
            "cpu_partition",
            "physical_busy",
            by=("partition",),
            pick=Pick.HIGHEST,
            where=_PARTITION,
        ),
    ),
    charts=(
        ChartSpec(
            "cp_by_partition",
            "General processors used, by partition",
            "cpu_partition",
            ("processors_used",),
            by=("machine", "partition"),
            kind=ChartKind.STACK,
            where=_GENERAL,
            timeline=True,
        ),
        ChartSpec(
            "ziip_by_partition",
            "zIIPs used, by partition",
            "cpu_partition",
            ("processors_used",),
            by=("machine", "partition"),
            kind=ChartKind.STACK,
            where=_ZIIP,
            timeline=True,
        ),
        ChartSpec(
            "cp_busy_by_system",
            "General processors busy as PR/SM sees them, by system",
            "cpu_system",
            ("lpar_busy",),
            by=("system",),
            where=_GENERAL,
            references=(Reference("all processors", 1.0),),
        ),
        ChartSpec(
            "cp_mvs_busy_by_system",
            "General processors busy as z/OS sees them, by system",
            "cpu_system",
            ("mvs_busy",),
            by=("system",),
            where=_GENERAL,
            references=(Reference("all processors", 1.0),),
            note="If this is far above the busy time of PR/SM, logical processors waited for physical processors.",
        ),
        ChartSpec(
            "msu_course",
            "MSU used and its four-hour mean, all partitions",
            "cpu_partition",
            ("msu_used", "msu_rolling"),
            where=_PARTITION,
        ),
    ),
    heat_maps=(
        HeatSpec("cp_busy_hours", "General processors busy (PR/SM)", "cpu_system", "lpar_busy", where=_GENERAL),
        HeatSpec("msu_hours", "MSU used", "cpu_partition", "msu_used", by=("partition",), where=_PARTITION),
    ),
    tables=(
        TableSpec(
            "cpu_systems",
            "Processors by system",
            "cpu_system",
            (
                Shown("engines"),
                Shown("lpar_busy", "PR/SM", group="Busy", bar=True),
                Shown("mvs_busy", "z/OS", group="Busy", bar=True),
                Shown("processors_used"),
                Shown("capture_ratio"),
                Shown("parked_fraction"),
                Shown("io_interrupts_per_second"),
                Shown("tpi_fraction"),
                Shown("capacity_msu"),
                Shown("rolling_msu_recorded"),
            ),
            order="processors_used",
            course="processors_used",
        ),
        TableSpec(
            "cpu_partitions",
            "Partitions by machine and kind of processor",
            "cpu_partition",
            (
                Shown("logical_processors", "Online"),
                Shown("processors_used"),
                Shown("physical_busy", "Physical", group="Busy", bar=True),
                Shown("logical_busy", "Logical", group="Busy"),
                Shown("management_fraction"),
                Shown("weight_share", "Share", group="Weight"),
                Shown("entitled_processors", "Entitles to", group="Weight"),
                Shown("capped_fraction", "Capped", group="Capping"),
                Shown("limited_fraction", "Limited", group="Capping"),
                Shown("msu_used", "Used", group="Capacity"),
                Shown("msu_rolling", "Four-hour mean", group="Capacity"),
                Shown("defined_msu", "Defined", group="Capacity"),
            ),
            by=("machine", "partition", "processor_type"),
            order="processors_used",
            course="processors_used",
            top=15,
            note="The partition PHYSICAL shows the time that PR/SM itself used.",
        ),
    ),
)
