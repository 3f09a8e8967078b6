"""Buffer pool ids and names, by Db2's numbering."""

from __future__ import annotations

#: The lowest pool id of each page size.
_BASE = {"": 0, "32K": 80, "8K": 100, "16K": 120}

#: Pools of each page size. BP50 would otherwise be read as a pool of 8 KB or 32 KB pages: BP99 has the id of BP32K19.
_COUNT = {"": 50, "32K": 10, "8K": 10, "16K": 10}


def pool_name(pool: int) -> str:
    """Name of a pool id."""
    for kind in ("16K", "8K", "32K"):
        if pool >= _BASE[kind]:
            number = pool - _BASE[kind]
            return f"BP{kind}" if kind == "32K" and number == 0 else f"BP{kind}{number}"
    return f"BP{pool}"


_IDS = {
    pool_name(_BASE[kind] + number): _BASE[kind] + number for kind, count in _COUNT.items() for number in range(count)
}

#: The names that Db2 has, for messages.
POOL_NAMES = "BP0 to BP49, BP8K0 to BP8K9, BP16K0 to BP16K9, BP32K, or BP32K1 to BP32K9"


def pool_id(name: str) -> int | None:
    """Id of a pool: ``BP2`` is 2, ``BP32K`` 80, ``BP8K0`` 100, ``BP16K0`` 120; None if Db2 has no such pool."""
    return _IDS.get(name.strip().upper())


def page_bytes(pool: int) -> int:
    """Page size of a pool id."""
    for kind, size in (("16K", 16384), ("8K", 8192), ("32K", 32768)):
        if pool >= _BASE[kind]:
            return size
    return 4096
