"""The 1996 case study: what is compared is what the tables print, and the prediction is as good as the page says."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from plexlens.example import studies_path
from plexlens.example.printed import Study
from plexlens.simulate import Scenario, read_scenario
from plexlens.simulate.case_1996 import (
    Line,
    kind_lines,
    page,
    printed_rate,
    structure_lines,
    with_rates,
    without_sysplex,
)
from plexlens.simulate.case_1996 import runs as run_all
from plexlens.simulate.estimates import Estimate, estimate, estimates

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return read_scenario(ROOT / "scenarios" / "sysplex-1996.toml")


@pytest.fixture(scope="module")
def study() -> Study:
    return Study(studies_path() / "sysplex-1996")


def test_estimates() -> None:
    """1, 2, 3: deviation 1, Student's t for two degrees of freedom 4.303, half width 4.303 / sqrt(3) = 2.484."""
    found = estimate([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert math.isclose(found.half_width, 2.4843, rel_tol=1e-3)
    assert str(found) == "2.00 ± 2.48"
    assert str(Estimate(251.53, 1.26)) == "252 ± 1"
    assert str(estimate([0.0])) == "0"
    assert estimates([{"a": 1.0, "b": 1.0}, {"a": 3.0}])["a"].mean == 2.0


def test_rates_are_those_of_table_11(scenario: Scenario, study: Study) -> None:
    """6.0 + 5.9, 6.9 + 6.8, .27 + .23, .48 + .47."""
    rates = {one["name"]: one["rate"] for one in scenario.values["class"] if "rate" in one}
    assert rates == {"INQ1": 11.9, "INQ2": 13.7, "INQ3": 0.5, "UPDA": 0.95}
    for name, rate in rates.items():
        assert math.isclose(printed_rate(study, "A3", name), rate)
    # Table 13: 18.6 + 18.1.
    assert math.isclose(printed_rate(study, "A1", "INQ1"), 36.7)


def test_one_image_shares_with_nobody(scenario: Scenario) -> None:
    alone = without_sysplex(scenario)
    found = run_all(_short(alone, warm_up=10.0, seconds=60.0), [1])[0]
    assert not [name for name in found if name.startswith(("requests", "service"))]
    assert found["transactions"] > 1000
    assert scenario.values["system"][1]["name"] == "SYS2", "the scenario itself stays as it was"


def _short(scenario: Scenario, *, warm_up: float, seconds: float) -> Scenario:
    run = scenario.values["run"] | {"warm_up": warm_up, "seconds": seconds}
    return Scenario(scenario.file, scenario.values | {"run": run}, scenario.lines)


def _off(line: Line) -> float:
    assert line.printed is not None
    return abs(line.simulated.mean / line.printed - 1)


def test_requests_are_predicted(scenario: Scenario, study: Study) -> None:
    """Mean error of requests and service times below 10 %, of read hits below 8 points, in A3 and in A1."""
    for run in ("A3", "A1"):
        rates = {name: printed_rate(study, run, name) for name in ("INQ1", "INQ2", "INQ3", "UPDA")}
        found = estimates(run_all(_short(with_rates(scenario, rates), warm_up=400.0, seconds=400.0), [11]))
        lines = list(structure_lines(study, run, found))
        rates_off = [_off(one) for one in lines if one.unit == "requests/s"]
        hits_off = [abs(one.simulated.mean - (one.printed or 0.0)) for one in lines if one.unit == "read hit, %"]
        assert len(rates_off) == 12 and len(hits_off) == 6
        assert sum(rates_off) / 12 < 0.10
        assert sum(hits_off) / 6 < 8
        services_off = [_off(one) for one in lines if one.unit == "service, µs"]
        assert len(services_off) == 12 and sum(services_off) / 12 < 0.10
        # One of the twelve in A3 was fitted (the stages of the distribution), in A1 none.
        deviations_off = [_off(one) for one in lines if one.unit == "deviation, µs"]
        assert len(deviations_off) == 12 and sum(deviations_off) / 12 < 0.25


def test_other_requests_are_registrations_of_prefetch(scenario: Scenario, study: Study) -> None:
    """Figure 2 counts 1231 requests of other kinds in ten minutes; nothing was fitted to them."""
    run = scenario.values["run"] | {"warm_up": 300.0, "seconds": 600.0}
    found = estimates(run_all(Scenario(scenario.file, scenario.values | {"run": run}, scenario.lines), [12]))
    others = next(one for one in kind_lines(study, found) if one.unit == "Other Requests")
    assert others.printed == 1231
    assert _off(others) < 0.15


def test_the_page(scenario: Scenario, study: Study) -> None:
    """Every number of the compared tables has its row; the page in the docs has the same rows."""
    text = page(_short(scenario, warm_up=20.0, seconds=60.0), study, seeds=(1, 2))
    kept = (ROOT / "docs" / "sysplex-1996.md").read_text(encoding="utf-8")

    def printed(of: str) -> list[list[str]]:
        return [line.split("|")[1:4] for line in of.splitlines() if line.startswith("| ")]

    assert printed(text) == printed(kept)
    # Two runs of 12 structures with 3 numbers, 6 read hits and a mean, 6 pools, 2 castout rates, busy and 6 responses;
    # 5 kinds of requests; 2 + 6 + 15 and 1 comparisons; 8 headings of both runs and 2 of the comparisons.
    assert len(printed(text)) == 2 * (12 * 3 + 6 + 1 + 6 + 2 + 7) + 5 + 23 + 1 + 8 + 2
