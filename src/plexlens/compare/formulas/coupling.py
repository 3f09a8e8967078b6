"""Internal throughput, and what coupling costs of it."""

from __future__ import annotations

from plexlens.compare.formulas.formula import Formula
from plexlens.compare.quantity import exact, total

_100 = exact(100)
_CF = "Sysplex data sharing, 1996, notes to tables 5 and 6"

FORMULAS = (
    Formula(
        "itr",
        "Internal throughput rate",
        "transactions per processor-busy unit",
        "volume / (busy_percent / 100): what would be done at 100 % busy",
        _CF,
        ("volume", "busy_percent"),
        (),
        lambda volume, busy_percent: volume * _100 / busy_percent,
        "{volume} x 100 / {busy_percent}",
    ),
    Formula(
        "capacity_delta",
        "Capacity delta",
        "%",
        "(1 - itr_with / itr_without) x 100",
        _CF,
        ("itr_with", "itr_without"),
        (),
        lambda itr_with, itr_without: _100 - itr_with / itr_without * _100,
        "100 - {itr_with} / {itr_without} x 100",
    ),
    Formula(
        "coupling_efficiency",
        "Coupling efficiency",
        "%",
        "itr_with / itr_without x 100: what is left of the throughput of a system on its own",
        _CF,
        ("itr_with", "itr_without"),
        (),
        lambda itr_with, itr_without: itr_with / itr_without * _100,
        "{itr_with} / {itr_without} x 100",
    ),
    Formula(
        "increased_cpu_percent",
        "Increased CPU time",
        "%",
        "(itr_without / itr_with - 1) x 100",
        _CF,
        ("itr_with", "itr_without"),
        (),
        lambda itr_with, itr_without: itr_without / itr_with * _100 - _100,
        "{itr_without} / {itr_with} x 100 - 100",
    ),
    Formula(
        "accesses_per_transaction",
        "Coupling facility accesses per transaction",
        "accesses",
        "requests_per_second / transactions_per_second",
        "Sysplex data sharing, 1996, tables 11 to 14",
        ("requests_per_second", "transactions_per_second"),
        (),
        lambda requests_per_second, transactions_per_second: requests_per_second / transactions_per_second,
        "{requests_per_second} / {transactions_per_second}",
    ),
    Formula(
        "cf_delay_us",
        "Coupling facility delay per transaction",
        "\u00b5s",
        "requests_per_second x service_us / sum of rates",
        "Sysplex data sharing, 1996, tables 11 to 14",
        ("requests_per_second", "service_us"),
        ("rates",),
        lambda requests_per_second, service_us, rates: requests_per_second * service_us / total(rates),
        "{requests_per_second} x {service_us} / ({rates})",
    ),
)
