"""A run as SMF records: the records of its systems, in a dump that every report reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from plexlens import _core
from plexlens.errors import PlexlensError
from plexlens.simulate.address_spaces import address_space_records
from plexlens.simulate.cics_statistics import statistics_records
from plexlens.simulate.coupling import coupling_records, structure_name
from plexlens.simulate.data_sets import data_set_records
from plexlens.simulate.db2_accounting import accounting_records
from plexlens.simulate.db2_statistics import Statistics
from plexlens.simulate.devices import device_records
from plexlens.simulate.logged import Stretch, in_order
from plexlens.simulate.processors import Consumption, processor_records
from plexlens.simulate.scenario import Scenario, Simulated, beginning
from plexlens.simulate.signals import signal_records
from plexlens.simulate.workload import SPACE_CLASSES, workload_records
from plexlens.simulate.written import Interval, intervals
from plexlens.smf_rows.dump import Dump, open_dump
from plexlens.smf_rows.record import Record

#: SMF70INT and its like hold minutes, seconds and milliseconds, at most 99 minutes.
_LONGEST_INTERVAL = 5999.0

_NAME = re.compile(r"[A-Z0-9@#$_]+")

#: A data set's name: qualifiers of at most 8 characters, 44 in all.
_DATA_SET = re.compile(r"(?=.{1,44}$)[A-Z@#$][A-Z0-9@#$-]{0,7}(\.[A-Z@#$][A-Z0-9@#$-]{0,7})*")

#: Keys that are names in records: path of their tables, key, most characters.
_NAMES = (
    ("cec", "name", 16),
    ("system", "name", 4),
    ("coupling_facility", "name", 8),
    ("region", "name", 8),
    ("class", "name", 8),
    ("db2", "group", 8),
)
_MEMBER = 4
_QUALIFIER = 8
_STRUCTURE = 16


def check_names(scenario: Scenario) -> None:
    """Check that all names fit their fields in SMF records.

    Raises
    ------
    ScenarioFileError
        One does not, or the interval is longer than a record can tell.
    """
    values = scenario.values
    interval = values.get("run", {}).get("interval", 60.0)
    if interval > _LONGEST_INTERVAL:
        raise scenario.wrong("run.interval", f"an SMF record cannot hold {interval} s", "give at most 5999 seconds")
    _check(scenario, "sysplex", values.get("sysplex", "PLEX1"), 8)
    for table, key, most in _NAMES:
        for number, entry in enumerate(values.get(table, [])):
            _check(scenario, f"{table}[{number}].{key}", entry[key], most)
    _check_data_sets(scenario)
    for number, entry in enumerate(values.get("class", [])):
        if entry["name"] in SPACE_CLASSES:
            raise scenario.wrong(
                f"class[{number}].name",
                f"{entry['name']} is the service class of address spaces in SMF 72-3",
                "give the class another name",
            )
    for number, group in enumerate(values.get("db2", [])):
        for at, member in enumerate(group["member"]):
            _check(scenario, f"db2[{number}].member[{at}].name", member["name"], _MEMBER)
        for at, pool in enumerate(group["pool"]):
            name = structure_name(group["group"], pool["number"])
            if pool.get("group") and len(name) > _STRUCTURE:
                raise scenario.wrong(
                    f"db2[{number}].pool[{at}]", f"the structure's name {name} is too long", "shorten the group's name"
                )


def _check_data_sets(scenario: Scenario) -> None:
    """Names that are those of data sets, or part of them, in SMF 42-6."""
    for number, entry in enumerate(scenario.values.get("data_set", [])):
        if _DATA_SET.fullmatch(entry["name"]) is None:
            raise scenario.wrong(
                f"data_set[{number}].name",
                f"{entry['name']!r} is not a data set name",
                "give qualifiers of 1 to 8 of A-Z 0-9 @ # $ - with periods between them, 44 characters in all",
            )
    for number, group in enumerate(scenario.values.get("db2", [])):
        for at, page_set in enumerate(group.get("page_set", [])):
            if page_set.get("volumes"):
                _check(scenario, f"db2[{number}].page_set[{at}].name", page_set["name"], _QUALIFIER)


def _check(scenario: Scenario, path: str, name: str, most: int) -> None:
    if len(name) > most or _NAME.fullmatch(name) is None:
        raise scenario.wrong(
            path, f"{name!r} does not fit its field in SMF records", f"give 1 to {most} of A-Z 0-9 @ # $ _"
        )


def begin_records(interval: Interval, statistics: Statistics) -> list[Record]:
    """Records written when measurement begins."""
    return sorted(statistics.beginning(interval), key=_order)


def interval_records(
    interval: Interval, statistics: Statistics, consumption: Consumption, *, rolled_up: bool = True
) -> list[Record]:
    """The records of an interval by system and type; accounting only if it is rolled up."""
    records = [
        *processor_records(interval, consumption),
        *workload_records(interval),
        *coupling_records(interval),
        *device_records(interval),
        *data_set_records(interval),
        *signal_records(interval),
        *address_space_records(interval),
        *statistics.records(interval),
        *statistics_records(interval),
        *(accounting_records(interval) if rolled_up else ()),
    ]
    # Sorting is stable: classes, facilities and members keep the scenario's order.
    return sorted(records, key=_order)


def _order(record: Record) -> tuple[datetime, str, str]:
    return record.end, record.system, record.map


def dump_records(run: Simulated) -> Iterator[Record]:
    """The records of a run by end of interval, system and record type."""
    statistics, consumption = Statistics(), Consumption()
    for interval in intervals(run):
        if interval.number == 0:
            yield from begin_records(interval, statistics)
        yield from interval_records(interval, statistics, consumption)


def write_smf(run: Simulated, path: Path) -> int:
    """Write a run as an SMF dump; the same run gives the same bytes.

    Parameters
    ----------
    run
        What `plexlens.simulate.run_scenario` gave.
    path
        The dump; what is there is replaced when it is complete.

    Returns
    -------
    int
        Records written, dump header and trailer not counted.

    Raises
    ------
    ScenarioFileError
        A name does not fit its field.
    PlexlensError
        The file cannot be written, or a value does not fit its field.
    """
    with open_simulated(run.scenario, path) as simulated:
        for record in dump_records(run):
            simulated.write(record)
    return simulated.dump.written


@dataclass
class SimulatedDump:
    """The dump of a scenario being written.

    Attributes
    ----------
    dump
        The dump.
    """

    dump: Dump
    _end: datetime

    def write(self, record: Record) -> None:
        """Encode and write a record."""
        self.dump.write(record)
        self._end = record.end

    def write_stretches(self, stretches: Iterable[Stretch]) -> None:
        """Write encoded records of several kinds in time order."""
        for record in in_order(stretches):
            self.dump.write_encoded(record)

    def finish(self, system: str) -> None:
        """Write the trailer."""
        self.dump.finish(system, (self._end + timedelta(seconds=1)).replace(tzinfo=None))


@contextmanager
def open_simulated(scenario: Scenario, path: Path) -> Iterator[SimulatedDump]:
    """A dump to be written, with its header and, on success, its trailer.

    Raises
    ------
    ScenarioFileError
        A name does not fit its field.
    PlexlensError
        The file cannot be written, or a value does not fit its field.
    """
    check_names(scenario)
    system = scenario.values["system"][0]["name"]
    try:
        begun = beginning(scenario.values)
        with open_dump(path, system, begun.replace(tzinfo=None)) as dump:
            simulated = SimulatedDump(dump, begun)
            yield simulated
            simulated.finish(system)
    except _core.SmfError as error:
        raise PlexlensError(
            file=scenario.file,
            what=f"a simulated value does not fit in an SMF record: {error}",
            remedy="shorten the interval, or make the sysplex smaller",
        ) from error
