"""How far long work is: the one form in which it is told, whoever works and whoever shows it."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""Called with the steps or bytes done, the steps or bytes in all (0 where the end is not known), and the name of the
stage."""


def silent(done: int, total: int, stage: str) -> None:
    """A `Progress` that shows nothing."""
