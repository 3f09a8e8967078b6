"""What a formula is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from plexlens.compare.quantity import Quantity

Argument = Quantity | list[Quantity]


@dataclass(frozen=True)
class Formula:
    """How a derived column follows from others.

    Parameters
    ----------
    name, title
        What a study names it by, and what a report calls it.
    unit
        Unit of the result; empty for that of the arguments.
    text
        The formula in words and symbols, with the names of the arguments.
    source
        Study and table, or manual, that defines it.
    singles, lists
        Names of the arguments that are one number, and of those that are any number of them.
    compute
        From the arguments by name to the result.
    worked
        The arithmetic with ``{argument}`` in the places of the numbers; those of a list are joined by a plus.
    """

    name: str
    title: str
    unit: str
    text: str
    source: str
    singles: tuple[str, ...]
    lists: tuple[str, ...]
    compute: Callable[..., Quantity] = field(repr=False)
    worked: str

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of all arguments."""
        return self.singles + self.lists

    def __call__(self, arguments: Mapping[str, Argument]) -> Quantity:
        """The result.

        Raises
        ------
        UndefinedError
            A divisor is zero or may be zero within its rounding.
        """
        return self.compute(**arguments)
