"""Buffer pool ids and names, by Db2's numbering."""

from __future__ import annotations

import re

#: The lowest pool id of each page size.
_BASE = {"": 0, "32K": 80, "8K": 100, "16K": 120}


def pool_id(name: str) -> int | None:
    """Id of a pool: ``BP2`` is 2, ``BP32K`` 80, ``BP8K0`` 100, ``BP16K0`` 120; None for an invalid name."""
    found = re.fullmatch(r"BP(8K|16K|32K|)(\d{0,3})", name.strip().upper(), re.ASCII)
    if found is None or (not found[2] and found[1] != "32K"):
        return None
    return _BASE[found[1]] + int(found[2] or 0)


def pool_name(pool: int) -> str:
    """Name of a pool id."""
    for kind in ("16K", "8K", "32K"):
        if pool >= _BASE[kind]:
            number = pool - _BASE[kind]
            return f"BP{kind}" if kind == "32K" and number == 0 else f"BP{kind}{number}"
    return f"BP{pool}"


def page_bytes(pool: int) -> int:
    """Page size of a pool id."""
    for kind, size in (("16K", 16384), ("8K", 8192), ("32K", 32768)):
        if pool >= _BASE[kind]:
            return size
    return 4096
