"""The oracle itself, against values worked by hand or published."""

from __future__ import annotations

import datetime

import pytest

from tests.oracle import slow_forms
from tests.oracle.slow_forms import decode, structure


def test_the_clock_reads_the_dates_that_the_architecture_publishes() -> None:
    # z/Architecture Principles of Operation, TOD clock: values of the epochs 1972 and 1970.
    assert slow_forms.clock(0x8126D60E46000000) == datetime.datetime(1972, 1, 1)
    assert slow_forms.clock(0x7D91048BCA000000) == datetime.datetime(1970, 1, 1)
    # One microsecond is bit 51, X'1000'; what is less is cut.
    assert slow_forms.clock(0x7D91048BCA000000 + 0x1FFF) == datetime.datetime(1970, 1, 1, 0, 0, 0, 1)
    assert slow_forms.clock(0) is None


def test_a_duration_in_clock_units_becomes_seconds() -> None:
    # X'F4240000' units / 4096 = 1,000,000 microseconds.
    row = decode(structure("0 tod a b"), bytes.fromhex("00000000F4240000" + "0000000000000800"))
    assert row == {"a": 1.0, "b": 0.0000005}


def test_fields_are_read_where_the_text_puts_them() -> None:
    section = bytes.fromhex("0001" + "FF" + "C1" + "D8D4C7D940400000" + "FFFE" + "00000002")
    fields = structure("0 u2 number\n2 u1 byte\n3 text1 letter\n4 text8 name\n12 i2 less\n14 mib4 size\n18 u4 later")
    assert decode(fields, section) == {
        "number": 1,
        "byte": 255,
        "letter": "A",
        "name": "QMGR",
        "less": -2,
        "size": 2 * 1024 * 1024,
        "later": None,
    }


def test_a_structure_text_that_overlaps_itself_is_refused() -> None:
    with pytest.raises(AssertionError):
        structure("0 u4 one two\n7 u1 three")
