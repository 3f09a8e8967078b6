"""Assumptions of a plan, and remarks about its data."""

from __future__ import annotations

from plexlens.capacity.plan import Plan
from plexlens.report.model import Block, Level, Note, Section


def assumptions(plan: Plan) -> Section:
    """Assumptions of the model, and notes of this data."""
    change = plan.asked
    texts = [
        "Transactions arrive at random and independently of each other; service times are exponential.",
        "Engines serve by importance, system work first, and interrupt lower work. The length of a stretch of CPU "
        "work between two waits comes from transaction records or their I/O counts; otherwise all classes are assumed "
        "alike. Where lengths differ, waiting at several engines is an approximation (Bondi and Buzen, 1984).",
        "A transaction uses one engine at a time.",
        "Logical engines are assumed to be available when dispatched: the model does not include logical engines "
        "waiting for physical ones.",
        "The number of requests of a transaction to volumes, coupling facilities and Db2 does not change with load, "
        "nor does the time for which a volume, a coupling facility engine or the log serves a request. Waits there "
        "and waits for QR TCBs and threads follow M/M/c, scaled to the measured waits.",
        "A QR TCB is held longer when engines are busier; locks and threads are held longer when responses are "
        "longer. Waits for locks grow like those for a single serially used resource.",
        "Delay of unknown cause grows like waiting at the busiest measured resource.",
        "A transaction that ends in a later period used processor time in earlier periods too; that time is counted "
        "there.",
        "Work without transactions "
        + ("stays as it is." if change.fixed_background else "grows with the processor time of transactions."),
    ]
    blocks: list[Block] = [Note("Assumptions of the model", details=tuple(texts))]
    notes = (*plan.model.notes, *(plan.simulation.notes if plan.simulation else ()))
    if notes:
        blocks.append(Note("Limits of this data", Level.WARNING, notes))
    return Section("assumptions", "Assumptions", tuple(blocks))
