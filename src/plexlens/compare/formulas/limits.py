"""Limits of rate: ports and connections by Little's law, hardware by its service time, engines by their number."""

from __future__ import annotations

from plexlens.compare.formulas.formula import Formula
from plexlens.compare.quantity import exact

_WEB = "CICS ways in, 2012, conclusions under table 7"
_CRYPTO = "CICS ways in, 2012, example 4"

FORMULAS = (
    Formula(
        "in_use_by_little",
        "In use at one time",
        "",
        "rate x seconds_held: Little's law, for ports, connections, threads or tasks",
        _WEB,
        ("rate", "seconds_held"),
        (),
        lambda rate, seconds_held: rate * seconds_held,
        "{rate} x {seconds_held}",
    ),
    Formula(
        "rate_limit_by_little",
        "Highest rate that a number of ports allows",
        "1/s",
        "available / seconds_held: Little's law, with all of them in use",
        _WEB,
        ("available", "seconds_held"),
        (),
        lambda available, seconds_held: available / seconds_held,
        "{available} / {seconds_held}",
    ),
    Formula(
        "busy_percent_of_server",
        "Utilisation of a server",
        "%",
        "rate x service_ms / 10: milliseconds of service a second, of 1000",
        _CRYPTO,
        ("rate", "service_ms"),
        (),
        lambda rate, service_ms: rate * service_ms / exact(10),
        "{rate} x {service_ms} / 10",
    ),
    Formula(
        "rate_limit_of_server",
        "Highest rate of a server",
        "1/s",
        "1000 / service_ms: one at a time, always busy",
        _CRYPTO,
        ("service_ms",),
        (),
        lambda service_ms: exact(1000) / service_ms,
        "1000 / {service_ms}",
    ),
    Formula(
        "engines_busy",
        "Processors kept busy",
        "processors",
        "rate x cpu_ms / 1000",
        "CICS ways in, 2012, terminology",
        ("rate", "cpu_ms"),
        (),
        lambda rate, cpu_ms: rate * cpu_ms / exact(1000),
        "{rate} x {cpu_ms} / 1000",
    ),
    Formula(
        "dispatched_of_interval_percent",
        "Share of the interval that a TCB was dispatched",
        "%",
        "dispatched_seconds / (dispatched_seconds + waiting_seconds) x 100, of a mode with one TCB",
        "CICS ways in, 2012, table 3 and example 5",
        ("dispatched_seconds", "waiting_seconds"),
        (),
        lambda dispatched_seconds, waiting_seconds: (
            exact(100) * dispatched_seconds / (dispatched_seconds + waiting_seconds)
        ),
        "100 x {dispatched_seconds} / ({dispatched_seconds} + {waiting_seconds})",
    ),
)
