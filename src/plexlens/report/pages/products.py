"""Products that report their use."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.model import Way

_PRODUCT = ("owner", "product", "version", "qualifier")

PAGE = Page(
    order=890,
    id="products",
    title="Products",
    lead="Processor time of products that report their use by IFAUSAGE.",
    what="the use of products",
    ways=(Way("SMF 89", "TYPE(89) in SMFPRMxx; z/OS writes it at each SMF interval, at least every hour."),),
    figures=(
        FigureSpec(
            "product_most",
            "Most processors used by a product",
            "product_usage",
            "processors_used",
            by=_PRODUCT,
            pick=Pick.HIGHEST,
        ),
    ),
    charts=(
        ChartSpec(
            "product_course",
            "Processors used, by product",
            "product_usage",
            ("processors_used",),
            by=("owner", "product"),
        ),
    ),
    tables=(
        TableSpec(
            "product_table",
            "Products",
            "product_usage",
            (
                Shown("product_id"),
                Shown("cpu_seconds", bar=True),
                Shown("processors_used"),
                Shown("doubtful_fraction"),
            ),
            by=("system", *_PRODUCT),
            order="cpu_seconds",
            note="A product that is registered without measuring has no time. Hours with several records of a product "
            "have none either, since documents do not say whether they add up: set INTERVAL of SMFPRMxx to 1 hour.",
        ),
    ),
)
