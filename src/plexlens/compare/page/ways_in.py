"""Ways into CICS as a report: ranked, with the limit that binds first, and excluded ways with reasons."""

from __future__ import annotations

from typing import Any

from plexlens import __version__
from plexlens.compare.analysis.ways_in import Advice, Way
from plexlens.metrics.page_numbers import page_numbers
from plexlens.metrics.unit import Unit
from plexlens.report.model import Block, Cell, Column, ColumnKind, Level, Note, Report, Section, Table
from plexlens.report.model import text_column as _text
from plexlens.report.model.page_definitions import definitions_of

_MS = Unit("ms", "ms", 1.0, 3)
_WHOLE_MS = Unit("ms", "ms", 1.0, 0)
_RATE = Unit("/s", "1/s", 1.0, 0)
_ENGINES = Unit("", "processors", 1.0, 2)


DEFINITIONS = definitions_of(page_numbers("ways"))


def _number(name: str, title: str, unit: Unit, definition: str, *, bar: bool = False, group: str = "") -> Column:
    return Column(name, title, ColumnKind.NUMBER, unit, f"ways.{definition}", group=group, bar=bar)


def ways_report(advice: Advice) -> Report:
    """The report of a ranking."""
    wish = advice.wish
    alerts = [Note("Notes for all ways", details=advice.caveats)]
    doubtful = [way for way in advice.ways if way.beyond]
    if doubtful:
        alerts.insert(
            0,
            Note(
                f"{len(doubtful)} of {len(advice.ways)} ways below were NOT measured at this payload or rate; their "
                "numbers are extrapolated and come after the measured ways.",
                Level.WARNING,
                tuple(f"{way.title}: {'; '.join(way.beyond)}" for way in doubtful),
            ),
        )
    best = advice.ways[0]
    sections = [
        Section("ways-ranked", "Ranked", (_ranked(advice),), _lead(advice, best)),
        Section(
            "ways-limits", "What binds", (_limits(advice),),
            "Rates at which a resource reaches its limit; the lowest rate of each way is reached first.",
        ),
        Section("ways-parts", "Cost by address space", (_parts(advice),)),
        Section("ways-caveats", "Notes for each way", tuple(_caveats(way) for way in advice.ways)),
    ]  # fmt: skip
    if advice.left_out:
        rows = tuple((way.title, way.reason) for way in advice.left_out)
        heads = (_text("way", "Way in", key=True), _text("reason", "Why it is not ranked"))
        sections.append(Section("ways-left-out", "Left out", (Table("left_out", "Left out", heads, rows, top=30),)))
    return Report(
        title="Ways into CICS",
        alerts=tuple(alerts), sections=tuple(sections), definitions=dict(DEFINITIONS),
        generator=f"Plexlens {__version__}", kind="Advice",
        subject=f"{wish.payload:,} bytes in and out, {wish.rate:,g} transactions per second, "
        f"{'any' if wish.connection == 'any' else wish.connection} connections, "
        f"{'any' if wish.security == 'any' else 'no' if wish.security == 'none' else wish.security.upper()} security, "
        f"{advice.engines:g} general-purpose processors. {advice.source}",
    )  # fmt: skip


def _lead(advice: Advice, best: Way) -> str:
    what = "processor time" if advice.wish.rank == "cpu" else "time on general-purpose processors"
    measured = (
        "of the ways measured at this payload and rate"
        if not best.beyond
        else "of all ways; none was measured at this payload and rate"
    )
    binding = best.binding
    need = best.needed(advice.wish.rate)
    return (
        f"{best.title} takes the least {what} {measured}: {best.total_ms:.3f} ms per transaction, "
        f"{best.general_engines:.2f} general-purpose processors busy"
        + (f" and {best.specialty_engines:.2f} specialty engines" if best.specialty_engines else "")
        + f". The first limit is {binding.name}, at {binding.rate:,.0f} transactions per second"
        + (f": {need} times as many {binding.relief} are needed." if need > 1 else ".")
    )


