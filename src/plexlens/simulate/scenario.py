"""Scenarios of the sysplex simulator: reading from TOML, running, and results."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import tomli

from plexlens import _core
from plexlens.errors import UnreadableInputError, UsageError
from plexlens.simulate.locate import line_of, line_of_depth, lines_of
from plexlens.simulate.sampled import for_whole_intervals

#: What a run says the utilisation of, by its name in results.
RESOURCES = {
    "machine": "general engines of machine",
    "machine_ziips": "zIIPs of machine",
    "system": "general engines of system",
    "system_ziips": "zIIPs of system",
    "qr_tcb": "QR TCB of region",
    "region_threads": "threads of region",
    "region_open_tcbs": "open TCBs of region",
    "member_threads": "threads of member",
    "log": "log of member",
    "coupling_facility": "engines of coupling facility",
    "subchannels": "subchannels of",
    "volume": "volume",
}


def resource_text(resource: Mapping[str, Any]) -> str:
    """A resource of a run's results in words: ``QR TCB of region AOR1``."""
    return f"{RESOURCES[resource['resource']]} {resource['name']}"


#: Why transactions end without success, by its name in results.
FAILURES = {
    "member_lost": "its member was lost",
    "no_member": "its region had no member (SQLCODE -923)",
    "resource_unavailable": "a page set was not available (SQLCODE -904)",
    "retained_lock": "a lock was retained for a lost member (SQLCODE -904)",
    "deadlock_or_timeout": "deadlocks and timeouts (SQLCODE -911)",
}


#: Midnight before every run: a Monday, so that the same seed gives the same bytes.
_MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


def beginning(values: Mapping[str, Any]) -> datetime:
    """When the measured part of a run begins (`run.begin`), by the tables of its scenario."""
    return _MONDAY + timedelta(seconds=values.get("run", {}).get("begin", 32_400.0))


class ScenarioFileError(UsageError):
    """An invalid scenario, with file, line and key."""


@dataclass(frozen=True)
class Scenario:
    """A scenario as written.

    Attributes
    ----------
    file
        Where it was read from; empty for one that was made in Python.
    values
        Its tables, as `tomli` gives them.
    lines
        Line of each key, by path.
    """

    file: str
    values: dict[str, Any]
    lines: dict[str, int] = field(default_factory=dict, repr=False)

    def with_run(self, *, seed: int | None = None, seconds: float | None = None) -> Scenario:
        """The same scenario with another seed or run length; None keeps its own."""
        options: dict[str, Any] = {"seed": seed, "seconds": seconds}
        changes = {key: value for key, value in options.items() if value is not None}
        run = self.values.get("run", {})
        if not changes or not isinstance(run, dict):
            return self
        return Scenario(self.file, self.values | {"run": run | changes}, self.lines)

    def wrong(self, path: str, what: str, remedy: str) -> ScenarioFileError:
        """The error for a key."""
        named = f"{path}: {what}" if path else what
        return ScenarioFileError(file=self.file, line=line_of(self.lines, path), what=named, remedy=remedy)


@dataclass(frozen=True)
class Simulated:
    """A run.

    Attributes
    ----------
    scenario
        What was run.
    results
        What really happened, as `plexlens._core.simulate` gives it: intervals, responses with their confidence
        intervals, laws, transactions that failed, the course of what broke, utilisations and what was saturated;
        seconds and counts. This is the ground truth of the SMF records.
    """

    scenario: Scenario
    results: dict[str, Any] = field(repr=False)


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path
        A TOML file with the keys of ``docs/simulate.md``.

    Raises
    ------
    UnreadableInputError
        It cannot be read, or is not valid TOML.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise UnreadableInputError(
            file=str(path), what=f"it cannot be read: {error.strerror or error}", remedy="name a scenario file"
        ) from error
    except UnicodeDecodeError as error:
        raise UnreadableInputError(
            file=str(path), offset=error.start, what="this is not UTF-8 text", remedy="save the scenario as UTF-8"
        ) from error
    return parse_scenario(text, file=str(path))


def parse_scenario(text: str, *, file: str = "") -> Scenario:
    """A scenario from the text of a file.

    Raises
    ------
    UnreadableInputError
        It is not valid TOML.
    """
    try:
        values = tomli.loads(text)
        _check_depth(values, file, text)
        return Scenario(file, values, lines_of(text))
    except RecursionError as error:
        raise _too_deep(file, text) from error
    except tomli.TOMLDecodeError as error:
        raise UnreadableInputError(
            file=file,
            what=f"this is not valid TOML: {error}",
            remedy="see docs/simulate.md for how a scenario is written",
        ) from error


#: Tables and arrays within each other: no scenario needs more than six.
_MOST_LEVELS = 32


def _check_depth(values: Mapping[str, Any], file: str, text: str) -> None:
    level: list[Any] = [values]
    for _ in range(_MOST_LEVELS):
        inner = [list(value.values()) if isinstance(value, Mapping) else value for value in level]
        level = [value for contents in inner for value in contents if isinstance(value, (Mapping, list))]
        if not level:
            return
    raise _too_deep(file, text)


def _too_deep(file: str, text: str) -> UnreadableInputError:
    return UnreadableInputError(
        file=file,
        line=line_of_depth(text, _MOST_LEVELS),
        what=f"tables and arrays are nested more than {_MOST_LEVELS} levels deep",
        remedy="see docs/simulate.md for how a scenario is written",
    )


def run_scenario(scenario: Scenario, *, tell: Callable[[float, float], None] | None = None) -> Simulated:
    """Run a scenario. Ctrl-C ends it within a second.

    Parameters
    ----------
    scenario
        What to run.
    tell
        Called about ten times per second with the simulated seconds so far and in all, the warm-up among them. What it
        raises ends the run.

    Raises
    ------
    ScenarioFileError
        A key is unknown or missing, a value cannot be, or more transactions are active than memory would
        hold them.
    """
    with refusals(scenario):
        results = json.loads(_core.simulate(as_json(scenario), progress=tell))
    return Simulated(scenario, for_whole_intervals(results, scenario.values))


def as_json(scenario: Scenario) -> str:
    """A scenario as JSON for the simulator.

    Raises
    ------
    ScenarioFileError
        A value has no form there.
    """
    for path, value in _leaves(scenario.values, ""):
        if isinstance(value, float) and not math.isfinite(value):
            raise scenario.wrong(path, f"{value} is not possible", "give a finite number")
        if not isinstance(value, (bool, int, float, str)):
            raise scenario.wrong(path, f"{value} is a date or time", "give lengths of time as numbers, in seconds")
    return json.dumps(scenario.values)


@contextmanager
def refusals(scenario: Scenario) -> Iterator[None]:
    """Convert the simulator's refusals of a scenario to errors with a place in the file."""
    try:
        yield
    except _core.ScenarioError as error:
        path, what, remedy = error.args
        raise scenario.wrong(path.removeprefix("."), what, remedy) from error


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every value that is neither a table nor an array, with its path."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{number}]")
    else:
        yield path, value
