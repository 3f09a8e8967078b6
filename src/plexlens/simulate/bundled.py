"""The scenario that comes with Plexlens: a whole day of a sysplex."""

from __future__ import annotations

from plexlens.layouts_path import shipped
from plexlens.simulate.scenario import Scenario, read_scenario


def day_scenario() -> Scenario:
    """A day of three members with online work, a batch night, and a problem that begins at 14:10.

    Raises
    ------
    UsageError
        It is not there: the installation is incomplete.
    """
    file = "day.toml"
    return read_scenario(shipped("scenarios", file, "the scenario that comes with Plexlens is missing") / file)
