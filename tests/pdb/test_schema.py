"""How the columns of a table grow."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plexlens.pdb.schema import (
    Column,
    TypeConflictError,
    columns_of,
    common_type,
    merge_columns,
    stored_schema,
    stored_type,
)

INTEGERS = {
    pa.uint8(): (0, 2**8 - 1),
    pa.uint16(): (0, 2**16 - 1),
    pa.uint32(): (0, 2**32 - 1),
    pa.uint64(): (0, 2**64 - 1),
    pa.int8(): (-(2**7), 2**7 - 1),
    pa.int16(): (-(2**15), 2**15 - 1),
    pa.int32(): (-(2**31), 2**31 - 1),
    pa.int64(): (-(2**63), 2**63 - 1),
}
OTHERS = [pa.bool_(), pa.string(), pa.binary(), pa.date32(), pa.timestamp("us"), pa.timestamp("us", tz="UTC")]


def narrowest(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """The slow twin: of all integer types the smallest whose range holds both ranges."""
    low = min(INTEGERS[left][0], INTEGERS[right][0])
    high = max(INTEGERS[left][1], INTEGERS[right][1])
    fitting = [kind for kind, (lowest, highest) in INTEGERS.items() if lowest <= low and high <= highest]
    return min(fitting, key=lambda kind: (kind.bit_width, low < 0)) if fitting else pa.float64()


@pytest.mark.parametrize("left", INTEGERS)
@pytest.mark.parametrize("right", INTEGERS)
def test_integers_widen_to_the_narrowest_that_holds_both(left: pa.DataType, right: pa.DataType) -> None:
    assert common_type(left, right) == narrowest(left, right)


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_and_floats_become_float64(kind: pa.DataType) -> None:
    for real in (pa.float32(), pa.float64()):
        assert common_type(kind, real) == common_type(real, kind) == pa.float64()
    assert common_type(pa.float32(), pa.float64()) == pa.float64()
    assert common_type(pa.float32(), pa.float32()) == pa.float32()


def test_nothing_else_goes_together() -> None:
    for left in OTHERS:
        for right in [*OTHERS, *INTEGERS, pa.float64()]:
            expected = left if left == right else None
            assert common_type(left, right) == expected
            assert common_type(right, left) == expected


def test_null_takes_the_other_type() -> None:
    for kind in [*OTHERS, *INTEGERS, pa.float64(), pa.null()]:
        assert common_type(pa.null(), kind) == common_type(kind, pa.null()) == kind


def test_other_encodings_are_stored_as_the_plain_type() -> None:
    assert stored_type(pa.large_string()) == pa.string()
    assert stored_type(pa.dictionary(pa.int16(), pa.string_view())) == pa.string()
    assert stored_type(pa.large_binary()) == pa.binary()
    with pytest.raises(TypeConflictError, match=r"cannot store values of type decimal128\(9, 2\)"):
        stored_type(pa.decimal128(9, 2))


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(TypeConflictError, match="columns Delay and delay have the same name"):
        stored_schema(pa.schema([("Delay", pa.int8()), ("x", pa.int8()), ("delay", pa.int8())]))


def test_columns_tell_units_and_leave_the_rest_to_the_layout() -> None:
    metadata = {"unit": "s", "recorded_unit": "us", "description": "delay", "confidence": "high", "source": "a manual"}
    (column,) = columns_of(stored_schema(pa.schema([pa.field("d", pa.float64(), metadata=metadata)])))
    assert (column.unit, column.description, dict(column.metadata)) == (
        "s",
        "delay",
        {"unit": "s", "recorded_unit": "us", "description": "delay"},
    )


def names(*variants: str) -> str:
    merged = merge_columns([[Column(name, "int8") for name in variant] for variant in variants])
    return "".join(column.name for column in merged)


def test_new_columns_come_after_their_neighbours() -> None:
    assert names("abc") == "abc"
    assert names("abc", "abxyc") == "abxyc"
    assert names("abc", "xabc") == "xabc"
    assert names("abc", "ac") == "abc"
    assert names("abc", "acz", "abyc") == "abycz"
    assert names("abc", "cxa") == "abcx"


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=5))
def test_merging_keeps_every_column_once(variants: list[list[str]]) -> None:
    merged = names(*("".join(variant) for variant in variants))
    assert sorted(merged) == sorted(set().union(*map(set, variants)))
    if variants:
        first = "".join(letter for letter in merged if letter in variants[0])
        assert first == "".join(variants[0])


def test_the_latest_description_and_the_wider_type_win() -> None:
    old = Column("a", "uint8", (("description", "old"), ("unit", "s")))
    new = Column("a", "uint16", (("description", "new"), ("unit", "s")))
    empty = Column("a", "null")
    assert merge_columns([[old], [new]]) == (new,)
    assert merge_columns([[new], [old]]) == (Column("a", "uint16", old.metadata),)
    assert merge_columns([[empty], [old], [empty]]) == (old,)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (Column("a", "string"), Column("a", "int8"), "column a is string there and int8 here"),
        (
            Column("a", "int8", (("unit", "s"),)),
            Column("a", "int8"),
            "column a is in s there and in plain numbers here",
        ),
    ],
)
def test_what_does_not_go_together_is_named(old: Column, new: Column, said: str) -> None:
    with pytest.raises(TypeConflictError, match=said):
        merge_columns([[old], [new]])
