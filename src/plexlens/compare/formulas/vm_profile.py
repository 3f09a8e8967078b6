"""Changes between runs, paths through a program, data moved over a link, engines, and users of a customer's system."""

from __future__ import annotations

from plexlens.compare.formulas.formula import Formula
from plexlens.compare.quantity import exact, total

_100 = exact(100)
_PAPER = "VM/ESA 1.1 performance report, 1992, "

FORMULAS = (
    Formula(
        "percent_of_base",
        "Difference in percent of a base",
        "%",
        "difference / base x 100: where a table prints the difference, and the percentage follows from it",
        _PAPER + "tables 33 and 42 to 51",
        ("difference", "base"),
        (),
        lambda difference, base: difference / base * _100,
        "{difference} / {base} x 100",
    ),
    Formula(
        "pages_referred_to",
        "Pages that a command refers to",
        "pages",
        "shared + sum of non_shared",
        _PAPER + "table 48 and appendix A",
        ("shared",),
        ("non_shared",),
        lambda shared, non_shared: shared + total(non_shared),
        "{shared} + {non_shared}",
    ),
    Formula(
        "kilobytes_per_second",
        "Data moved in a second",
        "KB/s",
        "bytes / ms: thousands of bytes a second",
        _PAPER + "tables 55 to 57",
        ("bytes", "ms"),
        (),
        lambda bytes, ms: bytes / ms,
        "{bytes} / {ms}",
    ),
    Formula(
        "lines_of_controllers",
        "Lines of communication controllers",
        "lines",
        "controllers x lines",
        _PAPER + "communications of each measurement",
        ("controllers", "lines"),
        (),
        lambda controllers, lines: controllers * lines,
        "{controllers} x {lines}",
    ),
    Formula(
        "engine_efficiency_percent",
        "Throughput per engine against that of the smaller machine",
        "%",
        "itrr x base_engines / engines x 100: what is left of each engine with more of them in the machine",
        _PAPER + "tables 31 and 32",
        ("itrr", "engines", "base_engines"),
        (),
        lambda itrr, engines, base_engines: itrr * base_engines / engines * _100,
        "{itrr} x {base_engines} / {engines} x 100",
    ),
    Formula(
        "storage_per_user_kib",
        "Real and expanded storage per user",
        "KiB",
        "sum of storage / 1024 / users",
        _PAPER + "table 34",
        ("users",),
        ("storage",),
        lambda users, storage: total(storage) / exact(1024) / users,
        "({storage}) / 1024 / {users}",
    ),
    Formula(
        "weight_per_user",
        "Processor time of a user against the mean",
        "",
        "cpu_percent / sum_of_cpu x sum_of_users / users_percent: share of processor time over share of users",
        _PAPER + "appendix F",
        ("cpu_percent", "sum_of_cpu", "users_percent", "sum_of_users"),
        (),
        lambda cpu_percent, sum_of_cpu, users_percent, sum_of_users: (
            cpu_percent / sum_of_cpu * sum_of_users / users_percent
        ),
        "{cpu_percent} / {sum_of_cpu} x {sum_of_users} / {users_percent}",
    ),
    Formula(
        "users_of_class",
        "Users in a class",
        "users",
        "users x percent / 100",
        _PAPER + "appendix F",
        ("users", "percent"),
        (),
        lambda users, percent: users * percent / _100,
        "{users} x {percent} / 100",
    ),
)
