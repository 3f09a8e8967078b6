"""Fit the processor times of the scenario to its calibration runs, and print them.

``python -m tools.case_1996.calibrate`` prints keys of `scenarios/sysplex-1996.toml` with their values. It
has two inputs: Db2 TCB times of table 4a, in the mix of run A3, and processor times per transaction of the address
spaces of run B1 (table 7). It simulates what the scenario's own requests and path lengths take, and takes that off.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from plexlens.example import studies_path
from plexlens.example.printed import Study, number
from plexlens.simulate.estimates import estimates
from plexlens.simulate.scenario import Scenario, read_scenario
from tools.case_1996.comparisons import LESS_MANAGEMENT
from tools.case_1996.measured import runs
from tools.case_1996.transactions import printed_mean
from tools.case_1996.variants import changed, rates, run_b1, with_rates

#: Seeds of the runs, other than those of the predictions, and how often the fit is repeated.
SEEDS, ROUNDS = (101, 102), 4

#: Address spaces of table 7, and what is set so that they agree.
_SERVICES = {
    ("DB2I1DBM1", "DBIDBM1"): ("DSNDB2I", "dbm1_us"),
    ("DB2I1MSTR", "DBIMSTR"): ("DSNDB2I", "mstr_us"),
    ("DB2I1IRLM", "DBIIRLM"): ("DSNDB2I", "irlm_us"),
    ("DB2U1DBM1", "DBUDBM1"): ("DSNDB2U", "dbm1_us"),
    ("DB2U1MSTR", "DBUMSTR"): ("DSNDB2U", "mstr_us"),
    ("DB2U1IRLM", "DBUIRLM"): ("DSNDB2U", "irlm_us"),
}


def fitted(scenario: Scenario, study: Study) -> Scenario:
    """The scenario with processor times that match tables 4a and 7."""
    for _ in range(ROUNDS):
        scenario = _once(scenario, study)
    return scenario


def _once(scenario: Scenario, study: Study) -> Scenario:
    values = copy.deepcopy(scenario.values)
    classes = {entry["name"]: entry for entry in values["class"]}
    groups = {group["group"]: group for group in values["db2"]}
    in_a3 = estimates(runs(with_rates(scenario, rates(study, "A3")), SEEDS))
    for name, entry in classes.items():
        # Table 4a has no type 3: it has the TCB time of type 1.
        target = printed_mean(study, "INQ1" if name == "INQ3" else name, "DB2 TCB Time (sec)")
        # What was measured in partitions contains their management, in the study and in the simulation.
        less = (target - in_a3[f"db2_cpu {name}"].mean) * LESS_MANAGEMENT
        entry["db2_cpu"] = max(entry["db2_cpu"] + less, 0.0)
    in_b1 = estimates(runs(run_b1(scenario, study), SEEDS))

    def missing(workload: str, space: str) -> float:
        target = number(study.row("table_07", Workload=workload)["Adjusted B1 CPU/tran"])
        return target - in_b1[f"space {space}"].mean / in_b1["transactions"].mean * LESS_MANAGEMENT

    for (workload, space), (group, key) in _SERVICES.items():
        services = groups[group]["services"]
        services[key] = max(services[key] + missing(workload, space) * 1e6, 0.0)
    for name in ("INQ1", "INQ2", "INQ3", "UPDA"):
        classes[name]["terminal_cpu"] += missing("TOR1", "TOR")
    for name in ("INS2", "UPDB"):
        classes[name]["cpu"] = max(classes[name]["cpu"] + missing("AOR: UPD1", "UPD"), 0.0)
    return changed(scenario, values)


def keys(scenario: Scenario) -> Iterator[tuple[str, Any]]:
    """The fitted values, with four significant digits."""
    for group in scenario.values["db2"]:
        for key, value in group["services"].items():
            yield f"{group['group']}: services.{key}", float(f"{value:.4g}")
    for entry in scenario.values["class"]:
        for key in ("terminal_cpu", "cpu", "db2_cpu"):
            if key in entry:
                yield f"{entry['name']}: {key}", float(f"{entry[key]:.4g}")


def main() -> None:
    """Print the fitted values."""
    path = Path(__file__).resolve().parents[2] / "scenarios" / "sysplex-1996.toml"
    scenario = fitted(read_scenario(path), Study(studies_path() / "sysplex-1996"))
    sys.stdout.writelines(f"{name} = {value}\n" for name, value in keys(scenario))


if __name__ == "__main__":
    main()
