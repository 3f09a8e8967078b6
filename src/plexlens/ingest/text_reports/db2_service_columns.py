"""Db2 as a whole: columns of its table, and under which printed name each is found.

Source: IBM, OMEGAMON for Db2 Performance Expert, "Statistics report and trace blocks"; the studies' reports.
"""

from __future__ import annotations

from plexlens.ingest.rmf_xml.columns import TableSpec
from plexlens.ingest.text_reports.db2_columns import IDENTITY, field

SERVICE_FIELDS = (
    field("identifies", "identify requests", "Q3STIDEN", "IDENTIFY"),
    field("threads_created", "threads created", "Q3STCTHD", "CREATE THREAD"),
    field("signons", "signons", "Q3STSIGN", "SIGNON"),
    field("threads_terminated", "threads terminated", "Q3STTERM", "TERMINATE"),
    field("rollbacks", "rollbacks", "Q3STABRT", "ROLLBACK"),
    field("commits_phase_1", "commits, phase 1", "Q3STPREP", "COMMIT PHASE 1"),
    field("commits_phase_2", "commits, phase 2", "Q3STCOMM", "COMMIT PHASE 2"),
    field("commits_read_only", "commits, read only", "Q3STRDON", "READ ONLY COMMIT"),
    field("commits_single_phase", "commits, single phase", "Q3STSYNC", "SYNCHS(SINGLE PHASE COMMIT)"),
    field("units_indoubt", "units of recovery that went in doubt", "Q3STINDT", "UNITS OF RECOVERY INDOUBT"),
    field("units_resolved", "units of recovery in doubt resolved", "Q3STRIUR", "UNITS OF REC.INDBT RESOLVED"),
    field("threads_queued", "create thread requests queued", "Q3STCTHW", "QUEUED AT CREATE THREAD"),
    field("tasks_ended", "ends of allied tasks", "Q3STMEOT", "SUBSYSTEM ALLIED MEMORY EOT"),
    field("memories_ended", "ends of allied memories", "Q3STMEOM", "SUBSYSTEM ALLIED MEMORY EOM"),
    field("system_checkpoints", "system checkpoints", "QWSDCKPT", "SYSTEM EVENT CHECKPOINT"),
    field("background_peak", "most background connections", "Q3STHWIB", "HIGH WATER MARK IDBACK"),
    field("foreground_peak", "most foreground connections", "Q3STHWIF", "HIGH WATER MARK IDFORE"),
    field("threads_peak", "most threads", "Q3STHWCT", "HIGH WATER MARK CTHREAD"),
)
"""Subsystem services."""

SQL_FIELDS = (
    field("selects", "SELECT", "QXSELECT", "SELECT"),
    field("inserts", "INSERT", "QXINSRT", "INSERT"),
    field("updates", "UPDATE", "QXUPDTE", "UPDATE"),
    field("deletes", "DELETE", "QXDELET", "DELETE"),
    field("prepares", "PREPARE", "QXPREP", "PREPARE"),
    field("describes", "DESCRIBE", "QXDESC", "DESCRIBE"),
    field("opens", "OPEN CURSOR", "QXOPEN", "OPEN CURSOR; OPEN"),
    field("fetches", "FETCH", "QXFETCH", "FETCH"),
)
"""SQL statements that read and change data."""

DISTRIBUTED_FIELDS = (
    field("dbats_queued", "DBAT requests queued at the limit", "QDSTQDBT", "DBAT/CONN QUEUED-MAX ACTIVE; DBAT QUEUED"),
    field(
        "connections_rejected",
        "connections rejected at the limit",
        "QDSTQCRT",
        "CONN REJECTED-MAX CONNECTED; CONN. DEALLOC-MAX.CONNECTED",
    ),
)
"""Work from elsewhere."""

FIELDS = (*SERVICE_FIELDS, *SQL_FIELDS, *DISTRIBUTED_FIELDS)

SUBSYSTEM = TableSpec(
    "text_db2_subsystem",
    "one Db2 in one interval: threads, commits, SQL",
    (*IDENTITY, *(entry.column for entry in FIELDS)),
)
