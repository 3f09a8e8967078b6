"""From a metric that changed to the first changes behind it, along the links of the catalogue.

A number is followed to a part in proportion to the part's share of the change, and to a metric that moves it by how far
that metric changed next to it: a metric that changed by a tenth of a per cent is not the reason for a change by half. A
setting counts fully, in the direction that the link states. What is reached has a weight, from 1 for the metric itself
to 0. A change with a change behind it steps back: its weight is reduced by what stands behind it, and where that
is more than half, it is on the way to a cause and no cause.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count
from math import log

from plexlens.metrics.causes import EVENTS, REST, Causes, Link
from plexlens.metrics.definition import Fact
from plexlens.metrics.unit import Unit
from plexlens.why.chain import Chain
from plexlens.why.change import Change
from plexlens.why.decomposition import Amount, Item, log_ratio
from plexlens.why.settings import Setting

#: A metric that changed by m is followed from one that changed by M, both on the scale of logarithms, with the strength
#: m / (m + LEVER M): queues answer a change of load with a larger one of response.
LEVER = 0.2

#: A change by more than this factor counts as one by this factor: from zero, or of a queue that only grows, it has no
#: size.
MOST = 10.0

#: Weights below this are not followed, and causes of less weight are not listed.
LEAST = 0.02

#: A change of which more than this is explained by changes behind it is on the way to a cause, and no cause.
ON_THE_WAY = 0.5

#: A change is beyond chance at this probability, and what links lead to at that one of a single false one among all.
ALPHA, LINKED = 0.01, 0.05


@dataclass(frozen=True)
class Cause:
    """A change that stands at the beginning of a chain.

    Attributes
    ----------
    name
        ``grain.column``, or a part with `EVENTS` or `REST`.
    weight
        From 0 to 1.
    share
        Part of the change that the chain carries to it: upper limit of what it explains.
    path
        Names from the metric that was asked for to this one.
    text
        Why, by the link that led here.
    item
        The object that changed; None for a metric as a whole, or a setting.
    setting
        The setting that changed; None for a metric.
    before, after
        Its values in the two periods: numbers in the base unit, texts of an attribute.
    moved
        What changed, with its uncertainty; None for a setting.
    unit
        Unit of the values; None for texts and numbers of events.
    """

    name: str
    weight: float
    share: float
    path: tuple[str, ...]
    text: str
    item: Item | None = None
    setting: Setting | None = None
    before: float | str | None = None
    after: float | str | None = None
    moved: Amount | None = None
    unit: Unit | None = None


@dataclass
class _Node:
    """A number reached on the way to causes: logarithm of its change, share of the whole change, and path."""

    name: str
    moved: float
    weight: float
    path: tuple[str, ...]
    text: str
    behind: float = 0.0
    in_parts: float = 0.0
    is_root: bool = False
    items: Sequence[Item] = ()
    settings: Sequence[Setting] = ()
    also: Sequence[str] = ()
    values: tuple[float | None, float | None] = (None, None)
    amount: Amount | None = None
    unit: Unit | None = None


@dataclass
class Walked:
    """The result of a walk: causes, and what was looked at on the way."""

    causes: list[Cause] = field(default_factory=list)
    chains: list[Chain] = field(default_factory=list)
    looked_at: dict[str, Change] = field(default_factory=dict)
    tests: int = 0


class Walk:
    """A walk along the links.

    Parameters
    ----------
    known
        Wholes and links.
    change
        Gives the change of a metric; None where there is no data.
    chain
        Gives the parts of a metric; None where it has none.
    settings
        Settings that changed, by name.
    """

    def __init__(
        self,
        known: Causes,
        change: Callable[[str], Change | None],
        chain: Callable[[str], Chain | None],
        settings: Mapping[str, Sequence[Setting]],
    ) -> None:
        self._known = known
        self._change = change
        self._chain = chain
        self._settings = settings
        self.walked = Walked()
        self._is_sure = True

    def from_metric(self, root: str, moved: float, *, is_sure: bool = True) -> Walked:
        """The causes of a metric's change, which is ``moved`` on the scale of logarithms.

        Numbers are taken in the order of their weight, so that the way to each is the one that carries most. Where the
        change itself is beyond chance (``is_sure``), one of its parts has changed, and each is tested alone.
        """
        self._is_sure = is_sure
        reached = self._reachable(root)
        limit = self._limit(reached)
        order = count()
        start = _Node(root, moved, 1.0, (root,), "", is_root=True)
        if root in self._known.apart and (whole := self._looked(root)) is not None and not whole.is_apart:
            start.unit = whole.column.unit
            start.items = _beyond_chance(whole, limit, 1.0 if moved > 0 else -1.0)
        waiting = [(-1.0, next(order), start)]
        done: dict[str, _Node] = {}
        while waiting:
            _, _, node = heappop(waiting)
            if node.name in done:
                continue
            done[node.name] = node
            for following, strength, is_part in self._next(node, limit):
                if following.name in node.path:
                    continue
                if is_part:
                    node.in_parts += strength
                else:
                    node.behind = max(node.behind, strength)
                following.weight = node.weight * strength
                if following.weight >= LEAST and following.name not in done:
                    heappush(waiting, (-following.weight, next(order), following))
        for node in done.values():
            # What was asked for is its own cause only by an object: a class that is new, a plan that changed.
            if not node.is_root or node.items:
                self.walked.causes += _causes_at(node)
        self.walked.causes = sorted(
            (cause for cause in self.walked.causes if cause.weight >= LEAST), key=lambda cause: -cause.weight
        )
        return self.walked

    def _reachable(self, root: str) -> list[str]:
        """Every metric that links lead to: all are tested together, whatever is followed."""
        seen, waiting = [], [root]
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.append(name)
            whole = self._known.whole_of(name)
            parts = [] if whole is None else list(whole.parts)
            names = [name, name + EVENTS, name + REST]
            if whole is not None:
                names += [whole.metric + REST, *(part.metric for part in parts), *(part.each for part in parts)]
                names += [part.metric + EVENTS for part in parts]
            waiting += [link.by for each in names if each for link in self._known.by(each)]
        return seen

    def _limit(self, names: Sequence[str]) -> float:
        """The largest p that is beyond chance, by Holm's rule over all objects of all metrics."""
        p = [test for name in names if (change := self._looked(name)) is not None for test in _tests(change)]
        self.walked.tests = len(p)
        limit = 0.0
        for number, each in enumerate(sorted(p)):
            if each > LINKED / (len(p) - number):
                break
            limit = each
        return limit if p and min(p) <= LINKED / len(p) else -1.0

    def _looked(self, name: str) -> Change | None:
        if name not in self.walked.looked_at:
            change = self._change(name)
            if change is None:
                return None
            self.walked.looked_at[name] = change
        return self.walked.looked_at[name]

    def _next(self, node: _Node, limit: float) -> list[tuple[_Node, float, bool]]:
        """The numbers that a number is followed to, each with the strength of the way there."""
        results = [(following, share, True) for following, share in self._parts(node)]
        for link in (link for name in (node.name, *node.also) for link in self._known.by(name)):
            if (following := self._linked(node, link, limit)) is not None:
                results.append((*following, False))
        return results

    def _parts(self, node: _Node) -> list[tuple[_Node, float]]:
        chain = self._chain(node.name)
        if chain is None:
            return []
        self.walked.chains.append(chain)
        results = []
        for part in chain.parts:
            pieces = [(part.name, part.all, (part.before, part.after))]
            if (split := part.split) is not None:
                pieces = [
                    (part.name + EVENTS, split.events, (split.events_before, split.events_after)),
                    (part.each, split.each, (split.each_before, split.each_after)),
                ]
            for name, moved, values in pieces:
                share = part.share * moved.value / part.all.value if part.all.value else 0.0
                by_chance = moved.p is not None and moved.p > (ALPHA if self._is_sure else ALPHA / len(chain.parts))
                if share >= LEAST and not by_chance:
                    following = _Node(name, log_ratio(*values), 0.0, (*node.path, name), part.title, also=(part.name,))
                    following.values, following.amount = values, moved
                    following.unit = None if name.endswith(EVENTS) else chain.unit
                    results.append((following, min(1.0, share)))
        return results

    def _linked(self, node: _Node, link: Link, limit: float) -> tuple[_Node, float] | None:
        wanted = {"with": 1.0, "against": -1.0}.get(link.moves)
        sign = None if wanted is None else wanted * (1.0 if node.moved > 0 else -1.0)
        path = (*node.path, link.by)
        if link.by in self._settings:
            there = [each for each in self._settings[link.by] if _directed(each, sign)]
            return (_Node(link.by, 0.0, 0.0, path, link.text, settings=there), 1.0) if there else None
        change = self._looked(link.by) if "." in link.by else None
        if change is None or change.all is None:
            return None
        items = _beyond_chance(change, limit, sign)
        moved = change.log_ratio
        if change.is_apart and items:
            # Objects that make no whole: the one that changed most counts.
            moved = max((log_ratio(each.before, each.after) for each in items), key=abs)
        is_sure = bool(items) or (not change.by_key and change.all.p is not None and change.all.p <= limit)
        if not is_sure or moved == 0 or (sign is not None and moved * sign <= 0):
            return None
        if link.proportional:
            strength = min(1.0, abs(moved / node.moved)) if node.moved else 1.0
        else:
            strength = abs(moved) / (abs(moved) + LEVER * min(abs(node.moved), log(MOST)))
        if any(item.is_new or item.is_gone for item in items):
            # What was not there before may do anything: how much more work there is says nothing about it.
            strength = 1.0
        following = _Node(link.by, moved, 0.0, path, link.text, items=items)
        following.values, following.amount = (change.before, change.after), change.all
        following.unit = change.column.unit
        return following, strength


