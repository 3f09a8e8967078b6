"""The group of `scenarios/three-members.toml`, known from its records: what its twin finds, and a small lock table."""

from __future__ import annotations

import pytest

from plexlens.sharing.twin_calibrate import Twin, make_twin
from plexlens.sharing.twin_numbers import Key
from plexlens.sharing.what_if import Verdict, what_if
from plexlens.sharing.what_if_changes import Kind, parse_change
from tools.what_if_truth import Judged, judge, records_of, the_group


@pytest.fixture(scope="module")
def twin() -> Twin:
    # Three runs instead of five, as those that tell the truth: a run takes two seconds.
    return make_twin(records_of(the_group()), threshold=40e-6, index_pools=("BP2",), seeds=(1, 2, 3))


@pytest.fixture(scope="module")
def judged(twin: Twin) -> dict[tuple[str, str], Judged]:
    changes = [parse_change(Kind(kind), text) for kind, text in (("lock-entries", "0.05x"), ("gbp", "GBP1=2x"))]
    # One by one: nothing is asked about both together.
    answers = [answer for change in changes for answer in what_if(twin, [change])]
    found = judge(the_group(), answers, (11, 12, 13))
    return {(one.change, str(one.outcome.key)): one for one in found}


def test_the_page_sets_are_found(twin: Twin) -> None:
    """20,000 pages of skew 0.75 and a third of the updates at one place; an index of 3,000 pages."""
    accounts, index = twin.fit.pools["DSNB", "BP1"], twin.fit.pools["DSNB", "BP2"]
    assert 18_000 < accounts.pages.shared < 22_000
    assert 0.70 < accounts.pages.skew < 0.80
    assert 0.25 < accounts.hot < 0.36
    assert 2_600 < index.pages.shared < 3_300
    # No updates are left out and none invented.
    assert accounts.written == pytest.approx(1.0, abs=0.05)


def test_all_that_it_is_fitted_to_is_met(twin: Twin) -> None:
    for what, of in (
        ("false_contention", "DSNB_LOCK1"),
        ("writes", "DSNB_GBP1"),
        ("page_lock_waits", "DSNB_GBP2"),
        ("db2_cpu", "PAY"),
        ("busy", "SYSA"),
    ):
        check = twin.check(Key(what, of))
        assert check is not None
        assert not check.is_off(0.08), check


def test_lock_table_that_is_full(judged: dict[tuple[str, str], Judged]) -> None:
    """With 51 entries every request for a lock meets another, and that is half of all requests."""
    one = judged["--lock-entries 0.05x", "false_contention DSNB_LOCK1"]
    assert 0.48 < one.truth.mean < 0.5
    assert abs(one.error) < 0.03
    assert one.outcome.verdict is Verdict.CHANGES


@pytest.mark.parametrize("number", ["overhead", "coupling_cpu", "db2_time PAY", "contention DSNB_LOCK1"])
def test_what_a_full_lock_table_costs(judged: dict[tuple[str, str], Judged], number: str) -> None:
    one = judged["--lock-entries 0.05x", number]
    assert abs(one.error) < 0.04
    assert one.outcome.answer.low * 0.99 < one.truth.mean < one.outcome.answer.high * 1.01


def test_reclaims_that_end_are_rare(judged: dict[tuple[str, str], Judged]) -> None:
    one = judged["--gbp GBP1=2x", "directory_reclaims DSNB_GBP1"]
    assert one.truth.mean == 0.0
    assert one.outcome.answer.value == 0.0
    assert 0.0 < one.outcome.answer.high < 0.05
    assert "0 events" in one.outcome.why
