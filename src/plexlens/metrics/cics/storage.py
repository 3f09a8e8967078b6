"""Dynamic storage areas of a region."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.cics.records import common, statistics
from plexlens.metrics.definition import Rollup
from plexlens.metrics.fields import Field, columns_of, names_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import MIB, SECONDS

_COUNTS = (
    Field("getmains", "GETMAIN requests", "SMSGMREQ"),
    Field("freemains", "FREEMAIN requests", "SMSFMREQ"),
    Field("refused_requests", "Requests that got no storage", "SMSCRISS"),
    Field("suspended_requests", "Requests suspended for storage", "SMSUCSS"),
    Field("peak_suspended", "Most requests suspended", "SMSHWMSS", rollup=Rollup.PEAK),
    Field("purged_tasks", "Tasks purged while they waited", "SMSPWWS"),
    Field("cushion_releases", "Times the cushion was released", "SMSCREL"),
    Field("times_short", "Times short on storage", "SMSSOS"),
    Field("short_seconds", "Time short on storage", "SMSTSOS", SECONDS),
    Field("violations", "Storage violations", "SMSSV"),
)

#: In bytes, above the bar in MiB.
_SIZES = (
    Field("size", "Size at the end", "SMSDSASZ", MIB, Rollup.LEVEL),
    Field("peak_size", "Largest size", "SMSHWMDSASZ", MIB, Rollup.PEAK),
    Field("cushion", "Cushion", "SMSCSIZE", MIB, Rollup.AMOUNT),
    Field("free", "Free at the end", "SMSFSTG", MIB, Rollup.LEVEL),
    Field("lowest_free", "Least free", "SMSLWMFSTG", MIB, Rollup.FLOOR),
    Field("largest_free_area", "Largest free area at the end", "SMSLFA", MIB, Rollup.FLOOR),
)

_LOCATIONS = {1: "below 16 MiB", 2: "above 16 MiB", 3: "above the bar"}


def _areas(inputs: Inputs) -> Any:
    table = statistics(
        inputs,
        "smf110_2_storage_area",
        *names_of(_COUNTS),
        *names_of(_SIZES),
        "smslocn",
        text=("smsdsaname",),
    )
    location = table.smslocn.cast("int64")
    scale = ibis.ifelse(location == 3, 1024.0 * 1024.0, 1.0)
    return table.select(
        **common(table),
        area=table.smsdsaname,
        location=ibis.cases(*((location == n, name) for n, name in _LOCATIONS.items()), else_=ibis.null("string")),
        **columns_of(table, _COUNTS),
        **{name: column * scale for name, column in columns_of(table, _SIZES).items()},
    )
