"""The language over a grain: what it may name, its meaning in SQL against arithmetic by hand, and templates."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.expression import ExpressionError
from plexlens.expression.parser import parse
from plexlens.expression.sql import sql_of
from plexlens.expression.tree import (
    Expression,
    Name,
)
from plexlens.expression.types import Kind, condition, number, type_of
from plexlens.findings import RuleError
from plexlens.findings.template import Filling, template
from plexlens.metrics import GRAINS
from plexlens.pdb.engine import connect, quoted
from tests.draws import draws
from tests.metrics.raw import query_of

STRUCTURE = GRAINS["coupling_structure"]
NUMBERS, ROWS = STRUCTURE.numbers, STRUCTURE.row_names

#: Values of one row; the nulls are what a record did not hold.
ROW: dict[str, Any] = {"a": 6.0, "b": 4.0, "zero": 0.0, "none": None, "t": "DSNDB0A_LOCK1", "nothing": None}


def value(text: str) -> Any:
    """What an expression gives for the row, by DuckDB."""
    types = {name: pa.string() if name in ("t", "nothing") else pa.float64() for name in ROW}
    arrays = {name: pa.array([ROW[name]], types[name]) for name in ROW}
    given = query_of(connect(), pa.table(arrays))
    return given.select(x=sql_of(parse(text), quoted)).rows()[0]["x"]


# --- meaning ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("24 / 4 / 2", 3),
        ("-a + 10", 4),
        ("- - a", 6),
        ("2 * -3", -6),
        ("5 %", 0.05),
        ("250 us * 4", 0.001),
        ("2 min + 1 s", 121),
        ("1 h", 3600),
        ("3 KiB / 1024", 3),
        ("1.5e3", 1500),
        ("a / zero", None),
        ("none + 1", None),
        ("greatest(a, b, none)", 6),
        ("least(a, b, none)", 4),
        ("a > b", True),
        ("a < b", False),
        ("a >= 6 and b <= 4", True),
        ("a = 6", True),
        ("a != 6", False),
        ("not a = 6", False),
        ("not not a = 6", True),
        ("a < 1 or b < 1 or a > 5", True),
        # "and" binds closer than "or": true or (false and false).
        ("a = 6 or a = 1 and b = 1", True),
        ("(a = 6 or a = 1) and b = 1", False),
        ("none > 1", None),
        ("none > 1 or a = 6", True),
        ("known(a) and not known(none)", True),
        ("contains(t, '_LOCK1')", True),
        ("contains(t, '%')", False),
        ("starts(t, 'DSN')", True),
        ("starts(t, 'LOCK')", False),
        ("t = 'DSNDB0A_LOCK1'", True),
        ("t in ('X', 'DSNDB0A_LOCK1')", True),
        ("t in ('X')", False),
        ("nothing in ('X')", None),
    ],
)
def test_meaning(text: str, expected: Any) -> None:
    found = value(text)
    assert found == (pytest.approx(expected) if isinstance(expected, float) else expected)


# --- nothing but a rule error -----------------------------------------------------------------------------------------


@given(st.one_of(st.text(), st.text("()<>=!+-*/%'., abc019_andortni\n", max_size=60)))
@settings(max_examples=draws(500), deadline=None)
def test_any_text_is_an_expression_or_a_rule_error(text: str) -> None:
    for use in (
        lambda: condition(parse(text), NUMBERS),
        lambda: number(parse(text), ROWS),
        lambda: template(text, STRUCTURE, frozenset({"structure"})),
        lambda: template("{" + text + "}", STRUCTURE, frozenset({"structure"})),
    ):
        try:
            use()
        except (RuleError, ExpressionError) as error:
            assert error.what
            assert error.remedy


# --- names and units --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("contention_fraction > 5", "5 meets a value in fraction and has no unit"),
        ("sync_service_time > 5 %", "one side is in s, the other in fraction"),
        ("structure_bytes > 1 s", "one side is in bytes, the other in s"),
        ("sync_seconds + sync_requests > 1 s", "one side is in s, the other in count"),
        ("greatest(sync_seconds, 5) > 1 s", "5 meets a value in s and has no unit"),
        ("nosuch > 1", "nosuch is not a fact or metric of coupling_structure"),
        ("structure = 'x'", "structure is not a fact or metric"),
        ("sync_requests", "it is a number, not a condition"),
        ("sync_requests and known(sync_requests)", "a condition is expected beside 'and', and this is a number"),
        ("not sync_requests", "a condition is expected after 'not', and this is a number"),
        ("-(sync_requests > 1)", "a number is expected after '-', and this is a condition"),
        ("sync_requests in ('x')", "a text is expected before 'in', and this is a number"),
        ("sync_requests > 'x'", "a number is expected beside '>', and this is a text"),
        ("log(sync_requests) > 1", "there is no function log"),
        ("known(sync_requests, sync_requests)", "2 values do not fit known"),
        ("greatest(sync_requests) > 1", "1 values do not fit greatest"),
    ],
)
def test_what_does_not_go_together_is_refused(text: str, says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        condition(parse(text), NUMBERS)
    assert says in caught.value.what
    assert caught.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        "contention_fraction > 0",
        "contention_fraction > 5 %",
        "sync_service_time > 3 * async_service_time",
        "sync_seconds / interval_seconds > 0.5",
        "lock_entries_used > list_entries",
        "structure_bytes / 1 MiB > 100",
        "requests_per_second * 3600 > 10",
    ],
)
def test_what_goes_together_is_taken(text: str) -> None:
    assert type_of(condition(parse(text), NUMBERS), NUMBERS).kind is Kind.TRUTH


def test_rows_have_texts_and_facts_but_no_metrics() -> None:
    condition(parse("structure_type = 'lock' and sync_requests > 0"), ROWS)
    with pytest.raises(ExpressionError, match="requests_per_second is not a key, attribute or fact"):
        condition(parse("requests_per_second > 0"), ROWS)


# --- templates --------------------------------------------------------------------------------------------------------


def test_a_template_writes_names_and_numbers() -> None:
    made = template(
        "{structure}: {contention_fraction}, {lock_entries:n} {{x}} SIZE={1.5 * structure_bytes / 1 KiB:n}",
        STRUCTURE,
        frozenset({"structure"}),
    )
    numbers = dict(
        zip((place.expression for place in made.places if place.expression), (0.0213, 1048576.0, 3000.0), strict=True)
    )
    written, missing = made.commands(Filling({"structure": "LOCK1"}, numbers, {}))
    assert (written, missing) == ("LOCK1: 2.1 %, 1048576 {x} SIZE=3000", ())


def written(text: str, *, prose: bool = True, **values: float | str | None) -> str:
    """A template over coupling_structure filled with these values; numbers by name, conditions worked out here."""
    made = template(text, STRUCTURE, frozenset({"structure"}))
    numbers: dict[Expression, float | None] = {}
    for expression in made.expressions:
        assert isinstance(expression, Name) or text.count("when")
        if isinstance(expression, Name):
            numbers[expression] = values.get(expression.name)  # type: ignore[assignment]
        else:
            numbers[expression] = values["holds"]  # type: ignore[assignment]
    names = {"structure": values.get("structure")}
    filling = Filling(names, numbers, {"Db2": (12, 1)})  # type: ignore[arg-type]
    return made.sentences(filling, "TITLE.") if prose else made.commands(filling)[0]


def test_a_clause_without_its_value_is_left_out() -> None:
    text = (
        "{structure} meets {contention_fraction}[[, with {lock_entries:n} entries]]. [[It has {lock_entries:n}.]] End."
    )
    whole = {"structure": "L", "contention_fraction": 0.5, "lock_entries": 8.0}
    assert written(text, **whole) == "L meets 50.0 %, with 8 entries. It has 8. End."
    assert written(text, **whole | {"lock_entries": None}) == "L meets 50.0 %. End."


def test_a_sentence_without_its_value_is_left_out() -> None:
    text = "{structure} meets {contention_fraction}. It has {lock_entries:n} entries. End."
    whole = {"structure": "L", "contention_fraction": 0.5, "lock_entries": 8.0}
    assert written(text, **whole | {"lock_entries": None}) == "L meets 50.0 %. End."
    # The first one says what is wrong: the title takes its place.
    assert written(text, **whole | {"contention_fraction": None}) == "TITLE. It has 8 entries. End."


def test_a_command_without_its_value_is_left_out() -> None:
    text = "A {structure}\nB {lock_entries:n}\nC"
    assert written(text, prose=False, structure="L", lock_entries=8.0) == "A L\nB 8\nC"
    assert written(text, prose=False, structure="L") == "A L\nC"


def test_a_clause_can_depend_on_a_condition() -> None:
    text = "A[[when lock_entries > 5: B {lock_entries:n}]]."
    assert written(text, lock_entries=8.0, holds=1.0) == "AB 8."
    assert written(text, lock_entries=3.0, holds=0.0) == "A."
    # Neither true nor false: it is not known to hold.
    assert written(text, lock_entries=None, holds=None) == "A."


@pytest.mark.parametrize(
    ("value", "form", "says"),
    [
        (1.25, "up", "2"),
        (2.5, "up", "3"),
        (2.5, "down", "2"),
        (0.9 * 40000, "down", "36000"),
        # 1.1 * 10 is 11.000000000000002 in floating point.
        (1.1 * 10, "up", "11"),
        (5.0, "up", "5"),
        (4.6, "n", "5"),
    ],
)
def test_whole_numbers_are_rounded_as_asked(value: float, form: str, says: str) -> None:
    assert written(f"X={{lock_entries:{form}}}", prose=False, lock_entries=value) == f"X={says}"


def test_the_last_part_of_a_name() -> None:
    assert written("-ALTER GROUPBUFFERPOOL({structure:last})", prose=False, structure="DSNDB0A_GBP8K0") == (
        "-ALTER GROUPBUFFERPOOL(GBP8K0)"
    )


@pytest.mark.parametrize(("first", "offered"), [("12.1", True), ("11.1", True), ("13.1", False)])
def test_a_clause_can_depend_on_a_release(first: str, offered: bool) -> None:
    pool = template(f"A[[since Db2 {first}: B]]", GRAINS["db2_pool"], frozenset({"pool"}))
    assert pool.names == {"db2_version"}
    assert pool.commands(Filling({}, {}, {"Db2": (12, 1)}))[0] == ("AB" if offered else "A")
    # A release that nobody knows is not late enough.
    assert pool.commands(Filling({}, {}, {}))[0] == "A"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{structure", "an unpaired brace"),
        ("a [[ b", "[[ is not paired"),
        ("a ]] b", "]] is not paired"),
        ("[[when lock_entries: b]]", "it is a number, not a condition"),
        ("[[when nothing > 1: b]]", "nothing is not a fact or metric"),
        ("[[since Db2: b]]", "no product and release"),
        ("[[since Db2 12.1: b]]", "coupling_structure does not record the release of Db2"),
        ("structure}", "an unpaired brace"),
        ("{facility}", "facility is not a fact or metric of coupling_structure, nor one of structure"),
        ("{lock_entries:x}", "'x' is not a known form"),
        ("{lock_entries * 2}", "a calculated value has no unit"),
        ("{lock_entries > 2:n}", "it is a condition, not a number"),
        ("{}", "a value was expected"),
    ],
)
def test_wrong_templates_are_refused(text: str, says: str) -> None:
    with pytest.raises(RuleError) as caught:
        template(text, STRUCTURE, frozenset({"structure"}))
    assert says in caught.value.what
