"""Queues of a plan other than engines: their utilisation, and the waits of transactions."""

from __future__ import annotations

from plexlens.capacity.lines import Law, Line
from plexlens.capacity.model import SystemModel
from plexlens.capacity.network import SystemResult
from plexlens.capacity.plan import Plan
from plexlens.metrics.unit import FRACTION, MILLISECONDS
from plexlens.report.model import Block, Cell, Column, ColumnKind, Note, Section, Table

#: Lines that are shown before the rest is folded.
_TOP = 12


def queues(plan: Plan) -> Section:
    """Every line of every system: as measured, and at the requested load."""
    heads = (
        Column("system", "System", ColumnKind.TEXT, key=True),
        Column("line", "Queue", ColumnKind.TEXT, key=True),
        Column("servers", "Servers", ColumnKind.TEXT),
        Column("busy", "Measured", ColumnKind.NUMBER, FRACTION, "plan.line_busy", group="Busy"),
        Column("busy_asked", "Requested load", ColumnKind.NUMBER, FRACTION, "plan.line_busy", group="Busy"),
        Column("wait", "Measured", ColumnKind.NUMBER, MILLISECONDS, "plan.line_wait", group="Wait per request"),
        Column("law", "Grows as", ColumnKind.TEXT),
    )
    rows: list[tuple[Cell, ...]] = []
    for system in plan.model.systems:
        system_result = plan.chosen.results[system.name]
        rows += [_row(system, line, system_result) for line in sorted(system.lines.values(), key=_order)]
    blocks: list[Block] = [Table("plan-queues", "Queues other than engines", heads, tuple(rows), top=_TOP)]
    if not rows:
        blocks = [
            Note(
                "The data has no queues other than engines. Collect SMF 74-1 for volumes, 110-1 and 110-2 for the TCBs "
                "of CICS, 101 for locks and the log, and 74-4 for coupling facilities."
            )
        ]
    return Section(
        "queues", "Queues other than engines", tuple(blocks),
        "Resources that can saturate before the engines. Where the measured queue is shorter than its formula gives, "
        "the formula is scaled to the measurement.",
    )  # fmt: skip


def _order(line: Line) -> tuple[float, str]:
    return -line.busy, line.text


_LAWS = {
    Law.QUEUE: "M/M/c",
    Law.GATE: "group writes: each takes all waiting requests",
    Law.LOCKS: "locks taken one after the other",
    Law.LINEAR: "requests x holding time",
    Law.FIXED: "does not grow",
}


def _row(system: SystemModel, line: Line, system_result: SystemResult) -> tuple[Cell, ...]:
    has_share = line.law not in (Law.LINEAR, Law.FIXED)
    return (
        system.name,
        line.text,
        str(line.servers) if line.law is Law.QUEUE else "",
        line.used(1.0) if has_share else None,
        system_result.used.get(line.text) if has_share else None,
        line.wait(1.0),
        _LAWS[line.law],
    )
