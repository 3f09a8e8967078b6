"""Test of the capacity model against the sysplex simulator: a system measured, planned from, and run as planned.

``python -m tools.against_simulation`` writes the tables of ``docs/plan.md`` again. A scenario is run once
and written as SMF, read into a database and calibrated from, as any measurement is; each plan is compared with runs of
the changed scenario with other seeds, which the model has not seen.
"""

from __future__ import annotations

import copy
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plexlens.capacity.calibrate import calibrate
from plexlens.capacity.change import Change
from plexlens.capacity.measured import Measured, measure
from plexlens.capacity.model import Model
from plexlens.capacity.predict import at
from plexlens.capacity.simulated import changed, results_of
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.simulate import Scenario, read_scenario, run_scenario, run_scenarios, write_smf
from plexlens.simulate.estimates import Estimate, estimate

#: Seeds of the runs that plans are compared with; the measured run has another.
SEEDS = (11, 12, 13)
MEASURED_SEED = 1

#: What is planned for one system, and for two that share data.
ALONE: tuple[tuple[str, Change], ...] = (
    ("as measured", Change()),
    ("load 1.3", Change(scale=1.3)),
    ("load 1.6", Change(scale=1.6)),
    ("load 2.0", Change(scale=2.0)),
    ("load 2.3", Change(scale=2.3)),
    ("load 1.6, 3 engines", Change(scale=1.6, engines="3")),
    ("load 1.6, 6 engines", Change(scale=1.6, engines="6")),
    ("load 1.6, engines 1.2 as fast", Change(scale=1.6, speed=1.2)),
    ("load 1.6, one more zIIP", Change(scale=1.6, ziips="+1")),
    ("load 1.6, no zIIP", Change(scale=1.6, ziips="0")),
)
SHARING: tuple[tuple[str, Change], ...] = (
    ("as measured", Change()),
    ("load 1.6", Change(scale=1.6)),
    ("load 1.5, one more member", Change(scale=1.5, members=1)),
)

#: What begins and ends the tables in the document.
BEGIN, END = "<!-- against simulation -->", "<!-- end -->"


@dataclass(frozen=True)
class Line:
    """A planned and a simulated number: busy engines as a fraction, or response in seconds."""

    case: str
    system: str
    what: str
    simulated: Estimate
    planned: float | None

    @property
    def is_share(self) -> bool:
        """Whether the number is a busy share, whose error is in percentage points."""
        return self.what.endswith("busy")

    @property
    def error(self) -> float | None:
        """Planned minus simulated, for a response relative to the simulated value; None without a planned value."""
        if self.planned is None:
            return None
        apart = self.planned - self.simulated.mean
        return apart if self.is_share else apart / self.simulated.mean


def measured_model(scenario: Scenario) -> tuple[Measured, Model]:
    """The model of a scenario, calibrated from its SMF records."""
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "measured.smf"
        write_smf(run_scenario(scenario.with_run(seed=MEASURED_SEED)), dump)
        pdb = Pdb.create(Path(folder) / "pdb")
        ingest([dump], pdb)
        measured = measure(Inputs(pdb.connect()), scenario.file)
        return measured, calibrate(measured, serves={"CICSRGN": "*"})


def compared(
    scenario: Scenario,
    cases: Iterable[tuple[str, Change]],
    seeds: Sequence[int] = SEEDS,
) -> Iterator[Line]:
    """Every case, planned from the scenario as measured and simulated."""
    _, model = measured_model(scenario)
    for case, change in cases:
        asked = with_members(scenario, len(scenario.values["system"]) + change.members)
        scenarios = [changed(asked, change).with_run(seed=seed) for seed in seeds]
        runs = [results_of(run, model) for run in run_scenarios(scenarios)]
        for system in model.systems:
            found = at(model, system, change)
            rows: list[tuple[str, Estimate, float | None]] = [
                ("general busy", estimate([run[system.name].busy for run in runs]), found.busy)
            ]
            if found.ziip_busy is not None:
                ziips = [run[system.name].ziip_busy or 0.0 for run in runs]
                rows.append(("zIIP busy", estimate(ziips), found.ziip_busy))
            for work_class in system.classes:
                if not work_class.background:
                    responses = [run[system.name].classes[work_class.name].response or 0.0 for run in runs]
                    rows.append((work_class.name, estimate(responses), found.classes[work_class.name].response))
            for what, simulated, planned in rows:
                yield Line(case, system.name, what, simulated, planned)


