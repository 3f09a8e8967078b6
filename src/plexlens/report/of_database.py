"""The report of a performance database: read, selected, judged, evaluated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plexlens.errors import PlexlensError
from plexlens.metrics import local_time
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.query import Query
from plexlens.metrics.selection import EVERYTHING, Selection, resolve
from plexlens.pdb import Pdb
from plexlens.pdb.engine import Connection
from plexlens.progress import Progress, silent
from plexlens.report import build
from plexlens.report.blocks.readings import FileRead, Readings, offsets_of, readings_of
from plexlens.report.model import Report
from plexlens.report.model.clock import Clock
from plexlens.report.writers.json_object import to_json

if TYPE_CHECKING:
    from plexlens.pdb import IngestResult

#: What the engine may use before it spills to disk. Libraries, the page and what the engine does not count take up to
#: 400 MiB more, and the command is to stay below 1 GiB.
_MEMORY = "576MiB"


@dataclass(frozen=True)
class DatabaseReport:
    """A report, and what of the database it is of."""

    report: Report
    selection: Selection

    def to_json(self) -> dict[str, Any]:
        """Its numbers as plain values."""
        return to_json(self.report) | {"selection": self.selection.to_json()}


def clock_of(inputs: Inputs) -> Clock:
    """The clock on which times of the selected tables are shown, as in a report of them."""
    # Makes the table of reports in local time.
    _ = inputs.places_reports
    connection = inputs.connection
    readings = Readings(offsets=offsets_of(connection), local_reports=local_time.listed(connection))
    return build.clock_of(inputs, readings)


def report_of(
    pdb: Pdb,
    name: str,
    *,
    selection: Selection = EVERYTHING,
    options: build.Options | None = None,
    results: Sequence[IngestResult] = (),
    failures: Sequence[PlexlensError] = (),
    others: Sequence[FileRead] = (),
    progress: Progress = silent,
    threads: int | None = None,
    before: Callable[[Connection], object] | None = None,
    memory_limit: str = _MEMORY,
    brought: Callable[[Inputs, Query], Query] | None = None,
) -> DatabaseReport:
    """Evaluate every page and rule over a database.

    Parameters
    ----------
    pdb
        The database.
    name
        What the user called it, for errors.
    selection
        The part that the report is of, not resolved.
    options
        Title, rules and decisions.
    results, failures
        What became of the files that were just read into it.
    others
        Files of the run that filled it which are not in it (`plexlens.report.blocks.readings.not_in`).
    progress
        Told how far each stage is.
    threads
        Threads of a query: with one, sums are added in the same order each time.
    before
        Called with the connection when the tables are there: it may take rights away from it.
    memory_limit
        What the engine may use.
    brought
        Brings facts that another engine computes (`plexlens.metrics.inputs.Inputs`).

    Raises
    ------
    PlexlensError
        The database is damaged, or nothing is selected.
    """
    progress(0, 0, "opening the database")
    connection = pdb.connect(memory_limit=memory_limit, threads=threads, many_questions=True)
    if before is not None:
        before(connection)
    readings = readings_of(connection, results=results, failures=failures, others=others)
    inputs = Inputs(connection, resolve(selection, connection, name), brought=brought)
    return DatabaseReport(build.build(inputs, readings, options=options, progress=progress), inputs.selection)
