"""Bounds of formulas that read a cell twice: closed forms, and random numbers that the digits allow."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest

from plexlens.compare import load_study
from plexlens.compare.audit.audit import audit
from plexlens.compare.numbers.quantity import Quantity, exact, printed, total

STUDY = """\
name = "shares"
title = "Shares"
source = "made up"

[[tables]]
id = "shares"
file = "shares.csv"
title = "Shares"

[[tables.derived]]
column = "share"
formula = "percent"
arguments = { parts = "hits", wholes = ["hits", "misses"] }

[[tables.derived]]
column = "ratio to it"
formula = "ratio"
arguments = { part = "hits", whole = { column = "share", computed = true } }
printed = false
"""


def share_of(folder: Path, hits: str, misses: str) -> tuple[Quantity, Quantity]:
    (folder / "study.toml").write_text(STUDY)
    (folder / "shares.csv").write_text(f"run,hits,misses,share\nA,{hits},{misses},50\n")
    (table,) = audit(load_study(str(folder))).tables
    by_column = {cell.column: cell.computed for cell in table.cells}
    share, ratio = by_column["share"], by_column["ratio to it"]
    assert share is not None and ratio is not None
    return share, ratio


def test_a_share_whose_part_stands_in_the_whole_too_has_its_exact_bounds(tmp_path: Path) -> None:
    """hits / (hits + misses) rises with hits and falls with misses: 2.5 / (2.5 + 6.5) to 3.5 / (3.5 + 5.5)."""
    share, ratio = share_of(tmp_path, "3", "6")
    assert (share.low, share.high) == (Fraction(250, 9), Fraction(350, 9))
    # hits / share is (hits + misses) / 100, 2.5 + 5.5 to 3.5 + 6.5; by slopes alone that it rises is not certain.
    assert ratio.low <= Fraction(8, 100)
    assert ratio.high >= Fraction(10, 100)


@pytest.mark.parametrize("seed", range(20))
def test_narrowed_bounds_hold_every_number_that_the_digits_allow(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    texts = f"{chance.uniform(1, 20):.1f}", f"{chance.uniform(1, 20):.0f}"
    share, ratio = share_of(tmp_path, *texts)
    hits, misses = (quantity for text in texts if (quantity := printed(text)) is not None)
    naive = hits / total([hits, misses]) * exact(100)
    assert naive.low <= share.low <= share.high <= naive.high
    for _ in range(50):
        a, b = (
            one.low + (one.high - one.low) * Fraction(chance.randint(0, 1000), 1000) for one in (hits, misses)
        )  # fmt: skip
        assert share.low <= 100 * a / (a + b) <= share.high
        assert ratio.low <= (a + b) / 100 <= ratio.high


def test_slopes_hold_difference_quotients() -> None:
    """Along each input of a product, a quotient, a sum and a difference, by the slope of a chord."""
    a, b = printed("3.0"), printed("2")
    assert a is not None and b is not None
    a, b = a.of("a"), b.of("b")

    def formula(x: Quantity, y: Quantity) -> Quantity:
        return x * y - x / y + x

    result = formula(a, b)
    assert result.repeated == {"a", "b"}
    assert result.slopes is not None
    chance = random.Random(1)
    for _ in range(200):
        x = [a.low + (a.high - a.low) * Fraction(chance.randint(0, 100), 100) for _ in range(2)]
        y = [b.low + (b.high - b.low) * Fraction(chance.randint(0, 100), 100) for _ in range(2)]
        if x[0] != x[1]:
            chord = (formula(exact(x[1]), exact(y[0])).value - formula(exact(x[0]), exact(y[0])).value) / (x[1] - x[0])
            assert result.slopes["a"][0] <= chord <= result.slopes["a"][1]
        if y[0] != y[1]:
            chord = (formula(exact(x[0]), exact(y[1])).value - formula(exact(x[0]), exact(y[0])).value) / (y[1] - y[0])
            assert result.slopes["b"][0] <= chord <= result.slopes["b"][1]


def test_a_rounded_number_has_no_slope_and_narrows_nothing() -> None:
    """What is not known to rise or fall is left as interval arithmetic has it."""
    from plexlens.compare.numbers.quantity import rounded

    a = printed("3.04")
    assert a is not None
    a = a.of("a")
    assert (rounded(a, 1) + a).slopes is None
