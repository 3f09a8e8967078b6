"""Executors without a cluster: pieces run in this process, the last first, and everything passes through pickle."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence

from plexlens.errors import PlexlensError
from plexlens.executors import Argument, Result, Tell


def in_any_order(
    work: Callable[[Argument], Result], arguments: Sequence[Argument], tell: Tell | None = None
) -> list[Result]:
    """As `plexlens.executors.Executors`."""
    answers: dict[int, bytes] = {}
    for number in reversed(range(len(arguments))):
        function, argument = pickle.loads(pickle.dumps((work, arguments[number])))
        try:
            answer = function(argument)
        except PlexlensError as error:
            answer = error
        answers[number] = pickle.dumps(answer)
        if tell is not None:
            tell(len(answers), len(arguments))
    results = []
    for number in range(len(arguments)):
        result = pickle.loads(answers[number])
        if isinstance(result, PlexlensError):
            raise result
        results.append(result)
    return results
