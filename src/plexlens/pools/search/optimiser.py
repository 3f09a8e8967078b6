"""What to change: sizes, groups of objects, and storage, chosen on simulated curves and scored by simulating the pools.

The curves choose, because they tell all sizes of all groups at once; but they know no prefetch and no thresholds. So
every step of what they chose is then simulated event by event, as Db2 would run it, on the whole trace, and a step that
saves nothing there is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from plexlens.errors import UsageError
from plexlens.pools.alter import Script, script
from plexlens.pools.cost import IoCost
from plexlens.pools.headroom import Headroom
from plexlens.pools.outcome import moved_names, states_of, weights_of, work_of
from plexlens.pools.page_sample import MOST, GroupCurves, take
from plexlens.pools.prediction import Activity, State
from plexlens.pools.search.advice import Advice, Advisor
from plexlens.pools.search.case import Case, Grouping, Groups, Search
from plexlens.pools.search.composition import Composition
from plexlens.pools.search.placement import PlacementSearch, simulate
from plexlens.pools.search.plan import PAST_KNEE, PlannedStep, Planner, StorageCurve, Without, cost_at, storage_curve
from plexlens.pools.search.policy_curves import PolicyCurves, Prices, middle
from plexlens.pools.search.recommendation import Limits, Recommendation, Step
from plexlens.pools.settings import LEAST, Configuration, PoolSettings, page_bytes_of
from plexlens.pools.trace import Trace
from plexlens.progress import Progress

#: A knee at this share of the budget or more leaves nothing to spend past it.
NEARLY_ALL = 0.98

#: Objects that are moved about at most, those of most I/O; the others stay where they are.
MOST_MOVABLE = 200

#: Parts of the present sizes at which prices of page reads are looked at too.
_SMALLER = (4, 16)

#: Databases of the catalog and directory, whose objects stay in their pools.
_CATALOG = ("DSNDB01", "DSNDB06")
_CATALOG_IDS = (1, 6)


class Optimiser:
    """The way to a recommendation for one trace.

    Parameters
    ----------
    trace
        The trace.
    before
        Settings and placement now, of all pools of the trace.
    cost
        Prices of I/O.
    limits
        What may be done.
    headroom
        Free storage of the system.
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
        most: int = MOST,
        progress: Progress | None = None,
    ) -> None:
        self.trace = trace
        self.before = before
        self.cost = cost
        self.limits = limits
        self.headroom = headroom
        self._progress = progress
        self._notes: list[str] = list(before.notes)
        self.sample = take(trace, most=most, progress=progress)
        self.work = work_of(self.sample, trace.names, trace.facts.seconds)
        self._check_pools()
        self.budget = self._budget()
        self.case = self._case()

    def run(self, groupings: Mapping[str, Mapping[str, int]] | None = None) -> Recommendation:
        """Search, plan, simulate.

        Parameters
        ----------
        groupings
            Further groups to begin with: a label for each object's name, by the name of the grouping.

        Raises
        ------
        UsageError
            The budget is below the least sizes of the pools.
        """
        limits = self.limits
        states = self._simulate([self.before, *(self._smaller(part) for part in _SMALLER)])
        before = states[0]
        weights = weights_of(states, self.work, self.cost, delay_weight=limits.delay_weight)
        guesses = GroupCurves(self.sample, weights)
        composition = Composition(self.sample, weights)
        whole = self.case
        curves = PolicyCurves(
            middle(self.trace, self.trace.facts.rows, progress=self._progress),
            guesses,
            Prices.of(self.cost, limits.delay_weight),
            least=min(whole.least[name] * whole.page_bytes[name] for name in whole.names),
            most=max(self.budget, self.before.bytes),
            progress=self._tell,
        )
        search = self._search(guesses, curves, composition, groupings or {})
        storage = storage_curve(whole, search.best.groups, curves)
        beyond = None
        if storage.is_flat_past_knee and max(storage.knee_bytes, self.before.bytes) < whole.budget:
            # Groups are chosen anew for the storage that they will have.
            self.case = replace(whole, budget=max(storage.knee_bytes, min(self.before.bytes, whole.budget)))
            search = self._search(guesses, curves, composition, groupings or {})
            beyond = simulate(whole, search.best.groups, curves)
        kept, dropped = self._steps(before, search.best.groups, curves, storage)
        after = kept[-1].after if kept else before
        if limits.settings:
            for step in self._advised(after, before):
                (kept if step.worth else dropped).append(step)
            after = kept[-1].after if kept else before
        # Where the knee is all but the budget, there is nothing left to spend.
        if beyond is not None and storage.knee_bytes < NEARLY_ALL * self.budget:
            dropped.append(self._past_knee(after, beyond, storage))
        sizes = {name: pool.size for name, pool in self.before.pools.items()}
        now = cost_at(whole.kept(whole.home), sizes, curves, whole)
        groups, sizes = self._groups(after.configuration)
        return Recommendation(
            before=before,
            after=after,
            steps=(*kept, *dropped),
            script=self._script(self.before, after.configuration),
            search=search,
            storage=storage,
            gap=simulate(self.case, groups, curves).allocation.gap,
            curve_costs=(now, cost_at(groups, sizes, curves, self.case)),
            sample=self.sample.rate,
            budget=self.budget,
            headroom=self.headroom,
            notes=tuple(self._notes),
        )

    def _smaller(self, part: int) -> Configuration:
        """The present pools with a part of their buffers each."""
        pools = {
            name: replace(pool, size=min(max(pool.size // part, self.case.least[name]), pool.size))
            for name, pool in self.before.pools.items()
        }
        return replace(self.before, pools=pools)

    def _tell(self, stage: str) -> None:
        if self._progress:
            self._progress(0, 0, stage)

    def _check_pools(self) -> None:
        missing = [name for name in self.work.pools if name not in self.before.pools]
        if missing:
            raise UsageError(
                file="",
                what=f"the size of {', '.join(missing)} is not known",
                remedy="give it with --pool NAME=SIZE, or all settings with --settings",
            )

    def _budget(self) -> int:
        wanted = self.before.bytes if self.limits.budget is None else self.limits.budget
        if self.headroom is None:
            if wanted > self.before.bytes:
                self._notes.append(
                    "Whether the system has the storage is not known: there is no SMF 71 with the trace. Look at free "
                    "frames and paging before pools grow."
                )
            return wanted
        most = self.before.bytes + self.headroom.growth
        if wanted > most:
            self._notes.append(f"The budget is cut to {most / (1 << 30):.2f} GiB: {self.headroom}.")
        return min(wanted, most)

    def _case(self) -> Case:
        work, pools = self.work, self.before.pools
        current = work.numbers_of(self.before.placement)
        home: dict[str, set[int]] = {name: set() for name in pools}
        for number, use in work.objects.items():
            pool = next((target for (one, _), target in current.items() if one == number), use.home)
            home[work.names.pool(pool)].add(number)
        sizes = sorted({pool.page_bytes for pool in pools.values()})
        free = [name for size in sizes for name in _free_names(size, set(pools))[: self.limits.new_pools]]
        page_bytes = {name: page_bytes_of(name) or 4096 for name in [*pools, *free]}
        floor = self.limits.least_buffers * 4096
        least = {name: max(floor // page_bytes[name], LEAST.get(name, 0), 1) for name in page_bytes}
        # A pool that is smaller now may stay so.
        least |= {name: min(least[name], max(pool.size, LEAST.get(name, 0))) for name, pool in pools.items()}
        least |= {name: pools[name].size for name in self.limits.pinned}
        return Case(
            home={name: frozenset(objects) for name, objects in home.items()},
            page_bytes=page_bytes,
            budget=self.budget,
            least=least,
            free=free if self.limits.moves else [],
            fixed=self._fixed(),
            least_gain=self.limits.least_gain,
            pinned=self.limits.pinned,
        )

    def _fixed(self) -> frozenset[int]:
        objects = self.work.objects
        if not self.limits.moves:
            return frozenset(objects)
        fixed = {
            number
            for number in objects
            if number >> 16 in _CATALOG_IDS
            or self.work.object_name(number).partition(".")[0] in _CATALOG
            or self.work.object_name(number) in self.limits.stay
        }
        movable = sorted(objects.keys() - fixed, key=lambda number: (-objects[number].total, number))
        if len(movable) > MOST_MOVABLE:
            self._notes.append(
                f"Only the {MOST_MOVABLE} objects of most getpages, of {len(movable)}, were considered for a move."
            )
            fixed |= set(movable[MOST_MOVABLE:])
        return frozenset(fixed)

    def _search(
        self,
        guesses: GroupCurves,
        curves: PolicyCurves,
        composition: Composition,
        groupings: Mapping[str, Mapping[str, int]],
    ) -> Search:
        if not self.limits.moves:
            home = simulate(self.case, self.case.home, curves)
            return Search(home, home)
        numbers = {self.work.object_name(number): number for number in self.work.objects}
        labelled = {
            name: {numbers[one]: label for one, label in labels.items() if one in numbers}
            for name, labels in groupings.items()
        }
        search = PlacementSearch(self.case, guesses, composition, exact=curves, progress=self._tell)
        return search.run(labelled)

    def _simulate(self, configurations: Sequence[Configuration]) -> list[State]:
        return states_of(self.trace, configurations, work=self.work, cost=self.cost, progress=self._progress)

    def _steps(
        self, before: State, wished: Groups, curves: PolicyCurves, storage: StorageCurve
    ) -> tuple[list[Step], list[Step]]:
        """Steps that save enough when simulated, and those that do not.

        Without one of the steps the sizes of the others change, so what is left is planned and simulated again.
        """
        present = {name: pool.size for name, pool in self.before.pools.items()}
        planner = Planner(self.case, curves, present=present, storage=storage)
        dropped: list[Step] = []
        without = Without()
        least = self.limits.least_gain * self._objective(before.total)
        while planned := planner.plan(wished, without):
            states = self._simulate([self._configuration(one) for one in planned])
            made = [
                self._step(one, earlier, later, storage)
                for one, earlier, later in zip(planned, [before, *states[:-1]], states, strict=True)
            ]
            saved = [self._objective(step.saved) / max(len(step.objects), 1) for step in made]
            # Where there is more than the budget, storage is divided whatever it costs.
            kept = [number for number, one in enumerate(planned) if one.kind == "sizes" and self._is_over]
            free = [number for number in range(len(made)) if number not in kept]
            worst = min(free, key=lambda number: saved[number], default=None)
            if worst is None or saved[worst] >= least:
                return made, dropped
            dropped.append(self._refused(made[worst], planned[worst], least))
            without = without.and_step(planned[worst])
        return [], dropped

    @property
    def _is_over(self) -> bool:
        """Whether the pools have more storage now than they may have."""
        return self.before.bytes > self.budget

    def _advised(self, now: State, before: State) -> list[Step]:
        """Thresholds, page steal and page fix of the pools as the steps leave them."""
        least = self.limits.least_gain * self._objective(before.total)
        advisor = Advisor(self._simulate, self._objective, least=least, seconds=self.work.seconds)
        found: list[Step] = []

        def add(advice: Advice) -> None:
            nonlocal now
            text = self._script(now.configuration, advice.after.configuration)
            found.append(Step(advice.title, now, advice.after, text, advice.worth, advice.why))
            now = advice.after if advice.worth else now

        thresholds = advisor.thresholds(now)
        if thresholds is not None:
            add(thresholds)
        for one in advisor.steal(now):
            add(one)
        for one in advisor.page_fix(now, self.cost, self.headroom):
            add(one)
        return found

    def _objective(self, activity: Activity) -> float:
        return activity.cpu_seconds + self.limits.delay_weight * activity.delay_seconds

    def _refused(self, step: Step, planned: PlannedStep, least: float) -> Step:
        saved = self._objective(step.saved)
        share = saved / least * self.limits.least_gain if least > 0 else 0.0
        if planned.saved > 0 >= saved:
            why = (
                "the curves promise a saving, but simulated with prefetch and write thresholds it costs "
                f"{-share:.2%} more I/O CPU"
            )
        elif saved <= 0:
            why = f"it costs {-share:.2%} more I/O CPU" if saved < 0 else "it saves no I/O CPU"
        else:
            why = (
                f"it saves {share:.2%} of the I/O CPU; a change has to save {self.limits.least_gain:.2%}"
                + f", for each of {len(step.objects)} objects" * (len(step.objects) > 1)
            )
        return replace(step, worth=False, why=why)

    def _past_knee(self, before: State, beyond: Grouping, storage: StorageCurve) -> Step:
        """The step that would spend what is left of the budget."""
        planned = PlannedStep("storage", (), frozenset(), self.budget, beyond, 0.0, past_knee=True)
        (after,) = self._simulate([self._configuration(planned)])
        return replace(self._step(planned, before, after, storage), worth=False)

    def _step(self, planned: PlannedStep, before: State, after: State, storage: StorageCurve) -> Step:
        names = tuple(sorted(self.work.object_name(number) for number in planned.objects))
        if planned.kind == "sizes":
            title = f"Divide {_gib(planned.budget)} among the pools by what a buffer saves"
            why = "storage goes where it saves most I/O cost, and nowhere where it saves none"
            if self._is_over:
                why = f"the budget is below the {_gib(self.before.bytes)} that there are now; {why}"
        elif planned.kind == "move":
            to = ", ".join(f"new {name}" if name not in self.before.pools else name for name in planned.targets)
            title = f"Move {len(names)} object{'s' * (len(names) != 1)} to {to}"
            why = "objects that take each other's buffers are parted"
        else:
            title = f"Enlarge the pools to {_gib(planned.budget)}"
            why = f"up to the knee of the curve of storage, {_gib(storage.knee_bytes)}"
            if planned.past_knee:
                here = storage.saved_per_byte(storage.knee_bytes, storage.budgets[-1]) * (1 << 30)
                there = storage.saved_per_byte(storage.budgets[0], storage.knee_bytes) * (1 << 30)
                share = f"{'less than' if storage.is_flat_past_knee else 'at least'} {PAST_KNEE:.0%} of it"
                why = (
                    f"past the knee at {_gib(storage.knee_bytes)} a GiB saves {self._rate(here)}, before it "
                    f"{self._rate(there)}: {share}"
                )
        text = self._script(before.configuration, after.configuration)
        return Step(title, before, after, text, True, why, names)

    def _rate(self, cost: float) -> str:
        seconds = self.work.seconds
        if seconds > 0:
            return f"{_three_digits(3600 * cost / seconds)} CPU seconds an hour"
        return f"{_three_digits(cost)} CPU seconds in the trace"

    def _configuration(self, planned: PlannedStep) -> Configuration:
        sizes = planned.grouping.sizes
        placement = dict(self.before.placement)
        home = self.case.home_of()
        pools: dict[str, PoolSettings] = {}
        for name, objects in planned.grouping.groups.items():
            for number in objects:
                if home[number] != name:
                    placement[self.work.object_name(number)] = name
            pools[name] = self._settings(name, sizes[name], objects, home)
        return Configuration(pools, placement)

    def _settings(self, name: str, size: int, objects: frozenset[int], home: Mapping[int, str]) -> PoolSettings:
        if name in self.before.pools:
            return replace(self.before.pools[name], size=size)
        # A new pool is set up as the one that most of its objects come from.
        sources = [home[number] for number in objects]
        source = max(sorted(set(sources)), key=sources.count)
        return replace(self.before.pools[source], name=name, size=size)

    def _groups(self, configuration: Configuration) -> tuple[dict[str, frozenset[int]], dict[str, int]]:
        """Groups and sizes of a configuration."""
        members: dict[str, set[int]] = {name: set() for name in configuration.pools}
        for number, name in self.case.home_of().items():
            members[configuration.placement.get(self.work.object_name(number), name)].add(number)
        kept = self.case.kept({name: frozenset(objects) for name, objects in members.items()})
        return kept, {name: configuration.pools[name].size for name in kept}

    def _script(self, before: Configuration, after: Configuration) -> Script:
        return script(before, after, moved_names(self.work), self.work.home)


def _free_names(page_bytes: int, taken: set[str]) -> list[str]:
    """Names of pools of a page size that are not in use, without those of the catalog."""
    kind, last = {4096: ("", 49), 8192: ("8K", 9), 16384: ("16K", 9)}.get(page_bytes, ("32K", 9))
    names = [f"BP{kind}{number}" for number in range(1, last + 1)]
    return [name for name in names if name not in taken]


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.2f} GiB" if size >= 1 << 28 else f"{size / (1 << 20):.1f} MiB"


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
