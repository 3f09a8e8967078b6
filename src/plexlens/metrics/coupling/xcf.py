"""Signalling between systems (XCF): transport classes, paths and group members, from SMF 74-2."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Fact, Rollup
from plexlens.metrics.expressions import interval_seconds
from plexlens.metrics.inputs import Inputs, identity
from plexlens.metrics.unit import COUNT, KIB, MILLISECONDS

#: R742SDIR and R742PDIR, first bit that is on.
_DIRECTIONS = ((0x80, "inbound"), (0x40, "outbound"), (0x20, "local"))

#: R742PTYP.
_PATH_TYPES = {1: "CTC", 3: "list structure"}


def _direction(column: Any) -> Any:
    bits = column.cast("int64")
    return ibis.cases(*[((bits & mask) != 0, name) for mask, name in _DIRECTIONS], else_=ibis.null("string"))


def _copies(table: Any, facts: tuple[Fact, ...]) -> dict[str, Any]:
    """Facts that are one field each, by the field their source names last."""
    return {fact.name: table[fact.source.rsplit(maxsplit=1)[-1].lower()] for fact in facts}


def _fields(facts: tuple[Fact, ...]) -> list[str]:
    return [fact.source.rsplit(maxsplit=1)[-1].lower() for fact in facts]


_CLASS_FACTS = (
    Fact("paths", "Paths in service", COUNT, Rollup.LEVEL, "SMF 74-2 R742SPTH"),
    Fact("no_buffer", "Times no message buffer was available", COUNT, Rollup.COUNT, "SMF 74-2 R742SBSY"),
    Fact("no_path", "Times no path was available", COUNT, Rollup.COUNT, "SMF 74-2 R742SNOP"),
    Fact("buffer_limit", "Message buffer limit", KIB, Rollup.AMOUNT, "SMF 74-2 R742SMXB"),
    Fact("messages_big", "Messages too big for the class", COUNT, Rollup.COUNT, "SMF 74-2 R742SBIG"),
    Fact("messages_fit", "Messages that fit the class length", COUNT, Rollup.COUNT, "SMF 74-2 R742SFIT"),
    Fact("messages_small", "Messages smaller than the class length", COUNT, Rollup.COUNT, "SMF 74-2 R742SSML"),
    Fact("messages_optimized", "Big messages that XCF adjusted to", COUNT, Rollup.COUNT, "SMF 74-2 R742SOVR"),
    Fact("class_length", "Message length of the class", COUNT, Rollup.SETTING, "SMF 74-2 R742STCL"),
)


def _classes_of_smf(inputs: Inputs) -> Any:
    table = inputs.table("smf74_2_system", *_fields(_CLASS_FACTS), "r742sdir", text=("r742snme", "r742stcn"))
    return table.select(
        **identity(table),
        other_system=table.r742snme,
        direction=_direction(table.r742sdir),
        transport_class=table.r742stcn,
        interval_seconds=interval_seconds(table),
        **_copies(table, _CLASS_FACTS),
    )


_PATH_FACTS = (
    Fact("signals", "Signals", COUNT, Rollup.COUNT, "SMF 74-2 R742PSIG"),
    Fact("found_free", "Path was free when chosen", COUNT, Rollup.COUNT, "SMF 74-2 R742PSUS"),
    Fact("found_busy", "Path was busy when chosen", COUNT, Rollup.COUNT, "SMF 74-2 R742PAPP"),
    Fact("refused", "Inbound signals refused for the buffer limit", COUNT, Rollup.COUNT, "SMF 74-2 R742PIBR"),
    Fact("restarts", "Restarts", COUNT, Rollup.COUNT, "SMF 74-2 R742PRST"),
    Fact("buffer_limit", "Message buffer limit", KIB, Rollup.AMOUNT, "SMF 74-2 R742PMXM"),
    Fact("buffer_used", "Message buffer in use", KIB, Rollup.LEVEL, "SMF 74-2 R742PUSE"),
    Fact("transfer_seconds", "Recent mean transfer time", MILLISECONDS, Rollup.MEAN, "SMF 74-2 R742PIOT"),
)


def _paths_of_smf(inputs: Inputs) -> Any:
    table = inputs.table(
        "smf74_2_path",
        *_fields(_PATH_FACTS),
        "r742pdir",
        "r742ptyp",
        text=("r742pona", "r742pdev", "r742ptcn", "r742pstr"),
    )
    return table.select(
        **identity(table),
        other_system=table.r742pona,
        direction=_direction(table.r742pdir),
        # A path is a pair of devices or a list structure.
        path=ibis.coalesce(table.r742pstr.nullif(""), table.r742pdev),
        transport_class=table.r742ptcn,
        path_type=ibis.cases(
            *[(table.r742ptyp == code, name) for code, name in _PATH_TYPES.items()], else_=ibis.null("string")
        ),
        interval_seconds=interval_seconds(table),
        **_copies(table, _PATH_FACTS),
    )


_MEMBER_FACTS = (
    Fact("signals_sent", "Signals sent", COUNT, Rollup.COUNT, "SMF 74-2 R742MSNT"),
    Fact("signals_received", "Signals received", COUNT, Rollup.COUNT, "SMF 74-2 R742MRCV"),
)


def _members_of_smf(inputs: Inputs) -> Any:
    table = inputs.table(
        "smf74_2_member", *_fields(_MEMBER_FACTS), text=("r742msys", "r742mgrp", "r742mmem", "r742mjob")
    )
    return table.select(
        **identity(table),
        member_system=table.r742msys,
        group=table.r742mgrp,
        member=table.r742mmem,
        job=table.r742mjob,
        interval_seconds=interval_seconds(table),
        **_copies(table, _MEMBER_FACTS),
    )
