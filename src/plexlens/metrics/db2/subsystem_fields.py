"""Facts of a Db2 that are one field each, by the section they stand in."""

from __future__ import annotations

from dataclasses import dataclass

from plexlens.metrics.definition import Rollup
from plexlens.metrics.fields import Field
from plexlens.metrics.unit import COUNT, PAGES

SERVICES = (
    Field("identifies", "Identify requests", "Q3STIDEN"),
    Field("threads_created", "Threads created", "Q3STCTHD"),
    Field("signons", "Signons", "Q3STSIGN"),
    Field("threads_terminated", "Threads terminated", "Q3STTERM"),
    Field("threads_queued", "Create thread requests queued", "Q3STCTHW"),
    Field("commits_phase_1", "Commits, phase 1", "Q3STPREP"),
    Field("commits_phase_2", "Commits, phase 2", "Q3STCOMM"),
    Field("commits_single_phase", "Commits, single phase", "Q3STSYNC"),
    Field("commits_read_only", "Commits, read only", "Q3STRDON"),
    Field("rollbacks", "Rollbacks", "Q3STABRT"),
    Field("threads_peak", "Most threads (CTHREAD)", "Q3STHWCT", COUNT, Rollup.PEAK),
    Field("background_peak", "Most background connections (IDBACK)", "Q3STHWIB", COUNT, Rollup.PEAK),
    Field("foreground_peak", "Most foreground connections (IDFORE)", "Q3STHWIF", COUNT, Rollup.PEAK),
)
CHECKPOINTS = (Field("system_checkpoints", "System checkpoints", "QWSDCKPT"),)
LATCHES = (
    Field("latch_6", "Latch suspensions, class 6", "QVLSLC06"),
    Field("latch_14", "Latch suspensions, class 14 (buffer manager)", "QVLSLC14"),
    Field("latch_19", "Latch suspensions, class 19 (log write)", "QVLSLC19"),
    Field("latch_24", "Latch suspensions, class 24 (EDM pool, prefetch)", "QVLSLC24"),
    Field("latch_32", "Latch suspensions, class 32 (storage manager)", "QVLSLC32"),
)
DISTRIBUTED = (
    Field("dbats_queued", "DBAT requests queued", "QDSTQDBT"),
    Field("connections_rejected", "Connections rejected, limit reached", "QDSTQCRT"),
    Field("dbats_created", "Requests that created a DBAT", "QDSTNDBA"),
    Field("dbats_reused", "Requests that reused a pooled DBAT", "QDSTPOOL"),
    Field("dbats_active_peak", "Most active DBATs", "QDSTHWAT", COUNT, Rollup.PEAK),
)
SQL = (
    Field("selects", "SELECT", "QXSELECT"),
    Field("inserts", "INSERT", "QXINSRT"),
    Field("updates", "UPDATE", "QXUPDTE"),
    Field("deletes", "DELETE", "QXDELET"),
    Field("opens", "OPEN", "QXOPEN"),
    Field("fetches", "FETCH", "QXFETCH"),
    Field("prepares", "PREPARE", "QXPREP"),
    Field("describes", "DESCRIBE", "QXDESC"),
    Field("prepares_found", "Short prepares", "QXSTFND"),
    Field("prepares_full", "Full prepares", "QXSTNFND"),
    Field("prepares_implicit", "Implicit prepares", "QXSTIPRP"),
    Field("prepares_avoided", "Prepares avoided", "QXSTNPRP"),
    Field("rid_no_storage", "RID lists failed, no storage", "QXNSMIAP"),
    Field("rid_limit", "RID lists failed, limit", "QXMRMIAP"),
)
DESCRIPTORS = (
    Field("plan_sections", "Plan section requests", "QISECTG"),
    Field("plan_section_loads", "Plan section loads", "QISECTL"),
    Field("package_sections", "Package section requests", "QISEKTG"),
    Field("package_section_loads", "Package section loads", "QISEKTL"),
    Field("descriptors", "Database descriptor requests", "QISEDBDG"),
    Field("descriptor_loads", "Database descriptor loads", "QISEDBDL"),
    Field("statement_searches", "Statement cache searches", "QISEDSG"),
    Field("statement_inserts", "Statement cache inserts", "QISEDSI"),
    Field("descriptor_pool_full", "Descriptor pool full", "QISEDFAL"),
    Field("statement_pool_full", "Statement pool full", "QISECFAL"),
    Field("skeleton_pool_full", "Skeleton pool full", "QISEKFAL"),
    Field("descriptor_pool_pages", "Descriptor pool", "QISEDPGE", PAGES, Rollup.AMOUNT),
    Field("descriptor_pool_free", "Descriptor pool, free", "QISEDFRE", PAGES, Rollup.LEVEL),
    Field("statement_pool_pages", "Statement pool", "QISECPGE", PAGES, Rollup.AMOUNT),
    Field("statement_pool_free", "Statement pool, free", "QISECFRE", PAGES, Rollup.LEVEL),
    Field("skeleton_pool_pages", "Skeleton pool", "QISEKPGE", PAGES, Rollup.AMOUNT),
    Field("skeleton_pool_free", "Skeleton pool, free", "QISEKFRE", PAGES, Rollup.LEVEL),
)
BUFFERS = (
    Field("getpages", "Getpages", "QBSTGET"),
    Field("sync_reads", "Synchronous reads", "QBSTRIO"),
    Field("sequential_prefetch_reads", "Sequential prefetch I/Os", "QBSTPIO"),
    Field("list_prefetch_reads", "List prefetch I/Os", "QBSTLIO"),
    Field("dynamic_prefetch_reads", "Dynamic prefetch I/Os", "QBSTDIO"),
    Field("buffers", "Buffers of all pools", "QBSTVPL", PAGES, Rollup.AMOUNT, computed_from="db2_pool.buffers"),
)


@dataclass(frozen=True)
class Section:
    """A section of a statistics record that the subsystem's facts come from.

    Parameters
    ----------
    table
        The raw table.
    record
        What the facts' source texts begin with.
    fields
        Facts that are one field each.
    witnesses
        Counters whose places are published: a fall of one means that Db2 started.
    long_since_11
        Whether counters have 8 bytes from Db2 11 on.
    keys
        What identifies an entry where the section has several.
    """

    table: str
    record: str
    fields: tuple[Field, ...]
    witnesses: tuple[str, ...]
    long_since_11: bool = False
    keys: tuple[str, ...] = ()


SECTIONS = (
    Section("smf100_ifcid1_q3st", "SMF 100 IFCID 1", SERVICES, ("q3stcthd", "q3stterm", "q3stsign", "q3stcomm")),
    Section("smf100_ifcid1_qwsd", "SMF 100 IFCID 1", CHECKPOINTS, ("qwsdckpt",)),
    Section("smf100_ifcid1_qvls", "SMF 100 IFCID 1", LATCHES, ("qvlslc14", "qvlslc19", "qvlslc24")),
    Section("smf100_ifcid1_qdst", "SMF 100 IFCID 1", DISTRIBUTED, ("qdstndba", "qdstpool")),
    Section("smf100_ifcid2_qxst", "SMF 100 IFCID 2", SQL, ("qxselect", "qxinsrt", "qxupdte", "qxfetch"), True),
    Section("smf100_ifcid2_qise", "SMF 100 IFCID 2", DESCRIPTORS, ("qisektg", "qisedbdg")),
    Section("smf100_ifcid2_qbst", "SMF 100 IFCID 2", BUFFERS, ("qbstget", "qbstrio"), True, ("qbstpid",)),
)
