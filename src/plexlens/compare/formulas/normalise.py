"""Measurements of one machine as they would be on another, and increases over a base."""

from __future__ import annotations

from plexlens.compare.formulas.formula import Formula
from plexlens.compare.quantity import Quantity, exact

_CASE = "Sysplex data sharing, 1996, evaluation of sysplex and data sharing overhead"

_100 = exact(100)


def _not_below_zero(number: Quantity) -> Quantity:
    zero = exact(0).value
    return Quantity(max(number.value, zero), max(number.low, zero), max(number.high, zero))


FORMULAS = (
    Formula(
        "mips_per_engine",
        "MIPS per engine",
        "MIPS",
        "mips / engines",
        "Sysplex data sharing, 1996, table 3",
        ("mips", "engines"),
        (),
        lambda mips, engines: mips / engines,
        "{mips} / {engines}",
    ),
    Formula(
        "slower_percent",
        "How much slower an engine is",
        "%",
        "(1 - mips_of / mips_than) x 100",
        "Sysplex data sharing, 1996, table 3",
        ("mips_of", "mips_than"),
        (),
        lambda mips_of, mips_than: _100 - mips_of / mips_than * _100,
        "100 - {mips_of} / {mips_than} x 100",
    ),
    Formula(
        "normalised_cpu",
        "CPU time or busy percent on another machine without partitions",
        "",
        "cpu x mips_from / mips_to x (1 - lpar_overhead_percent / 100): the same instructions on engines of another "
        "speed, less what managing partitions took",
        _CASE,
        ("cpu", "mips_from", "mips_to", "lpar_overhead_percent"),
        (),
        lambda cpu, mips_from, mips_to, lpar_overhead_percent: (
            cpu * mips_from / mips_to * (exact(1) - lpar_overhead_percent / _100)
        ),
        "{cpu} x {mips_from} / {mips_to} x (1 - {lpar_overhead_percent} / 100)",
    ),
    Formula(
        "increase_percent",
        "Increase over a base",
        "%",
        "(now / base - 1) x 100",
        "Sysplex data sharing, 1996, table 7",
        ("now", "base"),
        (),
        lambda now, base: now / base * _100 - _100,
        "{now} / {base} x 100 - 100",
    ),
    Formula(
        "hit_ratio_from_zero",
        "Hit ratio, not below zero",
        "%",
        "(1 - (sync_reads + prefetch_pages) / getpages) x 100, and 0 where more pages are read than asked for",
        "Sysplex data sharing, 1996, table 9",
        ("getpages", "sync_reads", "prefetch_pages"),
        (),
        lambda getpages, sync_reads, prefetch_pages: _not_below_zero(
            _100 - (sync_reads + prefetch_pages) / getpages * _100
        ),
        "100 - ({sync_reads} + {prefetch_pages}) / {getpages} x 100",
    ),
    Formula(
        "weighted_delay_us",
        "Delay per transaction over several structures",
        "\u00b5s",
        "sum of requests_per_second x service_us / sum of rates",
        "Sysplex data sharing, 1996, text under table 12",
        (),
        ("requests_per_second", "service_us", "rates"),
        lambda requests_per_second, service_us, rates: _sum_of_products(requests_per_second, service_us) / _sum(rates),
        "sum of the products of ({requests_per_second}) with ({service_us}) / ({rates})",
    ),
)


def _sum(values: list[Quantity]) -> Quantity:
    result = exact(0)
    for one in values:
        result += one
    return result


def _sum_of_products(left: list[Quantity], right: list[Quantity]) -> Quantity:
    if len(left) != len(right):
        raise ValueError(f"{len(left)} numbers are multiplied with {len(right)}")
    return _sum([a * b for a, b in zip(left, right, strict=True)])