def _beyond_chance(change: Change, limit: float, sign: float | None) -> list[Item]:
    """Objects whose part of a change is beyond chance and has the sign that is looked for."""
    if not change.by_key:
        return []
    by_key = change.by_key[0]
    return [
        item
        for item in by_key.items
        if item.own.p is not None
        and item.own.p <= limit
        and (sign is None or item.own.value * sign > 0)
        # The ratio of an object that was not there before has not changed; the work shows that it is new.
        and (by_key.is_sum or not (item.is_new or item.is_gone))
    ]


def _directed(setting: Setting, sign: float | None) -> bool:
    if sign is None or isinstance(setting.before, str):
        return True
    return bool((float(setting.after) - float(setting.before)) * sign > 0)


def _tests(change: Change) -> list[float]:
    if change.by_key:
        return [item.own.p for item in change.by_key[0].items if item.own.p is not None]
    return [] if change.all is None or change.all.p is None else [change.all.p]


def _causes_at(node: _Node) -> list[Cause]:
    behind = min(1.0, max(node.behind, node.in_parts))
    if behind > ON_THE_WAY:
        return []
    weight = node.weight * (1 - behind)
    cause = Cause(
        node.name, weight, node.weight, node.path, node.text, before=node.values[0], after=node.values[1],
        moved=node.amount, unit=node.unit,
    )  # fmt: skip
    if node.settings:
        return [
            replace(
                cause, setting=each, before=each.before, after=each.after,
                unit=each.column.unit if isinstance(each.column, Fact) else None,
            )
            for each in node.settings
        ]  # fmt: skip
    if not node.items:
        return [cause]
    total = sum(abs(item.own.value) for item in node.items)
    results = []
    for item in node.items:
        part = abs(item.own.value) / total
        results.append(
            replace(
                cause, weight=weight * part, share=node.weight * part, item=item, before=item.before,
                after=item.after, moved=item.change,
            )
        )  # fmt: skip
    return results
