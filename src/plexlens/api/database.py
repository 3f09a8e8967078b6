"""A performance database, opened or made of dumps, and the questions that it answers."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from plexlens.api.answers import Answer, Page
from plexlens.api.losses import warn_of_loss
from plexlens.api.selecting import AnyPath, Moment, Names, names_of, selection_of
from plexlens.api.table import Numbers, Rows
from plexlens.errors import IngestFailuresError, PlexlensError, UsageError
from plexlens.findings import load_decisions, load_rules
from plexlens.metrics import GRAINS
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.question import Question, ask
from plexlens.metrics.selection import Selection, resolve
from plexlens.metrics.user_query import run_query
from plexlens.pdb import Pdb
from plexlens.pdb.opening import MEMORY_LIMIT, DumpReading
from plexlens.progress import silent
from plexlens.report.build import Options
from plexlens.report.forms import Form
from plexlens.report.of_database import DatabaseReport, clock_of, report_of

if TYPE_CHECKING:
    from plexlens.pdb import IngestResult
    from plexlens.report.model.clock import Clock


class Database:
    """A performance database. `open_database` opens one, and `read` makes one of dumps.

    It shows the state in which it was opened; `refresh` takes in what was ingested since.

    Parameters
    ----------
    pdb
        The database on disk.
    name
        What the user calls it, for errors.
    results, failures
        What became of the files that were just read into it.
    """

    def __init__(
        self,
        pdb: Pdb,
        name: str,
        *,
        results: Sequence[IngestResult] = (),
        failures: Sequence[PlexlensError] = (),
    ) -> None:
        self.pdb = pdb
        self.name = name
        self._results = tuple(results)
        self._failures = tuple(failures)
        self._opened: dict[Selection, Inputs] = {}
        self._clocks: dict[Selection, Clock] = {}
        self._ending = ExitStack()

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.pdb.path

    @property
    def tables(self) -> dict[str, int]:
        """Raw tables with their number of rows."""
        return {name: table.rows for name, table in self.pdb.tables().items()}

    def refresh(self) -> None:
        """Take in what was ingested since the database was opened.

        Raises
        ------
        PlexlensError
            The database is damaged or gone.
        """
        self.pdb.refresh()
        self._opened.clear()
        self._clocks.clear()

    def metric(
        self,
        grain: str,
        *,
        by: Names | None = None,
        every: str = "interval",
        metrics: Names | None = None,
        where: str = "",
        start: Moment | None = None,
        end: Moment | None = None,
        systems: Names = (),
        shifts: Names = (),
        classes: Names = (),
        site: AnyPath | None = None,
    ) -> Numbers:
        """Metrics of a grain.

        Parameters
        ----------
        grain
            Name of the grain, such as ``coupling_structure``.
        by
            Keys or attributes that rows keep apart; none (``[]``) for one row for each time. By default system,
            sysplex and every key of the grain.
        every
            Length of time of a row: ``interval``, ``hour``, ``day``, or ``all``. Hours and days are those of the local
            clock, where the data names one.
        metrics
            Metrics and facts; by default every metric of the grain.
        where
            SQL of a condition on keys, attributes and facts.
        start, end, systems, shifts, classes, site
            The part of the data, as `plexlens.api.selecting.selection_of` takes it.

        Returns
        -------
        Numbers
            Rows ordered by name and time, in base units.

        Raises
        ------
        UsageError
            A name does not exist, or the condition cannot be understood.
        NothingUsableError
            There is no such data, or nothing is selected.
        """
        apart, columns = (None if named is None else names_of(named) for named in (by, metrics))
        question = Question.of(grain, by=apart, every=every, columns=columns, where=where)
        selection = selection_of(start=start, end=end, systems=systems, shifts=shifts, classes=classes, site=site)
        inputs = self._inputs(selection)
        clock = self._clock(selection)
        answer = ask(inputs, question, self.name, utc_offset=clock.offset or 0.0)
        return Numbers(answer, clock)

    def grains(self) -> list[str]:
        """Names of the grains of which the database has data from any source."""
        from plexlens.metrics.evaluate import available

        inputs = self._inputs(Selection())
        return [name for name, grain in GRAINS.items() if available(inputs, grain)]

    def sql(
        self,
        query: str,
        *,
        start: Moment | None = None,
        end: Moment | None = None,
        systems: Names = (),
        shifts: Names = (),
        classes: Names = (),
        site: AnyPath | None = None,
    ) -> Rows:
        """The rows of one SELECT over raw tables and metric views, as `plexlens sql` gives them.

        Raises
        ------
        UsageError
            The text is not a single query that reads, or the query fails.
        NothingUsableError
            Nothing is selected.
        """
        selection = selection_of(start=start, end=end, systems=systems, shifts=shifts, classes=classes, site=site)
        table = run_query(self._there().connect(), query, self.name, selection=selection)
        return Rows(table, self._clock(Selection()))

    def report(
        self,
        *,
        title: str = "",
        rules: Iterable[AnyPath] = (),
        start: Moment | None = None,
        end: Moment | None = None,
        systems: Names = (),
        shifts: Names = (),
        classes: Names = (),
        site: AnyPath | None = None,
    ) -> Page:
        """The report of `plexlens report`: findings, metrics and charts.

        Parameters
        ----------
        title
            Heading; by default the name of the sysplex or systems.
        rules
            Folders with rules that add to the bundled ones or replace them.
        start, end, systems, shifts, classes, site
            The part of the data, as in `metric`.

        Raises
        ------
        PlexlensError
            A rule or a decision of the site cannot be used, or nothing is selected.
        """
        selection = selection_of(start=start, end=end, systems=systems, shifts=shifts, classes=classes, site=site)
        database_report = self._report(selection, title, rules, site)
        return Page(lambda: database_report.report, database_report.to_json)

    def findings(
        self,
        *,
        rules: Iterable[AnyPath] = (),
        start: Moment | None = None,
        end: Moment | None = None,
        systems: Names = (),
        shifts: Names = (),
        classes: Names = (),
        site: AnyPath | None = None,
    ) -> Answer:
        """The findings of the rules, as the report lists them under ``findings``.

        Raises
        ------
        PlexlensError
            As `report`.
        """
        selection = selection_of(start=start, end=end, systems=systems, shifts=shifts, classes=classes, site=site)
        database_report = self._report(selection, "", rules, site)
        return Answer(lambda: database_report.to_json()["findings"])

    def export(
        self,
        folder: AnyPath,
        *,
        grains: Names = (),
        every: str = "interval",
        metrics: Names = (),
        where: str = "",
        form: str = "parquet",
        start: Moment | None = None,
        end: Moment | None = None,
        systems: Names = (),
        shifts: Names = (),
        classes: Names = (),
        site: AnyPath | None = None,
    ) -> list[Path]:
        """Write metric views to a folder, a file for each grain, as `plexlens export`.

        Parameters
        ----------
        folder
            The folder; it is made if it is not there.
        grains
            Names of grains; every grain with data by default.
        every, where, start, end, systems, shifts, classes, site
            As in `metric`.
        metrics
            Metrics and facts; all by default.
        form
            ``parquet``, ``csv``, ``xlsx`` or ``json``.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        PlexlensError
            A name does not exist, there is no such data, or a file cannot be written.
        """
        from plexlens.export import files
        from plexlens.export.views import Wanted, views

        if form not in files.FORMS:
            raise UsageError(
                file="", what=f"{form!r} is not an export format", remedy=f"give one of {', '.join(files.FORMS)}"
            )
        selection = selection_of(start=start, end=end, systems=systems, shifts=shifts, classes=classes, site=site)
        files.check_folder(Path(folder))
        wanted = Wanted(names_of(grains), every, names_of(metrics), where)
        answers = views(self._inputs(selection), wanted, self.name)
        return list(files.write_folder(answers, Path(folder), Form(form)))

    def openmetrics(
        self,
        grains: Names = (),
        *,
        metrics: Names = (),
        where: str = "",
        timestamps: bool = False,
        start: Moment | None = None,
        end: Moment | None = None,
        systems: Names = (),
        classes: Names = (),
    ) -> str:
        """The last interval of each system, Db2 or region as OpenMetrics text, for Prometheus.

        Parameters
        ----------
        grains
            Names of grains; every grain with data by default.
        metrics, where, start, end, systems, classes
            As in `metric`. A start spares the time to look at older intervals.
        timestamps
            Whether samples have the end of their interval as their time.

        Raises
        ------
        PlexlensError
            A name does not exist, or there is no such data.
        """
        from plexlens.export.openmetrics import openmetrics
        from plexlens.export.views import Wanted, views

        selection = selection_of(start=start, end=end, systems=systems, classes=classes)
        wanted = Wanted(names_of(grains), columns=names_of(metrics), where=where, facts=False)
        return openmetrics(views(self._inputs(selection), wanted, self.name), timestamps=timestamps)

    def _report(
        self, selection: Selection, title: str, rules: Iterable[AnyPath], site: AnyPath | None
    ) -> DatabaseReport:
        judged_by = load_rules(tuple(Path(rule) for rule in rules))
        decisions = load_decisions(Path(site), judged_by) if site is not None else ()
        options = Options(title=title, rules=judged_by, decisions=decisions)
        return report_of(
            self._there(),
            self.name,
            selection=selection,
            options=options,
            results=self._results,
            failures=self._failures,
        )

    def _there(self) -> Pdb:
        """The database on disk.

        Raises
        ------
        UsageError
            It was closed, or its folder is gone.
        """
        if not self.pdb.path.exists():
            raise UsageError(
                file=self.name,
                what="the database is closed or deleted",
                remedy="open it again; a database from read() exists only until it is closed",
            )
        return self.pdb

    def _inputs(self, selection: Selection) -> Inputs:
        """The selected tables; a selection that was asked for before is not opened again."""
        if selection not in self._opened:
            connection = self._there().connect(memory_limit=MEMORY_LIMIT)
            self._opened[selection] = Inputs(connection, resolve(selection, connection, self.name))
        return self._opened[selection]

    def _clock(self, selection: Selection) -> Clock:
        if selection not in self._clocks:
            self._clocks[selection] = clock_of(self._inputs(selection))
        return self._clocks[selection]

    def close(self) -> None:
        """Let go of the files; a database that was made of dumps is deleted."""
        self._opened.clear()
        self._ending.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        rows = sum(self.tables.values())
        return f"<performance database {self.name}: {len(self.pdb.ingests)} sources, {rows:,} rows>"


def open_database(path: AnyPath) -> Database:
    """Open a performance database.

    Parameters
    ----------
    path
        Its folder, as `plexlens ingest` made it.

    Raises
    ------
    PlexlensError
        There is none, or it is damaged.
    """
    return Database(Pdb.open(Path(path)), str(path))


def read(
    *sources: AnyPath, layouts: Iterable[AnyPath] = (), codepage: str = "1047", leap_seconds: bool = False
) -> Database:
    """Read dumps and reports into a temporary database, which is deleted with the object.

    What could not be read is warned about (`DataLossWarning`), as is data that is lost within a file.

    Parameters
    ----------
    sources
        SMF dumps, RMF XML files, printed reports, or folders of these.
    layouts
        Folders with record layouts of the site.
    codepage
        EBCDIC code page of text: ``037`` or ``1047``.
    leap_seconds
        Whether the clocks of the systems include leap seconds.

    Raises
    ------
    PlexlensError
        Nothing could be read.
    """
    if not sources:
        raise UsageError(file="", what="no file is named", remedy="name dumps, reports, or folders of these")
    paths = [Path(source) for source in sources]
    ending = ExitStack()
    pdb = ending.enter_context(Pdb.temporary())
    failures: list[PlexlensError] = []
    try:
        reading = DumpReading(tuple(Path(layout) for layout in layouts), codepage, leap_seconds, warn_of_loss)
        try:
            results = reading.into(pdb, paths, silent)
        except IngestFailuresError as error:
            if not error.results:
                raise
            results, failures = list(error.results), list(error.failures)
    except BaseException:
        ending.close()
        raise
    for failure in failures:
        warn_of_loss(str(failure))
    database = Database(pdb, str(paths[0]), results=results, failures=failures)
    database._ending.push(ending)
    weakref.finalize(database, ending.close)
    return database
