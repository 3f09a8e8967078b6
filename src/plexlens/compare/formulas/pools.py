"""Db2 buffer pools and log: I/O, hit ratios, the cost of I/O."""

from __future__ import annotations

from plexlens.compare.formulas.formula import Formula
from plexlens.compare.quantity import exact, total

_100 = exact(100)
_POOLS = "Db2 buffer pool tuning, 2014, pool screens"
_PM = "Db2 statistics report, as the 2014 study prints it"

FORMULAS = (
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
)
