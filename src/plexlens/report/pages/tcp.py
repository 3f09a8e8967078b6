"""TCP connections that ended: by address space and port."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.model import Way

_SERVICE = ("system", "stack", "resource", "connection_role", "port")

PAGE = Page(
    order=920,
    id="tcp",
    title="TCP connections",
    lead="Connections that ended: how many, how long, how much data, round trip times and retransmissions.",
    what="TCP connections",
    ways=(
        Way(
            "SMF 119-2",
            "SMFCONFIG TYPE119 TCPTERM in the profile of the stack, and TYPE(119) in SMFPRMxx.",
        ),
    ),
    figures=(
        FigureSpec("tcp_rate", "Connections ended", "tcp_connection", "connection_rate"),
        FigureSpec("tcp_time", "Time of a connection", "tcp_connection", "connection_time", peak=False),
        FigureSpec(
            "tcp_retransmissions",
            "Most retransmissions of a port",
            "tcp_connection",
            "retransmission_fraction",
            by=_SERVICE,
            pick=Pick.HIGHEST,
        ),
        FigureSpec("tcp_secure", "Secured by AT-TLS", "tcp_connection", "secure_fraction", peak=False),
    ),
    charts=(
        ChartSpec(
            "tcp_rate_course",
            "Connections ended, by address space",
            "tcp_connection",
            ("connection_rate",),
            by=("system", "resource"),
        ),
    ),
    tables=(
        TableSpec(
            "tcp_services",
            "Address spaces and ports",
            "tcp_connection",
            (
                Shown("connections", bar=True),
                Shown("connection_rate"),
                Shown("connection_time"),
                Shown("open_connections"),
                Shown("longest_seconds"),
                Shown("bytes_per_connection"),
                Shown("in_bytes"),
                Shown("out_bytes"),
                Shown("round_trip_time"),
                Shown("retransmission_fraction"),
                Shown("secure_fraction"),
            ),
            by=_SERVICE,
            order="connections",
            course="connection_rate",
            top=30,
            note="Many short connections cost more processor time than few long ones: compare with plexlens ways-in. "
            "Connections that stay open are in no record.",
        ),
        TableSpec(
            "tcp_ports",
            "Ports of clients",
            "tcp_connection",
            (
                Shown("connection_rate"),
                Shown("connection_time"),
                Shown("open_connections"),
                Shown("ports_held"),
                Shown("ports_held_fraction", bar=True),
            ),
            by=("system", "stack"),
            order="ports_held",
            where="connection_role = 'client'",
            note="Clients that open a connection for each request run out of ports at about 1,000 connections per "
            "second: a port stays for about 60 s after the end, and there are 65,000. Keep connections open.",
        ),
    ),
)
