"""Length of an interval from counts and rates, worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.ingest.printed.text.elapsed import CountAndRate, elapsed
from plexlens.ingest.printed.values import read_value
from tests.draws import draws
from tests.ingest.text_report_documents import HIGHLIGHTS, LOCKING, read_text, value


def pair(quantity: str, rate: str, line: int = 1) -> CountAndRate:
    return CountAndRate("N", line, read_value(quantity), read_value(rate))


def test_bounds_of_one_pair() -> None:
    # 7270.85K to 7270.95K, 2424.485 to 2424.495 a second.
    low, high = pair("7270.9K", "2424.49").bounds() or (0, 0)
    assert (low, high) == pytest.approx((7_270_850 / 2424.495, 7_270_950 / 2424.485), rel=1e-12)


@pytest.mark.parametrize(("quantity", "rate"), [("0.00", "0.00"), ("N/A", "0.48"), ("12.00", "N/C")])
def test_pairs_that_tell_nothing(quantity: str, rate: str) -> None:
    assert pair(quantity, rate).bounds() is None


def test_a_rate_of_zero_bounds_below_only() -> None:
    # 304 at less than 0.005 a second take at least 303.995 / 0.005 s.
    low, high = pair("304.00", "0.00").bounds() or (0, 0)
    assert low == pytest.approx(303.995 / 0.005)
    assert math.isinf(high)
    assert elapsed([pair("304.00", "0.00")]) is None


def test_what_all_allow() -> None:
    # 100.00 at 0.10: 952.3 to 1052.7 s; 900.00 at 0.90: 994.4 to 1005.6 s; 2000.00 at 2.00: 997.5 to 1002.5 s.
    found = elapsed([pair("100.00", "0.10"), pair("900.00", "0.90"), pair("2000.00", "2.00"), pair("0.00", "0.00")])
    assert found is not None
    assert (found.low, found.high) == pytest.approx((1999.995 / 2.005, 2000.005 / 1.995))
    assert (found.agreeing, found.contradicting) == (3, ())
    assert found.seconds == pytest.approx((1999.995 / 2.005 + 2000.005 / 1.995) / 2)


def test_one_that_contradicts_is_told_apart() -> None:
    wrong = pair("1270.00", "0.40", line=9)
    found = elapsed([pair("7270.9K", "2424.49"), wrong, pair("624.5K", "208.24"), pair("1662.7K", "554.43")])
    assert found is not None
    assert found.contradicting == (wrong,)
    assert 2998.8 < found.low < found.high < 2999.1


def test_no_length_without_a_majority() -> None:
    assert elapsed([]) is None
    assert elapsed([pair("100.00", "1.00"), pair("200.00", "1.00")]) is None


def test_a_length_known_too_badly_is_not_given() -> None:
    # 5.00 at 0.04: 110.9 to 143.0 s.
    found = elapsed([pair("5.00", "0.04")])
    assert found is not None
    assert found.seconds is None


def test_a_report_that_prints_its_interval_is_believed(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, HIGHLIGHTS + LOCKING)
    assert "interval computed" not in reading.summary["damage"]
    assert rows["text_db2_locking"][0]["interval_seconds"] == 900.0
    rows, reading = read_text(tmp_path, LOCKING)
    assert reading.summary["damage"] == {"interval computed": 1}
    # 2345.6K at 2606.22 a second, and no pair allows more than 900.02 s.
    assert rows["text_db2_locking"][0]["interval_seconds"] == pytest.approx(900, abs=0.03)
    assert rows["text_db2_locking"][0]["interval_start"] is None


def test_a_misprint_is_told_with_its_arithmetic(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, HIGHLIGHTS + LOCKING.replace("411.00     0.46", "411.00     0.64"))
    (damage,) = [damage for damage in reading.damage if damage.reason == "printed numbers disagree"]
    assert damage.severity == "error"
    # 410.995 / 0.645 and 411.005 / 0.635.
    assert "SUSPENSIONS (ALL) 411.00 at 0.64 per second take 637.2 to 647.3 s" in damage.detail
    assert value(rows, "SUSPENSIONS (ALL)", "QUANTITY")["number"] == 411.0
    assert value(rows, "SUSPENSIONS (ALL)", "/SECOND")["number"] == 0.64


counts = st.integers(1, 40).map(lambda n: f"{n * 25}.00")
rates = st.integers(0, 30).map(lambda n: f"{n / 100:.2f}")


@settings(max_examples=draws(150), deadline=None)
@given(st.lists(st.tuples(counts, rates), max_size=12))
def test_the_length_is_that_of_the_slow_way(printed: list[tuple[str, str]]) -> None:
    """Every moment at which a pair begins is tried, and the pairs that allow it are counted one by one."""
    pairs = [pair(quantity, rate, line) for line, (quantity, rate) in enumerate(printed)]
    bounded = [(one, bounds) for one in pairs if (bounds := one.bounds())]
    meeting = {low: [one for one, (begin, end) in bounded if begin <= low <= end] for _, (low, _) in bounded}
    most = max(map(len, meeting.values()), default=0)
    found = elapsed(pairs)
    if most * 2 <= len(bounded):
        assert found is None
        return
    chosen = next(meeting[low] for low in sorted(meeting) if len(meeting[low]) == most)
    bounds = [one.bounds() or (0.0, 0.0) for one in chosen]
    if math.isinf(min(end for _, end in bounds)):
        assert found is None
        return
    assert found is not None
    assert (found.low, found.high) == (max(low for low, _ in bounds), min(end for _, end in bounds))
    assert found.agreeing == most
    assert [one.line for one in found.contradicting] == [one.line for one, _ in bounded if one not in chosen]
