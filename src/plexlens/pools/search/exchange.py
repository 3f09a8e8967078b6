"""Local search on sizes: parts of the storage change pools as long as a simulation of the whole trace shows a saving.

Storage changes pools within a member. Curves choose sizes pool by pool and read by read; write thresholds, prefetch
that is wasted, and the sequential chain change with the size too. So the pools that the curves chose are tried with a
part of the storage of one in another. The curves only say which exchanges are tried first.

Of few objects each is tried in every other pool too, with sizes by dynamic programming on the curves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

from plexlens.pools.members import member_and_pool
from plexlens.pools.page_sample import Curves
from plexlens.pools.search.case import Case, Grouping
from plexlens.pools.search.placement import simulate as sized
from plexlens.pools.search.plan import cost_at

#: Parts of the storage that change pools, the largest first.
PARTS = (8, 32, 128)

#: Exchanges simulated together, and most such rounds.
TOGETHER, ROUNDS = 6, 9

#: Objects up to which each is tried in every other pool.
FEW = 12

#: References that all rounds together may simulate; a trace so long that one round exceeds them is not searched.
REFERENCES = 20_000_000


def exchanged(
    case: Case,
    start: Grouping,
    cost: float,
    curves: Curves,
    simulate: Callable[[Mapping[str, Grouping]], Sequence[tuple[Grouping, float]]],
    *,
    moves: bool,
) -> None:
    """Simulate exchanges of storage between the pools of a placement, as long as they save.

    Parameters
    ----------
    case
        What may be done.
    start, cost
        Placement with sizes, and its simulated cost.
    curves
        LRU curves of groups, which order the exchanges.
    simulate
        Simulates placements, and gives their costs; it keeps what it finds.
    moves
        Whether objects may change pools.
    """
    getpages = sum(use.total for use in case.work.objects.values())
    rounds = min(ROUNDS, int(REFERENCES / (TOGETHER * max(getpages, 1.0))))
    best, parts = start, list(PARTS)
    if moves and len(case.work.objects) <= FEW:
        # Moves first, and twice as many rounds: an exchange of storage is worth little between wrong groups.
        parts.insert(0, 0)
        rounds *= 2
    while rounds > 0 and parts:
        tried = _neighbours(case, best, curves, parts[0]) if parts[0] else _moved(case, best, curves)
        costs = simulate(tried)
        rounds -= 1
        better = min(costs, key=lambda candidate: candidate[1], default=None)
        if better is not None and better[1] < cost:
            best, cost = better
        else:
            parts.pop(0)


def _neighbours(case: Case, present: Grouping, curves: Curves, part: int) -> dict[str, Grouping]:
    """The exchanges of a part of the storage that cost least by the curves."""
    bytes_of = {name: case.page_bytes[member_and_pool(name)[1]] for name in present.sizes}
    used: dict[str, int] = {}
    for name, size in present.sizes.items():
        member = member_and_pool(name)[0]
        used[member] = used.get(member, 0) + size * bytes_of[name]
    candidates: list[tuple[float, str, Grouping]] = []
    for donor, receiver in permutations(present.sizes, 2):
        member = member_and_pool(donor)[0]
        if donor in case.pinned or receiver in case.pinned or member_and_pool(receiver)[0] != member:
            continue
        moved = used[member] // part
        less = present.sizes[donor] - -(-moved // bytes_of[donor])
        more = present.sizes[receiver] + moved // bytes_of[receiver]
        if less < case.least[donor] or more == present.sizes[receiver]:
            continue
        sizes = {**present.sizes, donor: less, receiver: more}
        name = f"1/{part} of the storage from {donor} to {receiver}"
        candidates.append(
            (cost_at(present.groups, sizes, curves, case), name, Grouping(present.groups, sizes, 0.0, 0.0))
        )
    candidates.sort(key=lambda candidate: (candidate[0], candidate[1]))
    return {name: grouping for _, name, grouping in candidates[:TOGETHER]}


def _moved(case: Case, present: Grouping, curves: Curves) -> dict[str, Grouping]:
    """The moves of one object to another pool that cost least by the curves."""
    candidates: list[tuple[float, str, Grouping]] = []
    for name, objects in present.groups.items():
        for number in sorted(objects - case.fixed):
            for other in case.names:
                if other == name or case.page_bytes[other] != case.page_bytes[name]:
                    continue
                groups = dict(present.groups) | {name: objects - {number}}
                groups[other] = groups.get(other, frozenset()) | {number}
                if case.fits(groups, case.budgets):
                    grouping = sized(case, groups, curves)
                    candidates.append((grouping.cost, f"{case.work.object_name(number)} in {other}", grouping))
    candidates.sort(key=lambda candidate: (candidate[0], candidate[1]))
    return {name: grouping for _, name, grouping in candidates[: 2 * TOGETHER]}
