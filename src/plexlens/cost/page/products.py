"""Products on the page of `plexlens cost`: the peak of each, its hours, and its price."""

from __future__ import annotations

from plexlens.cost.costed import Costed
from plexlens.cost.page.columns import number
from plexlens.report.model import Block, Cell, Column, ColumnKind, Level, Note, Section, Table, text_column
from plexlens.report.model.display import counted


def products_section(cost: Costed) -> Section:
    """The section of products."""
    rules = {product.title: product.rule for product in cost.running}
    ran = {product.title: sum(int(hours.sum()) for hours in product.hours.values()) for product in cost.running}
    rows: list[tuple[Cell, ...]] = []
    for (product, machine), peak in sorted(cost.products.items()):
        parts = ", ".join(f"{name} {msu:.1f}" for name, msu in peak.parts.items())
        at = cost.use.moment(cost.use.hours[peak.hour].start)
        rows.append((product, machine, peak.msu, at, parts, ran[product] * 3600.0, rules[product]))
    columns = (
        text_column("product", "Product", key=True),
        text_column("machine", "Machine", key=True),
        number("msu", "Peak", "product"),
        Column("hour", "Hour", ColumnKind.TIME),
        text_column("parts", "Partitions in it, MSU"),
        number("ran", "Ran, all partitions", "product_hours"),
        text_column("rule", "Hours from"),
    )
    blocks: list[Block] = [Table("cost_products", "Peaks of products", columns, tuple(rows), top=40)]
    blocks += [*_assumed(cost), *_prices(cost)]
    if cost.prices is None or not cost.prices.products:
        if not cost.known_products:
            blocks.append(
                Note(
                    "Only z/OS is listed: the data has no usage data of products (SMF 89, or SMF 30 usage sections). "
                    "Add SMF 89, or give a price file that names products and their partitions.",
                )
            )
        elif not any(product.hours for product in cost.known_products):
            blocks.append(
                Note(
                    "Products are those of SMF 30, which does not say in which hours a product ran: each counts in all "
                    "hours of its partitions. SMF 89 has the hours.",
                )
            )
    lead = "A product counts with the highest hour of the sum over the partitions in which it runs in that hour."
    return Section("products", "Products", tuple(blocks), lead)


def _assumed(cost: Costed) -> list[Block]:
    """Note on hours that count without a record of SMF 89."""
    listed = [
        f"{product.title}: {counted(product.assumed, 'hour')} of single partitions"
        for product in cost.running
        if product.assumed and product.rule == "SMF 89"
    ]
    if not listed:
        return []
    return [
        Note(
            "Some hours of a system have no SMF 89 record. A product that is registered there in other hours is "
            "assumed to run in them, so its peak is an upper bound.",
            Level.WARNING,
            tuple(listed),
        )
    ]


def _prices(cost: Costed) -> list[Block]:
    if cost.prices is None or not cost.prices.products:
        return []
    priced = {product.name: product for product in cost.prices.products}
    amounts: list[tuple[Cell, ...]] = [
        (name, msu, priced[name].amount(msu)) for name, msu in sorted(cost.base.products.items())
    ]
    blocks: list[Block] = [
        Table(
            "cost_prices", f"Price per month, {cost.prices.currency}",
            (text_column("product", "Product", key=True), number("msu", "All machines", "product"),
             number("amount", "Price per month", "amount")),
            tuple(amounts), top=40,
        )
    ]  # fmt: skip
    absent = [name for name in priced if name not in cost.base.products]
    if absent:
        blocks.append(
            Note(
                f"No partition of the data runs {', '.join(absent)}: check the keys partitions and registered of the "
                "price file.",
                Level.WARNING,
            )
        )
    return blocks
