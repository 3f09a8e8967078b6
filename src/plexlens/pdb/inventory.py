"""The inventory of a performance database: what its sources held, as `plexlens.ingest.inventory` counts it in files."""

from __future__ import annotations

from collections import Counter

import duckdb
import pyarrow as pa

from plexlens.ingest.inventory import Inventory
from plexlens.ingest.plausible import Implausible
from plexlens.ingest.source import Damage, Severity
from plexlens.pdb.database import Pdb
from plexlens.pdb.entries import Ingest


def of_database(pdb: Pdb) -> list[Inventory]:
    """The inventory of each source, in the order in which they were ingested.

    Records that the database leaves out, since it holds the same record already, are counted as duplicates and not by
    type. A report names no system here where its table has none.
    """
    connection = pdb.connect()
    return [_of_source(pdb, connection, ingest) for ingest in pdb.manifest.ingests]


def _of_source(pdb: Pdb, connection: duckdb.DuckDBPyConnection, ingest: Ingest) -> Inventory:
    def rows(table: str, columns: str, end: str = "") -> pa.Table:
        statement = f"select {columns} from {table} where source_id = ? {end}"
        return connection.execute(statement, [ingest.id]).to_arrow_table()

    records: Counter[tuple[str, str]] = Counter()
    undecoded: Counter[str] = Counter()
    if ingest.kind == "smf" and "smf_record" in pdb.manifest.columns:
        counted = rows("smf_record", "record_type, subtype, system, decoded, count(*) as records", "group by all")
        for row in counted.to_pylist():
            name = str(row["record_type"]) + ("" if row["subtype"] is None else f".{row['subtype']}")
            records[name, row["system"] or ""] += row["records"]
            if not row["decoded"]:
                undecoded[name] += row["records"]
    elif f"{ingest.kind}_record" in pdb.manifest.columns:
        counted = rows(
            f"{ingest.kind}_record",
            "report, coalesce(system, sysplex, '') as system, count(*) as records",
            "group by all",
        )
        for row in counted.to_pylist():
            records[row["report"] or "", row["system"]] += row["records"]
    damage: list[Damage] = []
    if ingest.damage:
        names = 'source_id, file, record_no, "offset", reason, severity, detail, remedy'
        for row in rows("damage", names, 'order by record_no, "offset"').to_pylist():
            damage.append(Damage(**(row | {"severity": Severity(row["severity"])})))
    implausible: list[Implausible] = []
    if "implausible" in pdb.manifest.columns:
        implausible = Implausible.of(rows("implausible", "*", "order by record_no, table_name, section_no, field"))
    start, end = ingest.span
    return Inventory(
        file=ingest.file,
        kind=ingest.kind,
        size=ingest.size,
        records=records,
        undecoded=undecoded,
        span=(start, end) if start is not None and end is not None else None,
        duplicates=ingest.duplicates,
        damage=damage,
        damage_counts=dict(ingest.damage),
        implausible=implausible,
        notes={
            (note.note, f"{note.section}: {note.field}" if note.field else note.section): note.count
            for note in ingest.notes
            # As in files: the sections of dumps whose length differs are not listed, values that cannot be are.
            if ingest.kind != "smf" and note.note != "implausible_value"
        },
    )
