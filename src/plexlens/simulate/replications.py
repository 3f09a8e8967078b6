"""Several runs of scenarios in parallel: replications with other seeds, and the cases of a comparison."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

from plexlens.executors import Executors
from plexlens.simulate.scenario import Scenario, Simulated, run_scenario

#: What is told while runs go on: simulated seconds so far and in all, of all runs together.
Tell = Callable[[float, float], None]

#: Warm-up of a scenario that states none (docs/scenario-keys.md).
WARM_UP = 60.0

#: Seconds between two reports, and so until an interrupt is noticed.
_PATIENCE = 0.1


class _EndedError(Exception):
    """Another run failed, or the user interrupted."""


def replications(scenario: Scenario, count: int) -> list[Scenario]:
    """The scenario with ``count`` consecutive seeds, starting with its own.

    Parameters
    ----------
    scenario
        What is to be run; a seed that is not a whole number is left to the run to refuse.
    count
        How many runs, 1 or more.
    """
    run = scenario.values.get("run", {})
    seed = run.get("seed", 1) if isinstance(run, dict) else 1
    if count == 1 or not isinstance(seed, int):
        return [scenario]
    return [scenario.with_run(seed=seed + number) for number in range(count)]


def cores() -> int:
    """Number of cores available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_scenarios(
    scenarios: Sequence[Scenario],
    *,
    jobs: int | None = None,
    executors: Executors | None = None,
    tell: Tell | None = None,
) -> list[Simulated]:
    """Run scenarios in parallel; each result equals that of `plexlens.simulate.run_scenario`.

    Parameters
    ----------
    scenarios
        What to run.
    jobs
        Runs at the same time; None: as many as there are cores. Executors decide for themselves.
    executors
        Where the runs take place, each a piece of work; None for threads of this process.
    tell
        Called several times per second, from the calling thread, with simulated seconds, or with runs where executors
        have them. An exception that it raises ends all runs.

    Returns
    -------
    list
        The runs in the order of their scenarios.

    Raises
    ------
    ScenarioFileError
        A key is unknown or missing, or a value cannot be.
    """
    if executors is not None:
        return executors(run_scenario, scenarios, tell)
    at = [(0.0, 0.0)] * len(scenarios)
    ended = threading.Event()

    def run(number: int) -> Simulated:
        def heard(done: float, total: float) -> None:
            at[number] = done, total
            if ended.is_set():
                raise _EndedError

        if ended.is_set():
            raise _EndedError
        simulated = run_scenario(scenarios[number], tell=heard)
        # A run that ends sooner than it would first be heard of has told nothing.
        length = at[number][1] or _length(simulated)
        at[number] = length, length
        return simulated

    # Runs hold no lock of Python's, so that threads use all cores.
    with ThreadPoolExecutor(max(1, min(jobs or cores(), len(scenarios)))) as pool:
        futures: list[Future[Simulated]] = [pool.submit(run, number) for number in range(len(scenarios))]
        try:
            unfinished = set(futures)
            while unfinished:
                done, unfinished = wait(unfinished, timeout=_PATIENCE, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
                if tell is not None:
                    totals = [total for _, total in at if total > 0]
                    each = max(totals, default=0.0)
                    # Runs that have not begun will take as long as those that have.
                    tell(sum(reached for reached, _ in at), sum(totals) + each * (len(at) - len(totals)))
        finally:
            ended.set()
    return [future.result() for future in futures]


def _length(run: Simulated) -> float:
    """Simulated seconds of a run, including the warm-up."""
    warm_up = run.scenario.values.get("run", {}).get("warm_up", WARM_UP)
    return float(run.results["intervals"][-1]["end"]) + float(warm_up)
