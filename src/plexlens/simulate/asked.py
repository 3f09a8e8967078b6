"""Runs and dump of a scenario, as a command or a program requests them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from plexlens.errors import UsageError
from plexlens.executors import Executors
from plexlens.simulate.dump import check_names, write_smf
from plexlens.simulate.replications import Tell, replications, run_scenarios
from plexlens.simulate.scenario import Scenario, Simulated
from plexlens.simulate.streamed import simulate_to_smf


@dataclass(frozen=True)
class Asked:
    """A request to run a scenario.

    Attributes
    ----------
    output
        Dump to write of the first run; None for none.
    transactions, page_trace
        Whether the dump also has a record for each transaction, or for each page reference.
    runs
        Number of runs with consecutive seeds.
    jobs
        Runs at the same time; None for as many as there are cores.
    elsewhere
        Whether executors of a cluster are to have the runs.
    """

    output: Path | None = None
    transactions: bool = False
    page_trace: bool = False
    runs: int = 1
    jobs: int | None = None
    elsewhere: bool = False

    def check(self, scenario: Path) -> None:
        """Refuse what does not go together.

        Raises
        ------
        UsageError
            Records are added to a dump that is not written, or to one of several runs; executors cannot have the run.
        """
        is_logged = self.transactions or self.page_trace
        if self.output is None and is_logged:
            raise UsageError(
                file=str(scenario),
                what="--transactions and --page-trace add records to a dump, but no dump is named",
                remedy="give -o FILE.smf",
            )
        if self.runs > 1 and is_logged:
            raise UsageError(
                file=str(scenario),
                what="--transactions and --page-trace need a single run, but --replications makes several",
                remedy="leave --replications out, or use it in a separate run",
            )
        if self.elsewhere and is_logged:
            raise UsageError(
                file=str(scenario),
                what="--transactions and --page-trace write records during the run, which is on an executor",
                remedy="leave out --engine spark",
            )
        if self.elsewhere and self.jobs is not None:
            raise UsageError(
                file="--jobs",
                what="the cluster decides how many runs there are at the same time",
                remedy="leave --jobs out, or --engine spark",
            )

    def run(
        self, scenario: Scenario, tell: Tell | None = None, executors: Executors | None = None
    ) -> tuple[list[Simulated], int | None]:
        """Run a scenario, and write the dump.

        Parameters
        ----------
        scenario
            The scenario.
        tell
            Told the progress.
        executors
            Where the runs take place; None for this process.

        Returns
        -------
        list, int or None
            The runs, and the records in the dump; None without a dump.

        Raises
        ------
        PlexlensError
            The scenario cannot be run, or the dump cannot be written.
        """
        if self.output is not None and (self.transactions or self.page_trace):
            run, records = simulate_to_smf(
                scenario, self.output, transactions=self.transactions, page_trace=self.page_trace, tell=tell
            )
            return [run], records
        runs = run_scenarios(replications(scenario, self.runs), jobs=self.jobs, executors=executors, tell=tell)
        if self.output is None:
            return runs, None
        check_names(runs[0].scenario)
        return runs, write_smf(runs[0], self.output)
