"""Numbers of the example's page, each worked by hand from the figures that the studies print.

The example puts runs of different load and length one after the other, so nearly every number below is a roll-up:
a mean weighted by time, a rate over all runs, a ratio of sums, or a setting in force.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from plexlens.cli.every import app
from tests.example_file import write_example

# --- processors (1996, tables 5 and 6; 2008, table of values) ------------------------------------------------------

#: Case 1-1 lasts 490 s, case 1-2 490.312 s.
CASE_1, CASE_2 = 490.0, 490.312
BOTH = CASE_1 + CASE_2
CP_BUSY = (0.8906 * CASE_1 + 0.7225 * CASE_2) / BOTH
ZIIP_BUSY = (0.6977 * CASE_1 + 0.6883 * CASE_2) / BOTH

# --- workload (2008, table of values and workload activity report) -------------------------------------------------

#: 1692 transactions a second in case 1-1; 869,793 in all in case 1-2.
TRANSACTIONS = 1692 * CASE_1 + 869_793
#: 1.488 ms a transaction in case 1-1; SERVICE TIMES CPU of case 1-2.
CPU_1, CPU_2 = 1692 * CASE_1 * 1.488e-3, 1153.804
CPU = CPU_1 + CPU_2
#: 49.78 % of the CPU time in case 1-1; SERVICE TIMES IIP of case 1-2.
ON_ZIIP = 0.4978 * CPU_1 + 651.003
#: Eligible less redirected in case 1-1; APPL% IIPCP of case 1-2.
ON_CP = (0.5429 - 0.4978) * CPU_1 + 0.1432 * CASE_2

# --- buffer pools of DE34 (2014): 44:16 before, 49:41 after ---------------------------------------------------------

POOLS = (44 * 60 + 16) + (49 * 60 + 41)

# --- ways into CICS (2012, tables 1 and 16): 300 s per run, the last of each table 302.897 s ------------------------

TERMINALS = (1245.14 + 2475.81 + 4925.46) * 300 + 10160.81 * 302.897
GATEWAY = (329.65 + 658.32 + 962.08 + 1822.53) * 300 + 3564.75 * 302.897
WAYS = 7 * 300 + 2 * 302.897

XML1 = {"system": "XML1"}
SYS1 = {"system": "SYS1", "processor_type": "CP"}
DDF = {"class_name": "DB2DDF"}

#: Table, row, column, value in the base unit, relative tolerance: what the printed digits leave open.
BY_HAND: list[tuple[str, dict[str, str], str, float, float]] = [
    ("cpu_systems", SYS1, "lpar_busy", (20.35 + 17.05) / 2 / 100, 1e-4),
    # Half of the machine's ten engines belong to each of two partitions.
    ("cpu_systems", SYS1, "processors_used", 5 * 0.1870, 1e-4),
    ("cpu_partitions", {"partition": "SYS2"}, "physical_busy", 5 * 0.1870 / 10, 1e-4),
    ("cpu_partitions", {"partition": "SYS1"}, "weight_share", 1 / 2, 1e-9),
    ("cpu_systems", XML1 | {"processor_type": "CP"}, "lpar_busy", CP_BUSY, 1e-5),
    ("cpu_systems", XML1 | {"processor_type": "IIP"}, "lpar_busy", ZIIP_BUSY, 1e-5),
    ("cpu_systems", XML1 | {"processor_type": "CP"}, "processors_used", 2 * CP_BUSY, 1e-5),
    # General processors: captured is what did not run on zIIPs.
    ("cpu_systems", XML1 | {"processor_type": "CP"}, "capture_ratio", (CPU - ON_ZIIP) / (2 * CP_BUSY * BOTH), 1e-4),
    ("workload_cpu", DDF, "transactions_per_second", TRANSACTIONS / BOTH, 1e-5),
    ("workload_cpu", DDF, "cpu_seconds", CPU, 1e-5),
    ("workload_cpu", DDF, "cpu_per_transaction", CPU / TRANSACTIONS, 1e-5),
    ("workload_cpu", DDF, "ziip_processors", ON_ZIIP / BOTH, 1e-4),
    ("workload_cpu", DDF, "ziip_on_cp_processors", ON_CP / BOTH, 1e-3),
    ("workload_cpu", DDF, "ziip_overflow_fraction", ON_CP / (ON_CP + ON_ZIIP), 1e-3),
    ("workload_cpu", DDF, "ziip_eligible_fraction", (ON_CP + ON_ZIIP) / CPU, 1e-3),
    # Every transaction counts once: 19.669 ms in case 1-1, 18 ms in case 1-2.
    (
        "workload_goals",
        DDF,
        "response_time",
        (1692 * CASE_1 * 19.669e-3 + 869_793 * 18e-3) / TRANSACTIONS,
        1e-5,
    ),
    # Three pools were enlarged from 20,000 to 40,000 buffers between the two intervals: 40,000 are in force.
    ("db2_pools", {"subsystem": "DE34", "pool": "BP2"}, "buffers", 40_000, 0),
    ("db2_pools", {"subsystem": "DE34", "pool": "BP9"}, "buffers", 40_000, 0),
    ("db2_pools", {"subsystem": "DE34", "pool": "BP11"}, "buffers", 40_000, 0),
    (
        "db2_pools",
        {"subsystem": "DE34", "pool": "BP2"},
        "getpages_per_second",
        (41_060_193 + 43_249_062) / POOLS,
        1e-6,
    ),
    # I/Os less writes; 2,666,043 I/Os before, as the rates and the total say, not 2,668,043.
    (
        "db2_pools",
        {"subsystem": "DE34", "pool": "BP9"},
        "read_ios_per_second",
        (2_666_043 - 102_622 + 2_521_997 - 99_740) / POOLS,
        1e-6,
    ),
    (
        "db2_pools",
        {"subsystem": "DE34", "pool": "BP11"},
        "write_ios_per_second",
        (118_045 + 178_916) / POOLS,
        1e-6,
    ),
    # Hit ratios weighted by getpages; printed to a tenth of a per cent.
    (
        "db2_pools",
        {"subsystem": "DE34", "pool": "BP2"},
        "system_hit_fraction",
        (0.877 * 41_060_193 + 0.875 * 43_249_062) / (41_060_193 + 43_249_062),
        6e-4,
    ),
    ("db2_pool_writes", {"subsystem": "DE34", "pool": "BP1"}, "buffer_updates", 2_858_986 + 2_996_627, 0),
    # Half an hour of DB2P: 2,514,277 I/Os less 83,430 writes.
    (
        "db2_pools",
        {"subsystem": "DB2P", "pool": "BP7"},
        "read_ios_per_second",
        (2_514_277 - 83_430) / 1800,
        1e-5,
    ),
    # WAY1 was measured through nine runs. NET ended transactions in those of table 1 alone, the gateway in those of
    # table 16 alone: the rates of parts add up to the rate of CICS, which is in all of them.
    ("cics_cost_classes", {"class_name": "NET"}, "transactions_per_second", TERMINALS / WAYS, 1e-5),
    ("cics_cost_classes", {"class_name": "CTG"}, "transactions_per_second", GATEWAY / WAYS, 1e-5),
    (
        "cics_cost_classes",
        {"class_name": "CICS"},
        "transactions_per_second",
        (TERMINALS + GATEWAY) / WAYS,
        1e-5,
    ),
    # Service times weighted by requests: 51.34 and 171.3 a second in A3 and A1; 43.83 and 151.4 for SYS2.
    (
        "coupling_structure_systems",
        {"structure": "DSNDB2D_GBP1", "system": "SYS1"},
        "sync_service_time",
        (51.34 * 220.6e-6 + 171.3 * 228.3e-6) / (51.34 + 171.3),
        1e-4,
    ),
    (
        "coupling_structure_systems",
        {"structure": "DSNDB2D_GBP1", "system": "SYS2"},
        "sync_service_time",
        (43.83 * 217.3e-6 + 151.4 * 227.7e-6) / (43.83 + 151.4),
        1e-4,
    ),
]

#: Key figures of the summary. Only XML1 has SMF 72-3 in the intervals of its processors: the ratio is XML1's.
FIGURES: list[tuple[str, float, float]] = [
    ("capture", (CPU - ON_ZIIP) / (2 * CP_BUSY * BOTH), 1e-4),
    ("ziip_busy", ZIIP_BUSY, 1e-5),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    dump = tmp_path_factory.mktemp("by-hand") / "example.smf"
    write_example(dump)
    return report_of(dump)


def report_of(*sources: Path) -> dict[str, Any]:
    """The JSON of `plexlens report`."""
    answer = CliRunner().invoke(app, ["report", *map(str, sources), "--json"], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    made: dict[str, Any] = json.loads(answer.stdout)
    return made


def value_of(page: dict[str, Any], table: str, row: dict[str, str], column: str) -> Any:
    """The one cell of that table, row and column."""
    rows = [
        line
        for section in page["sections"]
        for block in section["tables"]
        if block["name"] == table
        for line in block["rows"]
        if all(line[key] == name for key, name in row.items())
    ]
    assert len(rows) == 1, f"{table} has {len(rows)} rows of {row}"
    return rows[0][column]


@pytest.mark.parametrize(
    "case",
    BY_HAND,
    ids=[f"{table}-{'-'.join(row.values())}-{column}" for table, row, column, _, _ in BY_HAND],
)
def test_number(page: dict[str, Any], case: tuple[str, dict[str, str], str, float, float]) -> None:
    table, row, column, value, tolerance = case
    assert value_of(page, table, row, column) == pytest.approx(value, rel=tolerance, abs=0)


@pytest.mark.parametrize(("name", "value", "tolerance"), FIGURES, ids=[name for name, _, _ in FIGURES])
def test_key_figure(page: dict[str, Any], name: str, value: float, tolerance: float) -> None:
    figures = {figure["name"]: figure["value"] for section in page["sections"] for figure in section["figures"]}
    assert figures[name] == pytest.approx(value, rel=tolerance, abs=0)
