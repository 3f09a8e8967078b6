"""What to change in a group: the buffers of each member's pools, and the group buffer pools between them.

Sizes are chosen on a stretch of the trace (`plexlens.pools.group.sizes`). Every step is then judged on the whole trace,
simulated with all members and group buffer pools: by what is lost if it alone is left out, since pools and group buffer
pools need each other. Which pool an object is in, thresholds, page steal and page fix stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from plexlens.errors import UsageError
from plexlens.pools.alter import Script
from plexlens.pools.group.alter import group_script
from plexlens.pools.group.cost import GroupCost
from plexlens.pools.group.settings import GroupConfiguration, GroupPoolSettings, check_structure
from plexlens.pools.group.sizes import MemberSizes, SizeSearch, Stretch
from plexlens.pools.group.states import GroupState, group_states
from plexlens.pools.group.work import GroupWork, dependents
from plexlens.pools.outcome import moved_names
from plexlens.pools.search.policy_curves import MOST_ROWS, middle
from plexlens.pools.search.recommendation import LEAST_BUFFERS
from plexlens.pools.settings import LEAST
from plexlens.pools.trace import Trace
from plexlens.progress import Progress

#: What a recommendation for a group does not look at.
NOT_OPTIMISED = (
    "Not looked at in a group: which pool an object is in (the catalog says it for all members at once), new pools, "
    "thresholds, page steal, page fix, CLASST, GBPOOLT, GBPCACHE. --move, --policy and --pgfix simulate such changes"
)

#: Members whose references make a stretch longer.
_MOST_MEMBERS = 4


@dataclass(frozen=True)
class GroupLimits:
    """What a recommendation for a group may do.

    Attributes
    ----------
    budgets
        Bytes for the pools of each member; a member without keeps its pools.
    structures
        Bytes of the coupling facility for all group buffer pools; None: they stay as they are.
    least_buffers
        Buffers of 4 KB that a pool has at least; in bytes also for larger pages.
    pinned
        Pools of members (member, pool) whose sizes stay.
    pinned_structures
        Group buffer pools, by their pool, that stay.
    least_gain
        Share of the present cost that a step must save.
    delay_weight
        CPU seconds that a second of delay is worth.
    """

    budgets: Mapping[str, int] = field(default_factory=dict)
    structures: int | None = None
    least_buffers: int = LEAST_BUFFERS
    pinned: frozenset[tuple[str, str]] = frozenset()
    pinned_structures: frozenset[str] = frozenset()
    least_gain: float = 0.001
    delay_weight: float = 0.0


@dataclass(frozen=True)
class GroupStep:
    """A step of a recommendation.

    Attributes
    ----------
    title
        What is done.
    before, after
        The group before and after it, simulated on the whole trace; steps build on each other.
    value
        Cost that is lost if this step alone is left out; CPU seconds of the trace, and delay at its weight.
    script
        Text for Db2 and z/OS.
    worth
        Whether it is recommended.
    why
        Why it is, or is not.
    """

    title: str
    before: GroupState
    after: GroupState
    value: float
    script: Script
    worth: bool
    why: str


@dataclass(frozen=True)
class GroupRecommendation:
    """What to change in a group.

    Attributes
    ----------
    before, after
        The group now, and after all steps that are worth it, simulated.
    steps
        Steps in their order, those that are not worth it last.
    script
        Text from ``before`` to ``after``.
    gaps
        How far the sizes of each member can be from the best on the simulated curves, as a fraction of their cost.
    stretch
        References that sizes were chosen on.
    limits
        What was allowed.
    notes
        What must be known to judge it.
    """

    before: GroupState
    after: GroupState
    steps: tuple[GroupStep, ...]
    script: Script
    gaps: Mapping[str, float]
    stretch: int
    limits: GroupLimits
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Change:
    """A step that is thought of: pools of a member, or a group buffer pool; ``forced`` where a budget demands it."""

    title: str
    why: str
    member: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    structure: GroupPoolSettings | None = None
    forced: bool = False

    def applied(self, configuration: GroupConfiguration) -> GroupConfiguration:
        if self.structure is not None:
            return configuration.with_structures({self.structure.name: self.structure})
        for pool, size in self.sizes.items():
            own = configuration.members[self.member].pools[pool]
            configuration = configuration.with_pool(self.member, replace(own, size=size))
        return configuration


class GroupOptimiser:
    """The way to a recommendation for a group.

    Parameters
    ----------
    trace
        The references of all members.
    before
        Settings now: all pools of the members in the trace, all group buffer pools that are shared.
    work
        What the members do.
    cost
        Prices of I/O and requests.
    limits
        What may be done.
    progress
        Told how far the work is.
    """

    def __init__(
        self,
        trace: Trace,
        before: GroupConfiguration,
        *,
        work: GroupWork,
        cost: GroupCost,
        limits: GroupLimits,
        progress: Progress | None = None,
    ) -> None:
        self.trace = trace
        self.before = before
        self.work = work
        self.cost = cost
        self.limits = limits
        self._progress = progress

    def run(self) -> GroupRecommendation:
        """Choose sizes, simulate, leave out what saves too little.

        Raises
        ------
        UsageError
            A budget is below what the pools have at least.
        """
        most = MOST_ROWS * min(len(self.work.members), _MOST_MEMBERS)
        stretch = Stretch(middle(self.trace, self.trace.facts.rows, most=most, progress=self._progress))
        shared = self.work.dependent
        if self.before.placement:
            (shared,) = dependents(self.trace, self.work.names, [self.before.placement], progress=self._progress)
        search = SizeSearch(
            stretch,
            self.before,
            work=self.work,
            cost=self.cost,
            objective=self._objective,
            least=self._least(),
            dependent=shared,
            pinned=self.limits.pinned,
            tell=self._tell,
        )
        sized = self.limits.structures is not None
        chosen = search.members(self.limits.budgets, ample=sized)
        structures: dict[str, GroupPoolSettings] = {}
        if self.limits.structures is not None:
            pinned, limit = self.limits.pinned_structures, self.limits.structures
            structures, _ = search.structures(self._with_sizes(chosen), limit, pinned=pinned)
            # Pools again with these group buffer pools, and these again with the pools.
            chosen = search.members(self.limits.budgets, ample=True, structures=structures, around=chosen)
            wished = self._with_sizes(chosen).with_structures(structures)
            structures, _ = search.structures(wished, limit, pinned=pinned)
        changes = [change for member, found in chosen.items() if (change := self._member(member, found)) is not None]
        grow, shrink = self._structures(structures)
        changes = [*grow, *changes, *shrink]
        before, steps = self._judged(changes)
        worth = [step for step in steps if step.worth]
        after = worth[-1].after if worth else before
        return GroupRecommendation(
            before=before,
            after=after,
            steps=tuple(steps),
            script=self._script(self.before, after.configuration),
            gaps={member: found.allocation.gap for member, found in chosen.items()},
            stretch=stretch.rows.num_rows,
            limits=self.limits,
            notes=(*self.before.notes, NOT_OPTIMISED, *self._notes(after)),
        )

    def _with_sizes(self, chosen: Mapping[str, MemberSizes]) -> GroupConfiguration:
        configuration = self.before
        for member, found in chosen.items():
            for pool, size in found.sizes.items():
                own = self.before.members[member].pools[pool]
                configuration = configuration.with_pool(member, replace(own, size=size))
        return configuration

    def _tell(self, stage: str) -> None:
        if self._progress:
            self._progress(0, 0, stage)

    def _least(self) -> dict[tuple[str, str], int]:
        floor = self.limits.least_buffers * 4096
        least = {}
        for member, own in self.before.members.items():
            for pool, one in own.pools.items():
                catalog = LEAST.get(pool, 0)
                wanted = max(floor // one.page_bytes, catalog, 1)
                # A pool that is smaller now may stay so.
                least[member, pool] = min(wanted, max(one.size, catalog))
        return least

    def _objective(self, state: GroupState, member: str, pool: str) -> float:
        """Cost of a pool at a member with its requests to the group buffer pool; without a member, of the structure."""
        spent = state.uses[member, pool].cpu_seconds if (member, pool) in state.uses else 0.0
        if not member:
            return spent
        own = state.members[member].pools[pool]
        return spent + own.cpu_seconds + self.limits.delay_weight * own.delay_seconds

    def _cost(self, state: GroupState) -> float:
        return state.cpu_seconds + self.limits.delay_weight * state.total.delay_seconds

    def _member(self, member: str, found: MemberSizes) -> _Change | None:
        own = self.before.members[member]
        sizes = {pool: size for pool, size in found.sizes.items() if size != own.pools[pool].size}
        if not sizes:
            return None
        spent = sum(size * own.pools[pool].page_bytes for pool, size in found.sizes.items())
        forced = own.bytes > self.limits.budgets[member]
        title = f"Divide {_storage(spent)} among the pools of {member}"
        why = "storage goes where it saves most of the I/O and of the reads from group buffer pools"
        return _Change(title, why, member=member, sizes=sizes, forced=forced)

    def _structures(self, found: Mapping[str, GroupPoolSettings]) -> tuple[list[_Change], list[_Change]]:
        """Group buffer pools that grow, and those that shrink."""
        limit = self.limits.structures
        forced = limit is not None and self.before.structure_bytes > limit
        grow: list[_Change] = []
        shrink: list[_Change] = []
        for pool, new in found.items():
            old = self.before.structures[pool]
            if new == old:
                continue
            check_structure(new)
            title = (
                f"Set {new.structure} to {new.data_entries:,} data and {new.directory_entries:,} directory entries "
                f"(RATIO {new.ratio:g}, {_storage(new.bytes)})"
            )
            why = f"it has {old.data_entries:,} and {old.directory_entries:,} ({_storage(old.bytes)})"
            (grow if new.bytes >= old.bytes else shrink).append(_Change(title, why, structure=new, forced=forced))
        return grow, shrink

    def _judged(self, changes: Sequence[_Change]) -> tuple[GroupState, list[GroupStep]]:
        """The group now, and the steps: those that save too little at the end, each as the last of all."""
        kept = list(changes)
        dropped: list[tuple[_Change, float]] = []
        while True:
            every = self._sequence(kept)
            without = [self._sequence([one for one in kept if one is not out])[-1] for out in kept]
            states = self._simulate([*every, *without])
            before, after = states[0], states[len(kept)]
            values = [self._cost(state) - self._cost(after) for state in states[len(every) :]]
            least = self.limits.least_gain * self._cost(before)
            weak = [at for at, one in enumerate(kept) if values[at] < least and not one.forced]
            if not weak:
                break
            worst = min(weak, key=lambda at: values[at])
            dropped.append((kept.pop(worst), values[worst]))
        steps = [self._step(one, states[at], states[at + 1], values[at], worth=True) for at, one in enumerate(kept)]
        if dropped:
            tried = self._simulate([one.applied(after.configuration) for one, _ in dropped])
            base = self._cost(before)
            for (one, value), state in zip(dropped, tried, strict=True):
                step = self._step(one, after, state, value, worth=False)
                share = value / base if base > 0 else 0.0
                need = f"a step has to save {self.limits.least_gain:.2%}"
                why = f"{one.why}; with the other steps it saves {share:.3%} of the cost of the pools; {need}"
                steps.append(replace(step, why=why))
        return before, steps

    def _sequence(self, changes: Sequence[_Change]) -> list[GroupConfiguration]:
        """The group now and after each change, on top of those before it."""
        found = [self.before]
        for one in changes:
            found.append(one.applied(found[-1]))
        return found

    def _simulate(self, configurations: Sequence[GroupConfiguration]) -> list[GroupState]:
        return group_states(self.trace, configurations, work=self.work, cost=self.cost, progress=self._progress)

    def _step(self, one: _Change, before: GroupState, after: GroupState, value: float, *, worth: bool) -> GroupStep:
        why = one.why
        if worth and one.forced and value <= 0:
            why = f"{why}; the budget is below what there is now"
        elif worth and self._cost(before) <= self._cost(after):
            why = f"{why}; it saves nothing by itself, but the steps after it need it"
        text = self._script(before.configuration, after.configuration)
        return GroupStep(one.title, before, after, value, text, worth, why)

    def _script(self, before: GroupConfiguration, after: GroupConfiguration) -> Script:
        return group_script(before, after, moved_names(self.work.whole), self.work.whole.home)

    def _notes(self, after: GroupState) -> list[str]:
        notes = []
        if self.limits.structures is None:
            reclaimed = [pool for pool, one in after.structures.items() if one.invalidated_by_reclaim]
            told = f" ({', '.join(f'G{pool}' for pool in reclaimed)} take directory entries from pages in use)"
            notes.append(
                "Group buffer pools stay as they are" + (told if reclaimed else "") + ": --gbp-budget sizes them too"
            )
        return notes


def check_budgets(budgets: Mapping[str, int], members: Sequence[str]) -> None:
    """Check that budgets are of members of the trace.

    Raises
    ------
    UsageError
        One is not.
    """
    unknown = sorted(budgets.keys() - set(members))
    if unknown:
        raise UsageError(
            file="",
            what=f"--budget names {unknown[0]}, which is no member of the trace",
            remedy=f"give one of {', '.join(members)}",
        )


def _storage(size: int) -> str:
    return f"{size / (1 << 30):.2f} GiB" if size >= 1 << 28 else f"{size / (1 << 20):.1f} MiB"
