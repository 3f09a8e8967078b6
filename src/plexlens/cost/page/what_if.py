"""Changes on the page of `plexlens cost`."""

from __future__ import annotations

from plexlens.cost.costed import Costed, Outcome
from plexlens.cost.page.columns import number
from plexlens.report.model import Block, Cell, Level, Note, Section, Table, text_column


def what_if_section(cost: Costed) -> Section:
    """Section with the requested changes, or with trial limits for each machine."""
    shown = cost.outcomes or cost.ladder
    currency = cost.prices.currency if cost.prices is not None else ""
    rows = [_row(cost, cost.base), *(_row(cost, outcome) for outcome in shown)]
    columns = (
        text_column("change", "Change", key=True),
        number("average", "Highest average", "average"),
        number("charged", "Counts", "charged"),
        number("saved", "Saved", "saved", bar=True),
        number("amount", f"Price per month {currency}".strip(), "amount"),
        number("amount_saved", f"Saved per month {currency}".strip(), "amount_saved"),
        number("hours_capped", "Capped", "hours_capped"),
        number("delayed", "Work delayed", "delayed"),
        number("longest", "Longest delay", "longest"),
        number("left", "Still waits at the end", "left"),
    )
    kept = [place for place in range(len(columns)) if place == 0 or any(row[place] is not None for row in rows)]
    table = Table(
        "cost_what_if",
        "Changes and what they save",
        tuple(columns[place] for place in kept),
        tuple(tuple(row[place] for place in kept) for row in rows),
        top=40,
    )
    blocks: list[Block] = [table]
    blocks += [Note(text, Level.WARNING) for outcome in shown for text in dict.fromkeys(outcome.notes)]
    measured = sum(machine.charged_peak.msu for machine in cost.machines)
    if abs(cost.base.msu - measured) > 0.05:
        blocks.append(
            Note(
                f"Simulated under the present limits, the use counts {cost.base.msu:.1f} MSU; measured it counts "
                f"{measured:.1f} MSU. Savings are against the simulated figure.",
                Level.WARNING,
            )
        )
    detail = _delays(cost, shown)
    if detail.rows:
        blocks.append(detail)
    blocks += _goals(cost)
    lead = (
        "Savings are of what counts, the sum of the machines' peaks. Work that a limit holds back waits and runs later."
        if cost.outcomes
        else "Nothing was asked, so a limit for all partitions of each machine is tried. --defined, --group, --weight, "
        "--move, --ziip and --saves ask for other changes."
    )
    return Section("what-if", "What changes would save", tuple(blocks), lead)


def _row(cost: Costed, outcome: Outcome) -> tuple[Cell, ...]:
    is_base = outcome is cost.base
    delays = list(outcome.delays.values())
    amount = outcome.amount
    saved = None if amount is None or cost.base.amount is None else cost.base.amount - amount
    return (
        outcome.title,
        sum(outcome.average.values()),
        outcome.msu,
        None if is_base else cost.base.msu - outcome.msu,
        amount,
        None if is_base else saved,
        sum(delay.hours_capped for delay in delays) * 3600 if delays else 0.0,
        sum(delay.delayed for delay in delays) if delays else 0.0,
        max((delay.longest for delay in delays), default=0.0),
        sum(delay.left for delay in delays) if delays else 0.0,
    )


def _delays(cost: Costed, shown: tuple[Outcome, ...]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            outcome.title, machine, partition, delay.hours_capped * 3600, delay.delayed, delay.longest, delay.left,
        )
        for outcome in (cost.base, *shown)
        for (machine, partition), delay in sorted(outcome.delays.items())
    ]  # fmt: skip
    columns = (
        text_column("change", "Change", key=True),
        text_column("machine", "Machine", key=True),
        text_column("partition", "Partition", key=True),
        number("hours_capped", "Capped", "hours_capped"),
        number("delayed", "Work delayed", "delayed"),
        number("longest", "Longest delay", "longest"),
        number("left", "Still waits at the end", "left"),
    )
    return Table("cost_delays", "Who waits", columns, tuple(rows), top=12, folded=True)


def _goals(cost: Costed) -> list[Block]:
    """Goals under the caps, or how to ask for them."""
    if cost.goals is None:
        if any(outcome.pressed for outcome in (cost.base, *(cost.outcomes or cost.ladder))):
            return [
                Note(
                    "--goals judges the goals of service class periods in the capped time, by the model of plexlens "
                    "plan.",
                    Level.INFO,
                )
            ]
        return []
    blocks: list[Block] = [Note(text, Level.INFO) for text in cost.goals.notes]
    if not cost.goals.rows:
        return blocks
    missed = [row for row in cost.goals.rows if row.is_missed]
    columns = (
        text_column("change", "Change", key=True),
        text_column("partition", "Partition", key=True),
        text_column("class", "Service class period", key=True),
        text_column("goal", "Goal"),
        text_column("verdict", "Under the cap"),
        number("index_before", "Without it", "index"),
        number("index", "Under it", "index", bar=True),
        number("response_before", "Response without it", "response"),
        number("response", "Response under it", "response"),
        number("error", "Error of the model", "model_error"),
        number("load", "Load", "load"),
        number("engines", "Engines under it", "engines"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            row.title, row.partition, row.name, row.goal, row.verdict, row.index_before, row.index,
            row.response_before, row.response, row.error, row.load, row.engines,
        )
        for row in sorted(cost.goals.rows, key=lambda row: not row.is_missed)
    ]  # fmt: skip
    blocks.append(
        Table(
            "cost_goals",
            "Goals under the caps",
            columns,
            tuple(rows),
            top=20,
            note=(
                f"{len(missed)} of {len(rows)} miss their goal because of a cap. Mix and importance are as measured; "
                "work that a change moves or saves is still in the mix."
            ),
        )
    )
    return blocks
