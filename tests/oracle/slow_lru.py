"""An LRU pool, one reference after another."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable


def lru_misses(pages: Iterable[int], size: int) -> int:
    """Misses of a pool of this size."""
    return len(lru_missed(pages, size))


def lru_missed(pages: Iterable[int], size: int) -> list[int]:
    """Pages that a pool of this size misses, in the order of the misses."""
    pool: OrderedDict[int, None] = OrderedDict()
    missed = []
    for page in pages:
        if page in pool:
            pool.move_to_end(page)
            continue
        missed.append(page)
        pool[page] = None
        if len(pool) > size:
            pool.popitem(last=False)
    return missed
