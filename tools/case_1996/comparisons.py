"""B1 with B2 (data sharing), B3 with B4 (sysplex without Db2): tables 5 to 8, with the simulation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from plexlens.example.printed import Study, number
from plexlens.simulate.estimates import Estimate, estimates
from tools.beside_print import Line, Numbers
from tools.case_1996.variants import PRIMARY

#: How the study makes processor times of different machines comparable (text before table 6): those of the RX3 are 15 %
#: less on an R53, those of partitions 10 % less without the management of partitions.
FASTER, LESS_MANAGEMENT = 0.85, 0.90

#: Rows of table 7, and the address spaces that they are of.
SPACES = {
    "DB2I1IRLM": "DBIIRLM",
    "DB2I1MSTR": "DBIMSTR",
    "DB2I1DBM1": "DBIDBM1",
    "DB2I1 Total": "DBI",
    "TOR1": "TOR",
    "AOR: INQ1A": "INQ",
    "AOR: INQ1B": "INQ",
    "DB2U1IRLM": "DBUIRLM",
    "DB2U1MSTR": "DBUMSTR",
    "DB2U1DBM1": "DBUDBM1",
    "DB2U1 Total": "DBU",
    "AOR: UPD1": "UPD",
}


def printed(row: Mapping[str, str]) -> float:
    """The number of a row that prints a single value for both runs."""
    return next(number(cell) for name, cell in row.items() if name != "measure" and cell)


def printed_difference_in_differences(study: Study) -> float:
    """Increase of processor time due to data sharing, beyond that of the sysplex without Db2, in percent.

    ITRs of tables 5 and 6; those of B1 as measured, without the study's 10 % for partitions, since B3 contains it too.
    """
    sharing, sysplex = study.row("table_06", measure="ITR"), study.row("table_05", measure="ITR")
    with_sharing = number(sharing["B2"]) / (number(sharing["B1"]) * LESS_MANAGEMENT)
    with_sysplex = number(sysplex["B4"]) / number(sysplex["B3"])
    return (with_sharing / with_sysplex - 1) * 100


def compared(sharing: Numbers, alone: Numbers, management: float) -> Numbers:
    """ITRs and processor times of two runs, made comparable by the study's method."""
    factors = (sharing, management), (alone, FASTER)
    first, second = (run["transactions"] / (run["busy"] * factor) for run, factor in factors)
    found = {"efficiency": first / second * 100, "increase": (second / first - 1) * 100}
    found |= {f"busy {name}": run["busy"] * factor for name, (run, factor) in zip("12", factors, strict=True)}
    for space in set(SPACES.values()):
        after, before = (run.get(f"space {space}", 0.0) / run["transactions"] * factor for run, factor in factors)
        found |= {f"after {space}": after, f"before {space}": before, f"space {space}": _increase(after, before)}
    for name in PRIMARY:
        if not sharing.get(f"ended {name}"):
            continue
        parts = [[run[f"{kind}_cpu {name}"] * factor for kind in ("region", "db2")] for run, factor in factors]
        for kind, part, base in zip(("region", "db2"), *parts, strict=True):
            found[f"{kind} {name}"] = _increase(part, base)
        found[f"both {name}"] = _increase(sum(parts[0]), sum(parts[1]))
    return found


def _increase(after: float, before: float) -> float:
    return (after / before - 1) * 100 if before else math.nan


def sharing_lines(study: Study, both: Mapping[str, Estimate]) -> Iterator[Line]:
    """Table 6: B1 and B2 as a whole."""
    row = study.row("table_06", measure="CPU Busy (%)")
    yield Line("B1", "processor busy, %, adjusted", number(row["B1"]), both["busy 1"], points=True)
    yield Line("B2", "processor busy, %, adjusted", number(row["B2"]), both["busy 2"], points=True)
    row = study.row("table_06", measure="Coupling Efficiency (%)")
    yield Line("B1/B2", "coupling efficiency, %", printed(row), both["efficiency"], points=True)
    row = study.row("table_06", measure="Increased CPU Time")
    yield Line("B1/B2", "increase in CPU, %", printed(row), both["increase"], points=True)


def space_lines(study: Study, both: Mapping[str, Estimate]) -> Iterator[Line]:
    """Table 7: processor time per transaction of B1, adjusted, and its increase over B2."""
    for workload, space in SPACES.items():
        row = study.row("table_07", Workload=workload)
        if not row["Adjusted B1 CPU/tran"]:
            continue
        yield Line(workload, "B1, s", number(row["Adjusted B1 CPU/tran"]), both[f"after {space}"])
        if row["B2 vs. B1 % Difference"]:
            difference = number(row["B2 vs. B1 % Difference"])
            yield Line(workload, "increase, %", difference, both[f"space {space}"], points=True)


def class_lines(study: Study, both: Mapping[str, Estimate]) -> Iterator[Line]:
    """Table 8: increases by transaction; the last column minus the third is MVS."""
    for row in study.table("table_08"):
        name = {"2": "INQ2", "3": "INQ3"}.get(next((c for c in row["transaction"] if c in "23"), ""), "UPDA")
        for column, key in (
            ("CICS Application CPU time", "region"),
            ("DB2 TCB time", "db2"),
            ("CICS+DB2 CPU Time", "both"),
        ):
            what = f"increase of {column}, %"
            yield Line(row["transaction"], what, number(row[column]), both[f"{key} {name}"], points=True)


def printed_mvs(study: Study) -> list[float]:
    """MVS's part of the increase of each transaction in points: table 8, last column minus the third."""
    rows = study.table("table_08")
    return [number(row["CPU time with MVS O/H"]) - number(row["CICS+DB2 CPU Time"]) for row in rows]


def sysplex_lines(study: Study, both: Mapping[str, Estimate]) -> Iterator[Line]:
    """Table 5: B3 and B4, including the management of partitions."""
    row = study.row("table_05", measure="CPU Busy (%)")
    yield Line("B3", "processor busy, %", number(row["B3"]), both["busy 1"], points=True)
    yield Line("B4", "processor busy, %, adjusted", number(row["B4"]), both["busy 2"], points=True)
    row = study.row("table_05", measure="Coupling Efficiency (%)*")
    yield Line("B3/B4", "coupling efficiency, %", printed(row), both["efficiency"], points=True)
    row = study.row("table_05", measure="Increased * CPU Time")
    yield Line("B3/B4", "increase in CPU, %", printed(row), both["increase"], points=True)


def difference_line(study: Study, sharing: Sequence[Numbers], sysplex: Sequence[Numbers]) -> Line:
    """Difference in differences: the effect of data sharing beyond the effect of the sysplex."""
    values = [
        {"more": ((1 + with_db2["increase"] / 100) / LESS_MANAGEMENT / (1 + bare["increase"] / 100) - 1) * 100}
        for with_db2, bare in zip(sharing, sysplex, strict=True)
    ]
    what = "increase in CPU beyond that of the sysplex, %"
    return Line("B1/B2 over B3/B4", what, printed_difference_in_differences(study), estimates(values)["more"], True)
