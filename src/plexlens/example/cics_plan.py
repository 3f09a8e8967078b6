"""The CICS region of the example (``studies/example/cics.toml``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import tomli

from plexlens.example.printed import ExampleError


@dataclass(frozen=True)
class AddressSpace:
    """An address space of a table.

    Parameters
    ----------
    name
        Its report class.
    cp, specialty, eligible_on_cp
        Columns of the table: percent of one general processor, of one specialty engine, and of one general processor
        for work that a specialty engine could have done; empty where the table has none.
    """

    name: str
    cp: str
    specialty: str
    eligible_on_cp: str


@dataclass(frozen=True)
class Measurement:
    """A run as a row of a table.

    Parameters
    ----------
    run
        Name of the run.
    table, etr
        The table, and the transaction rate that begins its row.
    transactions
        Report on the class of the transactions; empty where none is printed.
    reports
        Class of an address space to the report on it.
    """

    run: str
    table: str
    etr: str
    transactions: str = ""
    reports: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Window:
    """A period within a run, in local time."""

    name: str
    start: datetime
    seconds: float

    @property
    def end(self) -> datetime:
        """Local time of its end."""
        return self.start + timedelta(seconds=self.seconds)


@dataclass(frozen=True)
class Tasks:
    """Tasks with monitoring records, from ``start`` on, in order of completion."""

    start: datetime
    count: int
    tasks_per_record: int
    longest_milliseconds: int
    bytes: int


@dataclass(frozen=True)
class CicsPlan:
    """All of ``cics.toml``.

    Parameters
    ----------
    study
        The study; its runs are those of the site of that name.
    response
        Table to the column of its response times.
    address_spaces
        Table to its address spaces.
    statistics_table, statistics_of
        The table of TCBs, and the run in which it was collected.
    """

    study: str
    applid: str
    transactions_class: str
    task_limit: int
    transaction: str
    program: str
    service: dict[str, Any]
    response: dict[str, str]
    address_spaces: dict[str, tuple[AddressSpace, ...]]
    measurements: tuple[Measurement, ...]
    statistics_table: str
    statistics_of: str
    statistics: Window
    tasks: Tasks

    def measurement(self, run: str) -> Measurement:
        """The measurement of a run; the KeyError lists the valid names."""
        for measurement in self.measurements:
            if measurement.run == run:
                return measurement
        raise KeyError(f"no measurement {run!r}; known are {', '.join(m.run for m in self.measurements)}")


def _address_space(entry: dict[str, str]) -> AddressSpace:
    return AddressSpace(entry["class"], entry["cp"], entry.get("specialty", ""), entry.get("eligible_on_cp", ""))


def read_cics_plan(studies: Path) -> CicsPlan:
    """Read ``example/cics.toml``.

    Raises
    ------
    ExampleError
        It is missing or cannot be understood.
    """
    path = studies / "example" / "cics.toml"
    try:
        with path.open("rb") as file:
            settings = tomli.load(file)
        tables, collection = settings["tables"], settings["statistics"]
        return CicsPlan(
            study=settings["study"],
            applid=settings["applid"],
            transactions_class=settings["transactions_class"],
            task_limit=settings["task_limit"],
            transaction=settings["transaction"],
            program=settings["program"],
            service=settings["service"],
            response={name: table["response"] for name, table in tables.items()},
            address_spaces={
                name: tuple(_address_space(entry) for entry in table["address_spaces"])
                for name, table in tables.items()
            },
            measurements=tuple(Measurement(**entry) for entry in settings["runs"]),
            statistics_table=collection["table"],
            statistics_of=collection["of"],
            statistics=Window(collection["name"], collection["start"], collection["seconds"]),
            tasks=Tasks(**settings["tasks"]),
        )
    except (OSError, tomli.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ExampleError(
            file=str(path),
            what=f"the example's CICS data cannot be read ({error})",
            remedy="run from a complete checkout, or name its studies folder",
        ) from error
