"""Contents of the example other than the studies' tables: sites, runs, structures, classes (``studies/example``)."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import tomli

from plexlens.example.cics_plan import CicsPlan, read_cics_plan
from plexlens.example.db2_plan import Db2Plan, read_db2_plan
from plexlens.example.printed import ExampleError, Study


@dataclass(frozen=True)
class Run:
    """An RMF interval.

    Parameters
    ----------
    name
        What the study calls it.
    start
        Local time.
    seconds
        Length.
    samples
        Samples that RMF took.
    """

    name: str
    start: datetime
    seconds: float
    samples: int

    @property
    def end(self) -> datetime:
        """Local time of the interval's end."""
        return self.start + timedelta(seconds=self.seconds)


@dataclass(frozen=True)
class Site:
    """The systems measured by a study."""

    study: Study
    name: str
    sysplex: str
    systems: tuple[str, ...]
    utc_offset: timedelta
    mvs_level: str
    rmf_version: int
    cycle_seconds: float
    processor_flags: int
    machine: str
    model: str
    runs: tuple[Run, ...]
    lengths: dict[str, int]

    def run(self, name: str) -> Run:
        """A run by name; the KeyError lists the valid names."""
        for run in self.runs:
            if run.name == name:
                return run
        raise KeyError(f"{self.name} has no run {name!r}; it has {', '.join(run.name for run in self.runs)}")


@dataclass(frozen=True)
class Structure:
    """A structure of a coupling facility in some runs.

    Parameters
    ----------
    runs
        Runs in which it was used.
    facility, name, type
        Where it lies, its name in the record, ``cache``, ``list`` or ``lock``.
    printed_as
        Its name in the study's table; empty when the study does not list it.
    size_mib
        Allocated size.
    service_as
        The pool of table 12 whose service time stands for the one not printed, ``LOCK`` for that of table 2; empty
        when its own is printed.
    """

    runs: tuple[str, ...]
    facility: str
    name: str
    type: str
    printed_as: str
    size_mib: float
    service_as: str


@dataclass(frozen=True)
class ReportClass:
    """A CICS transaction type as a report class in some runs.

    Parameters
    ----------
    runs
        Runs in which it was measured.
    name
        Class name.
    printed_as
        Its row in the study's table.
    response_as
        Rows of table 4a whose response times, weighted by volume, are the class's.
    """

    runs: tuple[str, ...]
    name: str
    printed_as: str
    response_as: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """All of ``studies/example``."""

    written: datetime
    writer: str
    sites: tuple[Site, ...]
    structures: tuple[Structure, ...]
    classes: tuple[ReportClass, ...]
    coupling: dict[str, Any]
    workload: dict[str, Any]
    processors: dict[str, Any]
    db2: Db2Plan
    cics: CicsPlan

    def site(self, name: str) -> Site:
        """The site of a study; the KeyError lists the valid names."""
        for site in self.sites:
            if site.name == name:
                return site
        raise KeyError(f"no study {name!r}; known are {', '.join(site.name for site in self.sites)}")


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _site(entry: dict[str, Any], studies: Path, lengths: dict[str, int]) -> Site:
    return Site(
        study=Study(studies / entry["study"]),
        name=entry["study"],
        sysplex=entry["sysplex"],
        systems=tuple(entry["systems"]),
        utc_offset=timedelta(hours=entry["utc_offset_hours"]),
        mvs_level=entry["mvs_level"],
        rmf_version=entry["rmf_version"],
        cycle_seconds=entry["cycle_seconds"],
        processor_flags=entry["processor_flags"],
        machine=entry["machine"],
        model=entry["model"],
        runs=tuple(Run(**run) for run in entry["runs"]),
        lengths=lengths,
    )


def read_plan(studies: Path) -> Plan:
    """Read ``example.toml``, ``structures.csv`` and ``classes.csv``.

    Parameters
    ----------
    studies
        Folder that holds the studies and the folder ``example``.

    Raises
    ------
    ExampleError
        A file is missing or cannot be understood.
    """
    folder = studies / "example"
    try:
        with (folder / "example.toml").open("rb") as file:
            settings = tomli.load(file)
        structures = _rows(folder / "structures.csv")
        classes = _rows(folder / "classes.csv")
        return Plan(
            written=settings["dump"]["written"],
            writer=settings["dump"]["system"],
            sites=tuple(_site(entry, studies, settings["lengths"][entry["study"]]) for entry in settings["sites"]),
            structures=tuple(
                Structure(
                    runs=tuple(row["runs"].split(";")),
                    facility=row["facility"],
                    name=row["structure"],
                    type=row["type"],
                    printed_as=row["printed_as"],
                    size_mib=float(row["size_mib"]),
                    service_as=row["service_as"],
                )
                for row in structures
            ),
            classes=tuple(
                ReportClass(
                    runs=tuple(row["runs"].split(";")),
                    name=row["class_name"],
                    printed_as=row["printed_as"],
                    response_as=tuple(row["response_as"].split(";")),
                )
                for row in classes
            ),
            coupling=settings["coupling"],
            workload=settings["workload"],
            processors=settings["processors"],
            db2=read_db2_plan(studies),
            cics=read_cics_plan(studies),
        )
    except (OSError, tomli.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ExampleError(
            file=str(folder),
            what=f"the example's data cannot be read ({error})",
            remedy="run from a complete checkout, or name its studies folder",
        ) from error
