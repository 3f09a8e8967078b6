"""Results of tools that keep no line per request: totals, and a course, as the tool prints them."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from plexlens.ingest.load_test.request import Note

_LOCUST_TOTALS = ("Type", "Name", "Request Count", "Failure Count", "Median Response Time", "Average Response Time")
_LOCUST_COURSE = ("Timestamp", "User Count", "Type", "Name", "Total Request Count", "Total Failure Count")
_ALL = "Aggregated"
#: Name of the total of all transactions.
ALL = "(all)"
#: wrk2 prints this above percentiles that count from the time at which each request was due.
CORRECTED = "HdrHistogram - Recorded Latency"
_UNIT = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_WRK = re.compile(r"Running (?P<length>[\d.]+)(?P<unit>us|ms|s|m|h) test @ (?P<target>\S+)")


@dataclass(frozen=True)
class Total:
    """Totals of a transaction as its tool prints them; seconds; None where it prints none.

    Attributes
    ----------
    percentiles
        Response times by percentile (50.0 is the median).
    """

    transaction: str
    requests: int
    errors: int
    mean: float | None = None
    shortest: float | None = None
    longest: float | None = None
    seconds: float | None = None
    percentiles: dict[float, float] = field(default_factory=dict)


@dataclass(frozen=True)
class CoursePoint:
    """Requests of a transaction since the point before."""

    time: datetime
    transaction: str
    requests: int
    errors: int
    users: float | None


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _cells(text: str, heads: tuple[str, ...]) -> list[dict[str, str]] | None:
    reader = csv.DictReader(text.splitlines())
    try:
        if not set(heads) <= set(reader.fieldnames or ()):
            return None
        return [{name: value or "" for name, value in row.items() if name} for row in reader]
    except csv.Error:
        return None


def locust_totals(text: str, note: Note) -> list[Total] | None:
    """Totals of Locust's ``_stats.csv``; None for another file."""
    rows = _cells(text, _LOCUST_TOTALS)
    if rows is None:
        return None
    totals = []
    for line, row in enumerate(rows, 2):
        name = row["Name"]
        count, failed = _number(row["Request Count"]), _number(row["Failure Count"])
        if name == _ALL and not row["Type"]:
            name = ALL
        if count is None or failed is None:
            note("line without a number of requests", 1, f"line {line}")
            continue
        spread = {
            percent: value / 1e3
            for head, cell in row.items()
            if head.endswith("%")
            and (percent := _number(head[:-1])) is not None
            and (value := _number(cell)) is not None
        }
        mean, low, high = (
            None if (value := _number(row.get(f"{what} Response Time"))) is None else value / 1e3
            for what in ("Average", "Min", "Max")
        )
        rate = _number(row.get("Requests/s"))
        length = count / rate if rate else None
        totals.append(Total(name, int(count), int(failed), mean, low, high, length, spread))
    return totals


def locust_course(text: str, note: Note) -> list[CoursePoint] | None:
    """Course of Locust's ``_stats_history.csv``; None for another file.

    Counts in the file run since the start of the test; a point has those since the point before of its transaction.
    """
    rows = _cells(text, _LOCUST_COURSE)
    if rows is None:
        return None
    last: dict[str, tuple[float, float]] = {}
    points = []
    for line, row in enumerate(rows, 2):
        name = row["Name"]
        if name == _ALL and not row["Type"]:
            continue
        stamp, count, failed = (
            _number(row[head]) for head in ("Timestamp", "Total Request Count", "Total Failure Count")
        )
        if stamp is None or count is None or failed is None or not 31_536_000 < stamp < 7_258_118_400:
            note("line without a time or a number of requests", 1, f"line {line}")
            continue
        before = last.get(name, (0.0, 0.0))
        if count < before[0] or failed < before[1]:
            note("count below the count before", 1, f"line {line}")
            before = (0.0, 0.0)
        last[name] = (count, failed)
        time = datetime.fromtimestamp(stamp, UTC)
        users = _number(row["User Count"])
        points.append(CoursePoint(time, name, int(count - before[0]), int(failed - before[1]), users))
    return points


def wrk_total(text: str, note: Note) -> list[Total] | None:
    """The totals that wrk and wrk2 print; None for another file."""
    begun = _WRK.search(text)
    counted = re.search(r"(?P<requests>\d{1,18}) requests in (?P<seconds>[\d.]+)(?P<unit>us|ms|s|m|h)", text)
    if begun is None:
        return None
    length = None if counted is None else _duration(counted["seconds"] + counted["unit"])
    if counted is None or length is None:
        note("no line with the number of requests and the length of the test", 1, "")
        return []
    latency = re.search(r"Latency\s+(?P<mean>\S+)\s+(?P<dev>\S+)\s+(?P<max>\S+)", text)
    spread = {}
    for percent, time in re.findall(r"^\s*([\d.]+)%\s+(\S+)\s*$", text, re.MULTILINE):
        seconds = _duration(time)
        share = _number(percent)
        if seconds is not None and share is not None:
            spread[share] = seconds
    failed = sum(int(number) for number in re.findall(r"Non-2xx or 3xx responses: (\d{1,18})", text))
    sockets = re.search(
        r"Socket errors: connect (\d{1,18}), read (\d{1,18}), write (\d{1,18}), timeout (\d{1,18})", text
    )
    # wrk counts responses as requests: one that ended in a socket error is in no other number that it prints.
    unanswered = 0 if sockets is None else sum(int(number) for number in sockets.groups()[:3])
    if sockets is not None and (late := int(sockets[4])):
        # A request that waits is a timeout at each look of wrk, and a response if it comes after all.
        note("timeout, which wrk counts again while the same request waits", late, "")
    mean, longest = (None, None) if latency is None else (_duration(latency["mean"]), _duration(latency["max"]))
    responses = int(counted["requests"])
    # wrk2 forgets the response times of its calibration, the first ten seconds; without --latency it prints no number.
    timed = re.search(r"^#\[Max .*Total count\s*=\s*(\d{1,18})\]", text, re.MULTILINE)
    if timed is not None and int(timed[1]) < responses:
        note(
            "response time of a request that wrk2 did not keep, such as those of its calibration",
            responses - int(timed[1]),
            "",
        )
    requests = responses + unanswered
    return [Total(begun["target"], requests, failed + unanswered, mean, None, longest, length, spread)]


def _duration(text: str) -> float | None:
    match = re.fullmatch(r"([\d.]+)(us|ms|s|m|h)", text)
    number = _number(match[1]) if match is not None else None
    return None if match is None or number is None else number * _UNIT[match[2]]
