"""Storage and threads of one Db2 (SMF 100 IFCID 225): states when the statistics were written."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.db2.records import common, intervals
from plexlens.metrics.definition import Rollup
from plexlens.metrics.expressions import total
from plexlens.metrics.fields import Field, columns_of
from plexlens.metrics.inputs import RECORD, Inputs
from plexlens.metrics.unit import COUNT

_FRAME = 4096

_SPACES = "smf100_ifcid225_space"
_THREADS = "smf100_ifcid225_threads"
_COMMON = "smf100_ifcid225_common"

_THREAD_FIELDS = (
    Field("allied_threads", "Allied threads", "QW0225AT", COUNT, Rollup.LEVEL),
    Field("dbats", "Active and pooled DBATs", "QW0225DB", COUNT, Rollup.LEVEL),
)
#: Fact, title, frames or slots of 4096 bytes in the section of shared storage.
_COMMON_FACTS = (
    ("shared_real_bytes", "Shared storage, real", ("qw0225shrstg_real", "qw0225shrstkstg_real")),
    ("common_real_bytes", "Common storage, real", ("qw0225comstg_real",)),
    ("log_real_bytes", "Log buffers and control blocks, real", ("qw0225_lmwrite_real", "qw0225_lmctrl_real")),
    (
        "shared_aux_bytes",
        "Shared and common storage, auxiliary",
        (
            "qw0225shrstg_aux",
            "qw0225shrstkstg_aux",
            "qw0225comstg_aux",
            "qw0225_lmwrite_aux",
            "qw0225_lmctrl_aux",
        ),
    ),
    ("available_bytes", "Real storage available in the partition", ("qw0225_realavail",)),
)


def _spaces(inputs: Inputs) -> Any:
    """What DBM1 and DIST hold, one row a record."""
    columns = ("qw0225rg", "qw0225av", "qw0225rl", "qw0225ax", "qw0225hvpagesinreal", "qw0225pristg_real")
    table = inputs.table(_SPACES, *columns, text=("qw0225an",))
    dbm1 = table.qw0225an == "DBM1"

    def of_dbm1(column: str, scale: int = 1) -> Any:
        return ibis.ifelse(dbm1, table[column].cast("float64") * scale, ibis.null("float64")).max()

    return table.group_by(list(RECORD)).aggregate(
        dbm1_region_bytes=of_dbm1("qw0225rg"),
        dbm1_free_bytes=of_dbm1("qw0225av"),
        private_real_bytes=(table.qw0225rl.cast("float64") * _FRAME).sum(),
        private_aux_bytes=(table.qw0225ax.cast("float64") * _FRAME).sum(),
        high_real_bytes=of_dbm1("qw0225hvpagesinreal", _FRAME),
        high_rest_bytes=of_dbm1("qw0225pristg_real", _FRAME),
    )


def _storage(inputs: Inputs) -> Any:
    table = intervals(inputs, _THREADS, _THREAD_FIELDS, witnesses=())
    facts = table.select(*RECORD, **common(table), **columns_of(table, _THREAD_FIELDS))
    if inputs.has(_SPACES):
        spaces = _spaces(inputs)
        spaces = spaces.select(
            *RECORD,
            "dbm1_region_bytes",
            "dbm1_free_bytes",
            "private_real_bytes",
            "private_aux_bytes",
            pool_real_bytes=spaces.high_real_bytes - spaces.high_rest_bytes,
        )
        facts = facts.left_join(spaces, list(RECORD), rname="{name}_space")
        facts = facts.drop(*(f"{name}_space" for name in RECORD))
    if inputs.has(_COMMON):
        columns = tuple(column for _, _, several in _COMMON_FACTS for column in several)
        shared = inputs.table(_COMMON, *columns)
        shared = shared.select(
            *RECORD, **{name: total(*(shared[c] for c in several)) * _FRAME for name, _, several in _COMMON_FACTS}
        )
        facts = facts.left_join(shared, list(RECORD), rname="{name}_common")
        facts = facts.drop(*(f"{name}_common" for name in RECORD))
    return facts.drop(*RECORD)
