"""Names of buffer pools, and the sharing section of statistics records."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Key

SUBSYSTEM = Key("subsystem", "Db2")

SHARING = "smf100_qwha"


def pool_name(number: Any, prefix: str = "BP") -> Any:
    """Name of a buffer pool by its number (QBSTPID, QBGLGN): 0 is BP0, 80 BP32K, 81 BP32K1, 100 BP8K0, 120 BP16K0."""
    n = number.cast("int64")
    return ibis.cases(
        (n.isnull(), ibis.null("string")),
        (n.between(0, 49), ibis.literal(prefix).concat(n.cast("string"))),
        (n == 80, ibis.literal(f"{prefix}32K")),
        (n.between(81, 89), ibis.literal(f"{prefix}32K").concat((n - 80).cast("string"))),
        (n.between(100, 109), ibis.literal(f"{prefix}8K").concat((n - 100).cast("string"))),
        (n.between(120, 129), ibis.literal(f"{prefix}16K").concat((n - 120).cast("string"))),
        else_=ibis.literal(f"{prefix}#").concat(n.cast("string")),
    )
