"""What the reader is shown, against formulas as a person writes them."""

from __future__ import annotations

import pytest

from plexlens.expression import parse, words_of

WORDS = {
    "sync": "R744SSRC",
    "async": "R744SARC",
    "squares": "R744SSSQ",
    "seconds": "R744SSTM",
    "interval_seconds": "interval",
    "both": "R744SSRC + R744SARC",
    "frames": "SMF71TFC x 4096",
    "response": "Σ (STOP - START)",
    "cpu": "CPU time",
    "parts": "parts",
    "weights": "weights",
    "items": ("1.5", "2"),
    "others": ("3", "4"),
    "one": ("7",),
}


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("seconds / sync", "R744SSTM / R744SSRC"),
        ("total(sync, async) / interval_seconds", "(R744SSRC + R744SARC) / interval"),
        ("both / interval_seconds", "(R744SSRC + R744SARC) / interval"),
        ("both + sync", "R744SSRC + R744SARC + R744SSRC"),
        ("sync - both", "R744SSRC - (R744SSRC + R744SARC)"),
        ("sync + (async - seconds)", "R744SSRC + R744SARC - R744SSTM"),
        ("sync * (async / seconds)", "R744SSRC x R744SARC / R744SSTM"),
        ("sync / (async * seconds)", "R744SSRC / (R744SARC x R744SSTM)"),
        ("sync / frames", "R744SSRC / (SMF71TFC x 4096)"),
        ("response / sync", "Σ (STOP - START) / R744SSRC"),
        ("deviation(squares, seconds, sync)", "√(R744SSSQ / R744SSRC - (R744SSTM / R744SSRC)²)"),
        ("sqrt(sync)", "√R744SSRC"),
        ("sqrt(cpu)", "√(CPU time)"),
        ("cpu * cpu", "(CPU time)²"),
        ("sync * sync", "R744SSRC²"),
        ("both * 33 us * 86400 / interval_seconds", "(R744SSRC + R744SARC) x 33 µs x 86,400 / interval"),
        ("sync * 16000000 / 70 %", "R744SSRC x 16,000,000 / 70 %"),
        ("sync * 256 bytes", "R744SSRC x 256 bytes"),
        ("coalesce(sync, async)", "R744SSRC, or R744SARC where it is missing"),
        ("coalesce(sync, 0) + async", "R744SSRC + R744SARC"),
        ("coalesce(sync, async) / cpu", "(R744SSRC, or R744SARC where it is missing) / CPU time"),
        ("coalesce(sync, async, cpu)", "the first known of R744SSRC, R744SARC and CPU time"),
        ("if(sync > 0, cpu / sync, async)", "CPU time / R744SSRC if R744SSRC > 0, else R744SARC"),
        ("if(sync > 0, cpu)", "CPU time if R744SSRC > 0"),
        ("if(sync > 0, 1, if(async >= 5, 2, 3))", "1 if R744SSRC > 0, 2 if R744SARC ≥ 5, else 3"),
        ("if(not known(sync), null, cpu)", "CPU time if R744SSRC is known"),
        ("if(sync = 0, null, cpu)", "CPU time unless R744SSRC = 0"),
        ("not known(sync) or cpu != 0", "R744SSRC is missing or CPU time ≠ 0"),
        ("greatest(sync - async, 0)", "max(R744SSRC - R744SARC, 0)"),
        ("contains(sync, 'X') and starts(async, 'Y')", "R744SSRC contains 'X' and R744SARC starts with 'Y'"),
        ("sync in ('A', 'B', 'C')", "R744SSRC is 'A', 'B' or 'C'"),
        ("sync in ('A')", "R744SSRC is 'A'"),
        ("null", "no value"),
        ("-(sync + async)", "-(R744SSRC + R744SARC)"),
        ("ceiling(sync / async)", "R744SSRC / R744SARC, rounded up"),
        ("ceiling(sync) / async", "(R744SSRC, rounded up) / R744SARC"),
        ("sum(parts) / sum(weights) * 100", "sum of parts / sum of weights x 100"),
        ("sum(parts) / count(parts)", "sum of parts / number of parts"),
        ("cpu - sum(parts)", "CPU time - sum of parts"),
        ("sum_of_products(parts, weights) / sum(weights)", "sum of parts x weights / sum of weights"),
        ("sync / sum_of_products(parts, weights)", "R744SSRC / (sum of parts x weights)"),
        ("largest(parts)", "largest of parts"),
        ("product(parts)", "product of parts"),
        ("sum(items) / sum(one) * 100", "(1.5 + 2) / (7) x 100"),
        ("sum(items) / count(items)", "(1.5 + 2) / 2"),
        ("sync - sum(items)", "R744SSRC - (1.5 + 2)"),
        ("sync + sum(items)", "R744SSRC + 1.5 + 2"),
        ("sum_of_products(items, others) / sum(others)", "(1.5 x 3 + 2 x 4) / (3 + 4)"),
        ("sync / product(items)", "R744SSRC / (1.5 x 2)"),
        ("largest(items) - smallest(items)", "max(1.5, 2) - min(1.5, 2)"),
    ],
)
def test_words(formula: str, words: str) -> None:
    assert words_of(parse(formula), WORDS.__getitem__) == words
