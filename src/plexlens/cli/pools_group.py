"""`plexlens pools` for a trace of several members of a data-sharing group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plexlens.cli.pools_asked import Asked, no_settings
from plexlens.ingest.page_trace import pool_name
from plexlens.pools.curves import PoolCurve, to_json
from plexlens.pools.group.prediction import (
    GroupPrediction,
    predict_group,
    prediction_of,
    recommendation_to_json,
    save_members,
)
from plexlens.pools.group.prediction import to_json as prediction_to_json
from plexlens.pools.group.recommend import GroupLimits, GroupOptimiser, GroupRecommendation, check_budgets
from plexlens.pools.group.settings import GroupConfiguration, named_pools
from plexlens.pools.group.site import GroupSite, completed, group_site_of, of_trace
from plexlens.pools.group.work import GroupWork, dependents, look_at_group, member_curves
from plexlens.pools.settings import Configuration
from plexlens.pools.site import evenly
from plexlens.pools.whatif import check_against, known_names
from plexlens.progress import Progress

if TYPE_CHECKING:
    from plexlens.pools.trace import Trace
    from plexlens.report.model import Report


def curves_to_json(curves: Mapping[str, Sequence[PoolCurve]], *, sample: float | None) -> dict[str, Any]:
    """``{"members": {"DB1A": {"pools": ...}}}``, each as of a trace of one Db2."""
    return {"members": {member: to_json(own, sample=sample) for member, own in curves.items()}}


def print_member_curves(curves: Mapping[str, Sequence[PoolCurve]], *, sampled: bool) -> None:
    """The curves of every member."""
    import typer

    from plexlens.cli.pools_output import print_curves

    for number, (member, own) in enumerate(curves.items()):
        typer.echo(f"{chr(10) * bool(number)}Member {member}")
        print_curves(own, sampled=sampled)


@dataclass(frozen=True)
class FoundGroup:
    """Everything but plain curves: a prediction or a recommendation, and what they rest on."""

    trace: Trace
    work: GroupWork
    site: GroupSite
    asked: Asked
    curves: Mapping[str, Sequence[PoolCurve]]
    recommendation: GroupRecommendation | None
    prediction: GroupPrediction | None

    def check_pools(self) -> GroupPrediction:
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
        """Write the prediction of each member."""
        save_members(path, self.check_pools())

    def simulate_to(self, path: Path, progress: Progress) -> None:
        """Write the simulation as statistics of each member."""
        from plexlens.pools.group.simulation import simulate_group, write_group_smf

        after = self.check_pools().after.configuration
        done = simulate_group(
            self.trace,
            {name: list(own.pools.values()) for name, own in after.members.items()},
            list(after.structures.values()),
            placement=after.placement,
            progress=progress,
        )
        write_group_smf(done, path, **({"group": after.name} if after.name else {}))

    def as_json(self) -> dict[str, Any]:
        """Curves by member, and what the change would do to the group."""
        made = curves_to_json(self.curves, sample=self.asked.sample)
        if self.prediction is not None:
            made["group"] = prediction_to_json(self.prediction)
        if self.recommendation is not None:
            made["recommendation"] = recommendation_to_json(self.recommendation)
        return made

    def print(self) -> None:
        """The same as text."""
        from plexlens.cli.pools_group_output import print_group

        if self.prediction is None:
            print_member_curves(self.curves, sampled=self.asked.sample is not None)
        else:
            print_group(self.prediction, self.recommendation)

    def report(self, progress: Progress) -> Report:
        """The report."""
        from plexlens.report.pools_group import GroupAnalysis, group_report

        analysis = GroupAnalysis(
            facts=self.trace.facts,
            curves=self.curves,
            prediction=self.check_pools(),
            recommendation=self.recommendation,
        )
        return group_report(analysis)


def look_at_members(trace: Trace, settings: Path | None, asked: Asked, progress: Progress) -> FoundGroup:
    """Look at a trace of several members, as the options ask.

    Raises
    ------
    PlexlensError
        The trace has one member; settings or options that cannot be.
    """
    work = look_at_group(trace, progress=progress)
    site = group_site_of(trace.sources, settings, list(work.members), layouts=asked.layouts)
    before = of_trace(site.configuration, work)
    changed = _checked(asked.changed_group(before, work.used), work)
    recommendation: GroupRecommendation | None = None
    prediction: GroupPrediction | None = None
    if asked.budget or asked.structure_budget is not None:
        recommendation = _recommend(trace, work, site, changed, asked, progress=progress)
        prediction = prediction_of(recommendation, trace, work, site.cost)
    elif asked.changes or any(own.pools for own in before.members.values()):
        (shared,) = dependents(trace, work.names, [changed.placement], progress=progress)
        names = [pool_name(pool) for pool in shared]
        after = completed(changed, work, names)
        now = completed(before, work, [pool_name(pool) for pool in work.dependent])
        # A group buffer pool that is assumed, or stated where none was known, is the same before and after.
        now = now.with_structures(
            {pool: one for pool, one in after.structures.items() if pool not in before.structures and pool in now.pools}
        )
        prediction = predict_group(trace, now, after, work=work, cost=site.cost, progress=progress)
    curves = member_curves(trace, sizes=asked.sizes, sample=asked.sample, progress=progress)
    return FoundGroup(trace, work, site, asked, curves, recommendation, prediction)


def _checked(changed: GroupConfiguration, work: GroupWork) -> GroupConfiguration:
    """The configuration with objects named as the trace names them; refused where the trace has not what it names."""
    placement = known_names(work.whole, Configuration(placement=changed.placement)).placement
    for own in changed.members.values():
        check_against(work.whole, replace(own, placement=placement))
    return replace(changed, placement=placement)


def _recommend(
    trace: Trace,
    work: GroupWork,
    site: GroupSite,
    changed: GroupConfiguration,
    asked: Asked,
    *,
    progress: Progress,
) -> GroupRecommendation:
    budgets = asked.budgets(list(work.members))
    check_budgets(budgets, list(work.members))
    members = {}
    notes = list(changed.notes)
    for name, own in changed.members.items():
        missing = [pool for pool in work.members[name].pools if pool not in own.pools]
        if missing and name not in budgets:
            raise no_settings(f"nothing can be recommended for {name}", f"{name}.{missing[0]}")
        members[name] = evenly(work.members[name].pools, budgets[name], own) if missing else own
        notes += [f"{name}: {note}" for note in members[name].notes]
    (shared,) = dependents(trace, work.names, [changed.placement], progress=progress)
    known = replace(
        changed, members={name: replace(own, notes=()) for name, own in members.items()}, notes=tuple(notes)
    )
    before = completed(known, work, [pool_name(pool) for pool in shared])
    present = site.configuration
    # A size that is stated where others are known is a decision; where none is known it is the present size.
    pinned = named_pools(known, work.used, asked.pools)
    named = {option.partition("=")[0].strip().upper()[1:] for option in asked.structures}
    limits = GroupLimits(
        budgets=_within(budgets, before, site, notes),
        structures=asked.structure_budget,
        least_buffers=asked.least_buffers,
        pinned=frozenset(key for key in pinned if present.members[key[0]].pools),
        pinned_structures=frozenset(named & present.structures.keys()),
        delay_weight=asked.delay_weight,
    )
    before = replace(before, notes=tuple(dict.fromkeys([*notes, *before.notes])))
    return GroupOptimiser(trace, before, work=work, cost=site.cost, limits=limits, progress=progress).run()


def _within(
    budgets: Mapping[str, int], before: GroupConfiguration, site: GroupSite, notes: list[str]
) -> dict[str, int]:
    """The budgets, cut to what the systems have free."""
    found: dict[str, int] = {}
    for name, budget in budgets.items():
        have = before.members[name].bytes
        most = budget if site.headroom is None else max(have + site.headroom.growth, have)
        found[name] = min(budget, most)
        if budget > most:
            notes.append(f"{name}: the budget is cut to {most / (1 << 30):.2f} GiB: {site.headroom}")
    if site.headroom is None and any(budget > before.members[name].bytes for name, budget in budgets.items()):
        notes.append(
            "Whether the systems have the storage is not known: there is no SMF 71 with the trace. Look at free frames "
            "and paging before pools grow"
        )
    return found
