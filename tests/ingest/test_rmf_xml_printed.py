"""Printed values and their types; each expectation worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from plexlens.ingest.printed.xml.cell_values import TIME_DATA, is_storage_size, read_point, read_value

# 2022-04-06 is 19,088 days after 1970-01-01: 52 years of 365 days, 13 leap days, and 95 days of 2022.
APRIL_6 = (52 * 365 + 13 + 95) * 86400


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0.0),
        ("8562", 8562.0),
        ("-1.5", -1.5),
        ("+2", 2.0),
        (".5", 0.5),
        ("1,234,567", 1234567.0),
        ("1,234.5", 1234.5),
        ("0.00", 0.0),
        ("14681.01", 14681.01),
        ("1.5E+06", 1.5e6),
    ],
)
def test_numbers(text: str, number: float) -> None:
    value = read_value(text)
    assert (value.type, value.number, value.text) == ("number", number, text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("00.00.25.534", 25.534),
        ("00.01.02.078", 62.078),
        ("000.00.08.944393", 8.944393),
        ("123.00.00.000000", 442800.0),
        ("15.26.19", 15 * 3600 + 26 * 60 + 19),
        ("00.29.59", 1799.0),
        ("29:59:997", 1799.997),
        ("120:00:000", 7200.0),
        ("11:46:40", 42400.0),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    value = read_value(text)
    assert (value.type, value.unit) == ("duration", "seconds")
    assert value.number == pytest.approx(seconds, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("04/06/2022", "date", APRIL_6),
        ("04/06/2022-12.30.00", "timestamp", APRIL_6 + 45000),
        ("04/06/2022 12:30:00", "timestamp", APRIL_6 + 45000),
        ("2022-04-06", "date", APRIL_6),
        ("2022-04-06T12:30:00", "timestamp", APRIL_6 + 45000),
        ("06.04.2022", "date", APRIL_6),
    ],
)
def test_dates(text: str, kind: str, number: float) -> None:
    value = read_value(text)
    assert (value.type, value.number, value.unit) == (kind, number, "seconds since 1970-01-01")


def test_fourteen_digits_are_a_time_in_time_data_and_a_number_elsewhere() -> None:
    assert read_value("20220406123000", column_type=TIME_DATA).number == APRIL_6 + 45000
    assert read_value("20220406123000").number == 20220406123000.0


@pytest.mark.parametrize(
    "text",
    [
        "N/A",
        "****",
        "---",
        "NaN",
        "Infinity",
        "1e999",
        "1E+999",
        "0511C",
        "5E10",
        "0E12",
        "N Y N",
        "12 34",
        "1,23",
        "<=N+2",
        "2107-01",
        "10.1.2.3",
        "00.61.00",
        "13/45/2022",
        "V2R5",
        "z/OS V2R5",
        "12:34",
        "0x10",
        "\u0663",
        "1" * 65,
    ],
)
def test_text_is_no_number(text: str) -> None:
    value = read_value(text)
    assert (value.type, value.number) == ("text", None)


def test_nothing_is_empty() -> None:
    assert read_value("")[:3] == ("", "empty", None)


def test_leading_zeros_are_identifiers_unless_the_head_says_number() -> None:
    assert read_value("00", column_type="T").number is None
    assert read_value("05000", column_type="T").number is None
    assert read_value("00", column_type="N").number == 0.0
    assert read_value("0.50", column_type="T").number == 0.5


@pytest.mark.parametrize("head", ["Address", "Device Number", "Volume Serial", "Sequence Code", "CU Number"])
def test_identifier_heads_keep_digits_as_text(head: str) -> None:
    assert read_value("1000000", column_type="T", name=head).number is None
    assert read_value("1000000", column_type="N", name=head).number == 1000000.0


def test_scaled_counts_and_sizes() -> None:
    # The high shared area from 2 TiB to 512 TiB is 510 * 2**40 / 4096 = 136,902,082,560 frames: M is 10**6 there.
    count = read_value("136902.1M", column_type="S", name="Total", part="High Shared Frames", report="PAGING")
    assert count.number == pytest.approx(136902.1e6)
    assert (count.unit, count.scale) == (None, 1e6)
    assert abs(count.number - 510 * 2**40 / 4096) < 0.05e6
    # OMVS allows 262,144 shared memory pages and prints 262K.
    pages = read_value("262K", column_type="S", name="Maximum (Total)", report="OMVS")
    assert pages.number == 262000.0
    size = read_value("8K", column_type="S", name="Size", report="VSTOR")
    assert (size.number, size.unit, size.scale) == (8192.0, "bytes", 1024.0)
    lfarea = read_value("200M", name="1 MB Frames", part="LFAREA Maximum", report="PAGING")
    assert (lfarea.number, lfarea.unit) == (200 * 1048576.0, "bytes")
    structure = read_value("12M", name="Alloc Size", report="CF")
    assert structure.number == 12 * 1048576.0
    requests = read_value("126K", name="# REQ", report="CF")
    assert requests.number == 126000.0
    assert is_storage_size("Storage Frames", "", "WLMGL") is False


def test_percent() -> None:
    assert read_value("12.5%")[1:4] == ("number", 12.5, "percent")
    assert read_value("12.5", name="% of Samples").unit == "percent"


def test_units_of_the_element_become_seconds() -> None:
    assert read_value("1000", unit="milliseconds")[2:5] == (1.0, "seconds", 0.001)
    assert read_value("100", unit="seconds")[2:5] == (100.0, "seconds", None)
    assert read_value("30", unit="minutes").number == 1800.0
    assert read_value("30:00:000", unit="minutes").number == 1800.0
    assert read_value("7", unit="furlongs")[2:4] == (7.0, "furlongs")


def test_the_language_of_a_date_tells_month_from_day() -> None:
    assert read_point("04/06/2022", "en-us") == datetime(2022, 4, 6)
    assert read_point("04/06/2022", "en-gb") == datetime(2022, 6, 4)
    assert read_point("04.06.2022-01.02.03", "de-de") == datetime(2022, 6, 4, 1, 2, 3)
    assert read_point("02/30/2022") is None
    assert read_point("20220230000000") is None
    assert read_point("20220228235959") == datetime(2022, 2, 28, 23, 59, 59)
    assert datetime.fromtimestamp(APRIL_6, UTC) == datetime(2022, 4, 6, tzinfo=UTC)
