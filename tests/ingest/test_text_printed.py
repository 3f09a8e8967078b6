"""Printed values: what they are, what they are worth, and how far the true value may lie from them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plexlens.ingest.printed.values import is_value, read_duration, read_point, read_units, read_value


@pytest.mark.parametrize(
    ("text", "number", "low", "high"),
    [
        ("8562", 8562, 8561.5, 8562.5),
        ("0", 0, 0, 0.5),
        ("0.00", 0, 0, 0.005),
        (".50", 0.5, 0.495, 0.505),
        ("53.81", 53.81, 53.805, 53.815),
        ("-41.0", -41, -41.05, -40.95),
        ("1,234,567", 1_234_567, 1_234_566.5, 1_234_567.5),
        ("7270.9K", 7_270_900, 7_270_850, 7_270_950),
        ("109.1M", 109_100_000, 109_050_000, 109_150_000),
        ("45.670K", 45_670, 45_669.5, 45_670.5),
        ("30K", 30_000, 29_500, 30_500),
        ("2G", 2_000_000_000, 1_500_000_000, 2_500_000_000),
        ("+7", 7, 6.5, 7.5),
    ],
)
def test_numbers(text: str, number: float, low: float, high: float) -> None:
    printed = read_value(text)
    assert (printed.text, printed.type) == (text, "number")
    assert (printed.number, printed.low, printed.high) == (number, low, high)


def test_storage_sizes_are_of_powers_of_1024() -> None:
    printed = read_value("147M", size=True)
    assert (printed.number, printed.unit, printed.scale) == (154_140_672, "bytes", 1_048_576)
    # A half of the last place is half a mebibyte.
    assert (printed.low, printed.high) == (153_616_384, 154_664_960)


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("12.5%", None, (12.5, 12.45, 12.55, "percent")),
        ("13%", None, (13, 12.5, 13.5, "percent")),
        ("150.4", "microseconds", (150.4e-6, 150.35e-6, 150.45e-6, "seconds")),
        ("18", "milliseconds", (0.018, 0.0175, 0.0185, "seconds")),
        ("512", "megabytes", (536_870_912, 536_346_624, 537_395_200, "bytes")),
        ("0.037248", "seconds", (0.037248, 0.0372475, 0.0372485, "seconds")),
    ],
)
def test_units(text: str, unit: str | None, expected: tuple[float, float, float, str]) -> None:
    printed = read_value(text, unit=unit)
    assert [printed.number, printed.low, printed.high] == pytest.approx(list(expected[:3]), rel=1e-12)
    assert printed.unit == expected[3]


def test_counts_printed_in_full_stand_for_themselves() -> None:
    def bounds(text: str) -> tuple[float | None, ...]:
        printed = read_value(text, exact=True)
        return printed.number, printed.low, printed.high

    assert bounds("405898") == (405_898, 405_898, 405_898)
    # A scaled one, a fraction and a percentage were rounded all the same.
    assert bounds("406K") == (406_000, 405_500, 406_500)
    assert bounds("4.5") == (4.5, 4.45, 4.55)
    assert bounds("13%") == (13, 12.5, 13.5)


@pytest.mark.parametrize(
    ("text", "seconds", "half"),
    [
        ("3:01.768843", 181.768843, 5e-7),
        ("1:02:03.5", 3723.5, 0.05),
        ("15:00.000000", 900, 5e-7),
        ("00.03.37.095", 217.095, 5e-4),
        ("00.12.30", 750, 0.5),
        ("002.00.00", 7200, 0.5),
        ("01-02:03:04.5", 93784.5, 0.05),
        ("02:46:08.936419", 9968.936419, 5e-7),
        ("5:40.386999", 340.386999, 5e-7),
    ],
)
def test_durations(text: str, seconds: float, half: float) -> None:
    printed = read_value(text)
    assert (printed.type, printed.unit) == ("duration", "seconds")
    assert printed.number == pytest.approx(seconds, abs=1e-12)
    assert (printed.low, printed.high) == pytest.approx((seconds - half, seconds + half), abs=1e-9)


@pytest.mark.parametrize(
    ("text", "decimals", "seconds"),
    [("18", 3, 0.018), ("1.27", 3, None), ("1.270", 3, 1.27), ("2.01.270", 3, 121.27), ("18", 6, 0.000018),
     ("1.2.3.4.5", 3, None), ("A", 3, None), ("1234", 3, None), ("1.01.02.003", 3, 3662.003)],
)  # fmt: skip
def test_times_under_heads_with_their_form(text: str, decimals: int, seconds: float | None) -> None:
    printed = read_units(text, decimals)
    assert (printed.number if printed else None) == (pytest.approx(seconds, abs=1e-12) if seconds else None)
    if printed:
        assert printed.decimals == decimals
        assert printed.high - printed.number == pytest.approx(0.5 * 10**-decimals)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("N/A", "not applicable"),
        ("N/C", "not calculated"),
        ("N/P", "not present"),
        ("****", "no value"),
        ("----", "no value"),
        ("", "no value"),
        ("DB2A", "text"),
        ("1.2.3.4.5.6", "text"),
        ("0511C", "text"),
        ("12:75:00", "text"),
        ("9" * 80, "text"),
    ],
)
def test_what_is_no_number(text: str, type_: str) -> None:
    printed = read_value(text)
    assert (printed.text, printed.type) == (text, type_)
    assert (printed.number, printed.low, printed.high) == (None, None, None)


@pytest.mark.parametrize(
    ("date", "time", "expected"),
    [
        ("07/26/10", "19:32:45.57", datetime(2010, 7, 26, 19, 32, 45, 570_000)),
        ("29/05/1996", "14.04.00", datetime(1996, 5, 29, 14, 4)),
        ("5/29/96", "14.04.00", datetime(1996, 5, 29, 14, 4)),
        ("2023-03-15", "07:15", datetime(2023, 3, 15, 7, 15)),
        ("12/31/1999", "24.00.00", datetime(2000, 1, 1)),
        ("07/26/10", "", datetime(2010, 7, 26)),
        ("13/13/10", "", None),
        ("02/30/10", "", None),
        ("07/26/10", "99:99", None),
        ("12/31/9999", "24.00.00", None),
    ],
)
def test_points_of_time(date: str, time: str, expected: datetime | None) -> None:
    assert read_point(date, time) == expected


def test_dates_and_timestamps_as_values() -> None:
    date = read_value("05/29/1996")
    # 9645 days after 1970-01-01.
    assert (date.type, date.number, date.unit) == ("date", 9645 * 86400, "seconds since 1970-01-01")
    moment = read_value("05/29/1996 14:04:00")
    assert (moment.type, moment.number) == ("timestamp", 9645 * 86400 + 14 * 3600 + 240)


@pytest.mark.parametrize("text", ["12", "1.5K", "N/A", "****", "3:01.7", "00.00.01.000", "100%", "1,234"])
def test_words_that_stand_where_values_stand(text: str) -> None:
    assert is_value(text)


@pytest.mark.parametrize("text", ["BP0", "K", "1/2", "SYNC", "LOG1&2", "-FALSE", "*************", "1ST"])
def test_words_that_do_not(text: str) -> None:
    assert not is_value(text)


@given(st.decimals(min_value=0, max_value=10**9, places=6), st.integers(0, 6), st.sampled_from(["", "K", "M"]))
def test_the_true_value_lies_between_the_bounds(true: Decimal, decimals: int, suffix: str) -> None:
    """Whatever is printed of a number, rounded and scaled, the number lies within the bounds of the print."""
    scale = {"": 1, "K": 1000, "M": 1_000_000}[suffix]
    text = f"{true / scale:.{decimals}f}{suffix}"
    printed = read_value(text)
    assert printed.low is not None
    assert printed.high is not None
    slack = float(true) * 1e-12
    assert printed.low - slack <= float(true) <= printed.high + slack
    width = scale * 10**-decimals
    assert printed.high - printed.low <= width * (1 + 1e-9) + slack


@given(st.text(max_size=70))
def test_any_text_has_a_type(text: str) -> None:
    printed = read_value(text)
    assert printed.text == text
    assert (printed.number is None) == (printed.low is None) == (printed.high is None)
    if printed.number is not None:
        assert printed.low is not None
        assert printed.high is not None
        assert printed.low <= printed.number <= printed.high
    read_duration(text)
    read_point(text, text)
    read_units(text, 3)
    is_value(text)
