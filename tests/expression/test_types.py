"""Kinds and units: what goes together, what an expression comes out in, and what is refused, with its place."""

from __future__ import annotations

import pytest

from plexlens.expression import ExpressionError, Kind, Scope, Type, check_metric, parse, type_of
from plexlens.expression.base import PLAIN

SCOPE = Scope.of(
    "a fact of jobs",
    {
        "cpu": "s",
        "span": "s",
        "squares": "s²",
        "events": "count",
        "frames": "frames",
        "size": "bytes",
        "share": "fraction",
        "rate": "1/s",
        "speed": "bytes/s",
        "engines": "processors",
        "msu": "MSU",
        "ratio": "ratio",
    },
    ["job"],
)
LISTS = Scope(
    SCOPE.what,
    {**SCOPE.types, "times": Type(Kind.LIST, "s"), "rates": Type(Kind.LIST, "1/s"), "any": Type(Kind.LIST)},
)


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("cpu", "s"),
        ("cpu + span", "s"),
        ("cpu / events", "s"),
        ("events / span", "1/s"),
        ("size / span", "bytes/s"),
        ("cpu / span", PLAIN),
        ("events / events", PLAIN),
        ("events * cpu", "s"),
        ("cpu * cpu", "s²"),
        ("squares / events - cpu / events * (cpu / events)", "s²"),
        ("sqrt(squares / events)", "s"),
        ("sqrt(cpu)", ""),
        ("deviation(squares, cpu, events)", "s"),
        ("rate * span", PLAIN),
        ("speed * span", "bytes"),
        ("speed / rate", "bytes"),
        ("1 / cpu", "1/s"),
        ("size / 1 MiB", PLAIN),
        ("frames * 4 KiB", "bytes"),
        ("frames * 4096", "frames"),
        ("msu * span / span", "MSU"),
        ("cpu / span * events / rate", "s"),
        ("engines * cpu / span", PLAIN),
        ("total(cpu, span, 0)", "s"),
        ("coalesce(0, cpu)", "s"),
        ("greatest(cpu / span, share)", "fraction"),
        ("if(events > 5, cpu, 0)", "s"),
        ("if(events > 5, null, cpu)", "s"),
        ("-cpu", "s"),
        ("100 % - cpu / span", "fraction"),
        ("1 - cpu / span", PLAIN),
        ("events + frames", "count"),
        ("3", ""),
        ("3 ms", "s"),
        ("null", ""),
    ],
)
def test_what_an_expression_comes_out_in(text: str, base: str) -> None:
    found = type_of(parse(text), SCOPE)
    assert (found.kind, found.base) == (Kind.NUMBER, base)


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("sum(times)", "s"),
        ("largest(times) - smallest(times)", "s"),
        ("sum(times) / count(times)", "s"),
        ("count(any)", "count"),
        ("product(times)", ""),
        ("sum_of_products(times, rates)", PLAIN),
        ("sum_of_products(times, any)", ""),
        ("cpu - sum(times)", "s"),
        ("ceiling(cpu)", "s"),
    ],
)
def test_what_functions_of_lists_come_out_in(text: str, base: str) -> None:
    assert type_of(parse(text), LISTS) == Type(Kind.NUMBER, base)


