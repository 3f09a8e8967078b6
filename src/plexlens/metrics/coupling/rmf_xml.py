"""Facts of coupling facilities, structures and XCF from RMF reports: in XML (CF, XCF), and as text (CF).

Both kinds of report fill tables with the same columns; `reports` names the tables' kind.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.inputs import Inputs, identity, named

#: Fact <- column of the structure table.
_STRUCTURE = {
    "sync_requests": "sync_requests",
    "sync_seconds": "sync_total_seconds",
    "sync_squares": "sync_square_seconds",
    "async_requests": "async_requests",
    "async_seconds": "async_total_seconds",
    "async_squares": "async_square_seconds",
    "changed_requests": "changed_requests",
    "external_requests": "lock_requests",
    "deferred_requests": "deferred_requests",
    "contention_requests": "contended_requests",
    "false_contention_requests": "false_contended_requests",
    "queued_requests": "delayed_no_subchannel_requests",
    "queued_seconds": "delayed_no_subchannel_total_seconds",
    "dump_delayed_requests": "delayed_dump_requests",
    "dump_delayed_seconds": "delayed_dump_total_seconds",
    "peer_wait_requests": "delayed_peer_wait_requests",
    "peer_wait_seconds": "delayed_peer_wait_total_seconds",
    "peer_completion_requests": "delayed_peer_completion_requests",
    "peer_completion_seconds": "delayed_peer_completion_total_seconds",
    "structure_bytes": "size_bytes",
    "lock_entries": "lock_entries",
    "lock_entries_used": "lock_entries_used",
    "read_hits": "cache_reads",
    "writes_changed": "cache_writes",
    "directory_reclaims": "directory_reclaims",
    "xi_directory_reclaim": "directory_reclaim_invalidations",
    "castouts": "castouts",
}


#: Columns that are the structure's own, the same whichever system asks: the usage summary has them.
_OF_STRUCTURE = (
    "structure_type",
    "size_bytes",
    "lock_entries",
    "lock_entries_used",
    "directory_reclaims",
    "directory_reclaim_invalidations",
)


def structures_of_rmf_xml(inputs: Inputs, reports: str = "rmf_xml") -> Any:
    """Facts of every structure; rows of single systems where there are any, else the sysplex's."""
    table = inputs.table(
        f"{reports}_coupling_structure",
        *_STRUCTURE.values(),
        "requests",
        "interval_seconds",
        text=("cf_name", "structure_name", "structure_type"),
    )
    # A report lists a structure by system and in total: the total would count every request twice.
    group = ibis.window(group_by=[table.source_id, table.record_no, table.cf_name, table.structure_name])
    by_system = table.system.notnull().cast("int64").sum().over(group) > 0
    table = table.mutate(
        by_system=by_system,
        **{column: ibis.coalesce(table[column], table[column].max().over(group)) for column in _OF_STRUCTURE},
    ).filter(lambda t: t.system.notnull() | ~t.by_system)
    # The usage summary does not say how requests were made.
    unsplit = ibis.ifelse(
        table.sync_requests.isnull() & table.async_requests.isnull(), table.requests, ibis.null("float64")
    )
    return table.select(
        **identity(table),
        facility=table.cf_name,
        structure=named(table, table.structure_name),
        structure_type=table.structure_type.lower(),
        interval_seconds=table.interval_seconds,
        unsplit_requests=unsplit,
        **{name: table[column] for name, column in _STRUCTURE.items()},
    )


def facilities_of_rmf_xml(inputs: Inputs, reports: str = "rmf_xml") -> Any:
    """Facts of every coupling facility of the usage summary."""
    table = inputs.table(
        f"{reports}_coupling_facility",
        "interval_seconds",
        "busy_percent",
        "processor_seconds",
        "processors_defined",
        "storage_bytes",
        "storage_free_bytes",
        text=("cf_name", "cf_type"),
    )
    # Reports exist that print a utilization but no effective processors: the defined ones stand in for them. Where
    # 0.000 effective processors are printed, a share of them says nothing.
    seconds = ibis.coalesce(table.processor_seconds, table.processors_defined * table.interval_seconds)
    busy = seconds * table.busy_percent / 100.0
    return table.select(
        **identity(table),
        facility=table.cf_name,
        model=table.cf_type,
        interval_seconds=table.interval_seconds,
        busy_seconds=busy,
        wait_seconds=seconds - busy,
        effective_seconds=table.processor_seconds,
        logical_processors=table.processors_defined,
        storage_bytes=table.storage_bytes,
        storage_free_bytes=table.storage_free_bytes,
    )


def classes_of_rmf_xml(inputs: Inputs) -> Any:
    """Facts of transport classes."""
    table = inputs.table(
        "rmf_xml_xcf_system",
        "interval_seconds",
        "buffer_length",
        "requests",
        "small_percent",
        "fit_percent",
        "big_percent",
        "paths_unavailable",
        "requests_rejected",
        text=("direction", "remote_system", "transport_class"),
    )
    return table.select(
        **identity(table),
        other_system=table.remote_system,
        direction=table.direction,
        transport_class=table.transport_class,
        interval_seconds=table.interval_seconds,
        no_buffer=table.requests_rejected,
        no_path=table.paths_unavailable,
        class_length=table.buffer_length,
        messages_small=table.requests * table.small_percent / 100.0,
        messages_fit=table.requests * table.fit_percent / 100.0,
        messages_big=table.requests * table.big_percent / 100.0,
    )


def paths_of_rmf_xml(inputs: Inputs) -> Any:
    """Facts of signalling paths."""
    table = inputs.table(
        "rmf_xml_xcf_path",
        "interval_seconds",
        "requests",
        "path_available",
        "path_busy",
        "restarts",
        "buffers_unavailable",
        "transfer_seconds",
        text=("direction", "remote_system", "path_type", "path", "transport_class"),
    )
    return table.select(
        **identity(table),
        other_system=table.remote_system,
        direction=table.direction,
        path=table.path,
        path_type=table.path_type,
        transport_class=table.transport_class,
        interval_seconds=table.interval_seconds,
        signals=table.requests,
        found_free=table.path_available,
        found_busy=table.path_busy,
        refused=table.buffers_unavailable,
        restarts=table.restarts,
        transfer_seconds=table.transfer_seconds,
    )


def members_of_rmf_xml(inputs: Inputs) -> Any:
    """Facts of group members."""
    table = inputs.table(
        "rmf_xml_xcf_member",
        "interval_seconds",
        "requests_out",
        "requests_in",
        text=("member_system", "group_name", "member_name"),
    )
    return table.select(
        **identity(table),
        member_system=table.member_system,
        group=table.group_name,
        member=table.member_name,
        interval_seconds=table.interval_seconds,
        signals_sent=table.requests_out,
        signals_received=table.requests_in,
    )
