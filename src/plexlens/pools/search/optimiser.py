"""The recommendation: sizes, groups of objects, and storage, chosen on simulated curves and scored by simulation.

The curves choose, because they give all sizes of all groups at once; but they ignore thresholds and treat each group by
itself. So every step of what they chose is then simulated event by event, as Db2 would run it, on the whole trace, and
a step that saves nothing there is left out. In a group all members are simulated together, with the group buffer pools
between them, and these are sized for the pools that are wished for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from plexlens.errors import UsageError
from plexlens.pools.alter import Script, script
from plexlens.pools.cost import IoCost
from plexlens.pools.headroom import Headroom
from plexlens.pools.known_pools import KnownPools
from plexlens.pools.members import ALONE, full_name, member_and_pool
from plexlens.pools.outcome import moved_names, states_of, weights_of
from plexlens.pools.page_sample import MOST, Curves, GroupCurves, MemberCurves
from plexlens.pools.prediction import Activity, State
from plexlens.pools.search.advice import Advice, Advisor
from plexlens.pools.search.case import Grouping, Limits, Search, case_of
from plexlens.pools.search.composition import Composition
from plexlens.pools.search.frontier import Frontier, Point, search_frontier
from plexlens.pools.search.looked_at import StretchTrace, looked_at
from plexlens.pools.search.medians import Medians
from plexlens.pools.search.placement import PlacementSearch, simulate
from plexlens.pools.search.plan import PlannedStep, Planner, StorageCurve, Without, cost_at, storage_curve
from plexlens.pools.search.policy_curves import MOST_ROWS, PolicyCurves, Prices
from plexlens.pools.search.recommendation import Recommendation, Step
from plexlens.pools.search.step_words import is_over, limitations, title_and_why, why_refused
from plexlens.pools.search.structure_steps import StructureSizing, StructureSteps
from plexlens.pools.search.structures import Stretch
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.simulated_pool import with_trial
from plexlens.pools.structures import GroupPoolSettings
from plexlens.pools.trace import Trace
from plexlens.pools.trace_copy import TraceCopy
from plexlens.pools.work import Work, work_of
from plexlens.progress import Progress

#: A knee at this share of the budget or more leaves nothing to spend past it.
NEARLY_ALL = 0.98

#: Parts of the present sizes at which prices of page reads are looked at too.
_SMALLER = (4, 16)

#: Objects up to which groups are searched for by simulated curves too, besides the placement by ages.
MOST_SEARCHED = 100

#: Objects up to which the order of steps comes from simulated curves; of more, from LRU curves (chosen).
MOST_TRIED = 5000

#: Placements that group buffer pools are sized for at most, where those of the first cost more than a simple rule.
_MOST_SIZED = 3

#: Members whose references make the stretch longer that curves are simulated on.
_MOST_MEMBERS = 4


class Optimiser:
    """Computes a recommendation for a trace.

    Parameters
    ----------
    trace
        The trace.
    before
        Settings and placement now, of all pools of the trace.
    cost
        Prices of I/O and of requests to group buffer pools.
    limits
        What may be done.
    headroom
        Free storage of the system.
    work
        What a pass over the trace has found; None: a pass of its own looks at it as at one Db2.
    most
        References to choose groups on; a longer trace is sampled.
    progress
        Told how far the work is.
    """

    def __init__(
        self,
        trace: Trace,
        before: Configuration,
        *,
        cost: IoCost,
        limits: Limits,
        headroom: Headroom | None = None,
        work: Work | None = None,
        most: int = MOST,
        progress: Progress | None = None,
    ) -> None:
        self.trace = TraceCopy(trace)
        self.before = before
        self._progress = progress
        most_rows = MOST_ROWS * min(max(len({} if work is None else work.numbers), 1), _MOST_MEMBERS)
        self.samples, rests, rows = looked_at(self.trace, work, most, most_rows, progress)
        self.work = work_of(self.samples[ALONE], trace.names, trace.facts.seconds) if work is None else work
        parts = self.work.parts
        self._unpriced = {
            member: Composition(own, dict.fromkeys(parts[member].objects, 0.0)) for member, own in rests.items()
        }
        # They know every page of the trace, and have been read.
        del rests
        self.case = case_of(self.work, before, cost=cost, limits=limits, headroom=headroom)
        self.whole = self.case
        self.stretch = Stretch(rows)
        self.sizing = StructureSizing(self.case, self.stretch, tell=self._tell)
        self._known = KnownPools()
        #: Where the pool steps begin: the pools now, with the group buffer pools that grow first.
        self.base = before

    def run(self, groupings: Mapping[str, Mapping[str, int]] | None = None) -> Recommendation:
        """Search, plan, simulate.

        Parameters
        ----------
        groupings
            Further groups to begin with: a label for each object's name, by the name of the grouping.

        Raises
        ------
        UsageError
            A budget is below the least sizes of the pools, or of the group buffer pools.
        """
        whole, limits = self.whole, self.whole.limits
        states = self._simulate([self.before, *(self._smaller(part) for part in _SMALLER)])
        before = states[0]
        sampled = self._sampled(states)
        composition = {member: self._unpriced[member].weighted(curves.weights) for member, curves in sampled.items()}
        rows, sizing = self.stretch.rows, self.sizing
        curves = self._curves(rows, sampled, sizing)
        search = self._search(sampled, curves, composition, groupings or {})
        if limits.structures is not None:
            sizing.size(self.trace, self._wished(search.best), self._progress)
            # Pools again with these group buffer pools, and these again with the pools.
            curves = self._curves(rows, sampled, sizing)
            search = replace(search, best=simulate(whole, search.best.groups, curves))
            sizing.size(self.trace, self._wished(search.best), self._progress)
        storage = storage_curve(whole, search.best.groups, curves)
        beyond = None
        # The budget exceeds both the storage at the knee and the present storage.
        if storage.is_flat_past_knee and max(storage.knee_bytes, self.before.bytes) < whole.budget:
            # Groups are chosen anew for the storage that they will have.
            present = {member: self.before.of(member).bytes for member in whole.members}
            budgets = {
                member: max(knee, min(present[member], whole.budgets[member]))
                for member, knee in storage.knee_levels.items()
            }
            self.case = replace(whole, budgets=budgets)
            search = self._search(sampled, curves, composition, groupings or {})
            beyond = simulate(whole, search.best.groups, curves)
            sizing.size(self.trace, self._wished(search.best), self._progress)
        frontier = self._frontier(search, composition, MemberCurves(sampled), states)
        chosen = frontier.chosen
        search = replace(search, best=chosen.grouping)
        storage = storage_curve(whole, search.best.groups, curves)
        steps = StructureSteps(self._simulate, self._script, self.whole, sizing.structures, self._wished(search.best))
        growing = steps.growing(before)
        start = growing[-1].after if growing else before
        self.base = start.configuration
        if limits.structures is not None:
            (state,) = self._simulate([self._wished(chosen.grouping)])
            frontier = frontier.with_chosen(replace(chosen, state=state))
            chosen = frontier.chosen
        kept, dropped = self._steps(start, search.best, curves, storage, chosen)
        after = kept[-1].after if kept else start
        if limits.settings:
            for step in self._advised(after, before):
                (kept if step.worth else dropped).append(step)
            after = kept[-1].after if kept else start
        # Where the knee is all but the budget, there is nothing left to spend.
        if beyond is not None and storage.knee_bytes < NEARLY_ALL * whole.budget:
            dropped.append(self._past_knee(after, beyond, storage))
        shrinking = steps.shrinking(after)
        after = shrinking[-1].after if shrinking else after
        dropped += steps.dropped(after)
        sizes = {name: pool.size for name, pool in self.before.pools.items()}
        now = cost_at(whole.kept(whole.home), sizes, curves, whole)
        groups, sizes = self._groups(after.configuration)
        return Recommendation(
            before=before,
            after=after,
            steps=(*growing, *kept, *shrinking, *dropped),
            script=with_trial(
                self._script(self.before, after.configuration), self.before, after.configuration, self.work.home
            ),
            search=search,
            frontier=frontier,
            storage=storage,
            gap=simulate(self.case, groups, curves).gap,
            curve_costs=(now, cost_at(groups, sizes, curves, self.case)),
            sample=min(sample.rate for sample in self.samples.values()),
            budget=whole.budget,
            headroom=whole.headroom,
            notes=(*whole.notes, *limitations(whole, after)),
        )

    def _sampled(self, states: Sequence[State]) -> dict[str, GroupCurves]:
        """LRU curves of each member, with the read cost of each object's pages."""
        case = self.case
        return {
            member: GroupCurves(
                sample,
                weights_of(states, self.work, case.cost, member=member, delay_weight=case.limits.delay_weight),
            )
            for member, sample in self.samples.items()
        }

    def _curves(
        self, rows: pa.RecordBatch, sampled: Mapping[str, GroupCurves], sizing: StructureSizing
    ) -> PolicyCurves:
        case, cost = self.whole, self.whole.cost
        least = min(case.least[full_name(member, name)] * case.page_bytes[name] for member, name in self._every())
        return PolicyCurves(
            rows,
            sampled,
            Prices.of(cost, case.limits.delay_weight),
            least=least,
            most=max(*case.budgets.values(), *(self.before.of(member).bytes for member in case.members)),
            coupling=sizing.coupling,
            progress=self._tell,
        )

    def _every(self) -> list[tuple[str, str]]:
        return [(member, name) for member in self.whole.members for name in self.whole.names]

    def _wished(self, grouping: Grouping) -> Configuration:
        """The configuration of a grouping with the present group buffer pools."""
        return self._configuration(PlannedStep("wished", (), frozenset(), self.whole.budgets, grouping, 0.0))

    def _smaller(self, part: int) -> Configuration:
        """The present pools, each with its buffers divided by ``part``."""
        pools = {
            name: replace(pool, size=min(max(pool.size // part, self.case.least[name]), pool.size))
            for name, pool in self.before.pools.items()
        }
        return replace(self.before, pools=pools)

    def _tell(self, stage: str) -> None:
        if self._progress:
            self._progress(0, 0, stage)

    def _frontier(
        self, search: Search, composition: Mapping[str, Composition], sampled: Curves, states: Sequence[State]
    ) -> Frontier:
        """Savings with few moves and with many, and the point that is recommended."""
        case = self.case
        others = {"sizes alone": search.home, "search by curves": search.best}
        frontier = search_frontier(case, composition, sampled, states, self._placed, others=others, tell=self._tell)
        return frontier if case.limits.structures is None else self._with_structures(frontier)

    def _with_structures(self, frontier: Frontier) -> Frontier:
        """The frontier with group buffer pools sized for the placement that is recommended.

        Placements were simulated with group buffer pools reduced alike to fit their budget. Sized for a placement they
        may be too many for it, or cost more than those of a simple rule: then the next cheapest placement is tried.
        """
        weight = self.case.limits.delay_weight
        cheapest = min((rule.state.cost(weight) for rule in frontier.rules), default=np.inf)
        every = {id(point): point for point in (frontier.chosen, *frontier.points, *frontier.rules)}
        tried: list[tuple[Point, dict[str, GroupPoolSettings]]] = []
        refused: UsageError | None = None
        first, *rest = every.values()
        for point in (first, *sorted(rest, key=lambda point: point.state.cost(weight))):
            try:
                self.sizing.size(self.trace, self._wished(point.grouping), self._progress)
            except UsageError as error:
                refused = error
                continue
            (state,) = self._placed([point.grouping])
            tried.append((replace(point, state=state), self.sizing.structures))
            if state.cost(weight) <= cheapest or len(tried) == _MOST_SIZED:
                break
        if not tried and refused is not None:
            raise refused
        chosen, self.sizing.structures = min(tried, key=lambda entry: entry[0].state.cost(weight))
        return frontier.with_chosen(chosen)

    def _placed(self, groupings: Sequence[Grouping]) -> list[State]:
        """Placements simulated on the whole trace, with the group buffer pools sized so far."""
        return self._simulate([self.sizing.within(self._wished(grouping)) for grouping in groupings])

    def _search(
        self,
        sampled: Mapping[str, GroupCurves],
        curves: PolicyCurves,
        composition: Mapping[str, Composition],
        groupings: Mapping[str, Mapping[str, int]],
    ) -> Search:
        movable = self.work.objects.keys() - self.case.fixed
        many = len(movable) > MOST_SEARCHED
        if not movable or many:
            home = simulate(self.case, self.case.home, curves)
            best = home
            if many:
                target = Medians(self.case, composition)
                wished = target.choose(len(self.case.names))
                placed = target.grouping(wished, least_saved=self.case.least_of_move * home.cost)
                best = simulate(self.case, placed.groups, curves)
            return Search(home, best)
        numbers = {self.work.object_name(number): number for number in self.work.objects}
        labelled = {
            name: {numbers[setting]: label for setting, label in labels.items() if setting in numbers}
            for name, labels in groupings.items()
        }
        search = PlacementSearch(self.case, MemberCurves(sampled), composition, exact=curves, progress=self._tell)
        return search.run(labelled)

    def _simulate(self, configurations: Sequence[Configuration]) -> list[State]:
        work, cost, known = self.work, self.case.cost, self._known
        return states_of(self.trace, configurations, work=work, cost=cost, known=known, progress=self._progress)

    def _preview(self, configurations: Sequence[Configuration]) -> list[State]:
        """Configurations simulated on the stretch."""
        return states_of(StretchTrace(self.stretch.rows), configurations, work=self.work, cost=self.case.cost)

    def _steps(
        self,
        start: State,
        wished: Grouping,
        curves: PolicyCurves,
        storage: StorageCurve,
        chosen: Point,
    ) -> tuple[list[Step], list[Step]]:
        """Steps that save enough when simulated, and those that do not.

        Without one of the steps the sizes of the others change, so what is left is planned and simulated again. Steps
        that come to more than the point of the frontier that they lead to are taken together, as that point.
        """
        present = {name: pool.size for name, pool in self.before.pools.items()}
        few = len(self.work.objects) <= MOST_SEARCHED
        glance = MemberCurves(curves.curves) if len(self.work.objects) > MOST_TRIED else None
        planner = Planner(self.case, curves, present=present, storage=storage, in_turn=few, glance=glance)
        dropped: list[Step] = []
        without = Without()
        least = self._least_saving(start)
        steps: list[Step] = []
        known = [chosen.state]
        while planned := planner.plan(wished.groups, without):
            if planned[-1].grouping.groups == chosen.grouping.groups:
                planned[-1] = replace(planned[-1], grouping=chosen.grouping)
            states = self._known_or_simulated([self._configuration(step) for step in planned], known)
            steps = [
                self._step(step, earlier, later, storage)
                for step, earlier, later in zip(planned, [start, *states[:-1]], states, strict=True)
            ]
            saved = [self._objective(step.saved) / self._changes(step) for step in steps]
            # Where there is more than the budget, storage is divided whatever it costs.
            kept = [number for number, step in enumerate(planned) if step.kind == "sizes" and is_over(self.whole, step)]
            free = [number for number in range(len(steps)) if number not in kept]
            worst = min(free, key=lambda number: saved[number], default=None)
            if worst is None or saved[worst] >= least:
                break
            dropped.append(self._refused(steps[worst], planned[worst], least))
            without = without.and_step(planned[worst])
        else:
            steps = []
        weight = self.case.limits.delay_weight
        reached = steps[-1].after.cost(weight) if steps else start.cost(weight)
        if reached - chosen.state.cost(weight) > least * max(len(dropped), 1):
            return [self._at_once(start, chosen, storage)], []
        return steps, dropped

    def _known_or_simulated(self, configurations: Sequence[Configuration], known: list[State]) -> list[State]:
        """Configurations simulated on the whole trace, those only that were not before; ``known`` grows."""
        new = [wanted for wanted in configurations if all(state.configuration != wanted for state in known)]
        known += self._simulate(new) if new else []
        return [next(state for state in known if state.configuration == wanted) for wanted in configurations]

    def _at_once(self, start: State, chosen: Point, storage: StorageCurve) -> Step:
        """A point of the frontier as a single step."""
        home = self.case.home_of()
        moved = frozenset(
            number for name, objects in chosen.grouping.groups.items() for number in objects if home[number] != name
        )
        targets = tuple(name for name, objects in chosen.grouping.groups.items() if objects & moved)
        kind = "move" if moved else "sizes"
        planned = PlannedStep(kind, targets, moved, self.case.budgets, chosen.grouping, 0.0)
        return self._step(planned, start, chosen.state, storage)

    def _changes(self, step: Step) -> float:
        """Changes in a step, each of which has to save the minimum; with many objects, each counts in part."""
        limits = self.case.limits
        return max(len(step.objects) * self.case.least_of_move / max(limits.least_gain, 1e-12), 1.0)

    def _least_saving(self, before: State) -> float:
        """Minimum saving required of a step."""
        limits = self.case.limits
        return limits.least_gain * before.cost(limits.delay_weight)

    def _advised(self, now: State, before: State) -> list[Step]:
        """Thresholds, page steal and page fix for the pools after the steps."""
        case = self.case
        advisor = Advisor(
            self._simulate,
            least=self._least_saving(before),
            seconds=self.work.seconds,
            delay_weight=case.limits.delay_weight,
            kept=frozenset(name for name in now.configuration.pools if member_and_pool(name)[0] in case.kept_members),
            preview=None if self.work.members or self.stretch.rows.num_rows >= self.trace.facts.rows else self._preview,
        )
        steps: list[Step] = []

        def add(advice: Advice) -> None:
            nonlocal now
            text = self._script(now.configuration, advice.after.configuration)
            steps.append(Step(advice.title, now, advice.after, text, advice.worth, advice.why))
            now = advice.after if advice.worth else now

        thresholds = advisor.thresholds(now)
        if thresholds is not None:
            add(thresholds)
        for setting in advisor.steal(now):
            add(setting)
        for setting in advisor.page_fix(now, case.cost, case.headroom):
            add(setting)
        return steps

    def _objective(self, activity: Activity) -> float:
        return activity.cpu_seconds + self.case.limits.delay_weight * activity.delay_seconds

    def _refused(self, step: Step, planned: PlannedStep, least: float) -> Step:
        why = why_refused(self.case.limits, planned.saved, self._objective(step.saved), least, len(step.objects))
        return replace(step, worth=False, why=why)

    def _past_knee(self, before: State, beyond: Grouping, storage: StorageCurve) -> Step:
        """The step that would spend the rest of the budget."""
        planned = PlannedStep("storage", (), frozenset(), self.whole.budgets, beyond, 0.0, past_knee=True)
        (after,) = self._simulate([self._configuration(planned)])
        return replace(self._step(planned, before, after, storage), worth=False)

    def _step(self, planned: PlannedStep, before: State, after: State, storage: StorageCurve) -> Step:
        names = tuple(sorted(self.work.object_name(number) for number in planned.objects))
        title, why = title_and_why(self.whole, planned, storage)
        text = self._script(before.configuration, after.configuration)
        return Step(title, before, after, text, True, why, names)

    def _configuration(self, planned: PlannedStep) -> Configuration:
        case, groups = self.case, planned.grouping.groups
        placement = dict(self.before.placement)
        home = case.home_of()
        for name, objects in groups.items():
            for number in objects:
                if home[number] != name:
                    placement[self.work.object_name(number)] = name
        pools: dict[str, PoolSettings] = {}
        for member in case.members:
            for name in case.pools_of(member, groups):
                full = full_name(member, name)
                pools[full] = self._settings(full, planned.grouping.sizes[full], groups[name], home)
        configuration = Configuration(pools, placement, structures=self.base.structures, group=self.base.group)
        return self.sizing.completed(configuration)

    def _settings(self, full: str, size: int, objects: frozenset[int], home: Mapping[int, str]) -> PoolSettings:
        if full in self.base.pools:
            return replace(self.base.pools[full], size=size)
        # A new pool is set up as the one that most of its objects come from.
        member, name = member_and_pool(full)
        sources = [home[number] for number in objects if full_name(member, home[number]) in self.base.pools]
        if not sources:
            return PoolSettings.of(name, size)
        source = max(sorted(set(sources)), key=sources.count)
        return replace(self.base.pools[full_name(member, source)], name=name, size=size)

    def _groups(self, configuration: Configuration) -> tuple[dict[str, frozenset[int]], dict[str, int]]:
        """Groups and sizes of a configuration."""
        members: dict[str, set[int]] = {name: set() for name in configuration.pool_names}
        for number, name in self.case.home_of().items():
            members[configuration.placement.get(self.work.object_name(number), name)].add(number)
        kept = self.case.kept({name: frozenset(objects) for name, objects in members.items()})
        return kept, {name: pool.size for name, pool in configuration.pools.items()}

    def _script(self, before: Configuration, after: Configuration) -> Script:
        return script(before, after, moved_names(self.work), self.work.home)
