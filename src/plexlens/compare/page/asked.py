"""The answer of `plexlens compare`: two runs side by side, a prediction and a run, or a chain of ITR ratios."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plexlens.compare.comparison.address import address
from plexlens.compare.runs.comparability import Bounds
from plexlens.errors import UsageError
from plexlens.metrics.opening import explained, inputs_of
from plexlens.metrics.selection import EVERYTHING, Selection, resolve
from plexlens.pdb.opening import DumpReading
from plexlens.progress import Progress, silent
from plexlens.report.blocks.selection import selection_json, under_selection

# What a comparison of two databases does not need (studies, the reader of traces) is loaded where it is used.
if TYPE_CHECKING:
    from plexlens.compare.comparison.address import Address, DatabaseAddress, StudyAddress
    from plexlens.compare.runs.prediction_run import Came
    from plexlens.compare.runs.run import Run
    from plexlens.metrics.inputs import Inputs
    from plexlens.pools.prediction import Prediction
    from plexlens.report.model import Report


@dataclass(frozen=True)
class Comparison:
    """A comparison: its report, and what was selected of BASE and of NEW."""

    plain: Report
    values: Callable[[], dict[str, Any]]
    selections: dict[str, Selection]

    @property
    def report(self) -> Report:
        """The report, with the selection at its top."""
        return under_selection(self.plain, self.selections)

    def to_json(self) -> dict[str, Any]:
        """Its plain values."""
        return self.values() | {"selection": selection_json(self.selections)}


def compared(
    base: str,
    new: str,
    *,
    bounds: Bounds | None = None,
    chain: str = "",
    reading: DumpReading | None = None,
    selection: Selection = EVERYTHING,
    progress: Progress = silent,
) -> Comparison:
    """Compare two runs, or a prediction and a run.

    Parameters
    ----------
    base, new
        What is compared, as `plexlens compare` takes it: ``PATH``, ``PATH@2008-09-03``, ``STUDY:TABLE:ROW``.
    bounds
        How much of the work may differ between comparable runs; those of the command by default.
    chain
        Table of a study whose pairs of runs are chained from release BASE to NEW; empty for none.
    reading
        How dumps are read.
    selection
        The part of both databases to compare, not resolved.
    progress
        Told how far each stage is.

    Raises
    ------
    PlexlensError
        An address names nothing, there is nothing to compare, or a source cannot be read.
    """
    if chain:
        if selection:
            raise _nothing_to_select("pairs of runs of a study")
        return Comparison(*_chained(chain, base, new), {})
    with ExitStack() as stack:
        sources = _Sources(stack, progress, reading or DumpReading(), selection)
        report, values = _compared(address(base), address(new), bounds or Bounds(), sources)
    return Comparison(report, values, sources.selections)


def _chained(table: str, base: str, new: str) -> tuple[Report, Callable[[], dict[str, Any]]]:
    from plexlens.compare.comparison.chain import chains, transitions_of
    from plexlens.compare.page.chain import chain_json, chain_report

    study, colon, name = table.partition(":")
    if not colon:
        raise UsageError(
            file="", what=f"--chain {table} does not name a table", remedy="give STUDY:TABLE, as in vmesa-1992:table-03"
        )
    results = chains(transitions_of(study, name), base, new)
    source = f"Pairs of runs of study {study}, {name}"
    return chain_report(results, source), lambda: chain_json(results, source)


class _Sources:
    """The databases, dumps and traces named by the arguments, open while the command runs."""

    def __init__(self, stack: ExitStack, progress: Progress, reading: DumpReading, selection: Selection) -> None:
        self.stack = stack
        self.progress = progress
        self.reading = reading
        self.selection = selection
        self.opened: dict[Path, Inputs] = {}
        #: What was selected of BASE and of NEW.
        self.selections: dict[str, Selection] = {}

    def inputs(self, where: DatabaseAddress, role: str) -> Inputs:
        """The selected part of a database, or of dumps read into a temporary database; each path is read once."""
        from plexlens.metrics.inputs import Inputs

        path = where.path
        if path not in self.opened:
            self.opened[path] = self.stack.enter_context(inputs_of([path], self.reading, self.progress))
        connection = self.opened[path].connection
        selection = resolve(self.selection.and_window(where.window), connection, where.text)
        self.selections[role] = selection
        return Inputs(connection, selection) if selection else self.opened[path]

    def run(self, where: DatabaseAddress | StudyAddress, role: str) -> Run:
        """The run at an address; ``role`` is BASE or NEW."""
        from plexlens.compare.comparison.address import StudyAddress
        from plexlens.compare.runs.database_run import database_run

        if isinstance(where, StudyAddress):
            from plexlens.compare.comparison.study_run import study_run

            return study_run(where)
        self.progress(0, 0, f"reading the numbers of {where.text}")
        inputs = self.inputs(where, role)
        with explained(inputs.selection):
            return database_run(inputs, where.text)

    def came(self, where: DatabaseAddress | StudyAddress, prediction: Prediction) -> Came:
        """The measurement after a prediction: a database or dump with Db2 statistics, else a trace."""
        from plexlens.compare.comparison.address import StudyAddress
        from plexlens.compare.runs.prediction_run import came_in_database, came_in_trace
        from plexlens.pools.trace import open_trace
        from plexlens.pools.trace_sources import is_trace_file

        if isinstance(where, StudyAddress):
            raise UsageError(
                file="",
                what="a prediction cannot be compared with a run of a study",
                remedy="give a database, a dump or a trace that was recorded after the change",
            )
        if not is_trace_file(where.path):
            inputs = self.inputs(where, "NEW")
            if inputs.selection or inputs.has("smf100_ifcid2_qbst"):
                with explained(inputs.selection):
                    return came_in_database(inputs, where.text)
        if self.selection or where.window is not None:
            raise UsageError(
                file=where.text,
                what="a trace is compared with a prediction as a whole",
                remedy="leave out the selection, or name a database or dump with SMF 100",
            )
        return came_in_trace(open_trace([where.path]), where.text, prediction, progress=self.progress)


def _compared(
    first: Address, second: Address, bounds: Bounds, sources: _Sources
) -> tuple[Report, Callable[[], dict[str, Any]]]:
    """The report, and the function that builds its plain values."""
    from plexlens.compare.comparison.address import PredictionAddress
    from plexlens.compare.comparison.comparison import compare as compare_runs
    from plexlens.compare.page.runs import compare_report
    from plexlens.compare.page.runs_json import compare_json

    if isinstance(second, PredictionAddress):
        raise UsageError(
            file=str(second.path),
            what="a prediction can only be BASE",
            remedy="name the prediction first and the measured run second",
        )
    if isinstance(first, PredictionAddress):
        # What reads traces is loaded where a prediction is compared alone.
        from plexlens.compare.page.prediction import prediction_json, prediction_report
        from plexlens.compare.runs.prediction_run import compare_prediction
        from plexlens.pools.prediction import load

        prediction = load(first.path)
        check = compare_prediction(prediction, first.path.name, sources.came(second, prediction), bounds=bounds)
        return prediction_report(check), lambda: prediction_json(check)
    runs = sources.run(first, "BASE"), sources.run(second, "NEW")
    if sources.selection and not sources.selections:
        raise _nothing_to_select("runs of studies")
    comparison = compare_runs(*runs, bounds=bounds)
    return compare_report(comparison), lambda: compare_json(comparison)


def _nothing_to_select(what: str) -> UsageError:
    return UsageError(
        file="",
        what=f"{what} have no intervals to select from",
        remedy="leave out --from, --to, --system, --shift and --class",
    )
