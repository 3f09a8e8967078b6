"""Numbers as they are shown, converted by hand."""

import math

import pytest

from plexlens.metrics.unit import BYTES, COUNT, FRACTION, GIB, MICROSECONDS, MILLISECONDS, PER_SECOND, Unit
from plexlens.report.model.display import NULL, byte_size, counted, listed, shown, with_symbol


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.000123, MICROSECONDS, "123.0"),
        (0.000123, MILLISECONDS, "0.123"),
        (0.973, FRACTION, "97.3"),
        (3 * 2**30, GIB, "3.00"),
        (1234567, COUNT, "1,234,567"),
        (1234567.4, None, "1,234,567"),
        (0.0, PER_SECOND, "0.00"),
        (0, COUNT, "0"),
        # Not zero, and never shown as zero.
        (0.0049, PER_SECOND, "<0.01"),
        (-0.0049, PER_SECOND, "-0.005"),
        (-0.00000049, PER_SECOND, "-<0.01"),
        (-0.4, COUNT, "-0.4"),
        (0.005, PER_SECOND, "0.01"),
        (0.4, COUNT, "<1"),
        (-12.5, Unit("x", "x", 2.0, 0), "-25"),
        (None, PER_SECOND, NULL),
        (math.nan, PER_SECOND, NULL),
        (math.inf, PER_SECOND, NULL),
    ],
)
def test_shown(value: float | None, unit: Unit | None, text: str) -> None:
    assert shown(value, unit) == text


def test_a_symbol_follows_a_number_and_not_a_dash() -> None:
    assert with_symbol(0.5, FRACTION) == "50.0 %"
    assert with_symbol(7, COUNT) == "7"
    assert with_symbol(None, FRACTION) == NULL


def test_byte_sizes() -> None:
    assert [byte_size(n) for n in (0, 1023, 1024, 3 * 2**20 + 2**19, 2**50)] == [
        "0 bytes",
        "1,023 bytes",
        "1.0 KiB",
        "3.5 MiB",
        "1,024.0 TiB",
    ]


def test_counts_agree_with_their_noun() -> None:
    assert [counted(n, "file") for n in (0, 1, 1200)] == ["0 files", "1 file", "1,200 files"]
    assert counted(2, "entry", "entries") == "2 entries"


def test_bytes_are_whole() -> None:
    assert shown(1536, BYTES) == "1,536"


def test_a_heading_lists_as_many_names_as_a_sysplex_has_systems() -> None:
    names = [f"S{number:03d}" for number in range(1, 41)]
    assert listed(names[:32]) == ", ".join(names[:32])
    assert listed(names).endswith("S031, S032 and 8 more")
    assert listed([]) == ""
