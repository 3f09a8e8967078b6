"""Fixed work of the kind that a command does on a small input, by which the machine's speed of the hour is told.

It imports modules, has DuckDB read and run statements of many columns over few rows, and reads formulas in plain
Python, in about the shares in which a report of a small dump does. Nothing of Plexlens is in it, so it takes the same
time for every commit. The answers have closed forms.

    python benchmarks/yardstick.py
"""

from __future__ import annotations

import importlib
import json
import re
from dataclasses import dataclass

MODULES = (
    "argparse",
    "asyncio",
    "decimal",
    "email.message",
    "http.client",
    "logging.config",
    "unittest.mock",
    "xml.etree.ElementTree",
    "pyarrow",
    "pyarrow.parquet",
    "duckdb",
)

#: Statements; columns of each; rows and groups of the table that they read.
STATEMENTS, COLUMNS, ROWS, GROUPS = 45, 60, 98, 7

FORMULAS = 24_000

_TOKEN = re.compile(r"[a-z]\w*|\d+|[-+*/()]")


@dataclass(frozen=True)
class Token:
    """A word of a formula and its place."""

    text: str
    place: int


def statements() -> float:
    """Run the statements; the sum of everything that they return.

    Each column is a multiple of the first, so that their ratio is known whatever the groups are.
    """
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    columns = ", ".join(f"(range + 1) * {i}.0::double as c{i}" for i in range(1, COLUMNS + 1))
    connection.execute(f"create temp table rows as select range % {GROUPS} as g, {columns} from range({ROWS})")
    total = 0.0
    for k in range(1, STATEMENTS + 1):
        sums = ", ".join(f"sum(c{i}) as s{i}" for i in range(1, COLUMNS + 1))
        ratios = ", ".join(
            f"case when s1 > 0 then s{i} / nullif(s1, 0) * {k} end as r{i}" for i in range(1, COLUMNS + 1)
        )
        table = connection.execute(
            f"with groups as (select g, {sums} from rows group by g) select g, {ratios} from groups order by g"
        ).to_arrow_table()
        total += sum(sum(table[f"r{i}"].to_pylist()) for i in range(1, COLUMNS + 1))
    return total


def formulas() -> tuple[int, int]:
    """Read formulas; the number of their words, and of the different ones."""
    seen: dict[str, list[Token]] = {}
    for k in range(FORMULAS):
        for found in _TOKEN.finditer(f"a{k % 100} + b{k} * (c{k} / 7)"):
            seen.setdefault(found[0], []).append(Token(found[0], found.start()))
    return sum(map(len, seen.values())), len(seen)


def expected() -> dict[str, object]:
    """The answers in closed form."""
    ratios = GROUPS * (COLUMNS * (COLUMNS + 1) // 2)
    # Of a formula nine words; different are a hundred a, every b and c, the number 7 and the signs + * ( / ).
    return {
        "statements": float(ratios * (STATEMENTS * (STATEMENTS + 1) // 2)),
        "formulas": [9 * FORMULAS, 100 + 2 * FORMULAS + 6],
    }


def main() -> None:
    """Do the work and print the answers."""
    for name in MODULES:
        importlib.import_module(name)
    print(json.dumps({"statements": statements(), "formulas": formulas()}))


if __name__ == "__main__":
    main()
