"""Assumptions of a plan, and remarks about its data."""

from __future__ import annotations

from plexlens.capacity.plan import Plan
from plexlens.report.model import Block, Level, Note, Section


def assumptions(plan: Plan) -> Section:
    """Assumptions of the model, and notes of this data."""
    asked = plan.asked
    texts = [
        "Transactions arrive at random and independently of each other; service times are exponential.",
        "Engines serve by importance, system work first, and interrupt lower work. How long work takes an engine until "
        "it waits for something is known from records of transactions or from their I/O operations, else taken to be "
        "alike for all. With lengths that differ, waiting at several engines is an approximation (Bondi and Buzen, "
        "1984).",
        "A transaction's processor time is used by one engine at a time.",
        "The logical engines are taken to be there when dispatched: a wait of logical engines for physical ones is not "
        "modelled.",
        "The number of requests of a transaction to volumes, coupling facilities and Db2 does not change with load, "
        "nor does the time for which a volume, a coupling facility engine or the log serves a request. Waits there and "
        "waits for QR TCBs and threads grow as those of M/M/c do, scaled to what was measured.",
        "A QR TCB is held for longer when engines are busier; locks and threads are held for longer when responses "
        "are longer. Waits for locks grow as those for one resource that transactions use one after the other.",
        "Delay of unknown cause grows as waiting at the busiest resource measured.",
        "A transaction that ends in a later period has used processor time in earlier ones; it is counted there.",
        "Work without transactions "
        + ("stays as it is." if asked.fixed_background else "grows as the processor time of transactions does."),
    ]
    blocks: list[Block] = [Note("Assumptions of the model", details=tuple(texts))]
    notes = (*plan.model.notes, *(plan.simulation.notes if plan.simulation else ()))
    if notes:
        blocks.append(Note("Of this data", Level.WARNING, notes))
    return Section("assumptions", "Assumptions", tuple(blocks))
