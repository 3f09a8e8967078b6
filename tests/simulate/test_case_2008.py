"""The XML inserts of 2008: what is compared is what the study prints."""

from __future__ import annotations

from pathlib import Path

from plexlens.example import studies_path
from plexlens.example.printed import Study
from plexlens.simulate import Scenario, read_scenario, run_scenario
from plexlens.simulate.estimates import estimates
from tools.case_2008 import eligible, lines, measure, page, with_cpu_of

ROOT = Path(__file__).parents[2]


def _short() -> Scenario:
    scenario = read_scenario(ROOT / "scenarios" / "xml-2008.toml")
    return scenario.with_run(seconds=20.0)


def test_redirected_work_is_predicted() -> None:
    """Case 1-1 as fitted; of case 1-2 the redirected share within 2 points, zIIPs busy within 3."""
    study = Study(studies_path() / "zxml-2008")
    for case in ("Case1-1", "Case1-2"):
        found = {
            line.what: line
            for line in lines(
                study, case, estimates([measure(run_scenario(eligible(_short(), study, case).with_run(seed=9)))])
            )
        }
        redirected = found["WLM report - % of Actual redirected"]
        assert abs(redirected.simulated.mean - redirected.printed) < 2
        share = found["WLM report - % of zIIP eligible work"]
        assert abs(share.simulated.mean - share.printed) < 0.3
        if case == "Case1-1":
            assert abs(found["Transactions per second"].simulated.mean / 1692 - 1) < 0.02
        else:
            assert abs(found["zIIP CPU utilization"].simulated.mean - 68.83) < 3
            assert found["END/S of the workload activity report"].printed == 1773.96


def test_throughput_follows_from_processor_time() -> None:
    """Given the 1.325 ms of case 1-2 (0.575 + 0.750) in place of 1.488: transactions per second within 2 % of 1774."""
    study = Study(studies_path() / "zxml-2008")
    given = with_cpu_of(eligible(_short(), study, "Case1-2"), study, "Case1-2", "Case1-1")
    assert abs(given.values["class"][0]["db2_cpu"] - 0.001325) < 1e-6
    found = measure(run_scenario(given.with_run(seed=9)))
    assert abs(found["rate"] / 1773.96 - 1) < 0.02


def test_the_page() -> None:
    text = page(_short(), Study(studies_path() / "zxml-2008"), seeds=(1,))
    kept = (ROOT / "docs" / "xml-2008.md").read_text(encoding="utf-8")

    def printed(of: str) -> list[list[str]]:
        return [line.split("|")[1:4] for line in of.splitlines() if line.startswith("| ")]

    assert printed(text) == printed(kept)
    assert len(printed(text)) == 3 + 7 + 8 + 8
