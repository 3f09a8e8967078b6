"""`plexlens compare`: two runs side by side, or a prediction against the measurement that followed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plexlens.cli import completion
from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, Json
from plexlens.cli.output import Format, PageOut, target
from plexlens.cli.selection import explained, selectable, selected_page
from plexlens.cli.sources import Reading, inputs_of, reads_dumps
from plexlens.cli.terminal import progress_bar
from plexlens.errors import UsageError
from plexlens.progress import Progress

if TYPE_CHECKING:
    from plexlens.compare.comparison.address import Address, DatabaseAddress, StudyAddress
    from plexlens.compare.runs.comparability import Bounds
    from plexlens.compare.runs.prediction_run import Came
    from plexlens.compare.runs.run import Run
    from plexlens.metrics.inputs import Inputs
    from plexlens.metrics.selection import Selection
    from plexlens.pools.prediction import Prediction
    from plexlens.report.model import Report


@app.command()
@selectable
@reads_dumps
def compare(
    base: Annotated[
        str,
        typer.Argument(
            metavar="BASE",
            help="A performance database, an SMF dump, an RMF XML file, a printed report, or a folder of these (PATH, "
            "PATH@2008-09-03, PATH@FROM..TO); a run of a study (STUDY:TABLE or STUDY:TABLE:ROW); or a prediction saved "
            "by plexlens pools (FILE.json).",
            autocompletion=completion.runs,
        ),
    ],
    new: Annotated[
        str,
        typer.Argument(
            metavar="NEW", help="The run to compare with BASE, named in the same way.", autocompletion=completion.runs
        ),
    ],
    *,
    output: PageOut = None,
    form: Format = None,
    as_json: Json = False,
    chain: Annotated[
        str,
        typer.Option(
            metavar="STUDY:TABLE",
            help="Take BASE and NEW as releases, and chain the ITR ratios of the pairs of runs in this table.",
        ),
    ] = "",
    rate_bound: Annotated[
        float, typer.Option(metavar="PERCENT", help="Maximum difference of rates between comparable runs.")
    ] = 5.0,
    mix_bound: Annotated[
        float, typer.Option(metavar="PERCENT", help="Maximum share of the work that moved between objects.")
    ] = 5.0,
    object_bound: Annotated[
        float,
        typer.Option(metavar="PERCENT", help="Maximum share of the work done by objects that appear in only one run."),
    ] = 1.0,
    catalogue: Catalogue = None,
    reading: Reading,
    selection: Selection,
) -> None:
    """Compare two runs, or a prediction and a run.

    The answer lists differences of the environment, whether the runs did the same work, what changed and why, and every
    number by group.
    """
    from plexlens.compare.comparison.address import address
    from plexlens.compare.runs.comparability import Bounds

    read = [Path(one) for text in (base, new) for one in (text, text.rpartition("@")[0]) if one]
    where = target("compare", output, form, as_json=as_json, inputs=read)
    bounds = Bounds(
        _share("rate-bound", rate_bound), _share("mix-bound", mix_bound), _share("object-bound", object_bound)
    )
    with ExitStack() as stack, progress_bar() as progress:
        sources = _Sources(stack, progress, reading, selection)
        if chain:
            if selection:
                raise _nothing_to_select("pairs of runs of a study")
            report, values = _chained(chain, base, new)
        else:
            report, values = _compared(address(base), address(new), bounds, sources)
        where.show(selected_page(lambda: report, values, sources.selections))


def _share(name: str, value: float) -> float:
    if not 0 <= value <= 100:
        raise UsageError(
            file="",
            what=f"--{name} {value:g} is outside 0 to 100 percent",
            remedy=f"give a percentage, as in --{name} 5",
        )
    return value / 100


def _chained(table: str, base: str, new: str) -> tuple[Report, Callable[[], dict[str, Any]]]:
    from plexlens.compare.comparison.chain import chains, transitions_of
    from plexlens.compare.page.chain import chain_json, chain_report

    study, colon, name = table.partition(":")
    if not colon:
        raise UsageError(
            file="", what=f"--chain {table} does not name a table", remedy="give STUDY:TABLE, as in vmesa-1992:table-03"
        )
    found = chains(transitions_of(study, name), base, new)
    source = f"Pairs of runs of study {study}, {name}"
    return chain_report(found, source), lambda: chain_json(found, source)


class _Sources:
    """The databases, dumps and traces named by the arguments, open while the command runs."""

    def __init__(self, stack: ExitStack, progress: Progress, reading: Reading, selection: Selection) -> None:
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
        from plexlens.metrics.selection import resolve

        path = where.path
        if path not in self.opened:
            self.opened[path] = self.stack.enter_context(inputs_of([path], self.reading, self.progress))
        connection = self.opened[path].connection
        selection = resolve(self.selection.and_window(where.window), connection, where.text)
        self.selections[role] = selection
        return Inputs(connection, selection)

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
        from plexlens.pools.trace import is_trace_file, open_trace

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
    from plexlens.compare.page.runs import compare_json, compare_report

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
    made = compare_runs(*runs, bounds=bounds)
    return compare_report(made), lambda: compare_json(made)


def _nothing_to_select(what: str) -> UsageError:
    return UsageError(
        file="",
        what=f"{what} have no intervals to select from",
        remedy="leave out --from, --to, --system, --shift and --class",
    )
