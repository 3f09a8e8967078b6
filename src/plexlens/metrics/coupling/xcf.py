"""Signalling between systems (XCF): transport classes, paths and group members, from SMF 74-2."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.coupling.rmf_xml import classes_of_rmf_xml, members_of_rmf_xml, paths_of_rmf_xml
from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import interval_seconds, ratio, total
from plexlens.metrics.inputs import Inputs, identity
from plexlens.metrics.unit import COUNT, FRACTION, KIB, MILLISECONDS, PER_SECOND, PERCENTAGE, SECONDS

_REPORT = "z/OS RMF Report Analysis, XCF Activity report"

#: R742SDIR and R742PDIR, first bit that is on.
_DIRECTIONS = ((0x80, "inbound"), (0x40, "outbound"), (0x20, "local"))

#: R742PTYP.
_PATH_TYPES = {1: "CTC", 3: "list structure"}

_INTERVAL = Fact("interval_seconds", "Interval", SECONDS, Rollup.SPAN, "SMF 74-2 SMF74INT")


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


def _messages(f: Any) -> Any:
    return total(f.messages_big, f.messages_fit, f.messages_small)


CLASS = Grain(
    name="coupling_xcf_class",
    title="XCF transport classes",
    row="the signals of one transport class between two systems, one direction, in one interval",
    keys=(
        Key("other_system", "Other system"),
        Key("direction", "Direction"),
        Key("transport_class", "Transport class"),
    ),
    facts=(_INTERVAL, *_CLASS_FACTS),
    sources=(
        Source("SMF 74-2", ("smf74_2_system",), _classes_of_smf),
        Source("RMF XML XCF", ("rmf_xml_xcf_system",), classes_of_rmf_xml),
    ),
    metrics=(
        Metric(
            "messages_per_second",
            "Messages",
            PER_SECOND,
            "(R742SBIG + R742SFIT + R742SSML) / interval",
            _REPORT + " (REQ OUT)",
            lambda f: ratio(_messages(f), f.interval_seconds),
        ),
        Metric(
            "big_fraction",
            "Too big for the class",
            FRACTION,
            "R742SBIG / messages",
            _REPORT + " (% BIG)",
            lambda f: ratio(f.messages_big, _messages(f)),
            "Each needs a larger buffer to be built; a class with a longer length fits them.",
        ),
        Metric(
            "fit_fraction",
            "Fit the class",
            FRACTION,
            "R742SFIT / messages",
            _REPORT + " (% FIT)",
            lambda f: ratio(f.messages_fit, _messages(f)),
        ),
        Metric(
            "small_fraction",
            "Smaller than the class",
            FRACTION,
            "R742SSML / messages",
            _REPORT + " (% SML)",
            lambda f: ratio(f.messages_small, _messages(f)),
        ),
        Metric(
            "no_buffer_fraction",
            "Rejected for want of a buffer",
            PERCENTAGE,
            "R742SBSY / messages",
            _REPORT + " (ALL PATHS UNAVAIL, REQ REJECT)",
            lambda f: ratio(f.no_buffer, _messages(f)),
            "Should stay at zero: raise the message buffer limit.",
        ),
    ),
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


PATH = Grain(
    name="coupling_xcf_path",
    title="XCF paths",
    row="one signalling path in one direction in one interval",
    keys=(
        Key("other_system", "Other system"),
        Key("direction", "Direction"),
        Key("path", "Path"),
    ),
    attributes=(Attribute("path_type", "Type"), Attribute("transport_class", "Transport class")),
    facts=(_INTERVAL, *_PATH_FACTS),
    sources=(
        Source("SMF 74-2", ("smf74_2_path",), _paths_of_smf),
        Source("RMF XML XCF", ("rmf_xml_xcf_path",), paths_of_rmf_xml),
    ),
    metrics=(
        Metric(
            "signals_per_second",
            "Signals",
            PER_SECOND,
            "R742PSIG / interval",
            _REPORT + " (REQ OUT, REQ IN)",
            lambda f: ratio(f.signals, f.interval_seconds),
        ),
        Metric(
            "busy_fraction",
            "Path busy when chosen",
            FRACTION,
            "R742PAPP / (R742PSUS + R742PAPP)",
            _REPORT + " (AVAIL, BUSY)",
            lambda f: ratio(f.found_busy, total(f.found_free, f.found_busy)),
            "High values ask for another path to the same system.",
        ),
        Metric(
            "transfer_time",
            "Transfer time",
            MILLISECONDS,
            "R742PIOT",
            _REPORT + " (I/O TRANSFER TIME)",
            lambda f: f.transfer_seconds,
            "A mean of recent signals that XCF keeps, not of the interval; inbound paths only.",
        ),
        Metric(
            "refused_per_second",
            "Refused for the buffer limit",
            PER_SECOND,
            "R742PIBR / interval",
            _REPORT + " (BUFFERS UNAVAIL)",
            lambda f: ratio(f.refused, f.interval_seconds),
        ),
    ),
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


MEMBER = Grain(
    name="coupling_xcf_member",
    title="XCF group members",
    row="the signals of one member of an XCF group in one interval",
    keys=(Key("group", "Group"), Key("member", "Member"), Key("member_system", "System of the member")),
    attributes=(Attribute("job", "Job"),),
    facts=(_INTERVAL, *_MEMBER_FACTS),
    sources=(
        Source("SMF 74-2", ("smf74_2_member",), _members_of_smf),
        Source("RMF XML XCF", ("rmf_xml_xcf_member",), members_of_rmf_xml),
    ),
    metrics=(
        Metric(
            "sent_per_second",
            "Signals sent",
            PER_SECOND,
            "R742MSNT / interval",
            _REPORT + " (XCF USAGE BY MEMBER, REQ OUT)",
            lambda f: ratio(f.signals_sent, f.interval_seconds),
        ),
        Metric(
            "received_per_second",
            "Signals received",
            PER_SECOND,
            "R742MRCV / interval",
            _REPORT + " (XCF USAGE BY MEMBER, REQ IN)",
            lambda f: ratio(f.signals_received, f.interval_seconds),
        ),
    ),
)
