"""Response times by part of the goal (SMF 72-3) against the transactions one by one (SMF 110-1)."""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.pdb.engine import rows_of
from plexlens.simulate import ScenarioFileError, parse_scenario, run_scenario, simulate_to_smf
from tests.simulate.conftest import TWO_MEMBERS, read_back

#: z/OS MVS Planning: Workload Management: percent of the goal up to which responses are counted; the last is open.
PERCENTS = [50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 200, 400]

GOAL = 0.005


def text(goal: str) -> str:
    found = TWO_MEMBERS.read_text()
    assert "goal = 0.05" in found
    return found.replace("goal = 0.05", goal)


def test_buckets_and_percentile_goal(tmp_path: Path) -> None:
    scenario = parse_scenario(text(f"goal = {GOAL}\ngoal_percent = 80"))
    simulate_to_smf(scenario, tmp_path / "goals.smf", transactions=True)
    inputs = read_back(tmp_path / "goals.smf", tmp_path / "pdb")
    # A transaction is in its terminal region from its arrival to its end; the row tells where it went.
    tasks = rows_of(
        inputs.connection,
        "select epoch_us(stop) - epoch_us(start) as response from smf110_1_performance"
        " where tran = 'UPDA' and rsysid <> ''",
    )
    responses = [row["response"] / 1e6 for row in tasks]
    assert len(responses) > 5000
    expected, doubtful = [0] * 14, 0
    for response in responses:
        percent = response / GOAL * 100
        expected[bisect_left(PERCENTS, percent)] += 1
        # Start and stop are whole microseconds: what is so near to a bound may be on its other side.
        doubtful += any(abs(percent - bound) < 1e-6 / GOAL * 100 for bound in PERCENTS)
    assert sum(1 for count in expected if count > 50) > 5, "responses are spread over the buckets"
    table = evaluate(inputs, GRAINS["workload_period"], by=("class_kind", "class_name", "goal"), time="all")
    assert table is not None
    (row,) = [one for one in table.rows() if one["class_name"] == "UPDA"]
    assert row["goal"] == "percentile"
    assert [row[f"bound_{number}"] for number in range(1, 14)] == [percent / 100 for percent in PERCENTS]
    found = [row[f"bucket_{number}"] for number in range(1, 15)]
    assert sum(found) == row["transactions"] == len(responses)
    assert sum(abs(one - other) for one, other in zip(found, expected, strict=True)) <= 2 * doubtful < 100
    # The index is the bound of the bucket in which 80 % of the transactions are reached.
    reached = next(at for at in range(14) if sum(expected[: at + 1]) >= 0.8 * len(responses))
    assert row["performance_index"] == PERCENTS[reached] / 100


def test_without_a_goal_there_is_no_distribution() -> None:
    run = run_scenario(parse_scenario(text("goal = 0.05")))
    for interval in run.results["intervals"]:
        for used in interval["classes"]:
            for counts in used["systems"]:
                expected = counts["response"]["count"] if used["name"] == "UPDA" else 0
                assert sum(counts["by_goal"]) == expected


@pytest.mark.parametrize(
    ("goal", "told"),
    [
        ("goal = 0.05\ngoal_percent = 0", "goal_percent: 0"),
        ("goal = 0.05\ngoal_percent = 100", "goal_percent: 100"),
        ("goal_percent = 90", "goal_percent: a percentage of the transactions has no goal to meet"),
    ],
)
def test_an_impossible_percentage_is_refused(goal: str, told: str) -> None:
    with pytest.raises(ScenarioFileError) as caught:
        run_scenario(parse_scenario(text(goal)))
    assert told in str(caught.value)
