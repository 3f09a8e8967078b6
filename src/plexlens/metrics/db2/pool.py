"""Buffer pools of one Db2 (SMF 100 IFCID 2: QBST)."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.db2.pool_fields import FIELDS, WITNESSES
from plexlens.metrics.db2.records import (
    common,
    intervals,
    page_bytes,
    pool_name,
)
from plexlens.metrics.fields import columns_of
from plexlens.metrics.inputs import Inputs


def _pools(inputs: Inputs) -> Any:
    table = intervals(inputs, "smf100_ifcid2_qbst", FIELDS, "qbstpid", witnesses=WITNESSES, long_since_11=True)
    return table.select(
        **common(table),
        **columns_of(table, FIELDS),
        pool=pool_name(table.qbstpid),
        getpages_random=table.qbstget - table.qbstsgt,
        sync_reads_random=table.qbstrio - table.qbstsio,
        pool_bytes=table.qbstvpl.cast("float64") * page_bytes(table.qbstpid),
    )
