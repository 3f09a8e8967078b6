"""Units of facts and metrics: base units inside, one conversion at display.

A metric is computed in its base unit (seconds, bytes, counts, fractions). ``shown_in`` names the unit in which people
read it (microseconds for a coupling facility request, percent for a fraction); only `Unit.factor` converts.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """A unit of measurement.

    Parameters
    ----------
    symbol
        What is printed after the number; empty for plain counts and ratios.
    base
        Symbol of the base unit in which values of this unit are kept.
    factor
        A value in this unit = a value in the base unit x ``factor``.
    digits
        Decimals a report shows.
    ceiling
        The most that a value can be, in the base unit: 1 for a share of a whole; None where nothing bounds it.
    """

    symbol: str
    base: str
    factor: float = 1.0
    digits: int = 2
    ceiling: float | None = None


SECONDS = Unit("s", "s", 1.0, 3)
WHOLE_SECONDS = Unit("s", "s", 1.0, 0)
MILLISECONDS = Unit("ms", "s", 1e3, 3)
MICROSECONDS = Unit("µs", "s", 1e6, 1)
BYTES = Unit("bytes", "bytes", 1.0, 0)
KIB = Unit("KiB", "bytes", 1 / 1024, 0)
MIB = Unit("MiB", "bytes", 1 / 1024**2, 1)
GIB = Unit("GiB", "bytes", 1 / 1024**3, 2)
COUNT = Unit("", "count", 1.0, 0)
MEAN_COUNT = Unit("", "count", 1.0, 2)
PER_SECOND = Unit("/s", "1/s", 1.0, 2)
BYTES_PER_SECOND = Unit("MiB/s", "bytes/s", 1 / 1024**2, 2)
#: A share of a whole.
FRACTION = Unit("%", "fraction", 100.0, 1, ceiling=1.0)
#: One amount as a percentage of another that does not bound it: events per request, several processors as of one.
PERCENTAGE = Unit("%", "fraction", 100.0, 1)
IO_INTENSITY = Unit("ms/s", "s/s", 1e3, 1)
RATIO = Unit("", "ratio", 1.0, 2)
PROCESSORS = Unit("CPUs", "processors", 1.0, 2)
MSU = Unit("MSU", "MSU", 1.0, 1)
SERVICE_UNITS = Unit("SU", "SU", 1.0, 0)
SQUARE_SECONDS = Unit("s²", "s²", 1.0, 6)
FRAMES = Unit("frames", "frames", 1.0, 0)
SLOTS = Unit("slots", "slots", 1.0, 0)
PAGES = Unit("pages", "pages", 1.0, 0)
TEXT = Unit("", "text")
