"""CICS transactions and TCBs."""

from __future__ import annotations

from plexlens.compare.formulas.formula import Formula
from plexlens.compare.quantity import exact, total

_100 = exact(100)
_CICS = "CICS ways in, 2012, tables 1 to 43"

FORMULAS = (
    Formula(
        "cpu_ms_per_transaction",
        "CPU time per transaction",
        "ms",
        "sum of cpu_percent x 10 / rate: percent of one processor, hundredths of a second a second, over "
        "transactions a second",
        _CICS,
        ("rate",),
        ("cpu_percent",),
        lambda rate, cpu_percent: total(cpu_percent) * exact(10) / rate,
        "({cpu_percent}) x 10 / {rate}",
    ),
    Formula(
        "dispatched_percent",
        "CPU time of a TCB against its dispatched time",
        "%",
        "cpu_seconds / dispatched_seconds x 100; what is missing was lost to other work on the processors",
        "CICS ways in, 2012, table 3",
        ("cpu_seconds", "dispatched_seconds"),
        (),
        lambda cpu_seconds, dispatched_seconds: cpu_seconds / dispatched_seconds * _100,
        "{cpu_seconds} / {dispatched_seconds} x 100",
    ),
)
