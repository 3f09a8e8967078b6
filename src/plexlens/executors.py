"""Work in pieces that run side by side elsewhere: what modules that divide work see of the engines that run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

Argument = TypeVar("Argument")
Result = TypeVar("Result")

Tell = Callable[[int, int], None]
"""Called with the pieces done and the pieces in all. An exception that it raises ends the work."""


class Executors(Protocol):
    """Runs a function for each of several arguments, each piece perhaps on another machine."""

    def __call__(
        self, work: Callable[[Argument], Result], arguments: Sequence[Argument], tell: Tell | None = None
    ) -> list[Result]:
        """The results, in the order of their arguments.

        Parameters
        ----------
        work
            A function of a module: executors import it. The same argument gives the same result, so that a piece that
            is lost can be done again.
        arguments
            One for each piece; they and the results can be pickled.
        tell
            Told the progress.

        Raises
        ------
        PlexlensError
            The first that a piece raises, in the order of the arguments; or the pieces cannot be run.
        """
