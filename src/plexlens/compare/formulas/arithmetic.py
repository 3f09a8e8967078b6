"""Sums, means, shares and rates, of whatever is counted."""

from __future__ import annotations

from plexlens.compare.formulas.formula import Formula
from plexlens.compare.quantity import Quantity, exact, total

_100 = exact(100)
_CICS = "CICS ways in, 2012, tables 1 to 43"
_POOLS = "Db2 buffer pool tuning, 2014, pool screens"
_PM = "Db2 statistics report, as the 2014 study prints it"
_XML = "Db2 9 XML and zIIP, 2008, values table and percentages"
_RMF = "RMF coupling facility activity report, as the 1996 study prints it"


def _weighted(values: list[Quantity], weights: list[Quantity]) -> Quantity:
    if len(values) != len(weights):
        raise ValueError(f"{len(values)} values have {len(weights)} weights")
    return total(value * weight for value, weight in zip(values, weights, strict=True)) / total(weights)


def _total(values: list[Quantity]) -> Quantity:
    return total(values)


def _mean(values: list[Quantity]) -> Quantity:
    return total(values) / exact(len(values))


FORMULAS = (
    Formula(
        "mean",
        "Mean of rows",
        "",
        "sum of values / number of values",
        _CICS,
        (),
        ("values",),
        _mean,
        "({values}) / {n}",
    ),
    Formula("total", "Sum", "", "sum of values", _POOLS, (), ("values",), _total, "{values}"),
    Formula(
        "weighted_mean",
        "Mean weighted by another column",
        "",
        "sum of value x weight / sum of weights",
        _POOLS,
        (),
        ("values", "weights"),
        _weighted,
        "sum of value x weight / ({weights})",
    ),
    Formula(
        "ratio",
        "Ratio",
        "",
        "part / whole",
        _PM,
        ("part", "whole"),
        (),
        lambda part, whole: part / whole,
        "{part} / {whole}",
    ),
    Formula(
        "ratio_of_sums",
        "Ratio",
        "",
        "sum of parts / sum of wholes",
        _POOLS,
        (),
        ("parts", "wholes"),
        lambda parts, wholes: total(parts) / total(wholes),
        "({parts}) / ({wholes})",
    ),
    Formula(
        "difference",
        "Difference",
        "",
        "whole - sum of parts",
        _PM,
        ("whole",),
        ("parts",),
        lambda whole, parts: whole - total(parts),
        "{whole} - ({parts})",
    ),
    Formula(
        "percent",
        "Share",
        "%",
        "sum of parts / sum of wholes x 100",
        _PM,
        (),
        ("parts", "wholes"),
        lambda parts, wholes: total(parts) / total(wholes) * _100,
        "({parts}) / ({wholes}) x 100",
    ),
    Formula(
        "rate",
        "Events a second",
        "1/s",
        "count / seconds",
        _POOLS,
        ("count", "seconds"),
        (),
        lambda count, seconds: count / seconds,
        "{count} / {seconds}",
    ),
    Formula(
        "rate_of_all",
        "Events of all kinds a second",
        "1/s",
        "sum of counts / seconds",
        _POOLS,
        ("seconds",),
        ("counts",),
        lambda seconds, counts: total(counts) / seconds,
        "({counts}) / {seconds}",
    ),
    Formula(
        "requests_per_second",
        "Requests a second",
        "1/s",
        "requests / seconds",
        _RMF,
        ("requests", "seconds"),
        (),
        lambda requests, seconds: requests / seconds,
        "{requests} / {seconds}",
    ),
    Formula(
        "interval_seconds",
        "Length of the interval",
        "s",
        "events / events_per_second",
        "RMF and Db2 reports, which print a count and its rate",
        ("events", "events_per_second"),
        (),
        lambda events, events_per_second: events / events_per_second,
        "{events} / {events_per_second}",
    ),
    Formula(
        "milliseconds",
        "Seconds as milliseconds",
        "ms",
        "seconds x 1000",
        _XML,
        ("seconds",),
        (),
        lambda seconds: seconds * exact(1000),
        "{seconds} x 1000",
    ),
    Formula(
        "saving_percent",
        "Saving against a base",
        "%",
        "(1 - now / base) x 100",
        "Db2 buffer pool tuning, 2014, page fix table",
        ("now", "base"),
        (),
        lambda now, base: _100 - now / base * _100,
        "100 - {now} / {base} x 100",
    ),
)
