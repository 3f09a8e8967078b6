"""Getpages of GBP-dependent page sets (QBGAGG): of those that a member changes and another has open, and no others."""

from __future__ import annotations

import tomllib

import pytest

from plexlens.simulate import Scenario, run_scenario
from tests.simulate.conftest import TWO_MEMBERS


@pytest.mark.parametrize(("index_update", "share"), [(1.0, 1.0), (0.0, 5.5 / 8.5)])
def test_a_page_set_that_is_only_read_is_not_dependent(index_update: float, share: float) -> None:
    values = tomllib.loads(TWO_MEMBERS.read_text())
    values["run"] = {"seed": 5, "warm_up": 10.0, "seconds": 30.0, "interval": 30.0}
    for one in values["class"]:
        for reference in one["references"]:
            if reference["page_set"] == "DB.IX":
                reference["update"] = index_update if one["name"] == "LATE" else 0.0
    getpages = dependent = 0
    (interval,) = run_scenario(Scenario("", values)).results["intervals"]
    # UPDA reads three pages of the index and 5.5 of the table, which it changes.
    (upda,) = (one for one in interval["classes"] if one["name"] == "UPDA")
    for counts in upda["systems"]:
        getpages += sum(pool["getpages"] for pool in counts["pools"])
        dependent += sum(pool["dependent_getpages"] for pool in counts["pools"])
    assert getpages > 10_000
    assert dependent / getpages == pytest.approx(share, abs=0.01)
