"""Chained ITR ratios: the example that the 1992 report works, pairs made by hand, refusals."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from plexlens.compare.comparison.chain import Pair, Transition, chains, spread_of, transitions_of
from plexlens.compare.numbers.quantity import exact, printed
from plexlens.errors import UsageError
from tests.cli.command import run

RATIOS = st.lists(st.decimals("0.5", "2", places=3), min_size=1, max_size=4)


@cache
def of_table_03() -> tuple[Transition, ...]:
    """Transitions of the report's table 3: its audit takes seconds."""
    return tuple(transitions_of("vmesa-1992", "table-03"))


def transition(base: str, new: str, *ratios: str) -> Transition:
    found = [printed(ratio) for ratio in ratios]
    return Transition(
        base, new, f"{base}{new}", tuple(Pair(str(number), "", one) for number, one in enumerate(found, 1) if one)
    )


def test_the_report_s_own_example() -> None:
    """VM/XA 2.1 to VM/ESA 1.1: R21 = avg(1.064, 1.029), R1E = avg of four; the report prints 1.08 from 1.04 * 1.04.

    Pair 9 is 236.35 / 223.28 = 1.0585 by table 4 (its ratio in table 3 is lost, table 4 prints 1.059).
    """
    (found,) = chains(of_table_03(), "VM/XA 2.1", "VM/ESA 1.1")
    assert [one.symbol for one in found.transitions] == ["R21", "R1E"]
    expected = (1.064 + 1.029) / 2 * (236.35 / 223.28 + 1.032 + 1.045 + 1.043) / 4
    assert float(found.ratio.value) == pytest.approx(expected, abs=2e-4)
    # Ratios whose runs are printed are worked out from them: 1.0324 for the 1.032 of pair 10.
    assert found.lowest == pytest.approx(1.029 * 1.032, abs=1e-3)
    assert found.highest == pytest.approx(1.064 * 1.0585, abs=1e-3)
    # What the report prints, 1.08, is its rounded factors; it lies between the pairs and in the interval.
    assert found.interval is not None and found.interval[0] < 1.08 < found.interval[1]
    assert found.lowest < 1.08 < found.highest


def test_two_ways_that_share_no_last_step_agree() -> None:
    """From VM/SP 5 by way of the direct pair 14, and by pairs 13 and 9 to 12: within 1 % of each other."""
    found = chains(of_table_03(), "VM/SP 5", "VM/ESA 1.1")
    assert [len(one.transitions) for one in found] == [3, 4]
    first, second = (float(one.ratio.value) for one in found)
    assert first == pytest.approx(second, rel=0.01)


def test_spread_and_interval_by_hand() -> None:
    """Pairs 0.9 and 1.1 about 1: relative squares 0.01 + 0.01, one degree of freedom; 2.0 stands alone.

    Error of the chain: 0.1414 x sqrt(1/2 + 1); t of one degree of freedom is 12.706.
    """
    steps = (transition("a", "b", "0.9", "1.1"), transition("b", "c", "2.0"))
    spread = spread_of(steps)
    assert spread is not None and spread.freedom == 1
    assert spread.relative == pytest.approx(math.sqrt(0.02))
    (found,) = chains(steps, "a", "c")
    assert float(found.ratio.value) == pytest.approx(2.0)
    assert found.relative_error == pytest.approx(math.sqrt(0.02 * 1.5))
    factor = math.exp(stats.t.ppf(0.975, 1) * math.sqrt(0.03))
    assert found.interval == (pytest.approx(2 / factor), pytest.approx(2 * factor))
    # Digits: (0.85 + 1.05) / 2 x 1.95 to (0.95 + 1.15) / 2 x 2.05.
    assert (float(found.ratio.low), float(found.ratio.high)) == (pytest.approx(1.8525), pytest.approx(2.1525))
    assert found.arithmetic == "ab * bc = 1 * 2 = 2"


def test_without_repeats_there_is_no_interval() -> None:
    (found,) = chains((transition("a", "b", "1.5"),), "a", "b")
    assert found.interval is None and found.direct


@given(RATIOS, RATIOS)
def test_a_chain_is_the_product_of_its_parts(first: list[object], second: list[object]) -> None:
    steps = (transition("a", "b", *map(str, first)), transition("b", "c", *map(str, second)))
    (whole,) = chains(steps, "a", "c")
    ((one,), (other,)) = chains(steps, "a", "b"), chains(steps, "b", "c")
    assert whole.ratio.value == one.ratio.value * other.ratio.value
    assert float(whole.ratio.low) <= float(whole.ratio.value) <= float(whole.ratio.high)
    assert whole.lowest <= float(whole.ratio.value) * (1 + 1e-12)
    assert whole.highest >= float(whole.ratio.value) * (1 - 1e-12)


def test_circles_end() -> None:
    one = Pair("1", "", exact(1))
    steps = tuple(
        Transition(base, new, base + new, (one,)) for base, new in (("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"))
    )
    (found,) = chains(steps, "a", "c")
    assert [step.symbol for step in found.transitions] == ["ab", "bc"]


@pytest.mark.parametrize(
    ("base", "new", "message"),
    [
        ("VM/ESA 1.1", "VM/SP 5", r"no measured pairs lead.*nowhere; give the earlier release first"),
        ("VM/SP HPO 5", "VM/XA 2.1", r"from VM/SP HPO 5 they lead to VM/ESA 1.0 \(ESA\), VM/ESA 1.1"),
        ("VM/370", "VM/SP 5", r"no release 'VM/370'.*VM/SP 5, VM/SP 6"),
    ],
)
def test_refusals(base: str, new: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        chains(of_table_03(), base, new)


def test_a_table_without_pairs() -> None:
    with pytest.raises(UsageError, match=r"table table-04 has no column 'From Release' or 'From'"):
        transitions_of("vmesa-1992", "table-04")


def test_on_the_command_line(tmp_path: Path) -> None:
    done = run(
        "compare", "--chain", "vmesa-1992:table-03", "VM/SP HPO 5", "VM/ESA 1.1", "--json", cwd=tmp_path
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (chain,) = found["chains"]
    assert chain["itrr"] == pytest.approx(0.97 * (236.35 / 223.28 + 1.032 + 1.045 + 1.043) / 4, abs=2e-4)
    assert chain["arithmetic"].startswith("RH * R1E = 0.97 * 1.04")
    done = run("compare", "--chain", "vmesa-1992", "a", "b", cwd=tmp_path)
    assert (done.returncode, "STUDY:TABLE" in done.stderr) == (2, True)
