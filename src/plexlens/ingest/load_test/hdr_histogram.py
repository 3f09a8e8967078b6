"""HdrHistogram files: logs with a histogram per interval, and percentile distributions as text.

Format of both: HdrHistogram 2.2, ``HistogramLogWriter`` and ``outputPercentileDistribution``. Neither states the unit
of its values. A log prints the largest value of each interval divided by a constant, by default from nanoseconds to
milliseconds; the printed number is taken as milliseconds, from which the unit follows. Values of a distribution are
taken as milliseconds.
"""

from __future__ import annotations

import csv
import math
import re
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any

from plexlens.errors import UsageError
from plexlens.ingest.load_test.request import Note
from plexlens.ingest.load_test.summary import ALL, CoursePoint, Total

TOOL = "HdrHistogram"
PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9)
_LOG = "#[Histogram log format version"
_DISTRIBUTION = re.compile(r"\s*Value\s+Percentile\s+TotalCount\s+1/\(1-Percentile\)")
_START = re.compile(r"#\[(?:StartTime|BaseTime): ([\d.]{1,20}) ")
_MEAN = re.compile(r"#\[Mean\s*=\s*([\d.]+),")
_MAX = re.compile(r"#\[Max\s*=\s*([\d.]+), Total count\s*=\s*(\d{1,18})\]")
#: Largest value of a sum of intervals: 36 years in nanoseconds.
WIDEST = 1 << 60
#: Significant digits of a sum, at least.
DIGITS = 3
#: Time stamps above this are since 1970, others since the start of the log.
_YEAR = 31_536_000.0
#: Reason under which all requests are noted.
NO_FAILURES = "request of which the file does not say whether it failed; it counts as good"


def is_log(text: str) -> bool:
    """Whether a file is a log of histograms."""
    return text.startswith(_LOG) or (text.startswith("#[") and '"StartTimestamp","Interval_Length"' in text[:2000])


def is_distribution(text: str) -> bool:
    """Whether a file is a percentile distribution."""
    return _DISTRIBUTION.match(text) is not None


def log_totals(text: str, note: Note) -> tuple[list[Total], list[CoursePoint]]:
    """Totals by tag, and the number of values of each interval.

    Raises
    ------
    UsageError
        The package hdrhistogram, which decodes histograms, is not installed.
    """
    if find_spec("hdrh") is None:
        raise UsageError(
            file="",
            what="the package hdrhistogram, which decodes logs of HdrHistogram, is not installed",
            remedy="install it with `pip install 'plexlens[load]'`",
        )
    from hdrh.histogram import HdrHistogram

    start = _START.search(text)
    base = float(start[1]) if start is not None else None
    sums: dict[str, Any] = {}
    spans: dict[str, tuple[float, float]] = {}
    scales: dict[str, float] = {}
    course: list[CoursePoint] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith(("#", '"StartTimestamp"')):
            continue
        cells = next(csv.reader([line]))
        tag = ""
        if cells[0].startswith("Tag="):
            tag, cells = cells[0][4:], cells[1:]
        try:
            begin, length, largest = (float(cell) for cell in cells[:3])
            if not all(math.isfinite(value) for value in (begin, length, largest)) or length < 0:
                raise ValueError("a number of the interval")
            histogram = HdrHistogram.decode(cells[3].strip())
            count, top = histogram.get_total_count(), histogram.get_max_value()
        except Exception:
            # The decoder raises whatever its parts raise at bytes that are damaged.
            note("interval that cannot be decoded", 1, f"line {number}")
            continue
        if count and top and largest > 0:
            scales.setdefault(tag, _per_second(top / largest))
        if tag not in sums:
            # Intervals have just the range that their own values need.
            sums[tag] = HdrHistogram(1, WIDEST, max(DIGITS, histogram.significant_figures))
        sums[tag].add(histogram)
        first, last = spans.get(tag, (begin, begin))
        spans[tag] = (min(first, begin), max(last, begin + length))
        if tag not in {point.transaction for point in course[-50:]}:
            _point(course, begin, base, tag, 0)
        _point(course, begin + length, base, tag, int(count))
    if len(sums) > 1 and "" not in sums and len(set(scales.values())) == 1:
        # Histograms add up, so all tags together have percentiles too.
        whole = HdrHistogram(1, WIDEST, max(histogram.significant_figures for histogram in sums.values()))
        for histogram in sums.values():
            whole.add(histogram)
        spans[""] = (min(begin for begin, _ in spans.values()), max(end for _, end in spans.values()))
        scales[""] = next(iter(scales.values()))
        sums[""] = whole
    totals = [
        _total(tag or ALL, histogram, scales.get(tag, 1e9), spans[tag][1] - spans[tag][0])
        for tag, histogram in sums.items()
        if histogram.get_total_count()
    ]
    if requests := sum(total.requests for total in totals if len(totals) == 1 or total.transaction != ALL):
        note(NO_FAILURES, requests, "")
    return totals, course


def _per_second(ratio: float) -> float:
    """Units per second, from value over printed milliseconds: the next power of ten."""
    return float(10 ** (round(math.log10(ratio)) + 3))


def _point(course: list[CoursePoint], second: float, base: float | None, tag: str, count: int) -> None:
    moment = second if second > _YEAR else None if base is None else base + second
    if moment is not None and _YEAR < moment < 7_258_118_400:
        course.append(CoursePoint(datetime.fromtimestamp(moment, UTC), tag or ALL, count, 0, None))


def _total(tag: str, histogram: Any, per_second: float, seconds: float) -> Total:
    spread = {percent: histogram.get_value_at_percentile(percent) / per_second for percent in PERCENTILES}
    return Total(
        tag,
        int(histogram.get_total_count()),
        0,
        histogram.get_mean_value() / per_second,
        histogram.get_min_value() / per_second,
        histogram.get_max_value() / per_second,
        seconds or None,
        spread,
    )


def distribution_total(text: str, note: Note) -> list[Total]:
    """The total of a percentile distribution; a percentile is the value of the first line that reaches it."""
    mean, most = _MEAN.search(text), _MAX.search(text)
    rows: list[tuple[float, float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.split()
        if not cells or line.startswith("#[") or cells[0] == "Value":
            continue
        try:
            value, share = float(cells[0]), float(cells[1])
            if not (math.isfinite(value) and 0 <= share <= 1):
                raise ValueError(line)
        except (ValueError, IndexError):
            note("line that is not a percentile", 1, f"line {number}")
            continue
        rows.append((share * 100, value / 1e3))
    if most is None:
        note("no line with the number of values", 1, "")
        return []
    spread = {
        percent: min(value for share, value in rows if share >= percent)
        for percent in PERCENTILES
        if any(share >= percent for share, _ in rows)
    }
    requests = int(most[2])
    note(NO_FAILURES, requests, "")
    mean_seconds = None if mean is None else _milliseconds(mean[1])
    return [Total(ALL, requests, 0, mean_seconds, None, _milliseconds(most[1]), None, spread)]


def _milliseconds(text: str) -> float | None:
    try:
        return float(text) / 1e3
    except ValueError:
        return None
