"""Repeats of a test: numbers by hand, and which are left out or marked."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from plexlens.errors import NothingUsableError, UsageError
from plexlens.ingest.load_test import read
from plexlens.load import Run, repeats_of, run_of
from tests.cli.command import run as command

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)
FILES = Path(__file__).parent / "files"


def file(
    folder: Path,
    number: int,
    *,
    low: float = 0.010,
    growth: float = 0.0,
    failed: int = 0,
    rate: float = 20.0,
    late: float = 0.0,
) -> Path:
    """A test of 400 requests at even times: inquiry takes `low`, update 20 ms more; the order of both is even too."""
    lines = ["transaction,scheduled,started,response_seconds,error"]
    for place in range(400):
        due = BEGIN + timedelta(hours=number, seconds=place / 20)
        name, extra = (("inquiry", 0.0), ("update", 0.020))[place % 2]
        # A little spread, the same in each half, so that the halves have errors.
        response = low + extra + 0.0001 * (place // 20 % 3) + growth * place
        error = "abend" if place < failed * 20 and place % 20 == 0 else ""
        lines.append(f"{name},{due.isoformat()},{(due + timedelta(seconds=late)).isoformat()},{response:.6f},{error}")
    path = folder / f"test-{number}.csv"
    path.write_text("\n".join([*lines, ""]))
    return path


def driven(path: Path) -> Run:
    return run_of(read(path), warm_up_seconds=0)


def test_three_repeats_by_hand(tmp_path: Path) -> None:
    """Means of inquiry that are 1, 2 and 3 ms above the same: standard deviation 1 ms.

    t with 2 degrees of freedom at 97.5 % is 4.3027; half width 4.3027 x 1 ms / sqrt(3) = 2.4842 ms.
    """
    runs = [driven(file(tmp_path, number, low=0.010 + number * 0.001)) for number in (1, 2, 3)]
    repeats = repeats_of(runs)
    assert len(repeats.valid) == 3
    lines = {line.transaction: line for line in repeats.lines}
    inquiry = lines["inquiry"]
    means = [line.mean for run in runs for line in run.lines if line.transaction == "inquiry"]
    assert np.diff(means) == pytest.approx([0.001, 0.001], abs=1e-5)
    assert inquiry.mean == pytest.approx(sum(means) / 3)
    assert inquiry.half_width == pytest.approx(4.30265 * 0.001 / math.sqrt(3), rel=1e-3)
    assert inquiry.variation == pytest.approx(0.001 / inquiry.mean, rel=1e-3)
    assert list(lines) == ["inquiry", "update", "(all)"]
    # Over all requests together the median lies between the two kinds: 10.1 to 13.2 ms, and 31.1 to 33.2 ms.
    assert 0.0130 < lines["(all)"].percentiles[50.0] < 0.0312
    assert 0.0110 < inquiry.percentiles[50.0] < 0.0132
    assert lines["(all)"].requests == inquiry.requests + lines["update"].requests
    assert [entry.apart for entry in repeats.judged] == [(), (), ()]


def test_percentiles_from_the_schedule_hold_the_wait(tmp_path: Path) -> None:
    runs = [driven(file(tmp_path, number, late=late)) for number, late in ((1, 0.5), (2, 0.5))]
    line = repeats_of(runs).lines[-1]
    for percent, value in line.percentiles.items():
        assert line.from_schedule[percent] == pytest.approx(value + 0.5)


def test_a_repeat_that_drifts_or_fails_is_left_out(tmp_path: Path) -> None:
    """Response grows by 8 ms over one, and 20 of the 400 requests of another fail."""
    good, drifting, failing = (
        file(tmp_path, 1), file(tmp_path, 2, growth=0.00002), file(tmp_path, 3, failed=20),
    )  # fmt: skip
    repeats = repeats_of([driven(path) for path in (good, drifting, failing)])
    assert [bool(entry.invalid) for entry in repeats.judged] == [False, True, True]
    assert "response drifts" in repeats.judged[1].invalid[0]
    assert repeats.judged[2].invalid == (f"{repeats.judged[2].run.whole.error_share:.1%} of the requests failed",)
    line = repeats.lines[-1]
    assert (line.repeats, line.half_width, line.variation) == (1, None, None)
    with pytest.raises(NothingUsableError, match=r"no repeat is valid: .*test-2.csv: response drifts"):
        repeats_of([driven(drifting), driven(failing)])


def test_a_short_repeat_cannot_be_judged(tmp_path: Path) -> None:
    path = file(tmp_path, 1)
    path.write_text("\n".join(path.read_text().splitlines()[:20]))
    with pytest.raises(NothingUsableError, match="too few requests or seconds to judge"):
        repeats_of([driven(path), driven(path.rename(tmp_path / "b.csv"))][:1])


def test_a_repeat_apart_from_the_others_is_marked(tmp_path: Path) -> None:
    """Five within 0.2 ms, and one 5 ms above."""
    lows = [0.0100, 0.0101, 0.0102, 0.0101, 0.0100, 0.0150]
    runs = [driven(file(tmp_path, number, low=low)) for number, low in enumerate(lows)]
    repeats = repeats_of(runs)
    marked = [bool(entry.apart) for entry in repeats.judged]
    assert marked == [False] * 5 + [True]
    assert repeats.judged[5].apart[0].startswith("mean response ")
    assert repeats.lines[-1].repeats == 6


def test_what_are_no_repeats(tmp_path: Path) -> None:
    one = driven(file(tmp_path, 1))
    with pytest.raises(UsageError, match="the same requests as a file before it"):
        repeats_of([one, driven(file(tmp_path, 1))])
    with pytest.raises(UsageError, match="keeps no line per request"):
        repeats_of([one, run_of(read(FILES / "wrk-4.1.0.txt"))])


def test_the_command(tmp_path: Path) -> None:
    paths = [file(tmp_path, number, low=0.010 + number * 0.001) for number in (1, 2, 3)]
    paths.append(file(tmp_path, 4, growth=0.00002))
    done = command("run", *paths, "--warm-up", "0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Repeats that should not be used are left out." in done.stdout
    assert "test-4.csv: response drifts" in done.stdout
    assert "3 of 4 are pooled" in done.stdout
    done = command("run", *paths, "--warm-up", "0", "--json", cwd=tmp_path)
    answer = json.loads(done.stdout)
    assert [entry["valid"] for entry in answer["repeats"]] == [True, True, True, False]
    assert [line["repeats"] for line in answer["pooled"]] == [3, 3, 3]
    done = command("run", *paths, "--study", "x", cwd=tmp_path)
    assert done.returncode == 2
    assert "--study is for a single test" in done.stderr
