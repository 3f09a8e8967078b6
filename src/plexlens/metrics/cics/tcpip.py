"""TCP/IP services of a region, and its sockets."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.cics.records import common, plus, statistics
from plexlens.metrics.definition import Rollup
from plexlens.metrics.fields import Field, columns_of, names_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import MIB

_SERVICE = (
    Field("transactions", "Transactions attached", "SOR_TRANS_ATTACHED"),
    Field("connections", "Connections at the end", "SOR_CURRENT_CONNS", rollup=Rollup.LEVEL),
    Field("peak_connections", "Most connections", "SOR_PEAK_CONNS", rollup=Rollup.PEAK),
    Field("backlog_limit", "Limit of connection requests waiting", "SOR_BACKLOG", rollup=Rollup.SETTING),
    Field("sends", "Sends", "SOR_SENDS"),
    Field("sent_bytes", "Bytes sent", "SOR_BYTES_SENT", MIB),
    Field("receives", "Receives", "SOR_RECEIVES"),
    Field("received_bytes", "Bytes received", "SOR_BYTES_RECEIVED", MIB),
)

_SOCKETS = (
    Field("socket_limit", "Limit of sockets (MAXSOCKETS)", "SOG_MAXSOCKETS_LIMIT", rollup=Rollup.SETTING),
    Field("inbound_sockets", "Inbound sockets at the end", "SOG_CURR_INBOUND_SOCKETS", rollup=Rollup.LEVEL),
    Field("peak_inbound_sockets", "Most inbound sockets", "SOG_PEAK_INBOUND_SOCKETS", rollup=Rollup.PEAK),
    Field("outbound_sockets", "Outbound sockets at the end", "SOG_CURR_OUTB_SOCKETS", rollup=Rollup.LEVEL),
    Field("peak_outbound_sockets", "Most outbound sockets", "SOG_PEAK_OUTB_SOCKETS", rollup=Rollup.PEAK),
)


def _tcpip(inputs: Inputs) -> Any:
    parts = []
    if inputs.has("smf110_2_tcpip_service"):
        table = statistics(
            inputs, "smf110_2_tcpip_service", *names_of(_SERVICE), "sor_port_number", text=("sor_service_name",)
        )
        parts.append(
            table.select(
                **common(table),
                service=table.sor_service_name,
                port=table.sor_port_number.cast("int64").cast("string"),
                **columns_of(table, _SERVICE),
            )
        )
    if inputs.has("smf110_2_tcpip"):
        table = statistics(inputs, "smf110_2_tcpip", *names_of(_SOCKETS))
        parts.append(
            table.select(
                **common(table),
                service=ibis.literal("(region)"),
                port=ibis.null("string"),
                **columns_of(table, _SOCKETS),
            )
        )
    return plus(*parts)
