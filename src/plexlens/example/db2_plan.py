"""Db2 subsystems of the example (``studies/example/db2.toml``)."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import tomli

from plexlens.example.printed import ExampleError, Study


@dataclass(frozen=True)
class Db2Run:
    """Activity of a Db2 between two statistics records.

    Parameters
    ----------
    name
        Unique in the example.
    start
        Local time.
    seconds
        Length.
    screen, reports, group_pools
        The study's tables that print its counters: a screen of pools, statistics reports, reports on group pools.
    pool
        Number of the pool that the reports refer to.
    counts
        Counts that other printed numbers settle where the table's own do not: of a report's row, or all I/Os of a pool
        of a screen.
    """

    name: str
    start: datetime
    seconds: float
    screen: str = ""
    reports: tuple[str, ...] = ()
    group_pools: tuple[str, ...] = ()
    pool: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def end(self) -> datetime:
        """Local time of its end."""
        return self.start + timedelta(seconds=self.seconds)


@dataclass(frozen=True)
class Subsystem:
    """A Db2."""

    study: Study
    study_name: str
    system: str
    subsystem: str
    group: str
    release: int
    utc_offset: timedelta
    runs: tuple[Db2Run, ...]


@dataclass(frozen=True)
class Threads:
    """Remote threads of a study's runs, as named by accounting records.

    Parameters
    ----------
    study
        The study; its runs are those of the site of that name.
    subsystem, release
        The Db2.
    plan, connection, auth, transaction
        Names in the correlation header.
    lengths
        Lengths of sections that are shorter than their layout.
    """

    study: str
    subsystem: str
    release: int
    plan: str
    connection: str
    auth: str
    transaction: str
    lengths: dict[str, int]


@dataclass(frozen=True)
class Item:
    """A row of a statistics report and the field that it prints (``studies/example/statistics_items.csv``).

    Parameters
    ----------
    block
        Block of the report; empty for any.
    item
        The row's heading.
    section, field
        The field.
    """

    block: str
    item: str
    section: str
    field: str


@dataclass(frozen=True)
class Db2Plan:
    """All of ``db2.toml``.

    Parameters
    ----------
    subsystems
        Those of which there are statistics.
    threads
        Those of which there is accounting.
    buffers
        Screen to pool to its size in pages; ``rest`` is shared by the other 4K pools, ``larger`` is each pool of larger
        pages.
    prefetch_pages
        Pages that a dynamic prefetch reads.
    items
        Rows of statistics reports.
    """

    subsystems: tuple[Subsystem, ...]
    threads: tuple[Threads, ...]
    buffers: dict[str, Any]
    prefetch_pages: int
    items: tuple[Item, ...]


def _run(entry: dict[str, Any]) -> Db2Run:
    lists: dict[str, Any] = {name: tuple(entry[name]) for name in ("reports", "group_pools") if name in entry}
    return Db2Run(**{**entry, **lists})


def read_db2_plan(studies: Path) -> Db2Plan:
    """Read ``example/db2.toml`` and ``example/statistics_items.csv``.

    Raises
    ------
    ExampleError
        It is missing or cannot be understood.
    """
    path = studies / "example" / "db2.toml"
    try:
        with path.open("rb") as file:
            settings = tomli.load(file)
        with (studies / "example" / "statistics_items.csv").open(encoding="utf-8", newline="") as table:
            items = tuple(Item(**row) for row in csv.DictReader(table))
        return Db2Plan(
            subsystems=tuple(
                Subsystem(
                    study=Study(studies / entry["study"]),
                    study_name=entry["study"],
                    system=entry["system"],
                    subsystem=entry["subsystem"],
                    group=entry["group"],
                    release=entry["release"],
                    utc_offset=timedelta(hours=entry["utc_offset_hours"]),
                    runs=tuple(_run(run) for run in entry["runs"]),
                )
                for entry in settings["subsystems"]
            ),
            threads=tuple(Threads(**entry) for entry in settings["threads"]),
            buffers=settings["buffers"],
            prefetch_pages=settings["prefetch"]["pages"],
            items=items,
        )
    except (OSError, tomli.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ExampleError(
            file=str(path),
            what=f"the example's Db2 data cannot be read ({error})",
            remedy="run from a complete checkout, or name its studies folder",
        ) from error
