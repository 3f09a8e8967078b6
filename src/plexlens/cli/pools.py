"""`plexlens pools`: simulate buffer pools with a page-reference trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, Json, Layouts
from plexlens.cli.output import Form, Format, PageOut, check_apart, check_dump, check_file, page, target
from plexlens.cli.pools_asked import Asked, budget_of, no_settings, sizes_of
from plexlens.cli.terminal import err, progress_bar
from plexlens.errors import UsageError
from plexlens.progress import Progress

if TYPE_CHECKING:
    from plexlens.pools.curves import PoolCurve
    from plexlens.pools.prediction import Prediction
    from plexlens.pools.search.recommendation import Recommendation
    from plexlens.pools.site import Site
    from plexlens.pools.trace import Trace
    from plexlens.pools.work import Work
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
    read = [*traces, *(path for path in (names, settings) if path is not None)]
    where = target("pools", output, form, as_json=as_json, inputs=read)
    check_dump(simulate_to, read)
    for path in (save, write_to):
        check_file(path, read)
    check_apart({"-o": where.path, "--save": save, "--simulate-to": simulate_to, "--write-trace": write_to})
    trace = open_trace(traces, names=names, force=force, subsystem=subsystem, layouts=layouts or ())
    with progress_bar() as progress:
        files = save is not None or simulate_to is not None or where.path is not None or where.form is Form.CSV
        found = _look(trace, settings, asked, progress, group=group, subsystem=subsystem, curves_alone=not files)
        if files:
            found.check_pools()
        made = page(lambda: found.report(progress), found.as_json)
        contents = {one: made(one) for one in where.forms}
        if save is not None:
            found.save(save)
        if simulate_to is not None:
            found.simulate_to(simulate_to, progress)
        if write_to is not None:
            write_trace(trace, write_to, progress)
    where.show(contents.__getitem__)
    if where.path is None and Form.JSON in contents:
        for note in trace.facts.notes:
            err.print(f"note: {note}")


@dataclass(frozen=True)
class _Found:
    """What was found: curves, a prediction or a recommendation, and what they rest on."""

    trace: Trace
    curves: Sequence[PoolCurve]
    asked: Asked
    work: Work | None = None
    site: Site | None = None
    recommendation: Recommendation | None = None
    prediction: Prediction | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(source.name for source in self.trace.sources)

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
        """Write the simulated pools as the statistics of each Db2."""
        from plexlens.pools.simulation import simulate, write_smf

        after = self.check_pools().after.configuration
        done = simulate(self.trace, after, work=self.work, progress=progress)
        write_smf(done, path, **({"group": after.group} if after.group else {}))

    def as_json(self) -> dict[str, Any]:
        from plexlens.pools import curves
        from plexlens.pools import prediction as predictions
        from plexlens.pools.search import recommendation

        made = curves.to_json(self.curves, sample=self.asked.sample)
        if self.recommendation is not None:
            made["recommendation"] = recommendation.to_json(self.recommendation)
        if self.prediction is not None:
            made["prediction"] = predictions.to_json(self.prediction)
        return made

    def report(self, progress: Progress) -> Report:
        """The report: of the curves alone, where the sizes of the pools are not known."""
        from plexlens.pools.curves import curves_of
        from plexlens.pools.observation import observe
        from plexlens.pools.page.report import PoolsAnalysis, curves_report, pools_report

        prediction, trace, work, site = self.prediction, self.trace, self.work, self.site
        if prediction is None or work is None or site is None:
            return curves_report(
                self.sources, trace.facts, self.curves, grouped=any("." in one.pool for one in self.curves)
            )
        after = prediction.after.configuration
        before = prediction.before.configuration if prediction.before.configuration.pools else after
        moved: Sequence[PoolCurve] = ()
        if dict(after.placement) != dict(before.placement):
            moved = curves_of(
                trace, placement=work.numbers_of(after.placement), group=bool(work.members), progress=progress
            )
        analysis = PoolsAnalysis(
            sources=self.sources,
            facts=trace.facts,
            observation=observe(trace, before, work=work, progress=progress),
            cost=site.cost,
            curves=self.curves,
            curves_after=moved,
            recommendation=self.recommendation,
            prediction=prediction if self.recommendation is None else None,
            responses=site.responses,
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
    curves_alone: bool,
) -> _Found:
    from plexlens.pools.curves import curves_of
    from plexlens.pools.site import of_trace, site_of
    from plexlens.pools.whatif import predict
    from plexlens.pools.work import look_at

    def curves(several: bool | None) -> Sequence[PoolCurve]:
        return curves_of(trace, sizes=asked.sizes, sample=asked.sample, group=several, progress=progress)

    if curves_alone and settings is None and not asked.recommends and not asked.changes:
        return _Found(trace, curves(group), asked)
    work = look_at(trace, group=group, progress=progress)
    members = trace.facts.members
    if group is False and len(members) > 1:
        note = f"{', '.join(members)} are simulated as one Db2; in reality each member has its own pools."
        trace.facts.notes.append(note)
    if asked.only_group and not work.members:
        raise UsageError(
            file="",
            what=f"{asked.only_group} needs several members, and the trace is simulated as one Db2",
            remedy="leave the option out, or give the traces of several members",
        )
    only = members[0] if len(members) == 1 else ""
    site = site_of(
        trace.sources,
        settings,
        members=list(work.members),
        subsystem=subsystem,
        member=only,
        layouts=asked.layouts,
    )
    before = of_trace(site.configuration, work)
    recommendation: Recommendation | None = None
    prediction: Prediction | None = None
    if asked.recommends:
        recommendation, prediction = _recommend(trace, work, replace(site, configuration=before), asked, progress)
    elif asked.changes or site.configuration.pools:
        after = asked.changed(before, work.used)
        prediction = predict(trace, work, before, after, cost=site.cost, progress=progress)
    return _Found(trace, curves(bool(work.members)), asked, work, site, recommendation, prediction)


def _recommend(
    trace: Trace, work: Work, site: Site, asked: Asked, progress: Progress
) -> tuple[Recommendation, Prediction]:
    from plexlens.pools.members import member_and_pool
    from plexlens.pools.options import named_pools
    from plexlens.pools.search.case import Limits
    from plexlens.pools.search.optimiser import Optimiser
    from plexlens.pools.site import completed, evenly
    from plexlens.pools.whatif import check_against, known_names, prediction_of

    changed = known_names(work, asked.changed(site.configuration, work.used))
    check_against(work, changed)
    budgets = asked.budgets(list(work.parts))
    before = completed(evenly(work, budgets, changed), work, trace, progress=progress)
    # A size that is stated where others are known is a decision; where none is known it is the present size.
    known = {member for member in work.parts if site.configuration.of(member).pools}
    named = {name for name in named_pools(changed, work.used, asked.pools) if member_and_pool(name)[0] in known}
    structures = {option.partition("=")[0].strip().upper()[1:] for option in asked.structures}
    limits = Limits(
        budgets=budgets,
        structures=asked.structure_budget,
        new_pools=asked.new_pools,
        least_buffers=asked.least_buffers,
        pinned=frozenset(named),
        pinned_structures=frozenset(structures & site.configuration.structures.keys()),
        stay=frozenset(set(changed.placement) - set(site.configuration.placement)),
        delay_weight=asked.delay_weight,
    )
    optimiser = Optimiser(
        trace, before, cost=site.cost, limits=limits, headroom=site.headroom, work=work, progress=progress
    )
    made = optimiser.run()
    return made, prediction_of(made, trace, work, site.cost)
