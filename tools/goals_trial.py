"""Trial of `plexlens cost --goals`: goals under a cap as predicted from a day without it, and as simulated under it.

``scenarios/cost/day.toml`` is a day without a cap. `plexlens cost` reads its records and predicts what a defined
capacity does to the goals. Then the load of the busiest hour of the capped time is simulated for an hour, with a second
partition on the machine that takes what is left and has the weight that leaves the capped one its limit.
``python -m tools.goals_trial`` prints the table of ``docs/cost.md``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli

from plexlens.cost import costed
from plexlens.cost.goals import UnderCap
from plexlens.cost.what_if import Kind, what_if
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.simulate import Scenario, run_scenario, write_smf

DAY = Path(__file__).resolve().parents[1] / "scenarios" / "cost" / "day.toml"

#: Seeds of the days, and limits, MSU. The day uses 156 MSU in its busy hours.
SEEDS, LIMITS = (7100, 7200, 7300), (90, 105, 120, 135)

DAY_SECONDS = 86_400.0

#: Processor time of a task of the other partition: short, so that an engine is free soon.
SLICE = 0.0005


@dataclass(frozen=True)
class Tried:
    """A class under a cap, predicted and simulated."""

    limit: int
    predicted: UnderCap
    response: float
    index: float


@contextmanager
def records_of(values: dict[str, Any]) -> Iterator[Inputs]:
    """The records of a scenario, in a database."""
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "run.smf"
        write_smf(run_scenario(Scenario("", values)), dump)
        list(ingest([dump], Pdb.create(Path(folder) / "pdb")))
        yield Inputs(Pdb.open(Path(folder) / "pdb").connect())


def mean_factor(profile: list[dict[str, float]]) -> float:
    """Mean of the factors of a day.

    Examples
    --------
    >>> mean_factor([{"from": 0.0, "factor": 0.5}, {"from": 21600.0, "factor": 1.0}])
    0.875
    """
    ends = [*(part["from"] for part in profile[1:]), DAY_SECONDS]
    return sum(part["factor"] * (end - part["from"]) for part, end in zip(profile, ends, strict=True)) / DAY_SECONDS


def under_cap(values: dict[str, Any], load: float, engines: float) -> dict[str, Any]:
    """An hour at a constant share of the load, with these engines left to the partition."""
    capped = deepcopy(values)
    capped["run"] = {"seed": values["run"]["seed"] + 1, "warm_up": 60.0, "seconds": 3600.0, "interval": 900.0}
    for each in capped["class"]:
        each.pop("profile")
        each["rate"] *= load
    of_machine = capped["cec"][0]["engines"]
    capped["system"][0]["weight"] = engines
    capped["system"].append({"name": "REST", "cec": capped["cec"][0]["name"], "weight": of_machine - engines})
    names = [f"REST{number}" for number in range(of_machine + 1)]
    capped["region"] += [{"name": name, "system": "REST", "priority": 4} for name in names]
    capped["class"].append(
        {"name": "REST", "users": 4 * of_machine, "think": 0.0001, "cpu": SLICE, "regions": names, "goal": 1.0}
    )
    return capped


def measured(inputs: Inputs) -> dict[str, tuple[float, float]]:
    """Response and performance index of each class."""
    rows = rolled_up(inputs, GRAINS["workload_period"], by=("class_kind", "class_name"), time="all")
    return {
        row["class_name"]: (row["response_time"], row["performance_index"])
        for row in rows
        if row["class_kind"] == "service class" and row["response_time"] is not None
    }


def trial(seed: int) -> Iterator[Tried]:
    """Every limit on a day."""
    values = tomli.loads(DAY.read_text(encoding="utf-8"))
    values["run"]["seed"] = seed
    with records_of(values) as inputs:
        changes = [what_if(Kind.DEFINED, f"SYS1={limit}") for limit in LIMITS]
        cost = costed(inputs, DAY.name, changes=changes, goals=True)
    partition = cost.use.partitions[0]
    goals = cost.goals.rows if cost.goals is not None else ()
    for limit, change, outcome in zip(LIMITS, changes, cost.outcomes, strict=False):
        pressed = outcome.pressed[partition.machine, partition.name]
        load = pressed.busiest_demand / float(partition.samples.msu.mean()) * mean_factor(values["class"][0]["profile"])
        with records_of(under_cap(values, load, pressed.busiest_ran / partition.msu_per_second)) as inputs:
            simulated = measured(inputs)
        for row in goals:
            if row.title == change.title:
                yield Tried(limit, row, *simulated[row.name.partition(".")[0]])


def line(tried: Tried) -> str:
    """A row of the table."""
    row = tried.predicted
    predicted = "held back" if row.response is None else f"{row.response * 1000:.2f} ms"
    error = "" if row.response is None else f"{row.response / tried.response - 1:+.0%}"
    verdict = row.verdict.partition(":")[0].partition(";")[0]
    return (
        f"| {tried.limit} MSU | {row.name} | {row.load:.2f} | {row.engines:.2f} | {predicted}"
        f" | {tried.response * 1000:.2f} ms | {error} | {verdict} | {tried.index:.2f} |"
    )


def main() -> None:
    """Print the table."""
    print("| limit | class | load | engines | predicted | simulated | error | verdict | simulated index |")
    print("|---|---|---:|---:|---:|---:|---:|---|---:|")
    for seed in SEEDS:
        for tried in trial(seed):
            print(line(tried), flush=True)


if __name__ == "__main__":
    main()
