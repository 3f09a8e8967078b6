"""Group buffer pools as steps of a recommendation: sized for the target pools, enlarged first, reduced last.

Pools and group buffer pools need each other, so that a step is not judged by what it saves alone but by what is lost if
it alone is left out of what is wished for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from plexlens.metrics.display import storage_size
from plexlens.pools.alter import Script
from plexlens.pools.page_sample import Batches
from plexlens.pools.prediction import State
from plexlens.pools.search.case import Case
from plexlens.pools.search.policy_curves import Coupling
from plexlens.pools.search.recommendation import Step
from plexlens.pools.search.structures import Stretch, StructureSearch
from plexlens.pools.settings import Configuration
from plexlens.pools.structures import (
    GroupPoolSettings,
    check_structure,
)
from plexlens.pools.work import Work, dependents
from plexlens.progress import Progress


def coupled(configuration: Configuration, work: Work) -> Configuration:
    """The configuration with a group buffer pool for every pool that contains shared data sets."""
    shared = {data_set for data_sets in work.dependent.values() for data_set in data_sets}
    moved = work.numbers_of(configuration.placement)
    home = {pool for pool, data_sets in work.dependent.items() for data_set in data_sets if data_set not in moved}
    pools = {work.names.pool(number) for number in home | {moved[number] for number in shared if number in moved}}
    missing = sorted(pools - configuration.structures.keys())
    group_pool_settings = {
        pool: GroupPoolSettings.assumed(pool, configuration.buffers(pool), work.updates_a_commit)
        for pool in missing
        if configuration.buffers(pool)
    }
    return configuration.with_structures(group_pool_settings) if group_pool_settings else configuration


class StructureSizing:
    """Sizing of group buffer pools while the pools are being chosen.

    Parameters
    ----------
    case
        The trace, its pools and limits.
    stretch
        References to simulate on.
    tell
        Told what is being done.
    """

    def __init__(self, case: Case, stretch: Stretch, *, tell: Callable[[str], None]) -> None:
        self.case = case
        self.stretch = stretch
        self.structures: dict[str, GroupPoolSettings] = {}
        self._tell = tell
        self._home = case.home_of()

    @property
    def coupling(self) -> Coupling | None:
        """Coupling used to simulate the curves of a group; None for a single Db2."""
        work, request = self.case.work, self.case.cost.request
        if not work.members:
            return None
        shared = frozenset(data_set for data_sets in work.dependent.values() for data_set in data_sets)
        return Coupling(work.numbers, shared, 0.0 if request is None else request.value, self._structure)

    def size(self, trace: Batches, wished: Configuration, progress: Progress | None) -> None:
        """Size the group buffer pools for the target pools.

        Raises
        ------
        UsageError
            The budget is too small.
        """
        work, budget = self.case.work, self.case.limits.structures
        if budget is None:
            return
        shared = work.dependent
        if wished.placement:
            (shared,) = dependents(trace, work.names, [wished.placement], progress=progress)
        search = StructureSearch(self.stretch, self.case, shared, tell=self._tell)
        self.structures, _ = search.structures(self.known(wished), budget)

    def completed(self, configuration: Configuration) -> Configuration:
        """The configuration with a group buffer pool for every pool that needs one: sized if possible, else assumed."""
        if not self.case.work.members:
            return configuration
        pools, there = configuration.pool_names, configuration.structures
        new = {pool: structure for pool, structure in self.structures.items() if pool in pools and pool not in there}
        return coupled(configuration.with_structures(new), self.case.work)

    def known(self, configuration: Configuration) -> Configuration:
        """The configuration with the group buffer pools sized so far, of the pools that it has."""
        names = configuration.pool_names
        return configuration.with_structures(
            {pool: structure for pool, structure in self.structures.items() if pool in names}
        )

    def within(self, configuration: Configuration) -> Configuration:
        """The same, and all group buffer pools reduced alike where they exceed the budget of the coupling facility."""
        known = self.known(configuration)
        budget, pinned = self.case.limits.structures, self.case.limits.pinned_structures
        free = {pool: structure for pool, structure in known.structures.items() if pool not in pinned}
        wanted = sum(structure.bytes for structure in free.values())
        room = wanted if budget is None else max(budget - (known.structure_bytes - wanted), 0)
        if wanted <= room:
            return known
        return known.with_structures({pool: _reduced(structure, room / wanted) for pool, structure in free.items()})

    def _structure(self, objects: frozenset[int], buffers: int, page_bytes: int) -> GroupPoolSettings:
        """The group buffer pool for a group of objects: that of the pool where most of them are now."""
        homes = [self._home[number] for number in sorted(objects)]
        pool = max(sorted(set(homes)), key=homes.count)
        known = {**self.case.before.structures, **self.structures}
        structure = known.get(pool) or GroupPoolSettings.assumed(pool, buffers, self.case.work.updates_a_commit)
        if self.case.limits.structures is None:
            return structure
        # Its directory is sized for the pools afterwards.
        return replace(structure, directory_entries=max(structure.directory_entries, structure.data_entries + buffers))


def _reduced(structure: GroupPoolSettings, part: float) -> GroupPoolSettings:
    data = max(int(structure.data_entries * part), 1)
    return replace(structure, data_entries=data, directory_entries=max(int(structure.directory_entries * part), data))


class StructureSteps:
    """Steps that change group buffer pools.

    Parameters
    ----------
    simulate
        Simulates configurations on the whole trace.
    script
        Makes the text of a change.
    case
        The pools now, and limits.
    found
        Group buffer pools that are wished for, by pool.
    wished
        The pools that are wished for.
    """

    def __init__(
        self,
        simulate: Callable[[Sequence[Configuration]], list[State]],
        script: Callable[[Configuration, Configuration], Script],
        case: Case,
        group_pool_settings: Mapping[str, GroupPoolSettings],
        wished: Configuration,
    ) -> None:
        self._simulate = simulate
        self._script = script
        self.case = case
        before = case.before.structures
        # What is new comes with the objects that move there.
        self.changed = {
            pool: settings
            for pool, settings in group_pool_settings.items()
            if pool in before and settings != before[pool]
        }
        self.forced = case.limits.structures is not None and case.before.structure_bytes > case.limits.structures
        #: What is left out, and the share of the cost that it saves.
        self.left: dict[str, tuple[GroupPoolSettings, float]] = {}
        if self.changed:
            self._judge(wished)

    def _judge(self, wished: Configuration) -> None:
        """Drop changes without which the others save nearly as much, the least useful first."""
        weight = self.case.limits.delay_weight
        (now,) = self._simulate([self.case.before])
        least = self.case.limits.least_gain * now.cost(weight)
        limit = self.case.limits.structures
        while self.changed and not self.forced:
            every = wished.with_structures(self.changed)
            without = [every.with_structures({pool: self.case.before.structures[pool]}) for pool in self.changed]
            base, *states = self._simulate([every, *without])
            # What makes room for the others stays.
            lost = {
                pool: state.cost(weight) - base.cost(weight)
                for pool, state in zip(self.changed, states, strict=True)
                if limit is None or state.configuration.structure_bytes <= limit
            }
            worst = min(lost, key=lambda pool: lost[pool], default=None)
            if worst is None or lost[worst] >= least:
                return
            base_cost = now.cost(weight)
            self.left[worst] = self.changed.pop(worst), lost[worst] / base_cost if base_cost > 0 else 0.0

    def growing(self, before: State) -> list[Step]:
        """Group buffer pools that grow; these steps precede the pool changes."""
        return self._made(before, lambda old, new: new.bytes >= old.bytes)

    def shrinking(self, before: State) -> list[Step]:
        """Group buffer pools that shrink; these steps follow the pool changes."""
        return self._made(before, lambda old, new: new.bytes < old.bytes)

    def _made(self, before: State, wanted: Callable[[GroupPoolSettings, GroupPoolSettings], bool]) -> list[Step]:
        known = self.case.before.structures
        chosen = [structure for pool, structure in self.changed.items() if wanted(known[pool], structure)]
        configurations = [before.configuration]
        for structure in chosen:
            configurations.append(configurations[-1].with_structures({structure.name: structure}))
        states = [before, *(self._simulate(configurations[1:]) if chosen else [])]
        return [self._step(structure, states[at], states[at + 1], worth=True) for at, structure in enumerate(chosen)]

    def dropped(self, after: State) -> list[Step]:
        """Changes not worth making, each evaluated after all others."""
        if not self.left:
            return []
        left = [structure for structure, _ in self.left.values()]
        states = self._simulate([after.configuration.with_structures({settings.name: settings}) for settings in left])
        return [self._step(settings, after, state, worth=False) for settings, state in zip(left, states, strict=True)]

    def _step(self, new: GroupPoolSettings, before: State, after: State, *, worth: bool) -> Step:
        check_structure(new)
        old = self.case.before.structures[new.name]
        title = (
            f"Set {new.structure} to {new.data_entries:,} data and {new.directory_entries:,} directory entries "
            f"(RATIO {new.ratio:g}, {storage_size(new.bytes)})"
        )
        why = f"it has {old.data_entries:,} and {old.directory_entries:,} ({storage_size(old.bytes)})"
        weight = self.case.limits.delay_weight
        if not worth:
            need = f"the minimum for a step is {self.case.limits.least_gain:.2%}"
            why = f"{why}; with the other steps it saves {self.left[new.name][1]:.3%} of the cost of the pools; {need}"
        elif before.cost(weight) <= after.cost(weight):
            reason = "it saves nothing by itself, but later steps need it"
            if self.forced:
                reason = "the budget is below the present storage"
            elif new.bytes < old.bytes:
                reason = "it makes room for other group buffer pools"
            why = f"{why}; {reason}"
        return Step(title, before, after, self._script(before.configuration, after.configuration), worth, why)
