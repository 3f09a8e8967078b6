"""The page of the case study, docs/sysplex-1996.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

from plexlens.example.printed import Study, number
from plexlens.simulate.estimates import estimates
from plexlens.simulate.scenario import Scenario
from tools.beside_print import Numbers, errors_of, lines_table
from tools.case_1996 import comparisons, structures
from tools.case_1996 import text as texts
from tools.case_1996.comparisons import LESS_MANAGEMENT, compared
from tools.case_1996.measured import runs
from tools.case_1996.provenance import sources_table
from tools.case_1996.terms import terms_table
from tools.case_1996.transactions import response_lines, transaction_lines
from tools.case_1996.variants import rates, run_b1, with_rates, without_db2, without_sysplex

#: Seeds of the runs.
SEEDS = (1, 2, 3, 4, 5)


def page(scenario: Scenario, study: Study, seeds: Sequence[int] = SEEDS) -> str:
    """The whole comparison as a page of Markdown."""
    parts = [texts.HEAD.format(seeds=len(seeds)), sources_table(scenario), texts.CALIBRATED]
    for run in ("A3", "A1"):
        parts += _run(scenario, study, run, seeds)
    sharing = run_b1(scenario, study)
    pairs = zip(runs(sharing, seeds), runs(without_sysplex(sharing), seeds), strict=True)
    b1_b2 = [compared(first, other, LESS_MANAGEMENT) for first, other in pairs]
    bare = without_db2(scenario)
    pairs = zip(runs(bare, seeds), runs(without_sysplex(bare), seeds), strict=True)
    b3_b4 = [compared(first, other, 1.0) for first, other in pairs]
    parts += _comparisons(study, b1_b2, b3_b4)
    efficiency = comparisons.printed(study.row("table_06", measure="Coupling Efficiency (%)"))
    parts += [texts.TERMS, terms_table(scenario, study, seeds, efficiency), texts.GAP]
    return "\n".join(parts)


def _run(scenario: Scenario, study: Study, run: str, seeds: Sequence[int]) -> list[str]:
    """A run of the full mix: structures, pools, transactions."""
    measured = runs(with_rates(scenario, rates(study, run)), seeds)
    found = estimates(measured)
    of_structures = [
        *structures.structure_lines(study, run, found),
        structures.mean_service(study, run, measured),
    ]
    summary = "; ".join(
        f"{name}: {errors_of(of_structures, unit)}"
        for name, unit in (
            ("requests per second", "requests/s"),
            ("service times", "service, µs"),
            ("deviations", "deviation, µs"),
        )
    )
    pools = lines_table(list(structures.pool_lines(study, run, found)))
    castout = list(structures.castout_lines(study, run, found))
    if run == "A1":
        return [
            texts.PREDICTED,
            lines_table([*of_structures, *castout]),
            f"Errors of {summary}.\n",
            texts.PREDICTED_MISSES,
            "Local pools of A1:\n",
            pools,
            "Processor busy and responses of A1:\n",
            lines_table(list(response_lines(found))),
        ]
    kinds = [*structures.kind_lines(study, found), *castout]
    return [
        lines_table(of_structures),
        f"Errors of {summary}.\n",
        texts.LOCKS,
        lines_table(list(structures.lock_lines(study, measured))),
        texts.LOCK_MISSES,
        texts.KINDS,
        lines_table(kinds),
        texts.POOLS,
        pools,
        texts.TRANSACTIONS,
        lines_table(list(transaction_lines(study, found))),
        texts.TRANSACTION_MISSES,
    ]


def _comparisons(study: Study, b1_b2: Sequence[Numbers], b3_b4: Sequence[Numbers]) -> list[str]:
    """Data sharing on and off, sysplex on and off, and the difference between the two."""
    with_db2, bare = estimates(b1_b2), estimates(b3_b4)
    mvs = comparisons.printed_mvs(study)
    busy = {name: number(study.row("table_06", measure="CPU Busy (%)")[name]) for name in ("B1", "B2")}
    column = "Adjusted B1 CPU/tran"
    spaces = math.fsum(
        number(study.row("table_07", Workload=name)[column])
        for name in ("DB2I1 Total", "TOR1", "DB2U1 Total", "AOR: UPD1")
    )
    regions = [number(study.row("table_07", Workload=name)[column]) for name in ("AOR: INQ1A", "AOR: INQ1B")]
    return [
        texts.COMPARED,
        lines_table(list(comparisons.sharing_lines(study, with_db2))),
        texts.BUSY.format(
            spaces=(spaces + min(regions)) * 1e3,
            most=(spaces + max(regions)) * 1e3,
            busy=busy["B1"] / 100 * 10 / 27 * 1e3,
        ),
        lines_table(list(comparisons.space_lines(study, with_db2))),
        texts.SPACES,
        lines_table(list(comparisons.class_lines(study, with_db2))),
        texts.CLASSES.format(least=min(mvs), most=max(mvs)),
        texts.SYSPLEX,
        lines_table(list(comparisons.sysplex_lines(study, bare))),
        texts.DIFFERENCE,
        lines_table([comparisons.difference_line(study, b1_b2, b3_b4)]),
    ]
