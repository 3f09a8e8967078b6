"""How many random examples a test draws: some in `make test`, ten times as many or a stated number in `make soak`."""

from __future__ import annotations

import os

SOAK = bool(os.environ.get("PLEXLENS_SOAK"))


def draws(usual: int, soak: int | None = None) -> int:
    """The number of examples: `usual`, and in a soak `soak` (ten times as many by default)."""
    return (10 * usual if soak is None else soak) if SOAK else usual
