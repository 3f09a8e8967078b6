"""Properties of every formula: bounds that hold, zero denominators refused, units that scale as they should."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plexlens.compare.formulas.catalogue import FORMULAS, Formula
from plexlens.compare.numbers.quantity import Quantity, UndefinedError, exact
from tests.draws import draws

NUMBERS = st.fractions(min_value=Fraction(1, 100), max_value=Fraction(1000), max_denominator=100)
SHARES = st.fractions(min_value=0, max_value=1, max_denominator=20)


@st.composite
def quantities(draw: st.DrawFn) -> Quantity:
    value = draw(NUMBERS)
    half = value * draw(st.fractions(min_value=0, max_value=Fraction(1, 10), max_denominator=100))
    return Quantity(value, value - half, value + half)


def at(quantity: Quantity, share: Fraction) -> Quantity:
    return exact(quantity.low + share * (quantity.high - quantity.low))


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=lambda formula: formula.name)
@settings(max_examples=draws(12), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_bounds_hold_every_number_that_the_inputs_may_be(formula: Formula, data: st.DataObject) -> None:
    length = data.draw(st.integers(1, 3))
    wide: dict[str, Quantity | list[Quantity]] = {}
    narrow: dict[str, Quantity | list[Quantity]] = {}
    for name in formula.singles:
        one = data.draw(quantities())
        wide[name], narrow[name] = one, at(one, data.draw(SHARES))
    for name in formula.lists:
        several = [data.draw(quantities()) for _ in range(length)]
        wide[name], narrow[name] = several, [at(one, data.draw(SHARES)) for one in several]
    try:
        outer = formula(wide)
    except (UndefinedError, ValueError):
        return
    inner = formula(narrow)
    assert outer.low <= inner.value <= outer.high


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=lambda formula: formula.name)
def test_zeros_give_a_number_or_are_refused_in_words(formula: Formula) -> None:
    zeros: dict[str, Quantity | list[Quantity]] = {name: exact(0) for name in formula.singles}
    zeros.update({name: [exact(0), exact(0)] for name in formula.lists})
    try:
        formula(zeros)
    except (UndefinedError, ValueError) as error:
        assert str(error)


@pytest.mark.parametrize(
    "name",
    [
        "ratio", "percent", "rate", "itr", "capacity_delta", "coupling_efficiency", "increased_cpu_percent",
        "cpu_ms_per_transaction", "dispatched_percent", "ziip_eligible_percent", "ziip_redirected_percent",
        "overflow_percent", "eligible_seconds_percent", "redirected_seconds_percent", "normalised_cpu",
        "increase_percent", "slower_percent", "rate_limit_by_little", "rate_limit_of_server", "cf_delay_us",
        "weighted_delay_us", "accesses_per_transaction", "mips_per_engine", "per_transaction_of_percent",
        "dispatched_of_interval_percent",
    ],
)  # fmt: skip
def test_a_denominator_of_zero_is_undefined(name: str) -> None:
    formula = FORMULAS[name]
    zeros: dict[str, Quantity | list[Quantity]] = {argument: exact(0) for argument in formula.singles}
    zeros.update({argument: [exact(0)] for argument in formula.lists})
    with pytest.raises(UndefinedError):
        formula(zeros)


#: Formula, arguments multiplied by ten together, and the power of ten by which the result moves.
SCALES = [
    ("cpu_ms_per_transaction", ("cpu_percent", "rate"), 0),
    ("cpu_ms_per_transaction", ("cpu_percent",), 1),
    ("itr", ("volume",), 1),
    ("itr", ("volume", "busy_percent"), 0),
    ("coupling_efficiency", ("itr_with", "itr_without"), 0),
    ("capacity_delta", ("itr_with", "itr_without"), 0),
    ("increased_cpu_percent", ("itr_with", "itr_without"), 0),
    ("increase_percent", ("now", "base"), 0),
    ("slower_percent", ("mips_of", "mips_than"), 0),
    ("normalised_cpu", ("cpu",), 1),
    ("normalised_cpu", ("mips_from", "mips_to"), 0),
    ("ziip_eligible_percent", ("ziip", "eligible_on_cp", "cp"), 0),
    ("ziip_redirected_percent", ("ziip", "cp"), 0),
    ("overflow_percent", ("specialty", "eligible_on_cp"), 0),
    ("eligible_seconds_percent", ("specialty", "eligible_on_cp", "cp"), 0),
    ("redirected_seconds_percent", ("specialty", "cp"), 0),
    ("dispatched_percent", ("cpu_seconds", "dispatched_seconds"), 0),
    ("dispatched_of_interval_percent", ("dispatched_seconds", "waiting_seconds"), 0),
    ("in_use_by_little", ("rate",), 1),
    ("rate_limit_by_little", ("available", "seconds_held"), 0),
    ("rate_limit_of_server", ("service_ms",), -1),
    ("engines_busy", ("rate",), 1),
    ("weighted_delay_us", ("requests_per_second", "rates"), 0),
    ("weighted_delay_us", ("service_us",), 1),
    ("cf_delay_us", ("requests_per_second", "rates"), 0),
    ("hit_ratio_from_zero", ("getpages", "sync_reads", "prefetch_pages"), 0),
]


@pytest.mark.parametrize(("name", "scaled", "power"), SCALES)
@settings(max_examples=draws(20, soak=1000))
@given(data=st.data())
def test_units_scale_as_they_should(name: str, scaled: tuple[str, ...], power: int, data: st.DataObject) -> None:
    formula = FORMULAS[name]
    base: dict[str, Quantity | list[Quantity]] = {one: exact(data.draw(NUMBERS)) for one in formula.singles}
    base.update({one: [exact(data.draw(NUMBERS)) for _ in range(2)] for one in formula.lists})
    ten = exact(10)
    moved = {
        one: ([part * ten for part in value] if isinstance(value, list) else value * ten) if one in scaled else value
        for one, value in base.items()
    }
    assert formula(moved).value == formula(base).value * Fraction(10) ** power


def test_inverses_of_each_other() -> None:
    """Efficiency and delta add up to 100 %; what B1 has more of CPU, B2 has less by the inverse."""
    with_, without = exact(80), exact(100)
    efficiency = FORMULAS["coupling_efficiency"]({"itr_with": with_, "itr_without": without}).value
    assert efficiency + FORMULAS["capacity_delta"]({"itr_with": with_, "itr_without": without}).value == 100
    more = FORMULAS["increased_cpu_percent"]({"itr_with": with_, "itr_without": without}).value
    assert (1 + more / 100) * efficiency == 100


def test_normalisation_by_hand() -> None:
    """20 % busy on engines of 16.5 MIPS is 17.01 % on engines of 19.4; without 10 % for partitions 15.31 %."""
    arguments = {"cpu": exact(20), "mips_from": exact("16.5"), "mips_to": exact("19.4")}
    formula = FORMULAS["normalised_cpu"]
    plain = formula({**arguments, "lpar_overhead_percent": exact(0)}).value
    assert float(plain) == pytest.approx(17.0103, abs=1e-4)
    assert formula({**arguments, "lpar_overhead_percent": exact(10)}).value == plain * Fraction(9, 10)
