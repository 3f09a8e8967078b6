"""TCP/IP services of a region, and its sockets."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.cics.records import APPLID, INTERVAL, any_of, common, document, plus, statistics
from plexlens.metrics.definition import Attribute, Grain, Key, Rollup
from plexlens.metrics.fields import Field, columns_of, facts_of, names_of, per_event, per_second
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import BYTES, BYTES_PER_SECOND, MIB, PERCENTAGE

_SERVICES = document("TCP/IP services: Resource statistics")
_GLOBAL = document("TCP/IP: Global statistics")

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


TCPIP = Grain(
    name="cics_tcpip",
    title="CICS TCP/IP services",
    row="one TCPIPSERVICE of one region in one statistics interval; its sockets as a whole as service (region)",
    keys=(APPLID, Key("service", "TCPIPSERVICE")),
    attributes=(Attribute("port", "Port"),),
    facts=(INTERVAL, *facts_of("SMF 110-2", _SERVICE), *facts_of("SMF 110-2", _SOCKETS)),
    sources=any_of(("smf110_2_tcpip_service", "smf110_2_tcpip"), _tcpip),
    metrics=(
        per_second("transactions_per_second", "Transactions attached", "transactions", "SOR_TRANS_ATTACHED", _SERVICES),
        per_event(
            "sent_bytes_per_second",
            "Data sent",
            BYTES_PER_SECOND,
            ("sent_bytes", "SOR_BYTES_SENT"),
            ("interval_seconds", "interval"),
            source=_SERVICES,
        ),
        per_event(
            "received_bytes_per_second",
            "Data received",
            BYTES_PER_SECOND,
            ("received_bytes", "SOR_BYTES_RECEIVED"),
            ("interval_seconds", "interval"),
            source=_SERVICES,
        ),
        per_event(
            "receive_length",
            "Bytes of a receive",
            BYTES,
            ("received_bytes", "SOR_BYTES_RECEIVED"),
            ("receives", "SOR_RECEIVES"),
            source=_SERVICES,
        ),
        per_event(
            "send_length",
            "Bytes of a send",
            BYTES,
            ("sent_bytes", "SOR_BYTES_SENT"),
            ("sends", "SOR_SENDS"),
            source=_SERVICES,
        ),
        per_event(
            "peak_inbound_fraction",
            "Most inbound sockets of the limit",
            PERCENTAGE,
            ("peak_inbound_sockets", "SOG_PEAK_INBOUND_SOCKETS"),
            ("socket_limit", "SOG_MAXSOCKETS_LIMIT"),
            source=_GLOBAL,
            caveat="Outbound sockets count against the limit too.",
        ),
    ),
)

__all__ = ["TCPIP"]
