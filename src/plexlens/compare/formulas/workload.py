"""Processor time of workloads, specialty engines, Little's law."""

from __future__ import annotations

from plexlens.compare.formulas.formula import Formula
from plexlens.compare.quantity import exact, total

_100 = exact(100)
_XML = "Db2 9 XML and zIIP, 2008, values table and percentages"

FORMULAS = (
    Formula(
        "busy_interval_seconds",
        "Length of the interval",
        "s",
        "cpu_seconds / (busy_percent / 100), of one and the same work",
        "RMF workload activity report, which prints seconds and percent of one processor",
        ("cpu_seconds", "busy_percent"),
        (),
        lambda cpu_seconds, busy_percent: cpu_seconds * _100 / busy_percent,
        "{cpu_seconds} x 100 / {busy_percent}",
    ),
    Formula(
        "applied_percent",
        "Percent of one processor",
        "%",
        "sum of cpu_seconds / seconds x 100 - elsewhere: processor time on processors of one kind, less what "
        "ran on the other kinds",
        "RMF workload activity report, APPL %",
        ("seconds", "elsewhere"),
        ("cpu_seconds",),
        lambda seconds, elsewhere, cpu_seconds: total(cpu_seconds) / seconds * _100 - elsewhere,
        "({cpu_seconds}) / {seconds} x 100 - {elsewhere}",
    ),
    Formula(
        "ziip_eligible_percent",
        "zIIP-eligible work",
        "%",
        "(ziip + eligible_on_cp) / (ziip + cp) x 100, each in percent of one processor",
        _XML,
        ("ziip", "eligible_on_cp", "cp"),
        (),
        lambda ziip, eligible_on_cp, cp: (ziip + eligible_on_cp) / (ziip + cp) * _100,
        "({ziip} + {eligible_on_cp}) / ({ziip} + {cp}) x 100",
    ),
    Formula(
        "ziip_redirected_percent",
        "Work redirected to zIIPs",
        "%",
        "ziip / (ziip + cp) x 100, of all work and not of the eligible part",
        _XML,
        ("ziip", "cp"),
        (),
        lambda ziip, cp: ziip / (ziip + cp) * _100,
        "{ziip} / ({ziip} + {cp}) x 100",
    ),
    Formula(
        "mean_in_system",
        "Transactions in the system",
        "transactions",
        "transactions_per_second x response_ms / 1000 (Little's law)",
        "RMF workload activity report, AVG",
        ("transactions_per_second", "response_ms"),
        (),
        lambda transactions_per_second, response_ms: transactions_per_second * response_ms / exact(1000),
        "{transactions_per_second} x {response_ms} / 1000",
    ),
    Formula(
        "response_by_little",
        "Response time from transactions in the system",
        "ms",
        "in_system / transactions_per_second x 1000 (Little's law)",
        "RMF workload activity report, AVG and ACTUAL",
        ("in_system", "transactions_per_second"),
        (),
        lambda in_system, transactions_per_second: in_system / transactions_per_second * exact(1000),
        "{in_system} / {transactions_per_second} x 1000",
    ),
)
