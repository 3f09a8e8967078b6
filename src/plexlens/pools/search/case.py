"""What a search starts from and what it finds: pools, objects, limits; groups of objects with their sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from plexlens.pools.search.sizes import Allocation

#: Objects of each pool, by the pool's name.
Groups = Mapping[str, frozenset[int]]


@dataclass(frozen=True)
class Case:
    """The pools, the objects in them, and what may be done with both.

    Attributes
    ----------
    home
        Where the objects are now: all pools that there are, also those without objects.
    page_bytes
        Bytes of a page, by pool.
    budget
        Bytes that the pools may have together.
    least
        Buffers that each pool has at least, by pool.
    free
        Names of pools that may be made, of page sizes that there are.
    fixed
        Objects that cannot move.
    least_gain
        Share of the present cost that a moved object, or a new pool, must save.
    pinned
        Pools whose size is not to change; their least size is it.
    """

    home: Groups
    page_bytes: Mapping[str, int]
    budget: int
    least: Mapping[str, int]
    free: Sequence[str] = ()
    fixed: frozenset[int] = frozenset()
    least_gain: float = 0.001
    pinned: frozenset[str] = frozenset()

    @property
    def names(self) -> list[str]:
        """Pools that there are, and those that may be made."""
        return [*self.home, *self.free]

    def home_of(self) -> dict[int, str]:
        """The present pool of each object."""
        return {number: name for name, objects in self.home.items() for number in objects}

    def least_bytes(self, groups: Groups) -> int:
        """Bytes that the pools of these groups have at least."""
        return sum(self.least[name] * self.page_bytes[name] for name in self.kept(groups))

    def moved(self, groups: Groups) -> int:
        """Objects that are elsewhere than now."""
        return sum(len(objects - self.home.get(name, frozenset())) for name, objects in groups.items())

    def made(self, groups: Groups) -> int:
        """Pools that there are not now."""
        return sum(name not in self.home and bool(objects) for name, objects in groups.items())

    def kept(self, groups: Groups) -> dict[str, frozenset[int]]:
        """The groups without new pools that have no objects, in the order of the pools."""
        return {name: groups.get(name, frozenset()) for name in self.names if name in self.home or groups.get(name)}


@dataclass(frozen=True)
class Grouping:
    """Groups of objects and the sizes of their pools.

    Attributes
    ----------
    groups
        Objects by pool.
    allocation
        Sizes in the order of the groups, their cost and its bound.
    """

    groups: Groups
    allocation: Allocation

    @property
    def cost(self) -> float:
        """What the pools cost with these sizes."""
        return self.allocation.cost

    @property
    def sizes(self) -> dict[str, int]:
        """Buffers by pool."""
        return dict(zip(self.groups, self.allocation.sizes, strict=True))


@dataclass(frozen=True)
class Beginning:
    """What became of one beginning of a search.

    Attributes
    ----------
    name
        Where it began.
    cost
        By simulation, after improvement by guesses.
    moved, pools
        Objects elsewhere than now, and pools.
    """

    name: str
    cost: float
    moved: int
    pools: int


@dataclass(frozen=True)
class Search:
    """What a search found.

    Attributes
    ----------
    home
        The objects where they are, with the best sizes.
    best
        The best groups.
    beginnings
        What became of each beginning, the cheapest first.
    """

    home: Grouping
    best: Grouping
    beginnings: tuple[Beginning, ...] = field(default=())
