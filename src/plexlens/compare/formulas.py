"""The formulas by which derived columns of studies are worked out: one place, each with unit, text and source.

A formula is a function of quantities (`plexlens.compare.quantity`), so the bounds that the printed digits leave go
through it with the numbers. Arguments are single quantities, or lists where their name stands in ``lists``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from plexlens.compare.quantity import Quantity, exact, total

Argument = Quantity | list[Quantity]

_100 = exact(100)


@dataclass(frozen=True)
class Formula:
    """How a derived column follows from others.

    Parameters
    ----------
    name, title
        What a study names it by, and what a report calls it.
    unit
        Unit of the result; empty for that of the arguments.
    text
        The formula in words and symbols, with the names of the arguments.
    source
        Study and table, or manual, that defines it.
    singles, lists
        Names of the arguments that are one number, and of those that are any number of them.
    compute
        From the arguments by name to the result.
    worked
        The arithmetic with ``{argument}`` in the places of the numbers; those of a list are joined by a plus.
    """

    name: str
    title: str
    unit: str
    text: str
    source: str
    singles: tuple[str, ...]
    lists: tuple[str, ...]
    compute: Callable[..., Quantity] = field(repr=False)
    worked: str

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of all arguments."""
        return self.singles + self.lists

    def __call__(self, arguments: Mapping[str, Argument]) -> Quantity:
        """The result.

        Raises
        ------
        UndefinedError
            A divisor is zero or may be zero within its rounding.
        """
        return self.compute(**arguments)


def _weighted(values: list[Quantity], weights: list[Quantity]) -> Quantity:
    if len(values) != len(weights):
        raise ValueError(f"{len(values)} values have {len(weights)} weights")
    return total(value * weight for value, weight in zip(values, weights, strict=True)) / total(weights)


def _total(values: list[Quantity]) -> Quantity:
    return total(values)


def _mean(values: list[Quantity]) -> Quantity:
    return total(values) / exact(len(values))


_CICS = "CICS ways in, 2012, tables 1 to 43"
_POOLS = "Db2 buffer pool tuning, 2014, pool screens"
_PM = "Db2 statistics report, as the 2014 study prints it"
_XML = "Db2 9 XML and zIIP, 2008, values table and percentages"
_CF = "Sysplex data sharing, 1996, notes to tables 5 and 6"
_RMF = "RMF coupling facility activity report, as the 1996 study prints it"


def _all() -> tuple[Formula, ...]:
    return (
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
            "pool_io",
            "Reads and writes of a pool",
            "I/Os",
            "reads_per_second x seconds + writes",
            _POOLS,
            ("reads_per_second", "seconds", "writes"),
            (),
            lambda reads_per_second, seconds, writes: reads_per_second * seconds + writes,
            "{reads_per_second} x {seconds} + {writes}",
        ),
        Formula(
            "pool_reads_per_second",
            "Read I/Os of a pool a second",
            "1/s",
            "(ios - writes) / seconds",
            _POOLS,
            ("ios", "writes", "seconds"),
            (),
            lambda ios, writes, seconds: (ios - writes) / seconds,
            "({ios} - {writes}) / {seconds}",
        ),
        Formula(
            "hit_ratio",
            "Hit ratio",
            "%",
            "(getpages - pages_read) / getpages x 100; negative where prefetch reads more pages than are asked for",
            _POOLS,
            ("getpages",),
            ("pages_read",),
            lambda getpages, pages_read: _100 - total(pages_read) / getpages * _100,
            "100 - ({pages_read}) / {getpages} x 100",
        ),
        Formula(
            "pages_per_io",
            "Pages per I/O",
            "pages",
            "pages / sum of ios",
            _POOLS,
            ("pages",),
            ("ios",),
            lambda pages, ios: pages / total(ios),
            "{pages} / ({ios})",
        ),
        Formula(
            "io_cpu_seconds",
            "CPU time of I/O",
            "s",
            "ios x cpu_us_per_io / 1,000,000",
            _POOLS,
            ("ios", "cpu_us_per_io"),
            (),
            lambda ios, cpu_us_per_io: ios * cpu_us_per_io / exact(1_000_000),
            "{ios} x {cpu_us_per_io} / 1,000,000",
        ),
        Formula(
            "io_elapsed_seconds",
            "Elapsed time of I/O",
            "s",
            "ios x ms_per_io / 1000",
            _POOLS,
            ("ios", "ms_per_io"),
            (),
            lambda ios, ms_per_io: ios * ms_per_io / exact(1000),
            "{ios} x {ms_per_io} / 1000",
        ),
        Formula(
            "delay_per_day",
            "Delay over 24 hours",
            "s",
            "delay x 86,400 / seconds: the delay of the measured time, kept up for a day",
            _POOLS,
            ("delay", "seconds"),
            (),
            lambda delay, seconds: delay * exact(86_400) / seconds,
            "{delay} x 86,400 / {seconds}",
        ),
        Formula(
            "cpu_seconds_per_io",
            "CPU time per prefetch read",
            "s",
            "cpu_seconds / reads",
            "Db2 buffer pool tuning, 2014, page fix table",
            ("cpu_seconds", "reads"),
            (),
            lambda cpu_seconds, reads: cpu_seconds / reads,
            "{cpu_seconds} / {reads}",
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
            "log_rate",
            "Bytes written to one log",
            "MiB/s",
            "ci_written_per_second / 2 x 4096 / 2^20: both copies of the log are counted, a control interval is 4 KiB",
            _PM,
            ("ci_written_per_second",),
            (),
            lambda ci_written_per_second: ci_written_per_second / exact(512),
            "{ci_written_per_second} / 2 x 4096 / 1,048,576",
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


#: Every formula by name.
FORMULAS: dict[str, Formula] = {formula.name: formula for formula in _all()}
