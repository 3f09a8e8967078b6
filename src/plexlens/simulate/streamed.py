"""Runs whose records are written while they proceed: every transaction, every page reference."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens import _core
from plexlens.simulate.cics_transactions import Monitoring, dictionary_records
from plexlens.simulate.db2_accounting import thread_records
from plexlens.simulate.db2_statistics import Statistics
from plexlens.simulate.dump import SimulatedDump, begin_records, interval_records, open_simulated
from plexlens.simulate.logged import Places, Stretch
from plexlens.simulate.page_trace import PageTrace, check_page_trace, name_records
from plexlens.simulate.processors import Consumption
from plexlens.simulate.scenario import Scenario, Simulated, as_json, beginning, refusals
from plexlens.simulate.written import Interval


def simulate_to_smf(
    scenario: Scenario,
    path: Path,
    *,
    transactions: bool = False,
    page_trace: bool = False,
    tell: Callable[[float, float], None] | None = None,
) -> tuple[Simulated, int]:
    """Run a scenario and write its records as they are produced.

    The run is the same whatever is written of it, and the records of its intervals are those of
    `plexlens.simulate.write_smf`, accounting apart. Memory does not grow with the number of transactions.

    Parameters
    ----------
    scenario
        What to run.
    path
        The dump; what is there is replaced when it is complete.
    transactions
        Write a record of SMF 101 for each transaction that used Db2, in place of those that are rolled up, and rows of
        SMF 110-1 for each transaction in each region that it passed.
    page_trace
        Write every getpage, update and release: SMF 102, IFCID 198.
    tell
        Called as the run goes on with the simulated seconds so far and in all.

    Returns
    -------
    Simulated, int
        The run, and records written, dump header and trailer not counted.

    Raises
    ------
    ScenarioFileError
        A key is unknown or missing, a value cannot be, or a name does not fit its field.
    PlexlensError
        The file cannot be written, or a value does not fit its field.
    """
    if "sample" in scenario.values.get("run", {}):
        raise scenario.wrong(
            "run.sample",
            "records of single transactions and pages cannot stand for those that are not simulated",
            "leave out --transactions and --page-trace, or run.sample",
        )
    if page_trace:
        check_page_trace(scenario)
    with refusals(scenario):
        pieces = _core.SimulatedRun(as_json(scenario), transactions=transactions, references=page_trace)
    with open_simulated(scenario, path) as simulated:
        writing = _Writing(scenario, simulated, transactions=transactions, page_trace=page_trace)
        while True:
            # Also what is wrong only when the run is under way is said with its place.
            with refusals(scenario):
                kind, value = next(pieces)
            if kind == "results":
                return Simulated(scenario, json.loads(value)), writing.done()
            writing.take(kind, value)
            if tell is not None:
                tell(pieces.seconds, pieces.total)


class _Writing:
    """The pieces of a run on their way into a dump."""

    def __init__(self, scenario: Scenario, simulated: SimulatedDump, *, transactions: bool, page_trace: bool) -> None:
        self._run = Simulated(scenario, {})
        self._simulated = simulated
        self._catalogue = simulated.dump.catalogue
        self._places = Places.of(scenario)
        self._statistics = Statistics()
        self._monitoring = Monitoring(self._catalogue, self._places) if transactions else None
        self._trace = PageTrace(self._catalogue, self._places) if page_trace else None
        self._intervals = 0
        self._consumption = Consumption()

    def take(self, kind: str, value: Any) -> None:
        """Write the records of a piece."""
        if kind == "begun":
            self._begin(Interval(self._run, 0, json.loads(value)))
        elif kind == "interval":
            interval = Interval(self._run, self._intervals, json.loads(value))
            for record in interval_records(
                interval, self._statistics, self._consumption, rolled_up=self._monitoring is None
            ):
                self._simulated.write(record)
            self._intervals += 1
        else:
            self._simulated.write_stretches(self._logged(value))

    def done(self) -> int:
        """Number of records written."""
        return self._simulated.dump.written

    def _begin(self, interval: Interval) -> None:
        records = begin_records(interval, self._statistics)
        begun = beginning(self._run.scenario.values)
        if self._monitoring is not None:
            records += dictionary_records(self._catalogue, self._places, begun)
        if self._trace is not None:
            records += name_records(self._places, begun)
        for record in records:
            self._simulated.write(record)

    def _logged(self, tables: dict[str, pa.RecordBatch]) -> list[Stretch]:
        stretches = []
        if self._monitoring is not None and "transactions" in tables:
            threads = thread_records(self._catalogue, self._places, tables)
            stretches = [self._monitoring.records(tables), *([threads] if threads is not None else [])]
        if self._trace is not None and "references" in tables:
            stretches.append(self._trace.records(tables))
        return stretches