@pytest.mark.parametrize(
    ("text", "character", "says"),
    [
        ("sum(cpu)", 5, "a list is expected in sum, and this is a number"),
        ("sum(times * 2)", 5, "a number is expected beside '*', and this is a list"),
        ("cpu + times", 7, "a number is expected beside '+', and this is a list"),
        ("sum_of_products(times, cpu)", 24, "a list is expected in sum_of_products, and this is a number"),
        ("sum(times) + size", 12, "one side is in s, the other in bytes"),
        ("largest(job)", 9, "a list is expected in largest, and this is a text"),
    ],
)
def test_lists_stand_in_functions_of_lists_alone(text: str, character: int, says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        type_of(parse(text), LISTS)
    assert (caught.value.character, says in caught.value.what) == (character, True), caught.value.what


@pytest.mark.parametrize(
    "text",
    [
        "cpu > 5 ms",
        "cpu > 0",
        "share > 5 %",
        "cpu / span > 5 %",
        "cpu / span > 0.05",
        "events > frames",
        "known(job) and known(cpu)",
        "job = 'X' or job in ('Y', 'Z') or starts(job, 'DB2') or contains(job, 'A')",
        "not job != 'X'",
        "events / span > 5",
        "size / span > 5",
    ],
)
def test_what_goes_together_is_a_condition(text: str) -> None:
    assert type_of(parse(text), SCOPE) == Type(Kind.TRUTH)


@pytest.mark.parametrize(
    ("text", "character", "says", "remedy"),
    [
        ("cpu + size", 5, "one side is in s, the other in bytes", "units of the same kind"),
        ("cpu / events + size", 14, "one side is in s, the other in bytes", "units of the same kind"),
        ("cpu / span + cpu", 12, "one side is a plain number, the other in s", "units of the same kind"),
        ("total(cpu, events)", 1, "one side is in s, the other in count", "units of the same kind"),
        ("coalesce(0, cpu, size)", 1, "one side is in s, the other in bytes", "units of the same kind"),
        ("if(events > 1, cpu, size)", 1, "one side is in s, the other in bytes", "units of the same kind"),
        ("share > 5", 9, "5 meets a value in fraction and has no unit", "put a unit after it: %"),
        ("cpu - -5", 8, "5 meets a value in s and has no unit", "us, ms, s, min, h"),
        ("size >= 4096", 9, "4096 meets a value in bytes", "bytes, KiB, MiB, GiB"),
        ("squares > 5", 11, "5 meets a value in s²", "another fact"),
        ("greatest(cpu, 5)", 15, "5 meets a value in s", "put a unit"),
        ("cpu > 5 KiB", 5, "one side is in s, the other in bytes", "units of the same kind"),
        ("deviation(cpu, squares, events)", 1, "the squares are in s and the values in s²", "sum of squares"),
        ("nothing + 1", 1, "nothing is not a fact of jobs", "there are: cpu, engines"),
        ("cpu + job", 7, "a number is expected beside '+', and this is a text", "correct"),
        ("job > 'a'", 1, "a number is expected beside '>', and this is a text", "correct"),
        ("cpu and events > 1", 1, "a condition is expected beside 'and', and this is a number", "correct"),
        ("not cpu", 5, "a condition is expected after 'not', and this is a number", "correct"),
        ("if(cpu, 1, 2)", 4, "a condition is expected first in if, and this is a number", "correct"),
        ("total(cpu, events > 1)", 19, "a number is expected in total, and this is a condition", "correct"),
        ("sqrt(job)", 6, "a number is expected in sqrt, and this is a text", "correct"),
        ("starts(cpu, 'a')", 8, "a text is expected in starts, and this is a number", "correct"),
        ("cpu in ('a')", 1, "a text is expected before 'in', and this is a number", "correct"),
    ],
)
def test_what_does_not_go_together_is_refused(text: str, character: int, says: str, remedy: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        type_of(parse(text), SCOPE)
    assert caught.value.character == character
    assert says in caught.value.what
    assert remedy in caught.value.remedy


# --- metrics and terms ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("cpu / events", "s"),
        ("cpu / span", "fraction"),
        ("cpu / span", "processors"),
        ("cpu / span", "s/s"),
        ("events / span", "1/s"),
        # A number without unit may be what changes the unit.
        ("frames * 4096", "bytes"),
        ("cpu * 86400 / span", "s"),
        ("3", "s"),
    ],
)
def test_a_metric_comes_out_in_its_unit(text: str, base: str) -> None:
    assert check_metric(parse(text), SCOPE, base) == parse(text)


@pytest.mark.parametrize(
    ("text", "base", "says"),
    [
        ("cpu / span", "s", "its value is as a plain number, but its unit is one for s"),
        ("cpu / events", "fraction", "its value is in s, but its unit is one for fraction"),
        ("events / span / span", "1/s", "its value is in 1/s², but its unit is one for 1/s"),
        ("frames * 4 KiB", "frames", "its value is in bytes, but its unit is one for frames"),
        ("cpu > 5 ms", "s", "it is a condition, not a number"),
        ("job", "s", "it is a text, not a number"),
    ],
)
def test_a_metric_in_another_unit_is_refused(text: str, base: str, says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        check_metric(parse(text), SCOPE, base)
    assert says in caught.value.what
    assert caught.value.remedy


def test_terms_have_the_type_of_what_they_stand_for() -> None:
    scope = SCOPE.with_terms({"busy": parse("work / span"), "work": parse("total(cpu, 0)")})
    assert type_of(parse("work"), scope).base == "s"
    assert type_of(parse("busy"), scope).base == PLAIN


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        ({"work": "cpu + size"}, "character 5: one side is in s"),
        ({"work": "nothing"}, "nothing is not a fact of jobs"),
        ({"one": "two + 1", "two": "one", "three": "cpu"}, "terms refer to each other: one, two"),
    ],
)
def test_terms_that_mean_nothing_are_refused(terms: dict[str, str], says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        SCOPE.with_terms({name: parse(text) for name, text in terms.items()})
    assert says in caught.value.what
