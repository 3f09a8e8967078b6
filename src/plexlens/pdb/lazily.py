"""A mapping whose values are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

_V = TypeVar("_V")


class Lazily(Mapping[str, _V]):
    """Values by name, each made once.

    Parameters
    ----------
    names
        The names, in their order.
    make
        Makes the value of a name.
    """

    def __init__(self, names: Iterable[str], make: Callable[[str], _V]) -> None:
        self._names = dict.fromkeys(names)
        self._make = make
        self._made: dict[str, _V] = {}

    def __getitem__(self, name: str) -> _V:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names
