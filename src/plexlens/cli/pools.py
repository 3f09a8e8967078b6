"""`plexlens pools`: simulate buffer pools with a page-reference trace."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, Json, Layouts
from plexlens.cli.output import Form, Format, PageOut, check_dump, page, target, write_file
from plexlens.cli.pools_asked import Asked, budget_of, no_settings, sizes_of
from plexlens.cli.terminal import check_writable, emit, err, progress_bar
from plexlens.errors import UsageError
from plexlens.progress import Progress

if TYPE_CHECKING:
    from plexlens.cli.pools_group import FoundGroup
    from plexlens.pools.curves import PoolCurve
    from plexlens.pools.outcome import Work
    from plexlens.pools.prediction import Prediction
    from plexlens.pools.search.recommendation import Recommendation
    from plexlens.pools.settings import Configuration
    from plexlens.pools.site import Site
    from plexlens.pools.trace import Trace
    from plexlens.report.model import Report


@app.command()
def pools(
    traces: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACE...",
            help="A page-reference trace in one or more files (CSV, Parquet, Arrow, oracleGeneral, SMF dumps with "
            "IFCID 198), or a performance database.",
        ),
    ],
    *,
    sizes: Annotated[
        str, typer.Option(metavar="PAGES,...", help="Pool sizes of the curves, such as 1000,5000 (default: 20 sizes).")
    ] = "",
    sample: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Compute curves from this share of the pages, such as 0.01, with the error."
        ),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            metavar="SIZE|MEMBER=SIZE,...",
            help="Recommend pool sizes, placement of objects and settings within this storage, such as 4GiB; in a "
            "group it applies to each member, or give DB1A=4GiB,DB1B=2GiB.",
        ),
    ] = "",
    gbp_budget: Annotated[
        str,
        typer.Option(
            "--gbp-budget",
            metavar="SIZE",
            help="Recommend group buffer pool sizes within this coupling facility storage.",
        ),
    ] = "",
    pool: Annotated[
        list[str] | None,
        typer.Option(
            "--pool",
            metavar="BPn=SIZE[,...]",
            help="Size and thresholds of a pool: BP2=80000 or BP2=80000,vpseqt=40,dwqt=50,vdwqt=10; DB1A.BP2=80000 for "
            "one member; repeatable.",
        ),
    ] = None,
    gbp: Annotated[
        list[str] | None,
        typer.Option(
            "--gbp",
            metavar="GBPn=...",
            help="Group buffer pool: GBP2=20000:100000 (data and directory entries) or GBP2=128MiB:5.",
        ),
    ] = None,
    move: Annotated[
        list[str] | None, typer.Option("--move", metavar="DB.TS=BPn", help="Move an object to a pool; repeatable.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="POLICY:BPn", help="Page steal: lru, fifo or none, such as fifo:BP6."),
    ] = None,
    pgfix: Annotated[
        list[str] | None, typer.Option("--pgfix", metavar="BPn", help="Page-fix a pool; repeatable.")
    ] = None,
    names: Annotated[Path | None, typer.Option(metavar="FILE", help="File with the names of objects.")] = None,
    settings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|PDB",
            help="Present pools: a settings file (TOML), a performance database, or -DISPLAY BUFFERPOOL output.",
        ),
    ] = None,
    subsystem: Annotated[str, typer.Option(metavar="SSID", help="Use the records of this Db2 only.")] = "",
    group: Annotated[
        bool | None,
        typer.Option(
            "--group/--no-group",
            help="Simulate members as a data-sharing group (default) or, with --no-group, as one Db2.",
        ),
    ] = None,
    new_pools: Annotated[
        int, typer.Option(min=0, metavar="N", help="Maximum number of new pools in a recommendation.")
    ] = 4,
    least_buffers: Annotated[
        int, typer.Option(min=1, metavar="N", help="Minimum number of 4 KB buffers per pool in a recommendation.")
    ] = 1000,
    delay_weight: Annotated[
        float,
        typer.Option(min=0, metavar="X", help="Value of one second of delay in CPU seconds, for a recommendation."),
    ] = 0.0,
    layouts: Layouts = None,
    catalogue: Catalogue = None,
    force: Annotated[
        bool, typer.Option("--force", help="Accept a trace that lost 20 % or more of its records.")
    ] = False,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Save the prediction for plexlens compare.")
    ] = None,
    simulate_to: Annotated[
        Path | None,
        typer.Option(metavar="FILE.smf", help="Write the simulated pools as SMF 100 records for plexlens report."),
    ] = None,
    write_to: Annotated[
        Path | None,
        typer.Option("--write-trace", metavar="FILE", help="Write the trace to a .parquet, .csv or .arrow file."),
    ] = None,
    output: PageOut = None,
    form: Format = None,
    as_json: Json = False,
) -> None:
    """Simulate buffer pools with a page-reference trace.

    The answer is the read misses of each pool at every size, the effect of a change (--pool, --move, --policy, --pgfix,
    --gbp), or the changes that pay within a budget (--budget), with ALTER commands and their reverse.
    """
    from plexlens.pools.settings import parse_size
    from plexlens.pools.trace import open_trace, write_trace

    asked = Asked(
        sizes=sizes_of(sizes),
        sample=sample,
        budget=budget_of(budget),
        structure_budget=parse_size(gbp_budget) if gbp_budget else None,
        pools=tuple(pool or ()),
        structures=tuple(gbp or ()),
        moves=tuple(move or ()),
        policies=tuple(policy or ()),
        page_fix=tuple(pgfix or ()),
        new_pools=new_pools,
        least_buffers=least_buffers,
        delay_weight=delay_weight,
        layouts=tuple(layouts or ()),
    )
    where = target("pools", output, form, as_json=as_json)
    check_dump(simulate_to)
    for path in (save, write_to):
        check_writable(path)
    trace = open_trace(traces, names=names, force=force, subsystem=subsystem, layouts=layouts or ())
    wanted = bool(asked.budget) or asked.structure_budget is not None or asked.changes
    with progress_bar() as progress:
        as_page = where.path is not None or where.form is Form.CSV
        if not wanted and not as_page and save is None and simulate_to is None:
            answer = _curves_answer(trace, asked, group, progress)
            if write_to is not None:
                write_trace(trace, write_to, progress)
        else:
            found = _look(trace, settings, asked, progress, group=group, subsystem=subsystem)
            if save is not None or simulate_to is not None or as_page:
                found.check_pools()
            made = page(lambda: found.report(progress), found.as_json)(where.form) if as_page else ""
            if save is not None:
                found.save(save)
            if simulate_to is not None:
                found.simulate_to(simulate_to, progress)
            if where.path is not None:
                write_file(where.path, made)
            if write_to is not None:
                write_trace(trace, write_to, progress)
            text = partial(sys.stdout.write, made) if as_page and where.path is None else found.print
            answer = _Answer(found.as_json, text, notes=found.prediction is not None)
    told = answer.show(as_json or (where.form is Form.JSON and where.path is None))
    if not told:
        for note in trace.facts.notes:
            err.print(f"note: {note}")


@dataclass(frozen=True)
class _Answer:
    """What is shown: one JSON object, or text."""

    json: Callable[[], dict[str, Any]]
    text: Callable[[], object]
    #: Whether the text tells what there is to say of the trace.
    notes: bool = False

    def show(self, as_json: bool) -> bool:
        """Show it; whether that told the notes of the trace."""
        if as_json:
            emit(self.json())
        else:
            self.text()
        return self.notes and not as_json


def _curves(trace: Trace, asked: Asked, progress: Progress) -> list[PoolCurve]:
    from plexlens.pools.curves import curves_of

    return curves_of(trace, sizes=asked.sizes, sample=asked.sample, progress=progress)


def _curves_answer(trace: Trace, asked: Asked, group: bool | None, progress: Progress) -> _Answer:
    from plexlens.cli.pools_group import curves_to_json, print_member_curves
    from plexlens.cli.pools_output import print_curves
    from plexlens.pools.curves import to_json
    from plexlens.pools.group.work import check_several, member_curves

    sampled = asked.sample is not None
    if group is not False:
        members = member_curves(trace, sizes=asked.sizes, sample=asked.sample, progress=progress)
        if group:
            check_several(members)
        if len(members) > 1:
            return _Answer(
                lambda: curves_to_json(members, sample=asked.sample),
                lambda: print_member_curves(members, sampled=sampled),
            )
        found: Sequence[PoolCurve] = next(iter(members.values()), [])
    else:
        found = _curves(trace, asked, progress)
    return _Answer(lambda: to_json(found, sample=asked.sample), lambda: print_curves(found, sampled=sampled))


@dataclass(frozen=True)
class _Found:
    """Everything but plain curves: a prediction or a recommendation, and what they rest on."""

    trace: Trace
    work: Work
    site: Site
    asked: Asked
    curves: Sequence[PoolCurve]
    recommendation: Recommendation | None
    prediction: Prediction | None

    def check_pools(self) -> Prediction:
        """The prediction, which files are written of.

        Raises
        ------
        UsageError
            There is none: no sizes are known.
        """
        if self.prediction is None:
            raise no_settings("nothing can be predicted")
        return self.prediction

    def save(self, path: Path) -> None:
        from plexlens.pools import prediction as predictions

        predictions.save(path, self.check_pools())

    def simulate_to(self, path: Path, progress: Progress) -> None:
        from plexlens.pools.simulation import simulate, write_smf

        after = self.check_pools().after.configuration
        done = simulate(self.trace, list(after.pools.values()), placement=after.placement, progress=progress)
        write_smf(done, path)

    def as_json(self) -> dict[str, Any]:
        from plexlens.cli.pools_output import recommendation_to_json
        from plexlens.pools import curves
        from plexlens.pools import prediction as predictions

        made = curves.to_json(self.curves, sample=self.asked.sample)
        if self.recommendation is not None and self.prediction is not None:
            made |= recommendation_to_json(self.recommendation, self.prediction)
        elif self.prediction is not None:
            made["prediction"] = predictions.to_json(self.prediction)
        return made

    def print(self) -> None:
        from plexlens.cli.pools_output import print_curves, print_notes, print_prediction, print_recommendation

        if self.prediction is None:
            print_curves(self.curves, sampled=self.asked.sample is not None)
            return
        if self.recommendation is not None:
            print_recommendation(self.recommendation, self.prediction)
        else:
            print_prediction(self.prediction)
        print_notes((*self.prediction.notes, *self.trace.facts.notes), self.site.cost)

    def report(self, progress: Progress) -> Report:
        """The report."""
        from plexlens.pools.curves import curves_of
        from plexlens.pools.observation import observe
        from plexlens.report.pools import PoolsAnalysis, pools_report

        prediction, trace = self.check_pools(), self.trace
        after = prediction.after.configuration
        before = prediction.before.configuration if prediction.before.configuration.pools else after
        moved: Sequence[PoolCurve] = ()
        if dict(after.placement) != dict(before.placement):
            moved = curves_of(trace, placement=self.work.numbers_of(after.placement), progress=progress)
        analysis = PoolsAnalysis(
            sources=tuple(source.name for source in trace.sources),
            facts=trace.facts,
            observation=observe(trace, before.pools.values(), placement=before.placement, progress=progress),
            cost=self.site.cost,
            curves=self.curves,
            curves_after=moved,
            recommendation=self.recommendation,
            prediction=prediction if self.recommendation is None else None,
            responses=self.site.responses,
            notes=prediction.notes,
        )
        return pools_report(analysis)


def _look(
    trace: Trace,
    settings: Path | None,
    asked: Asked,
    progress: Progress,
    *,
    group: bool | None,
    subsystem: str,
) -> _Found | FoundGroup:
    from plexlens.cli.pools_group import look_at_members
    from plexlens.pools.site import site_of
    from plexlens.pools.whatif import look_at

    if group:
        return look_at_members(trace, settings, asked, progress)
    work = look_at(trace, progress=progress)
    members = trace.facts.members
    if len(members) > 1:
        if group is None:
            return look_at_members(trace, settings, asked, progress)
        note = f"{', '.join(members)} are simulated as one Db2; in reality each member has its own pools."
        trace.facts.notes.append(note)
    if asked.only_group:
        raise UsageError(
            file="",
            what=f"{asked.only_group} needs several members, and the trace is simulated as one Db2",
            remedy="leave the option out, or give the traces of several members",
        )
    only = members[0] if len(members) == 1 else ""
    site = site_of(trace.sources, settings, subsystem=subsystem, member=only, layouts=asked.layouts)
    recommendation: Recommendation | None = None
    prediction: Prediction | None = None
    if asked.budget:
        recommendation, prediction = _recommend(trace, work, site, asked, progress)
    elif asked.changes or site.configuration.pools:
        prediction = _predict(trace, work, site, asked, progress)
    return _Found(trace, work, site, asked, _curves(trace, asked, progress), recommendation, prediction)


def _predict(trace: Trace, work: Work, site: Site, asked: Asked, progress: Progress) -> Prediction:
    from plexlens.pools.whatif import predict

    before = _of_trace(site.configuration, work)
    return predict(trace, work, before, asked.changed(before), cost=site.cost, progress=progress)


def _of_trace(configuration: Configuration, work: Work) -> Configuration:
    """The settings of the pools that the trace has: a site has others too."""
    kept = {name: pool for name, pool in configuration.pools.items() if name in work.pools}
    placement = {name: pool for name, pool in configuration.placement.items() if name in work.home}
    kept |= {name: configuration.pools[name] for name in placement.values() if name in configuration.pools}
    return replace(configuration, pools=kept, placement=placement)


def _recommend(
    trace: Trace, work: Work, site: Site, asked: Asked, progress: Progress
) -> tuple[Recommendation, Prediction]:
    from plexlens.pools.search.optimiser import Optimiser
    from plexlens.pools.search.recommendation import Limits
    from plexlens.pools.site import evenly
    from plexlens.pools.whatif import check_against, known_names, prediction_of

    budget = asked.budget[""]
    known = known_names(work, asked.changed(_of_trace(site.configuration, work)))
    check_against(work, known)
    before = evenly(work.pools, budget, known)
    stay = set(known.placement) - set(site.configuration.placement)
    named = {option.partition("=")[0].strip().upper() for option in asked.pools}
    limits = Limits(
        budget=budget,
        new_pools=asked.new_pools,
        least_buffers=asked.least_buffers,
        # A size that is stated where others are known is a decision; where none is known it is the present size.
        pinned=frozenset(named) if site.configuration.pools else frozenset(),
        stay=frozenset(stay),
        delay_weight=asked.delay_weight,
    )
    made = Optimiser(trace, before, cost=site.cost, limits=limits, headroom=site.headroom, progress=progress).run()
    return made, prediction_of(made, trace, work, site.cost)
