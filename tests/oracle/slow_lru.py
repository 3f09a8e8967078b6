"""An LRU pool, one reference after another."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable


def lru_misses(pages: Iterable[int], size: int) -> int:
    """Misses of a pool of this size."""
    pool: OrderedDict[int, None] = OrderedDict()
    misses = 0
    for page in pages:
        if page in pool:
            pool.move_to_end(page)
            continue
        misses += 1
        pool[page] = None
        if len(pool) > size:
            pool.popitem(last=False)
    return misses
