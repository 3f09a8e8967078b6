"""The sysplex simulator from Python: scenarios in TOML, runs, and their SMF records.

``docs/simulate.md`` says what a scenario can hold and which fields of which records a run fills.
"""

from __future__ import annotations

from plexlens.simulate.dump import dump_records, write_smf
from plexlens.simulate.replications import replications, run_scenarios
from plexlens.simulate.scenario import (
    FAILURES,
    RESOURCES,
    Scenario,
    ScenarioFileError,
    Simulated,
    parse_scenario,
    read_scenario,
    resource_text,
    run_scenario,
)
from plexlens.simulate.streamed import simulate_to_smf

__all__ = [
    "FAILURES",
    "RESOURCES",
    "Scenario",
    "ScenarioFileError",
    "Simulated",
    "dump_records",
    "parse_scenario",
    "read_scenario",
    "replications",
    "resource_text",
    "run_scenario",
    "run_scenarios",
    "simulate_to_smf",
    "write_smf",
]
