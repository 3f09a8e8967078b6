"""What a recommendation may do, and what it is: steps with what each saves, and their text."""

from __future__ import annotations

from dataclasses import dataclass, field

from plexlens.pools.alter import Script
from plexlens.pools.headroom import Headroom
from plexlens.pools.prediction import Activity, State
from plexlens.pools.search.case import Search
from plexlens.pools.search.plan import StorageCurve

#: Buffers of 4 KB that a pool has at least where nothing else is asked for: with fewer, prefetch reads less at once.
LEAST_BUFFERS = 1000


@dataclass(frozen=True)
class Limits:
    """What a recommendation may do.

    Attributes
    ----------
    budget
        Bytes that the pools may have together; None: what they have now.
    new_pools
        Pools that may be made.
    least_buffers
        Buffers of 4 KB that a pool has at least; in bytes also for larger pages.
    pinned
        Pools whose sizes stay.
    stay
        Objects that stay where they are.
    moves
        Whether objects may move at all.
    least_gain
        Share of the present cost that a moved object, a new pool, or any other step must save.
    delay_weight
        CPU seconds that a second of delay is worth.
    settings
        Whether thresholds, page steal and page fix are looked at too.
    """

    budget: int | None = None
    new_pools: int = 4
    least_buffers: int = LEAST_BUFFERS
    pinned: frozenset[str] = frozenset()
    stay: frozenset[str] = frozenset()
    moves: bool = True
    least_gain: float = 0.001
    delay_weight: float = 0.0
    settings: bool = True


@dataclass(frozen=True)
class Step:
    """A step of a recommendation.

    Attributes
    ----------
    title
        What is done.
    before, after
        The pools before and after it, simulated. Steps build on each other; for one that is not worth it, what it would
        have done.
    script
        Text for Db2.
    worth
        Whether it is recommended.
    why
        Why it is, or is not.
    objects
        Names of objects that move.
    """

    title: str
    before: State
    after: State
    script: Script
    worth: bool
    why: str
    objects: tuple[str, ...] = ()

    @property
    def saved(self) -> Activity:
        """What the step saves over the time of the trace; negative amounts are added."""
        before, after = self.before.total, self.after.total
        return before + Activity(*(-value for value in vars(after).values()))


@dataclass(frozen=True)
class Recommendation:
    """What to change.

    Attributes
    ----------
    before, after
        The pools now, and after all steps that are worth it, simulated.
    steps
        Steps in their order, those that are not worth it last.
    script
        Text for Db2 from ``before`` to ``after``.
    search
        How groups were searched for.
    storage
        What more storage would save.
    gap
        How far the sizes can be from the best for these groups, as a fraction of the cost.
    curve_costs
        Cost by the curves, of the present pools and the recommended ones.
    sample
        Share of the pages that groups were chosen on.
    budget
        Bytes that were the limit.
    headroom
        Free storage of the system; None where nothing tells it.
    notes
        What must be known to judge it.
    """

    before: State
    after: State
    steps: tuple[Step, ...]
    script: Script
    search: Search
    storage: StorageCurve
    gap: float
    curve_costs: tuple[float, float]
    sample: float
    budget: int
    headroom: Headroom | None = None
    notes: tuple[str, ...] = field(default=())
