"""Facts of Db2 statistics from text reports: statistics reports, and displays of buffer pools and group buffer pools.

The reports' tables name their columns as the facts are named, so a column that is a fact is one. Totals over pools and
address spaces are left out, since they would count everything twice. A report without a heading names no Db2; then the
report itself stands for it.

A display counts since a moment that it prints, up to one that it does not: it has counts and settings, and no rates.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.ingest.rmf_xml.columns import TableSpec
from plexlens.ingest.text_reports import db2_columns, db2_service_columns, db2_subsystem_columns
from plexlens.metrics.expressions import total
from plexlens.metrics.inputs import Inputs, identity, named

_PAGE_BYTES = (("^BP8K", 8192.0), ("^BP16K", 16384.0), ("^BP32K", 32768.0))
_SHARES = {"vpseqt": "vpseqt_percent", "dwqt": "dwqt_percent", "vdwqt": "vdwqt_percent"}


def _rows(inputs: Inputs, spec: TableSpec, *text: str, displays: bool = False) -> Any:
    """Rows of statistics reports, or of displays: of those with two sets of counts the later one."""
    numbers = [column.name for column in spec.columns if column.kind == "number"]
    table = inputs.table(
        spec.name, *numbers, text=("group_name", "member", "db2_version", "report", "statistics", *text)
    )
    is_display = table.report.startswith("db2_display")
    if not displays:
        return table.filter(~is_display.fill_null(False))
    # Counts since the last display are part of those since the pool was opened.
    group = ibis.window(group_by=[table.source_id, table.subsystem, table.pool_name])
    later = (table.statistics == "incremental").fill_null(False).cast("int64").max().over(group)
    table = table.mutate(later=later)
    return table.filter(
        table.report.startswith("db2_display")
        & ((table.later == 0) | (table.statistics != "cumulative").fill_null(True))
    )


def _common(table: Any) -> dict[str, Any]:
    names = ("group_name", "member", "db2_version", "interval_seconds")
    subsystem = named(table, ibis.coalesce(table.subsystem, table.member))
    return identity(table) | {"subsystem": subsystem} | {name: table[name] for name in names}


def _numbers(table: Any, spec: TableSpec) -> dict[str, Any]:
    return {
        column.name: table[column.name]
        for column in spec.columns
        if column.kind == "number" and column.name != "interval_seconds"
    }


def pools(inputs: Inputs, *, displays: bool = False) -> Any:
    """Facts of buffer pools."""
    table = _rows(inputs, db2_columns.POOL, "pool_name", "page_fix", "page_steal", displays=displays)
    # A pool may be misprinted as BF20; what begins otherwise is a total.
    table = table.mutate(pool=table.pool_name.re_replace("^BF", "BP"))
    table = table.filter(table.pool.startswith("BP"))
    size = ibis.cases(*((table.pool.re_search(p), ibis.literal(b)) for p, b in _PAGE_BYTES), else_=ibis.literal(4096.0))
    return table.select(
        **_common(table),
        **(
            _numbers(table, db2_columns.POOL)
            | {
                # Displays tell the parts alone.
                "getpages": ibis.coalesce(table.getpages, total(table.getpages_random, table.getpages_sequential)),
                "sync_reads": ibis.coalesce(
                    table.sync_reads, total(table.sync_reads_random, table.sync_reads_sequential)
                ),
            }
        ),
        pool=table.pool,
        pool_bytes=table.buffers * size,
        page_fix=table.page_fix,
        page_steal=table.page_steal,
        **{name: table[column] / 100.0 for name, column in _SHARES.items()},
    )


def group_pools(inputs: Inputs, *, displays: bool = False) -> Any:
    """Facts of group buffer pools."""
    table = _rows(inputs, db2_columns.GROUP_POOL, "pool_name", displays=displays)
    # A panel without its caption names no pool.
    table = table.filter(table.pool_name.isnull() | table.pool_name.startswith("GBP"))
    numbers = _numbers(table, db2_columns.GROUP_POOL)
    for name in ("reads_invalid_no_data", "reads_absent_no_data"):
        # Older panels tell apart whether others have an interest in the page.
        numbers[name] = ibis.coalesce(table[name], total(table[f"{name}_interest"], table[f"{name}_no_interest"]))
    return table.select(**_common(table), **numbers, group_pool=named(table, table.pool_name))


def locking(inputs: Inputs) -> Any:
    """Facts of locking."""
    table = _rows(inputs, db2_subsystem_columns.LOCKING)
    return table.select(**_common(table), **_numbers(table, db2_subsystem_columns.LOCKING))


def log(inputs: Inputs) -> Any:
    """Facts of the log."""
    table = _rows(inputs, db2_subsystem_columns.LOG)
    return table.select(**_common(table), **_numbers(table, db2_subsystem_columns.LOG))


def address_spaces(inputs: Inputs) -> Any:
    """Facts of address spaces."""
    table = _rows(inputs, db2_subsystem_columns.ADDRESS_SPACE_CPU, "address_space")
    table = table.filter(table.address_space != "TOTAL")
    numbers = _numbers(table, db2_subsystem_columns.ADDRESS_SPACE_CPU)
    numbers["srb_seconds"] = ibis.coalesce(
        table.srb_seconds, total(table.preemptable_srb_seconds, table.nonpreemptable_srb_seconds)
    )
    numbers["cp_seconds"] = ibis.coalesce(table.cp_seconds, total(table.tcb_seconds, numbers["srb_seconds"]))
    return table.select(**_common(table), **numbers, address_space=table.address_space)


def subsystems(inputs: Inputs) -> Any:
    """Facts of a Db2 as a whole."""
    table = _rows(inputs, db2_service_columns.SUBSYSTEM)
    return table.select(**_common(table), **_numbers(table, db2_service_columns.SUBSYSTEM))
