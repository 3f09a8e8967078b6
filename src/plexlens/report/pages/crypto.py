"""Crypto cards and services of ICSF: rates, execution times, utilization."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.model import Way

_CARD = ("system", "card", "scope")

PAGE = Page(
    order=520,
    id="crypto",
    title="Cryptography",
    lead="Rates, execution times and utilization of crypto cards, and calls to services of ICSF.",
    what="crypto cards and services of ICSF",
    ways=(
        Way(
            "SMF 70-2",
            "Monitor I option CRYPTO of RMF or the z/OS Data Gatherer, and TYPE(70) in SMFPRMxx.",
        ),
    ),
    figures=(
        FigureSpec(
            "crypto_busiest",
            "Busiest crypto card",
            "crypto_card",
            "utilization",
            by=_CARD,
            pick=Pick.HIGHEST,
        ),
        FigureSpec(
            "crypto_slowest",
            "Longest execution time of a card",
            "crypto_card",
            "execution_time",
            by=_CARD,
            pick=Pick.HIGHEST,
        ),
        FigureSpec("crypto_calls", "Calls to ICSF", "crypto_service", "call_rate"),
    ),
    charts=(
        ChartSpec("crypto_utilization_course", "Utilization of cards", "crypto_card", ("utilization",), by=_CARD),
        ChartSpec("crypto_rate_course", "Operations of cards", "crypto_card", ("operation_rate",), by=_CARD),
        ChartSpec(
            "crypto_calls_course", "Calls to ICSF, by service", "crypto_service", ("call_rate",), by=("service",)
        ),
    ),
    tables=(
        TableSpec(
            "crypto_cards",
            "Crypto cards",
            "crypto_card",
            (
                Shown("card_type"),
                Shown("domain"),
                Shown("utilization", bar=True),
                Shown("operation_rate"),
                Shown("execution_time"),
                Shown("key_generation_rate"),
            ),
            by=_CARD,
            order="utilization",
            course="utilization",
            note="Rows for the machine are the same in the records of all its systems; those of a system are its part.",
        ),
        TableSpec(
            "crypto_functions",
            "Functions of crypto cards",
            "crypto_card",
            (Shown("utilization", bar=True), Shown("operation_rate"), Shown("execution_time")),
            by=(*_CARD, "function"),
            order="utilization",
            where="operations > 0",
            folded=True,
            note="Functions that were not used are left out.",
        ),
        TableSpec(
            "crypto_services",
            "Services of ICSF",
            "crypto_service",
            (
                Shown("call_rate", bar=True),
                Shown("bytes_per_call"),
                Shown("bytes_per_second"),
                Shown("operations_per_call"),
            ),
            by=("system", "service"),
            order="call_rate",
            where="calls > 0",
        ),
    ),
)
