"""Requests by the million take as much memory as is stated, and those of many names as long as those of few."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from plexlens.errors import UnreadableInputError
from plexlens.ingest.load_test import read, read_repeats
from plexlens.ingest.load_test.reading import REQUEST_BYTES
from plexlens.load import run_of
from tests.cli.command import run

# Reads a file, makes its numbers, and prints the most bytes that the process ever had.
PEAK = """
import resource, sys
from pathlib import Path
from plexlens.ingest.load_test import read
from plexlens.load import run_of
run_of(read(Path(sys.argv[1])))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""

Row = tuple[int, int, str, bool]


def rows_of(count: int, names: int) -> Iterator[Row]:
    draw = random.Random(count)
    time = 1_700_000_000_000
    for _ in range(count):
        time += draw.randrange(4)
        yield time, draw.randrange(1000), f"GET /order/{draw.randrange(names)}", draw.random() < 0.9


def written(path: Path, rows: list[Row]) -> Path:
    lines = (f"{time},{elapsed},{name},{str(good).lower()}\n" for time, elapsed, name, good in rows)
    path.write_text("timeStamp,elapsed,label,success\n" + "".join(lines))
    return path


def peak(path: Path) -> int:
    return int(subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, check=True).stdout)


def test_memory_per_request_is_as_stated(tmp_path: Path) -> None:
    few, many = 400_000, 1_600_000
    rows = list(rows_of(many, 10))
    small = peak(written(tmp_path / "small.jtl", rows[:few]))
    large = peak(written(tmp_path / "large.jtl", rows))
    assert large - small < (many - few) * REQUEST_BYTES


def test_a_file_beyond_the_memory_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "results.jtl", list(rows_of(1000, 3)))
    assert read(path, memory=1000 * REQUEST_BYTES).requests is not None
    with pytest.raises(UnreadableInputError, match="than --memory has for them, 199,999 bytes") as refused:
        read(path, memory=1000 * REQUEST_BYTES - 1)
    assert "raise --memory (200 bytes per request)" in refused.value.remedy
    answer = run("run", path, "--memory", "1KiB", cwd=tmp_path)
    assert (answer.returncode, answer.stdout) == (3, "")
    assert "raise --memory" in answer.stderr


def test_repeats_share_the_memory(tmp_path: Path) -> None:
    rows = list(rows_of(1000, 3))
    paths = [written(tmp_path / name, rows) for name in ("first.jtl", "second.jtl")]
    assert len(read_repeats(paths, (), None, 2000 * REQUEST_BYTES)) == 2
    with pytest.raises(UnreadableInputError, match=r"second\.jtl: its requests take more memory"):
        read_repeats(paths, (), None, 2000 * REQUEST_BYTES - 1)


def test_lines_and_course_are_those_of_a_plain_count(tmp_path: Path) -> None:
    rows = list(rows_of(5_000, 700))
    test = run_of(read(written(tmp_path / "results.jtl", rows)), warm_up_seconds=0)
    assert [line.transaction for line in test.lines[:-1]] == sorted({name for _, _, name, _ in rows})
    assert test.steady_from is not None
    assert test.steady_to is not None
    last = test.steady_to.timestamp() * 1000
    for line in test.lines[:-1]:
        own = [(elapsed / 1000, good) for time, elapsed, name, good in rows if name == line.transaction and time < last]
        assert (line.requests, line.errors) == (len(own), sum(not good for _, good in own))
        assert line.mean == pytest.approx(sum(elapsed for elapsed, _ in own) / len(own), rel=1e-12)
        assert line.percentiles[95.0] == pytest.approx(np.percentile([elapsed for elapsed, _ in own], 95))
    begin = rows[0][0]
    width = (max(time + elapsed for time, elapsed, _, _ in rows) - begin) / len(test.course)
    for number, part in enumerate(test.course[:-1]):
        own = [
            (elapsed / 1000, good)
            for time, elapsed, _, good in rows
            if number * width <= time - begin < (number + 1) * width
        ]
        assert part.rate == pytest.approx(len(own) / width * 1000)
        mean = sum(elapsed for elapsed, _ in own) / len(own) if own else None
        assert part.mean == (mean if mean is None else pytest.approx(mean))
        assert part.errors == pytest.approx(sum(not good for _, good in own) / width * 1000)


def test_each_of_many_names_has_its_line(tmp_path: Path) -> None:
    """Each of 50,000 names once: a look at all requests per name would be 2.5 thousand million looks."""
    path = written(
        tmp_path / "results.jtl", [(1_700_000_000_000 + number, 5, f"/{number}", True) for number in range(50_000)]
    )
    test = run_of(read(path), warm_up_seconds=0)
    assert len(test.lines) == 50_001
    assert all(line.requests == 1 for line in test.lines[:-1])


def test_requests_that_all_begin_at_once_have_no_warm_up(tmp_path: Path) -> None:
    """A hundred requests in a tenth of a second, whose responses take a second: no later part holds any request."""
    rows = [(1_700_000_000_000 + number, 900 + number, "GET /", True) for number in range(100)]
    test = run_of(read(written(tmp_path / "results.jtl", rows)))
    assert test.steady_from == test.start
    assert test.whole.requests == 100
