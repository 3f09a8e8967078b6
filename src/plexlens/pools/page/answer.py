"""The answer of `plexlens pools`: curves, the effect of a change or a recommendation, and its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plexlens.errors import UsageError
from plexlens.pools.page.options import Options, no_settings
from plexlens.progress import Progress

# Imported where they are needed: curves alone, which most commands ask for, load neither simulation nor report.
if TYPE_CHECKING:
    from plexlens.executors import Executors
    from plexlens.pools.curves import PoolCurve
    from plexlens.pools.opening import Opening
    from plexlens.pools.prediction import Prediction, State
    from plexlens.pools.replay import Replay
    from plexlens.pools.search.recommendation import Recommendation
    from plexlens.pools.site import Site
    from plexlens.pools.trace import Trace
    from plexlens.pools.work import Work
    from plexlens.report.model import Report


@dataclass(frozen=True)
class Answer:
    """Curves of a trace, a prediction or a recommendation, and what they are based on."""

    trace: Trace
    curves: Sequence[PoolCurve]
    options: Options
    work: Work | None = None
    site: Site | None = None
    recommendation: Recommendation | None = None
    prediction: Prediction | None = None
    replay: Replay | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """Files of the trace."""
        return tuple(source.name for source in self.trace.sources)

    def check_pools(self) -> Prediction:
        """The prediction, which files are written of.

        Raises
        ------
        UsageError
            There is none: no sizes are known.
        """
        if self.prediction is None:
            raise no_settings("no prediction is possible")
        return self.prediction

    def save(self, path: Path) -> None:
        """Save the prediction for `plexlens compare`."""
        from plexlens.pools import prediction as predictions

        predictions.save(path, self.check_pools())

    def job(self, subsystem: str) -> tuple[str, str]:
        """The job of the change, and that of its reverse.

        Raises
        ------
        UsageError
            Nothing changes, or the change is of several members.
        """
        from plexlens.pools.alter import Script
        from plexlens.pools.jcl import jobs

        prediction = self.check_pools()
        if self.work is not None and self.work.members:
            raise UsageError(
                file="",
                what="--jcl writes the job of a single Db2, and the trace has several members",
                remedy="run the commands of the report on each member",
            )
        members = self.trace.facts.members
        name = subsystem or (members[0] if len(members) == 1 else "")
        return jobs(Script(prediction.commands, prediction.reverse), name.upper())

    def simulate_to(self, path: Path, progress: Progress) -> None:
        """Write the simulated pools as the statistics of each Db2."""
        from plexlens.pools.simulation import simulate, write_smf

        after = self.check_pools().after.configuration
        done = simulate(self.trace, after, work=self.work, progress=progress)
        write_smf(done, path, **({"group": after.group} if after.group else {}))

    def as_json(self) -> dict[str, Any]:
        """Plain values: curves, and the recommendation and prediction if there are any."""
        from plexlens.pools import curves

        content = curves.to_json(self.curves, sample=self.options.sample, shards=self.options.shards)
        if self.replay is not None:
            from plexlens.pools import replay

            content = {"replay": replay.to_json(self.replay), **content}
        if self.recommendation is not None:
            from plexlens.pools.search import recommendation

            content["recommendation"] = recommendation.to_json(self.recommendation)
        if self.prediction is not None:
            from plexlens.pools import prediction as predictions

            content["prediction"] = predictions.to_json(self.prediction)
        return content

    def report(self, progress: Progress) -> Report:
        """The report: of the curves alone, where the sizes of the pools are not known."""
        from plexlens.pools.page.whole import curves_report

        prediction, trace, work, site = self.prediction, self.trace, self.work, self.site
        if prediction is None or work is None or site is None:
            return curves_report(
                self.sources, trace.facts, self.curves, grouped=any("." in curve.pool for curve in self.curves)
            )
        from plexlens.pools.curves import curves_of
        from plexlens.pools.observation import observe
        from plexlens.pools.page.report import PoolsAnalysis, pools_report

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
            replay=self.replay,
            work=work,
        )
        return pools_report(analysis)


def answer(
    trace: Trace,
    settings: Path | None,
    options: Options,
    progress: Progress,
    *,
    group: bool | None,
    subsystem: str,
    curves_alone: bool,
    force: bool = False,
    executors: Executors | None = None,
    opening: Opening | None = None,
) -> Answer:
    """Analyse a trace as requested by the options.

    Parameters
    ----------
    trace
        The trace.
    settings
        File or database with the present pools; None to look in the sources of the trace.
    options
        Sizes, changes and limits.
    progress
        Told how far each stage is.
    group
        Whether several members are simulated as a data-sharing group; None decides by the trace.
    subsystem
        The only Db2 whose records are used; empty for all.
    curves_alone
        Whether curves suffice where neither settings nor changes are given.
    force
        Recommend even where the simulation of the present pools contradicts the trace.
    executors, opening
        Where curves are computed, and how the trace is opened there: curves are all of the answer then. None for this
        process.

    Raises
    ------
    PlexlensError
        Options contradict the trace or each other, or a source cannot be read.
    """
    from plexlens.pools.curves import curves_of

    def curves(several: bool | None) -> Sequence[PoolCurve]:
        return curves_of(trace, sizes=options.sizes, sample=options.sample, group=several, progress=progress)

    if executors is not None and opening is not None:
        from plexlens.pools.divided import divided_curves

        divided = divided_curves(
            opening, trace, executors, sizes=options.sizes, shards=options.shards, group=group, progress=progress
        )
        if not curves_alone:
            trace.facts.notes.append("Curves only: --engine spark does not look for the sizes of the present pools.")
        return Answer(trace, divided, options)
    if curves_alone and settings is None and not options.recommends and not options.changes:
        return Answer(trace, curves(group), options)
    from plexlens.pools.site import of_trace, site_of, with_catalog
    from plexlens.pools.whatif import predict
    from plexlens.pools.work import look_at

    work = look_at(trace, group=group, progress=progress)
    members = trace.facts.members
    if group is False and len(members) > 1:
        note = f"{', '.join(members)} are simulated as one Db2; in fact each member has its own pools."
        trace.remarks.append(note)
    if options.only_group and not work.members:
        raise UsageError(
            file="",
            what=f"{options.only_group} needs several members, and the trace is simulated as one Db2",
            remedy="leave the option out, or give the traces of several members",
        )
    only = members[0] if len(members) == 1 else ""
    site = site_of(
        trace.sources,
        settings,
        members=list(work.members),
        subsystem=subsystem,
        member=only,
        layouts=options.layouts,
    )
    if trace.names.has_catalog:
        site = replace(site, configuration=with_catalog(site.configuration, work))
    before = of_trace(site.configuration, work)
    recommendation: Recommendation | None = None
    prediction: Prediction | None = None
    replay: Replay | None = None
    if options.recommends:
        if before.pools:
            replay = _replayed(trace, work, replace(site, configuration=before), progress)
            replay.check_advice(force=force)
        recommendation, prediction = _recommend(trace, work, replace(site, configuration=before), options, progress)
    elif options.changes or site.configuration.pools:
        after = options.changed(before, work.used)
        prediction = predict(trace, work, before, after, cost=site.cost, progress=progress)
        if prediction.before.pools:
            replay = _compared(prediction.before, trace, work, site)
    elif settings is not None:
        trace.remarks.append(f"Curves only: {settings.name} has no size of a pool.")
    if replay is not None and prediction is not None:
        engine = replace(prediction.engine, error=replay.error)
        prediction = replace(prediction, engine=engine)
    return Answer(trace, curves(bool(work.members)), options, work, site, recommendation, prediction, replay)


def _replayed(trace: Trace, work: Work, site: Site, progress: Progress) -> Replay:
    """The present pools simulated, and compared with what was recorded."""
    from plexlens.pools.outcome import states_of
    from plexlens.pools.site import completed

    now = completed(site.configuration, work, trace, progress=progress)
    (state,) = states_of(trace, [now], work=work, cost=site.cost, progress=progress)
    return _compared(state, trace, work, site)


def _compared(state: State, trace: Trace, work: Work, site: Site) -> Replay:
    from plexlens.pools.replay import replay_of

    return replay_of(state, work, trace.facts, intervals=site.intervals, delays=trace.delays)


def _recommend(
    trace: Trace, work: Work, site: Site, options: Options, progress: Progress
) -> tuple[Recommendation, Prediction]:
    from plexlens.pools.members import member_and_pool
    from plexlens.pools.options import named_pools
    from plexlens.pools.search.case import Limits
    from plexlens.pools.search.optimiser import Optimiser
    from plexlens.pools.site import completed, evenly
    from plexlens.pools.whatif import check_against, known_names, prediction_of

    changed = known_names(work, options.changed(site.configuration, work.used))
    check_against(work, changed)
    budgets = options.budgets(list(work.parts))
    before = completed(evenly(work, budgets, changed), work, trace, progress=progress)
    # A size that is stated where others are known is a decision; where none is known it is the present size.
    known = {member for member in work.parts if site.configuration.of(member).pools}
    named = {name for name in named_pools(changed, work.used, options.pools) if member_and_pool(name)[0] in known}
    structures = {option.partition("=")[0].strip().upper()[1:] for option in options.structures}
    limits = Limits(
        budgets=budgets,
        structures=options.structure_budget,
        new_pools=options.new_pools,
        most_moves=options.most_moves,
        least_buffers=options.least_buffers,
        pinned=frozenset(named),
        pinned_structures=frozenset(structures & site.configuration.structures.keys()),
        stay=frozenset(set(changed.placement) - set(site.configuration.placement)),
        delay_weight=options.delay_weight,
    )
    optimiser = Optimiser(
        trace, before, cost=site.cost, limits=limits, headroom=site.headroom, work=work, progress=progress
    )
    recommendation = optimiser.run()
    return recommendation, prediction_of(recommendation, trace, work, site.cost)
