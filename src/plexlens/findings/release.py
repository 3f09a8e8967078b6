"""Releases of the systems in the data, as their records tell them."""

from __future__ import annotations

import re

from plexlens.metrics.inputs import Inputs

#: Product section of RMF records: ZVvvrrmm.
_TABLE, _COLUMN = "rmf_product_section", "smf7xmvs"
_LEVEL = re.compile(r"ZV(\d\d)(\d\d)\d\d")


def zos_releases(inputs: Inputs) -> dict[str, tuple[int, int]]:
    """Version and release of z/OS by system; systems whose records do not tell it are absent."""
    if not inputs.has(_TABLE):
        return {}
    table = inputs.table(_TABLE, text=(_COLUMN,)).select("system", _COLUMN).distinct()
    found: dict[str, tuple[int, int]] = {}
    for row in table.to_pyarrow().to_pylist():
        level = _LEVEL.fullmatch((row[_COLUMN] or "").strip())
        if row["system"] and level is not None:
            release = int(level.group(1)), int(level.group(2))
            # Records of before and after an upgrade: the later release is the one that findings are acted on.
            found[row["system"]] = max(release, found.get(row["system"], release))
    return found
