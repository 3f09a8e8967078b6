"""Releases of the systems in the data, from their records."""

from __future__ import annotations

import re
from collections.abc import Mapping

from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import rows_of

#: Product section of RMF records: ZVvvrrmm.
_TABLE, _COLUMN = "rmf_product_section", "smf7xmvs"
_LEVEL = re.compile(r"ZV(\d\d)(\d\d)\d\d")

Level = tuple[int, int]
"""Version and release."""

#: Products whose release the data tells, and the attribute of a row that holds it; z/OS is known by system.
PRODUCTS = ("z/OS", "Db2")
ATTRIBUTES = {"Db2": "db2_version"}

#: A whole rule can be kept to the releases of these.
RULE_PRODUCTS = ("z/OS",)


def level_of(text: str | None) -> Level | None:
    """Version and release of ``12``, ``12.1``, ``V12R1M500``; None for anything else.

    A version alone is its first release: Db2 12 is 12.1, and Db2 8 is 8.1.
    """
    match = re.fullmatch(r"V?(\d{1,3})(?:[.R](\d{1,3}))?(?:[.M]\d{1,4})?", (text or "").strip())
    return None if match is None else (int(match.group(1)), int(match.group(2) or 1))


def releases_of(names: Mapping[str, str | None], systems: Mapping[str, Level]) -> dict[str, Level]:
    """Releases of the products behind one object, by its attributes and its system."""
    levels = {product: level_of(names.get(column)) for product, column in ATTRIBUTES.items()}
    levels["z/OS"] = systems.get(names.get("system") or "")
    return {product: level for product, level in levels.items() if level is not None}


def zos_releases(inputs: Inputs) -> dict[str, Level]:
    """Version and release of z/OS by system; systems whose records lack it are absent."""
    if not inputs.has(_TABLE):
        return {}
    levels: dict[str, Level] = {}
    for row in rows_of(inputs.connection, f"select distinct system, {_COLUMN} from ({inputs.raw(_TABLE, (_COLUMN,))})"):
        level = _LEVEL.fullmatch((row[_COLUMN] or "").strip())
        if row["system"] and level is not None:
            release = int(level.group(1)), int(level.group(2))
            # Records of before and after an upgrade: the later release is the one that findings are acted on.
            levels[row["system"]] = max(release, levels.get(row["system"], release))
    return levels