def _ranked(advice: Advice) -> Table:
    columns = (
        _text("rank", "Rank"), _text("way", "Way in", key=True),
        _number("total", "All", _MS, "cpu", bar=True, group="CPU per transaction"),
        _number("general", "General-purpose", _MS, "cpu", group="CPU per transaction"),
        _number("specialty", "Specialty", _MS, "cpu", group="CPU per transaction"),
        _number("general_engines", "General-purpose", _ENGINES, "engines", group="Processors busy"),
        _number("specialty_engines", "Specialty", _ENGINES, "engines", group="Processors busy"),
        _number("response", "Response", _WHOLE_MS, "response"),
        _text("binds", "Binds first"), _number("limit", "at", _RATE, "limit"), _text("needed", "Needed"),
        _text("measured", "Measured"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for number, way in enumerate(advice.ways, 1):
        need = way.needed(advice.wish.rate)
        rows.append(
            (
                str(number), way.title, way.total_ms, way.general_ms, way.specialty_ms, way.general_engines,
                way.specialty_engines, way.response_ms, way.binding.name, way.binding.rate,
                f"{need} x {way.binding.relief}" if need > 1 else "one is enough",
                "EXTRAPOLATED" if way.beyond else f"{way.measured[0]:,.0f} to {way.measured[1]:,.0f}/s, "
                f"{way.payload:,} bytes",
            )
        )  # fmt: skip
    return Table("ways", "Ways in", columns, tuple(rows), top=len(rows))


def _limits(advice: Advice) -> Table:
    columns = (
        _text("way", "Way in", key=True), _text("limit", "Limit", key=True),
        _number("rate", "Binds at", _RATE, "limit"), _text("holds", "At the requested rate"),
        _text("basis", "Basis"), _text("text", "How"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            way.title, limit.name, limit.rate,
            f"{advice.wish.rate / limit.rate:.0%} used" if limit.rate >= advice.wish.rate else
            f"exceeded: {_next_whole(advice.wish.rate / limit.rate)} x {limit.relief} needed",
            limit.basis, limit.text,
        )
        for way in advice.ways
        for limit in way.limits
    ]  # fmt: skip
    return Table("limits", "Limits", columns, tuple(rows), top=len(rows))


def _next_whole(number: float) -> int:
    """The next integer, ignoring rounding errors."""
    return -int(-(number - 1e-9) // 1)


def _parts(advice: Advice) -> Table:
    columns = (
        _text("way", "Way in", key=True), _text("space", "Address space", key=True),
        _number("ms", "CPU per transaction", _MS, "cpu", bar=True),
    )  # fmt: skip
    rows = tuple(
        (way.title, column.removesuffix("%").strip(), ms) for way in advice.ways for column, ms in way.parts
    )  # fmt: skip
    return Table("parts", "CPU per transaction by address space", columns, rows, top=12)


def _caveats(way: Way) -> Block:
    return Note(way.title, details=way.caveats)


def to_object(advice: Advice) -> dict[str, Any]:
    """A ranking as plain values for JSON; times in milliseconds, rates in transactions per second."""
    wish = advice.wish
    return {
        "payload_bytes": wish.payload,
        "rate": wish.rate,
        "connection": wish.connection,
        "security": wish.security,
        "engines": advice.engines,
        "extrapolate": wish.extrapolate,
        "source": advice.source,
        "caveats": list(advice.caveats),
        "ways": [
            {
                "id": way.id,
                "title": way.title,
                "table": way.table,
                "connection": way.connection,
                "security": way.security,
                "cpu_ms": way.total_ms,
                "general_ms": way.general_ms,
                "specialty_ms": way.specialty_ms,
                "parts_ms": dict(way.parts),
                "general_engines": way.general_engines,
                "specialty_engines": way.specialty_engines,
                "response_ms": way.response_ms,
                "measured_rates": list(way.measured),
                "measured_payload_bytes": way.payload,
                "extrapolated": list(way.beyond),
                "binds_first": way.binding.name,
                "needed": way.needed(wish.rate),
                "limits": [
                    {"name": limit.name, "rate": limit.rate, "basis": limit.basis, "text": limit.text,
                     "relief": limit.relief}
                    for limit in way.limits
                ],
                "caveats": list(way.caveats),
            }
            for way in advice.ways
        ],
        "left_out": [{"id": way.id, "title": way.title, "reason": way.reason} for way in advice.left_out],
    }  # fmt: skip
