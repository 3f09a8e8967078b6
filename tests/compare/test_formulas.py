"""Files of formulas: what each says, what a site puts over them, and what is refused, with file, line and key."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.compare.formulas.catalogue import FORMULAS, Formula, formulas_of
from plexlens.compare.numbers.quantity import Quantity, UndefinedError
from plexlens.expression import Interval, bounds, value
from plexlens.metrics.catalogue import Catalogue, CatalogueError
from tests.draws import draws

GOOD = """\
# A formula of the shop.
[formula.hits]
title = "Hit ratio of the shop"
unit = "%"
arguments = ["getpages", "reads..."]
formula = "(1 - sum(reads) / getpages) * 100"
scope = "each a second"
note = "negative where more is read than asked for"
source = "our own"
"""


def site(folder: Path, text: str, name: str = "shop.toml") -> Path:
    (folder / "studies").mkdir(exist_ok=True)
    (folder / "studies" / name).write_text(text)
    return folder


def test_a_formula_says_what_it_is(tmp_path: Path) -> None:
    formula = formulas_of(Catalogue([site(tmp_path, GOOD)]))["hits"]
    assert (formula.title, formula.unit, formula.source) == ("Hit ratio of the shop", "%", "our own")
    assert (formula.singles, formula.lists) == (("getpages",), ("reads",))
    assert formula.text == (
        "(1 - sum of reads / getpages) x 100, each a second: negative where more is read than asked for"
    )
    assert formula.worked({"getpages": ["80"], "reads": ["3", "5"]}) == "(1 - (3 + 5) / 80) x 100"


def test_a_site_has_the_last_word(tmp_path: Path) -> None:
    first = site(tmp_path, GOOD.replace("formula.hits", "formula.hit_ratio"))
    found = formulas_of(Catalogue([first]))
    assert found["hit_ratio"].title == "Hit ratio of the shop"
    assert list(found) == list(FORMULAS)
    assert FORMULAS["hit_ratio"].title == "Hit ratio"


@pytest.mark.parametrize(
    ("old", "new", "line", "parts"),
    [
        ("[formula.hits]", "[formulas.hits]", 2, ["formulas", "no such key", "formula"]),
        ("[formula.hits]", "[formula.Hits]", 2, ["formula.Hits", "is not a name", "small letter"]),
        ('title = "Hit ratio of the shop"\n', "", 2, ["formula.hits", "key title is missing", 'title = "Hit ratio"']),
        ("title =", "titel =", 3, ["formula.hits.titel", "no such key", "did you mean title?"]),
        ('unit = "%"', "unit = 5", 4, ["formula.hits.unit", "it is 5, not a text"]),
        ('"getpages", "reads..."', "1", 5, ["formula.hits.arguments", "the list contains 1", "not a text"]),
        (
            '"getpages", "reads..."',
            '"getpages", "reads.."',
            5,
            ["'reads..' is not a name", "three dots mark a list"],
        ),
        ('"getpages", ', '"getpages", "getpages", ', 5, ["getpages stands there twice"]),
        ('"getpages", ', '"reads", "getpages", ', 5, ["reads stands there twice"]),
        (
            '"getpages", ',
            '"getpages", "writes", ',
            5,
            ["formula.hits.arguments", "the formula does not use writes"],
        ),
        ("sum(reads)", "reads", 6, ["formula.hits.formula", "a number is expected beside '/', and this is a list"]),
        ("sum(reads)", "sum(getpages)", 6, ["character 10", "a list is expected in sum, and this is a number"]),
        ("sum(reads)", "sum(read)", 6, ["read is not an argument", "there are: getpages, reads"]),
        ("sum(reads)", "mean(reads)", 6, ["there is no function mean", "largest(list)"]),
        ("sum(reads)", "sum(reads, getpages)", 6, ["2 values do not fit sum", "sum(list)"]),
        ("* 100", "* 100)", 6, ["character 34", "')' stands where", "end was expected"]),
        ("* 100", "> 100", 6, ["it is a condition, not a number"]),
        (
            "* 100",
            "* coalesce(getpages, 1)",
            6,
            ["coalesce cannot be computed from", "greatest(x, y"],
        ),
        ("* 100", "* if(getpages > 1, 1, 2)", 6, ["if cannot be computed", "ceiling(x)"]),
        ('formula = "', 'formula = 5 # "', 6, ["formula.hits.formula", "it is 5, not a text"]),
        ('source = "our own"\n', "", 2, ["key source is missing"]),
        ('source = "our own"\n', 'source = ""\n', 9, ["formula.hits.source", "it is empty"]),
        ('source = "our own"', 'source = "our own', 9, ["the file is not TOML"]),
        (GOOD, "# nothing\n", None, ["there is no formula", "add [formula.itr]"]),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, old: str, new: str, line: int | None, parts: list[str]) -> None:
    assert GOOD.count(old) == 1
    catalogue = Catalogue([site(tmp_path, GOOD.replace(old, new))])
    with pytest.raises(CatalogueError) as caught:
        formulas_of(catalogue)
    told = str(caught.value)
    assert "shop.toml" in told
    assert caught.value.line == line, told
    assert all(part in told for part in parts), told


def test_a_formula_stands_in_one_file(tmp_path: Path) -> None:
    site(tmp_path, GOOD)
    with pytest.raises(CatalogueError, match=r"shop.toml.*hits is also defined in .*other.toml.*another name"):
        formulas_of(Catalogue([site(tmp_path, GOOD, "other.toml")]))


NUMBERS = st.floats(0.01, 1000).map(lambda one: round(one, 2))


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=lambda formula: formula.name)
@settings(max_examples=draws(10), deadline=None)
@given(data=st.data())
def test_exact_fractions_and_floating_point_agree(formula: Formula, data: st.DataObject) -> None:
    """The value over printed numbers against that of the language in plain Python, and so with the bounds."""

    def drawn() -> tuple[float, float, float]:
        low, middle, high = sorted(data.draw(st.tuples(NUMBERS, NUMBERS, NUMBERS)))
        return low, middle, high

    length = data.draw(st.integers(1, 3))
    ends: dict[str, Any] = {name: drawn() for name in formula.singles}
    ends |= {name: [drawn() for _ in range(length)] for name in formula.lists}

    def each(made: Any) -> dict[str, Any]:
        return {name: [made(*i) for i in one] if isinstance(one, list) else made(*one) for name, one in ends.items()}

    try:
        found = formula(each(lambda low, middle, high: Quantity(*map(Fraction, (middle, low, high)))))
    except UndefinedError:
        return
    plain = value(formula.expression, each(lambda _, middle, __: middle))
    around = bounds(formula.expression, each(lambda low, _, high: Interval(low, high)))
    assert isinstance(plain, float)
    assert isinstance(around, Interval)
    if "ceiling" in str(formula.expression):
        return
    size = max(1.0, abs(float(found.low)), abs(float(found.high))) * 1e-9
    assert plain == pytest.approx(float(found.value), abs=size, rel=1e-9)
    assert (around.low, around.high) == pytest.approx((float(found.low), float(found.high)), abs=size, rel=1e-9)