def with_members(scenario: Scenario, count: int) -> Scenario:
    """A single-system scenario expanded to a group of ``count`` such systems; load grows with the members if it had a
    load.

    Added members take their share of what comes.
    """
    values = copy.deepcopy(scenario.values)
    have = len(values["system"])
    for number in range(have + 1, count + 1):
        for key in ("cec", "system", "region"):
            values[key] += [_like(value, number) for value in scenario.values[key] if _is_first(value, key)]
        for group in values["db2"]:
            first = group["member"][0]
            group["member"].append(first | {"name": f"DB{number}", "system": f"SYS{number}"})
        for work_class in values["class"]:
            first = [name for name in work_class["regions"] if not name[-1].isdigit()]
            work_class["regions"] += [f"{name}{number}" for name in first]
    return Scenario(scenario.file, values, scenario.lines)


def _is_first(entry: dict[str, Any], key: str) -> bool:
    return entry["name"] in ("C1", "SYS1") if key != "region" else entry["system"] == "SYS1"


def _like(entry: dict[str, Any], number: int) -> dict[str, Any]:
    made = dict(entry)
    name = entry["name"]
    made["name"] = name[:-1] + str(number) if name[-1].isdigit() else f"{name}{number}"
    if "cec" in made:
        made["cec"] = f"C{number}"
    if "system" in made:
        made["system"] = f"SYS{number}"
    return made


def group_of_two(scenario: Scenario) -> Scenario:
    """The scenario as two members with twice the load."""
    made = with_members(scenario, 2)
    for work_class in made.values["class"]:
        work_class["rate"] *= 2
    return made


def table(lines: Iterable[Line], *, system: str) -> str:
    """Lines of a system as a table: a row per case, simulated next to planned."""
    cases: dict[str, dict[str, Line]] = {}
    for line in lines:
        if line.system == system:
            cases.setdefault(line.case, {})[line.what] = line
    whats = list(dict.fromkeys(what for rows in cases.values() for what in rows))
    heads = [_head(what) for what in whats]
    text = ["| case | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for case, rows in cases.items():
        text.append(f"| {case} | " + " | ".join(_cell(rows.get(what)) for what in whats) + " |")
    return "\n".join(text)


def _head(what: str) -> str:
    return f"{what}, %" if what.endswith("busy") else f"{what.removesuffix('.1')}, ms"


def _cell(line: Line | None) -> str:
    if line is None:
        return ""
    factor = 100.0 if line.is_share else 1000.0
    found = f"{line.simulated.mean * factor:.1f} ± {line.simulated.half_width * factor:.1f}"
    if line.planned is None or line.error is None:
        return f"{found}; saturated"
    error = f"{line.error * 100:+.1f}" if line.is_share else f"{line.error:+.0%}"
    return f"{found}; {line.planned * factor:.1f} ({error})"


def tables(scenario: Scenario, seeds: Sequence[int] = SEEDS) -> str:
    """The generated part of the document."""
    alone = table(compared(scenario, ALONE, seeds), system="SYS1")
    sharing = table(compared(group_of_two(scenario), SHARING, seeds), system="SYS1")
    parts = ("One system:", alone, "Two members that share data, twice the load; the first of them:", sharing)
    return f"{BEGIN}\n" + "\n\n".join(parts) + f"\n{END}"


def main() -> None:
    """Write the tables into the document."""
    root = Path(__file__).parents[1]
    page = root / "docs" / "plan.md"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    made = tables(read_scenario(root / "scenarios" / "capacity.toml"))
    page.write_text(before + made + after, encoding="utf-8")
    sys.stdout.write(made + "\n")


if __name__ == "__main__":
    main()
