"""Files that HdrHistogram 2.2.2 (Java) wrote, against what it says of the same histograms."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from plexlens.errors import NothingUsableError, PlexlensError, UsageError
from plexlens.ingest.load_test import hdr_histogram, read
from plexlens.load import run_of

FILES = Path(__file__).parent / "files"
LOG, DISTRIBUTION = FILES / "hdrhistogram-2.2.2.hlog", FILES / "hdrhistogram-2.2.2.hgrm"

needs_decoder = pytest.mark.skipif(find_spec("hdrh") is None, reason="`make load-test` installs hdrhistogram")


@needs_decoder
def test_a_log_has_the_totals_that_its_own_processor_prints() -> None:
    """HistogramLogProcessor: inquiry has 3,000 values, mean 2.008 ms, largest 18.350 ms, and ran for 10 s."""
    test = read(LOG)
    assert (test.tool, test.scheduled, test.requests) == ("HdrHistogram log", False, None)
    lines = {line.transaction: line for line in run_of(test).lines}
    inquiry = lines["inquiry"]
    assert inquiry.requests == 3000
    assert inquiry.mean == pytest.approx(0.002008, abs=6e-7)
    assert inquiry.longest == pytest.approx(0.018350, abs=2e-5)
    assert inquiry.rate == pytest.approx(300.0)
    assert (lines["update"].requests, lines["(all)"].requests) == (1000, 4000)
    # All 4,000, as Java computes them: mean 3.522312 ms, 50 % 1.860607, 95 % 13.254655, 99 % 26.296319.
    whole = lines["(all)"]
    assert whole.mean == pytest.approx(0.00352231252375, rel=1e-4)
    assert whole.rate == pytest.approx(400.0)
    for percent, value in ((50.0, 1860607), (95.0, 13254655), (99.0, 26296319)):
        assert whole.percentiles[percent] == pytest.approx(value / 1e9, abs=1e-9)
    assert test.left_out == ((hdr_histogram.NO_FAILURES, 4000, ""),)


@needs_decoder
def test_the_course_of_a_log_has_every_interval() -> None:
    test = read(LOG)
    counts = [point.requests for point in test.course if point.transaction == "inquiry"]
    assert counts == [0] + [300] * 10
    assert test.course[0].time.isoformat() == "2026-03-02T09:00:00+00:00"
    course = run_of(test).course
    assert [round(part.rate) for part in course] == [400] * 10


@needs_decoder
def test_a_damaged_interval_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "damaged.hlog"
    lines = LOG.read_text().splitlines()
    lines[3] = lines[3][:60]
    lines[4] = "Tag=update,0.0"
    lines[5] = lines[5].replace("HISTFAAAA", "HISTFBBBB")
    path.write_text("\n".join([*lines, "Tag=x,inf,1,1,HIST", ""]))
    test = read(path)
    assert ("interval that cannot be decoded", 4, "line 4") in test.left_out
    assert {total.transaction: total.requests for total in test.totals} == {
        "inquiry": 2400, "update": 900, "(all)": 3300,
    }  # fmt: skip


@needs_decoder
@pytest.mark.parametrize("size", [50, 200, 700, 3000])
def test_a_cut_log_gives_its_whole_intervals(size: int, tmp_path: Path) -> None:
    path = tmp_path / "cut.hlog"
    path.write_bytes(LOG.read_bytes()[:size])
    try:
        test = read(path)
    except PlexlensError as error:
        assert str(path) in str(error)
        assert size < 1000
        return
    assert all(total.requests % 100 == 0 for total in test.totals)


def test_a_distribution_has_what_it_prints() -> None:
    """4,000 values, mean 3.522 ms, largest 44.138 ms; Java: 50 % below 1.860607 ms, 95 % 13.254655, 99 % 26.296319."""
    test = read(DISTRIBUTION)
    assert test.tool == "HdrHistogram percentiles"
    (line,) = run_of(test).lines
    assert (line.requests, line.mean, line.longest) == (4000, pytest.approx(0.003522), pytest.approx(0.044138))
    assert line.percentiles[50.0] == pytest.approx(0.001861)
    assert line.percentiles[95.0] == pytest.approx(0.013254655, abs=1e-6)
    # The distribution has no line at 99 %: the next is at 99.0625 %.
    assert line.percentiles[99.0] >= 0.026296


def test_a_distribution_without_its_end(tmp_path: Path) -> None:
    path = tmp_path / "cut.hgrm"
    path.write_text("\n".join([*DISTRIBUTION.read_text().splitlines()[:9], "nonsense"]))
    with pytest.raises(NothingUsableError, match="no request"):
        read(path)


def test_without_the_decoder_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hdr_histogram, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'plexlens\[load\]'"):
        read(LOG)
