"""Work of specialty engines: what overflows, and whether RMF and Db2 tell the same."""

from __future__ import annotations

from plexlens.compare.formulas.formula import Formula
from plexlens.compare.quantity import exact

_XML = "Db2 9 XML and zIIP, 2008, workload activity and accounting reports"

_100 = exact(100)

FORMULAS = (
    Formula(
        "overflow_percent",
        "Eligible work that overflowed to general-purpose processors",
        "%",
        "eligible_on_cp / (specialty + eligible_on_cp) x 100",
        _XML,
        ("specialty", "eligible_on_cp"),
        (),
        lambda specialty, eligible_on_cp: eligible_on_cp / (specialty + eligible_on_cp) * _100,
        "{eligible_on_cp} / ({specialty} + {eligible_on_cp}) x 100",
    ),
    Formula(
        "eligible_seconds_percent",
        "Eligible work by Db2 accounting",
        "%",
        "(specialty + eligible_on_cp) / (specialty + cp) x 100, each in seconds per transaction",
        _XML,
        ("specialty", "eligible_on_cp", "cp"),
        (),
        lambda specialty, eligible_on_cp, cp: (specialty + eligible_on_cp) / (specialty + cp) * _100,
        "({specialty} + {eligible_on_cp}) / ({specialty} + {cp}) x 100",
    ),
    Formula(
        "redirected_seconds_percent",
        "Work redirected by Db2 accounting",
        "%",
        "specialty / (specialty + cp) x 100, each in seconds per transaction",
        _XML,
        ("specialty", "cp"),
        (),
        lambda specialty, cp: specialty / (specialty + cp) * _100,
        "{specialty} / ({specialty} + {cp}) x 100",
    ),
    Formula(
        "points",
        "Difference of two percentages",
        "percentage points",
        "of - less",
        _XML,
        ("of", "less"),
        (),
        lambda of, less: of - less,
        "{of} - {less}",
    ),
    Formula(
        "per_transaction_of_percent",
        "CPU time per transaction from percent of one processor",
        "ms",
        "percent x 10 / transactions_per_second",
        _XML,
        ("percent", "transactions_per_second"),
        (),
        lambda percent, transactions_per_second: percent * exact(10) / transactions_per_second,
        "{percent} x 10 / {transactions_per_second}",
    ),
)
