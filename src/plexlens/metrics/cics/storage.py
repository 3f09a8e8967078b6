"""Dynamic storage areas of a region."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.cics.records import APPLID, INTERVAL, common, document, statistics
from plexlens.metrics.definition import Grain, Key, Rollup, Source
from plexlens.metrics.fields import Field, columns_of, facts_of, names_of, per_event
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import FRACTION, MIB, SECONDS

_AREAS = document("Storage manager: Dynamic storage areas statistics")

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


STORAGE = Grain(
    name="cics_storage",
    title="CICS storage areas",
    row="one dynamic storage area of one region in one statistics interval",
    keys=(APPLID, Key("area", "Storage area"), Key("location", "Where")),
    facts=(
        INTERVAL,
        *facts_of("SMF 110-2", _COUNTS),
        *facts_of("SMF 110-2", _SIZES),
    ),
    sources=(Source("SMF 110-2", ("smf110_2_storage_area",), _areas),),
    metrics=(
        per_event(
            "short_fraction",
            "Interval short on storage",
            FRACTION,
            ("short_seconds", "SMSTSOS"),
            ("interval_seconds", "interval"),
            source=_AREAS,
        ),
        per_event(
            "lowest_free_fraction",
            "Least free of the largest size",
            FRACTION,
            ("lowest_free", "SMSLWMFSTG"),
            ("peak_size", "SMSHWMDSASZ"),
            source=_AREAS,
            caveat="CICS adds extents while its limits allow: little free is no shortage by itself.",
        ),
    ),
)

__all__ = ["STORAGE"]
