"""Questions that are not about a single database: compare, plan, pools, simulate, study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from plexlens.api.answers import Answer, Page
from plexlens.api.losses import warn_of_loss
from plexlens.api.selecting import AnyPath, Moment, Names, selection_of
from plexlens.api.source import Source, address_of, opened
from plexlens.capacity import TOLERANCE, Change, to_object
from plexlens.capacity.page.report import plan_report
from plexlens.capacity.planned import planned
from plexlens.compare.analysis.analysis import analyse
from plexlens.compare.analysis.asked import asked_of, check_asked
from plexlens.compare.analysis.json_object import to_object as analysis_object
from plexlens.compare.audit.audit import audit
from plexlens.compare.audit.json_object import to_object as audit_object
from plexlens.compare.page.asked import compared
from plexlens.compare.page.study import study_report
from plexlens.compare.runs.comparability import Bounds
from plexlens.compare.study.reader import load_study
from plexlens.pdb.opening import DumpReading
from plexlens.pools.page.answer import answer
from plexlens.pools.page.options import Options
from plexlens.pools.trace import open_trace
from plexlens.progress import silent
from plexlens.report.blocks.selection import selection_json, under_selection
from plexlens.simulate import Simulated, read_scenario
from plexlens.simulate.asked import Asked
from plexlens.simulate.json_object import to_object as simulated_object
from plexlens.storage_size import parse_size
from plexlens.whole_file import check_file


def compare_runs(
    base: Source,
    new: Source,
    *,
    chain: str = "",
    rate_bound: float = 0.05,
    mix_bound: float = 0.05,
    object_bound: float = 0.01,
    start: Moment | None = None,
    end: Moment | None = None,
    systems: Names = (),
    shifts: Names = (),
    classes: Names = (),
    site: AnyPath | None = None,
) -> Page:
    """Compare two runs, or a prediction and a run, as `plexlens compare`.

    Parameters
    ----------
    base, new
        A `Database`, or an address as the command takes it: ``PATH``, ``PATH@2008-09-03``, ``STUDY:TABLE:ROW``, or the
        file of a prediction.
    chain
        ``STUDY:TABLE`` whose pairs of runs are chained from release BASE to NEW.
    rate_bound, mix_bound, object_bound
        Largest difference between comparable runs, as fractions.
    start, end, systems, shifts, classes, site
        The part of both, as in `Database.metric`.

    Raises
    ------
    PlexlensError
        As the command.
    """
    comparison = compared(
        address_of(base),
        address_of(new),
        bounds=Bounds(rate_bound, mix_bound, object_bound),
        chain=chain,
        reading=DumpReading(tell=warn_of_loss),
        selection=selection_of(start=start, end=end, systems=systems, shifts=shifts, classes=classes, site=site),
    )
    return Page(lambda: comparison.report, comparison.to_json)


def plan(
    source: Source,
    *,
    scale: float | Mapping[str, float] = 1.0,
    engines: int | str = "",
    ziips: int | str = "",
    speed: float = 1.0,
    members: int = 0,
    member_cost: float = 0.0,
    fixed_background: bool = False,
    report_classes: bool = False,
    serves: Mapping[str, str] | None = None,
    users: Mapping[str, int] | None = None,
    tolerance: float = TOLERANCE,
    careful: bool = False,
    scenario: AnyPath | None = None,
    start: Moment | None = None,
    end: Moment | None = None,
    systems: Names = (),
    shifts: Names = (),
    classes: Names = (),
    site: AnyPath | None = None,
) -> Page:
    """Predict response time and utilisation for another load or other processors, as `plexlens plan`.

    Parameters
    ----------
    source
        A `Database`, or the path of one or of a dump.
    scale
        Load as a multiple of the measured load, or factors by class; the name ``""`` stands for all classes.
    engines, ziips
        Processors of each system: a number, or a text such as ``"+1"``.
    speed
        Speed of all processors as a multiple of the measured speed.
    members, member_cost
        Systems added, and what sharing with them costs as a fraction of the CPU time of a transaction.
    fixed_background
        Whether work without transactions stays as it is while the load grows.
    report_classes, serves, users, careful
        As the options of the command.
    tolerance
        Largest error of the model, as a fraction.
    scenario
        File of a scenario to run for comparison.
    start, end, systems, shifts, classes, site
        The part of the data, as in `Database.metric`.

    Raises
    ------
    PlexlensError
        As the command.
    """
    factors = dict(scale) if isinstance(scale, Mapping) else {"": float(scale)}
    change = Change(
        factors.pop("", 1.0), factors, _count(engines), _count(ziips), speed, members, member_cost,
        fixed_background=fixed_background,
    )  # fmt: skip
    selection = selection_of(start=start, end=end, systems=systems, shifts=shifts, classes=classes, site=site)
    loaded = read_scenario(Path(scenario)) if scenario is not None else None
    with opened(source, selection) as (inputs, name):
        selections = {"": inputs.selection}
        result = planned(
            inputs,
            name,
            change,
            report_classes=report_classes,
            users=users,
            serves=serves,
            tolerance=tolerance,
            careful=careful,
            scenario=loaded,
        )
    return Page(
        lambda: under_selection(plan_report(result), selections),
        lambda: to_object(result) | {"selection": selection_json(selections)},
        inputs=[Path(address_of(source))],
    )


def analyse_pools(
    *traces: Source,
    sizes: Sequence[int] = (),
    sample: float | None = None,
    budget: int | str | Mapping[str, int | str] | None = None,
    gbp_budget: int | str | None = None,
    pool: Names = (),
    gbp: Names = (),
    move: Names = (),
    policy: Names = (),
    pgfix: Names = (),
    names: AnyPath | None = None,
    settings: AnyPath | None = None,
    subsystem: str = "",
    group: bool | None = None,
    new_pools: int = 4,
    least_buffers: int = 1000,
    delay_weight: float = 0.0,
    force: bool = False,
) -> Page:
    """Read misses of every pool size, the effect of a change, or the changes that pay, as `plexlens pools`.

    Parameters
    ----------
    traces
        Files of one page-reference trace, or a database.
    sizes
        Pool sizes of the curves, in pages.
    sample
        Share of the pages that curves are computed from.
    budget
        Storage to recommend within, in bytes or as ``"4GiB"``; by member where members differ.
    gbp_budget
        Storage of the coupling facility for group buffer pools.
    pool, gbp, move, policy, pgfix
        Changes, as texts in the form of the command's options: ``["BP2=80000"]``.
    names, settings, subsystem, group, new_pools, least_buffers, delay_weight, force
        As the options of the command.

    Raises
    ------
    PlexlensError
        As the command.
    """
    paths = [Path(address_of(trace)) for trace in traces]
    options = Options(
        sizes=_checked(sizes),
        sample=sample,
        budget=_budgets(budget),
        structure_budget=None if gbp_budget is None else _size(gbp_budget),
        pools=_texts(pool),
        structures=_texts(gbp),
        moves=_texts(move),
        policies=_texts(policy),
        page_fix=_texts(pgfix),
        new_pools=new_pools,
        least_buffers=least_buffers,
        delay_weight=delay_weight,
    )
    trace = open_trace(paths, names=_path(names), force=force, subsystem=subsystem)
    result = answer(trace, _path(settings), options, silent, group=group, subsystem=subsystem, curves_alone=True)
    return Page(lambda: result.report(silent), result.as_json, inputs=paths)


class Simulation(Answer):
    """Runs of a scenario.

    Parameters
    ----------
    runs
        The runs, which differ in their seed.
    output, records
        The dump written of the first, and its number of records.
    """

    def __init__(self, runs: Sequence[Simulated], output: Path | None, records: int | None) -> None:
        super().__init__(lambda: simulated_object(runs, output, records))
        self.runs = tuple(runs)
        self.dump = output

    @property
    def truth(self) -> dict[str, Any]:
        """True values of each interval of the first run, as ``--truth`` writes them."""
        return self.runs[0].results

    @cached_property
    def responses(self) -> list[dict[str, Any]]:
        """Response time of each class of the first run, with its confidence interval, in seconds."""
        return list(self.to_json()["responses"])

    def __repr__(self) -> str:
        classes = ", ".join(str(response["class"]) for response in self.responses)
        return f"<simulation of {self.runs[0].scenario.file}: {len(self.runs)} runs of {classes}>"


def simulate_scenario(
    scenario: AnyPath,
    output: AnyPath | None = None,
    *,
    seed: int | None = None,
    seconds: float | None = None,
    transactions: bool = False,
    page_trace: bool = False,
    replications: int = 1,
    jobs: int | None = None,
) -> Simulation:
    """Simulate a sysplex, as `plexlens simulate`.

    Parameters
    ----------
    scenario
        The scenario file.
    output
        SMF dump to write of the (first) run; None for none.
    seed, seconds
        Seed and length of the measurement, instead of those of the file.
    transactions, page_trace
        Whether the dump also has a record for each transaction, or for each page reference.
    replications
        Number of runs with consecutive seeds.
    jobs
        Runs at the same time; as many as there are cores by default.

    Raises
    ------
    PlexlensError
        As the command.
    """
    file = Path(scenario)
    target = _path(output)
    wanted = Asked(target, transactions, page_trace, replications, jobs)
    wanted.check(file)
    check_file(target, [file])
    runs, records = wanted.run(read_scenario(file).with_run(seed=seed, seconds=seconds))
    return Simulation(runs, target, records)


def study(
    name: AnyPath,
    *,
    goals: Mapping[str, float] | None = None,
    predictions: Mapping[str, Sequence[int]] | None = None,
) -> Page:
    """Work out the tables of a published study from their measured columns, as `plexlens study`.

    Parameters
    ----------
    name
        A bundled study, ``"cics-2012"`` for example, or a folder with a study.toml.
    goals
        Your own goal by curve over load or size.
    predictions
        Numbers of processors to predict by capacity curve.

    Raises
    ------
    PlexlensError
        As the command.
    """
    options = asked_of(
        [f"{curve}={goal!r}" for curve, goal in (goals or {}).items()],
        [f"{curve}={','.join(map(str, numbers))}" for curve, numbers in (predictions or {}).items()],
    )
    result = audit(load_study(str(name)))
    if options:
        check_asked(options, [analyse(result)])
    analysis = analyse(result, options)
    return Page(
        lambda: study_report([result], [analysis]),
        lambda: {**audit_object(result), **analysis_object(analysis)},
    )


def _path(path: AnyPath | None) -> Path | None:
    return None if path is None else Path(path)


def _count(number: int | str) -> str:
    return str(number)


def _texts(texts: Names) -> tuple[str, ...]:
    # A change may have commas of its own: one text is one change.
    return (texts,) if isinstance(texts, str) else tuple(texts)


def _size(size: int | str) -> int:
    return size if isinstance(size, int) else parse_size(size)


def _budgets(budget: int | str | Mapping[str, int | str] | None) -> dict[str, int]:
    if budget is None:
        return {}
    if isinstance(budget, Mapping):
        return {member.upper(): _size(size) for member, size in budget.items()}
    return {"": _size(budget)}


def _checked(sizes: Sequence[int]) -> tuple[int, ...]:
    from plexlens.pools.curves import check_sizes

    wanted = tuple(sizes)
    check_sizes(wanted)
    return wanted
