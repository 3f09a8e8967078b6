"""Progress of long work: the common interface between workers and displays."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""Called with the steps or bytes done, the steps or bytes in all (0 where the end is not known), and the name of the
stage."""


def silent(done: int, total: int, stage: str) -> None:
    """A `Progress` that shows nothing."""
