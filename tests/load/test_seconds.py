"""Requests by transaction and second: against a plain count, and what has no seconds."""

from __future__ import annotations

import csv
import math
import random
import statistics
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from plexlens.errors import NothingUsableError
from plexlens.ingest.load_test import read
from plexlens.load import run_of
from plexlens.load.seconds import by_second
from tests.cli.command import run

FILES = Path(__file__).parent / "files"
BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def percentile(values: list[float]) -> float:
    """The 95th, between ranks, by the definition."""
    ordered = sorted(values)
    rank = (len(ordered) - 1) * 0.95
    low, high = ordered[math.floor(rank)], ordered[math.ceil(rank)]
    return low + (high - low) * (rank - math.floor(rank))


def test_each_second_of_each_transaction_is_a_plain_count(tmp_path: Path) -> None:
    draw = random.Random(5)
    lines = ["transaction,scheduled,started,response_seconds,error"]
    expected: dict[tuple[datetime, str], list[tuple[float, float, bool]]] = defaultdict(list)
    for _ in range(3000):
        name = draw.choice(["pay", "Buy", "=look, or not"])
        due = BEGIN + timedelta(microseconds=draw.randrange(20_000_000))
        late = draw.randrange(300_000)
        began, response, failed = due + timedelta(microseconds=late), draw.randrange(1, 900_000), draw.random() < 0.1
        lines.append(f'"{name}",{due.isoformat()},{began.isoformat()},{response / 1e6},{"no" if failed else ""}')
        key = began.replace(microsecond=0), name
        expected[key].append((response / 1e6, (response + late) / 1e6, failed))
    path = tmp_path / "requests.csv"
    path.write_text("\n".join(lines) + "\n")
    rows = by_second(run_of(read(path), warm_up_seconds=0)).to_pylist()
    assert [(row["second"], row["transaction"]) for row in rows] == sorted(expected)
    for row in rows:
        group = expected[row["second"], row["transaction"]]
        responses = [response for response, _, _ in group]
        assert (row["requests"], row["failed"]) == (len(group), sum(failed for _, _, failed in group))
        assert row["mean"] == pytest.approx(statistics.mean(responses))
        assert row["p95"] == pytest.approx(percentile(responses))
        assert row["longest"] == pytest.approx(max(responses))
        assert row["from_schedule_p95"] == pytest.approx(percentile([due for _, due, _ in group]))


def test_a_driver_ahead_has_the_seconds_of_the_servers() -> None:
    test = read(FILES / "jmeter-5.6.3.csv")
    plain, moved = (by_second(run_of(test, warm_up_seconds=0, clock_seconds=ahead)) for ahead in (0.0, 3600.0))
    hour = [second - timedelta(hours=1) for second in plain["second"].to_pylist()]
    assert moved["second"].to_pylist() == hour
    assert sum(plain["requests"].to_pylist()) == 80
    assert plain["from_schedule_p95"].null_count == plain.num_rows


def test_a_course_has_the_counts_of_the_file() -> None:
    """Locust counts from the start of the test: the last count of each name is the sum of its seconds."""
    rows = by_second(run_of(read(FILES / "locust_stats_history.csv"))).to_pylist()
    with (FILES / "locust_stats_history.csv").open() as stream:
        last = {row["Name"]: int(row["Total Request Count"]) for row in csv.DictReader(stream)}
    for name in ("inquiry", "update"):
        assert sum(row["requests"] for row in rows if row["transaction"] == name) == last[name]
    assert {row["mean"] for row in rows} == {None}


def test_totals_have_no_seconds() -> None:
    with pytest.raises(NothingUsableError, match="totals of the whole test only"):
        by_second(run_of(read(FILES / "wrk-4.1.0.txt")))


def test_the_command(tmp_path: Path) -> None:
    words = ("run", str(FILES / "jmeter-5.6.3.csv"), "-o", "page.txt")
    done = run(*words, "--by-second", "seconds.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "seconds.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert (sum(int(row["requests"]) for row in rows), sum(int(row["failed"]) for row in rows)) == (80, 2)
    assert all(datetime.fromisoformat(row["second"]).tzinfo == UTC for row in rows)
    with (FILES / "jmeter-5.6.3.csv").open() as stream:
        assert max(float(row["longest_ms"]) for row in rows) == max(
            int(row["elapsed"]) for row in csv.DictReader(stream)
        )
    for wrong, what in (
        (("--by-second", "page.txt"), "name the same file"),
        (("--by-second", "none/seconds.csv"), "there is no folder"),
        (("--warm-up", "nan"), "Invalid value for '--warm-up': nan is not a number"),
        (("--warm-up", "inf"), "Invalid value for '--warm-up': inf is not a number"),
        (("--clock", "nan"), "Invalid value for '--clock': nan is not a number"),
        (("--clock=-1e18",), "--clock -1e+18 is not a number of seconds"),
    ):
        done = run(*words, *wrong, cwd=tmp_path)
        assert (done.returncode, what in done.stderr) == (2, True), (wrong, done.stderr)
