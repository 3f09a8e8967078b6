"""The runs of the study as scenarios: rates of A1 and A3, the mix of B1, one image without a sysplex, no Db2."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from plexlens.example.printed import Study, number
from plexlens.simulate.scenario import Scenario

#: Tables with transaction rates, by run.
_RATES = {"A3": "table_11", "A1": "table_13"}

#: Rows of the rate tables, by class; the secondary classes are started by these.
PRIMARY = {
    "INQ1": "Inquiry Transaction Type 1",
    "INQ2": "Inquiry Transaction Type 2",
    "INQ3": "Inquiry Transaction Type 3",
    "UPDA": "Primary Update UPDA",
}

#: Primary transactions per second of the comparisons (text: approximately 27).
COMPARED = 27.0

#: Speed of an engine of the ten-way over that of an engine of an R53 (table 3: MIPS per engine).
SLOWER = 16.5 / 19.4


def printed_rate(study: Study, run: str, name: str) -> float:
    """Transactions per second of a class in both systems."""
    row = study.row(_RATES[run], Tranid=PRIMARY[name])
    return sum(number(row[f"SYS{system} Rate/second"]) for system in (1, 2))


def rates(study: Study, run: str) -> dict[str, float]:
    """Transactions per second of every primary class."""
    return {name: printed_rate(study, run, name) for name in PRIMARY}


def changed(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """The scenario with other values."""
    return Scenario(scenario.file, dict(values), scenario.lines)


def with_rates(scenario: Scenario, rates: Mapping[str, float]) -> Scenario:
    """The scenario with other arrival rates; classes without a rate are started only by other classes."""
    values = copy.deepcopy(scenario.values)
    for entry in values["class"]:
        if entry["name"] in rates:
            entry["rate"] = rates[entry["name"]]
    return changed(scenario, values)


def run_b1(scenario: Scenario, study: Study) -> Scenario:
    """Run B1: the mix of A3 without inquiries of type 1, at 27 transactions per second."""
    mix = {name: printed_rate(study, "A3", name) for name in ("INQ2", "INQ3", "UPDA")}
    scale = COMPARED / sum(mix.values())
    return with_rates(scenario, {name: rate * scale for name, rate in mix.items()} | {"INQ1": 0.0})


def without_sysplex(scenario: Scenario) -> Scenario:
    """A single image of ten engines on the RX3: a Db2 per group without sharing; all regions in the image.

    Engines of the ten-way are slower than those of an R53 by what table 3 prints for their MIPS.
    """
    values = copy.deepcopy(scenario.values)
    values["cec"][0]["speed"] = SLOWER
    first = {
        key: value
        for key, value in values["system"][0].items()
        if key not in {"name", "cec", "engines", "lpar_overhead"}
    }
    values["system"] = [{"name": "SYS1", "cec": "RX3", **first}]
    values["coupling_facility"] = []
    for group in values["db2"]:
        group["member"] = group["member"][:1]
        del group["lock"]
        for pool in group["pool"]:
            pool.pop("group", None)
            # One Db2 has the storage of two.
            pool["size"] *= 2
        for page_set in group["page_set"]:
            page_set.pop("castout_owner", None)
    for region in values["region"]:
        region["system"] = "SYS1"
    return changed(scenario, values)


def without_db2(scenario: Scenario) -> Scenario:
    """The same transactions without their calls to Db2."""
    values = copy.deepcopy(scenario.values)
    for entry in values["class"]:
        entry["references"] = []
        entry["db2_cpu"] = 0.0
    return changed(scenario, values)
