"""Ctrl-C and SIGTERM as the orderly end of something that measures: what was measured is kept."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def ended_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call a function on each Ctrl-C and SIGTERM, in place of what they did before.

    Signals reach the main thread alone: in another thread nothing changes.
    """
    before: dict[int, Any] = {}
    with suppress(ValueError):
        before = {number: signal.signal(number, lambda *_: stop()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
