"""The VM/ESA report up to table 30: counts read off it, relations by hand, what is wrong in it, planted errors."""

from __future__ import annotations

import csv
import shutil
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import pytest

from plexlens.compare import Audit, TableAudit, load_study, studies_path
from plexlens.compare.audit.audit import audit
from tests.compare.audited import audited

NAME = "vmesa-1992"

# Runs of each table, and of how many the servers of the shared file system are printed.
RUNS = {
    4: (2, 0), 5: (2, 2), 6: (2, 2), 7: (2, 0), 8: (2, 2), 9: (2, 0), 10: (2, 2), 11: (2, 0), 12: (4, 0), 13: (2, 1),
    14: (4, 2), 15: (2, 1), 16: (2, 1), 17: (4, 2), 18: (2, 2), 19: (3, 3), 20: (5, 5), 21: (2, 0), 22: (2, 2),
    23: (5, 0),
}  # fmt: skip

# Rows of a run that follow from others: ETR RATIO, ITR (H), ITR, EMUL ITR, ITRR (H), ITRR; TOT INT ADJ; PBT/CMD (H),
# PBT/CMD, CP/CMD, EMUL/CMD; UTIL/PROC (H), UTIL/PROC, TVR(H), TVR; PGBLPGS/USER; PAGE/CMD, XSTOR/CMD; VIO/CMD;
# SIE INTCPT/CMD; TOT CPU/CMD of VTAM, and that of SFS servers.
FOLLOW = 21

# Of a 370 Feature run XSTOR/CMD and SIE INTCPT/CMD are not available, and EMUL/CMD comes from no whole percent; VIO/CMD
# and TOT CPU/CMD of one are lost.
LACKING = {12: 3, 13: 5, 17: 6}

WRONG = {
    ("table-03", "avg", "ITR Ratio"),
    ("table-06", "Y34F2644", "Proc. Usage / PBT/CMD"),
    ("table-06", "Y34F2644", "Proc. Usage / CP/CMD"),
    ("table-08", "L24F1480", "Proc. Usage / CP/CMD"),
    ("table-08", "L24F1480", "Throughput / ITR"),
    ("table-11", "H13R0280", "Throughput / ITR"),
    ("table-11", "H14R0287", "Throughput / ITRR"),
    ("table-13", "H17F0241", "Proc. Usage / CP/CMD"),
    ("table-17", "H17F0241", "Proc. Usage / CP/CMD"),
    ("table-20", "Y64F480M", "Throughput / ITR"),
    ("table-20", "Y64F480M", "Throughput / EMUL ITR"),
    ("table-23", "Y6$V6002", "Throughput / ITR"),
    ("table-23", "Y6$V6002", "Throughput / EMUL ITR"),
    ("table-23", "Y6$V6201", "Throughput / ITR"),
    ("table-23", "Y6$V6201", "Throughput / EMUL ITR"),
    ("table-23", "Y63V6001", "Throughput / ITR"),
    ("table-23", "Y63V6001", "Throughput / EMUL ITR"),
    ("table-23", "Y63V6203", "Throughput / ITR"),
    ("table-23", "Y64V620F", "Throughput / EMUL ITR"),
}


@pytest.fixture(scope="module")
def found() -> Audit:
    return audited(NAME)


@pytest.fixture(scope="module")
def tables(found: Audit) -> dict[str, TableAudit]:
    return {one.table.id: one for one in found.tables}


def printed_runs(number: int) -> dict[str, dict[str, str]]:
    """Cells of a table of runs straight from its file: by run, then by group and item."""
    with (studies_path() / NAME / f"table_{number:02d}.csv").open(newline="") as file:
        group, item, *runs = lines = next(reader := csv.reader(file))
        assert (group, item) == ("group", "item") and len(set(lines)) == len(lines)
        rows = list(reader)
    return {run: {f"{row[0]} / {row[1]}": row[place] for row in rows} for place, run in enumerate(runs, 2)}


def test_every_file_is_a_table_and_every_table_of_the_report_is_there(found: Audit) -> None:
    files = {path.name for path in (studies_path() / NAME).glob("*.csv")}
    assert {one.table.path.name for one in found.tables} == files
    assert {f"table-{number:02d}" for number in range(1, 64)} <= {one.table.id for one in found.tables}


@pytest.mark.parametrize("number", RUNS)
def test_every_row_that_follows_from_others_is_worked_out(tables: dict[str, TableAudit], number: int) -> None:
    runs, servers = RUNS[number]
    one = tables[f"table-{number:02d}"]
    assert len(one.table.rows) == runs
    assert len(one.compared) == runs * FOLLOW + servers - LACKING.get(number, 0)
    assert not one.not_computed and not one.table.left_out


def test_guests_are_worked_out(tables: dict[str, TableAudit]) -> None:
    """Six rows of each VSE run, eight of each MVS run less the two sums of frames that are lost for the last."""
    assert [len(tables[f"table-{number}"].compared) for number in range(24, 31)] == [22, 18, 18, 18, 18, 18, 24]


def test_what_disagrees_up_to_table_30_and_why(tables: dict[str, TableAudit]) -> None:
    there = {
        (name, cell.label if name != "table-03" else one.table.rows[cell.row - 1]["Pair"], cell.column): cell.note
        for name, one in tables.items()
        if name in {f"table-{number:02d}" for number in range(1, 31)}
        for cell in (*one.disagree, *one.conventions)
    }
    assert set(there) == WRONG
    assert all(there.values())


@pytest.mark.parametrize(
    ("table", "run", "column", "expected"),
    [
        # 100 x 6 x 204.06 / 548.36
        ("table-04", "Y63R5866", "Throughput / ITR (H)", 223.276679),
        # 236.35 / 223.28
        ("table-04", "Y64R5865", "Throughput / ITRR (H)", 1.0585364),
        # 0.192 x 266.53 / 204.06
        ("table-04", "Y63R5866", "Response Time / TOT INT ADJ", 0.250778),
        # (1053 + 1267) / 204.06
        ("table-04", "Y63R5866", "Paging / XSTOR/CMD", 11.36921),
        # 105 x 1024 / 5860
        ("table-04", "Y63R5866", "Storage / PGBLPGS/USER", 18.34812),
        # 65 % of 65.235
        ("table-04", "Y63R5866", "PRIVOPs / SIE INTCPT/CMD", 42.40275),
        # 8.06 / 0.52, as 54.003 x 9.63 / 10 = 52.005 % is shown as 52
        ("table-11", "H13R0280", "Throughput / EMUL ITR", 15.5),
        # 75.61 x 10 / 9.53: the monitor of the 370 Feature has decimals
        ("table-12", "H17R0281", "Proc. Usage / PBT/CMD", 79.33893),
        # 390 / 815.697 and 390 / 858.844 are printed 0.478 and 0.454
        ("table-24", "CBES10VR", "Throughput / ITR % of Native", 94.97908),
        # 575.70 x 835.841 / 390
        ("table-24", "BNTV310", "Chan Path/DASD Data / I/O Interrupts/Tran", 1233.8299),
        # 56 jobs in 541 s at 41.6 %: 3,751 CPU-busy thousandths of a minute
        ("table-25", "PD10608C", "Throughput / ITR", 56 / (541 * 0.416 / 60)),
        # 18.991 / 13.906: fast path for minidisks, against minidisks without it
        ("table-30", "PD11030A", "Throughput / ITRR", 1.365669),
    ],
)
def test_cells_by_hand(tables: dict[str, TableAudit], table: str, run: str, column: str, expected: float) -> None:
    (cell,) = [one for one in tables[table].cells if (one.label, one.column) == (run, column)]
    assert cell.computed is not None
    assert float(cell.computed.value) == pytest.approx(expected, rel=1e-6)
    assert cell.agrees


def test_ratios_over_several_releases(tables: dict[str, TableAudit]) -> None:
    """VM/XA 2.0 to VM/ESA 1.1 is 1.02 x 1.04 x 1.04; the last of them the mean of four pairs, one worked out."""
    chain = {
        (one.table.rows[cell.row - 1]["From"], one.table.rows[cell.row - 1]["To"]): cell
        for one in [tables["table-02"]]
        for cell in one.cells
    }
    assert float(chain["VM/XA 2.0", "VM/ESA 1.1"].computed.value) == pytest.approx(1.103232)  # type: ignore[union-attr]
    (mean,) = [cell for cell in tables["table-03"].cells if cell.row == 16]
    assert float(mean.computed.value) == pytest.approx((236.35 / 223.28 + 1.032 + 1.045 + 1.043) / 4)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("column", "parts", "over"),
    [
        ("Paging / PAGE/CMD", ("Paging / READS/SEC", "Paging / WRITES/SEC"), "Throughput / ETR (T)"),
        ("Paging / XSTOR/CMD", ("Paging / XSTOR IN/SEC", "Paging / XSTOR OUT/SEC"), "Throughput / ETR (T)"),
        ("I/O / VIO/CMD", ("I/O / VIO RATE",), "Throughput / ETR (T)"),
        ("Throughput / ETR RATIO", ("Throughput / ETR",), "Throughput / ETR (T)"),
        ("Processor Util. / UTIL/PROC (H)", ("Processor Util. / TOTAL (H)",), "Environment / PROCESSORS"),
        ("Processor Util. / TVR(H)", ("Proc. Usage / PBT/CMD (H)",), "Proc. Usage / EMUL/CMD (H)"),
        ("VTAM Machines / TOT CPU/CMD (V)", ("VTAM Machines / CP CPU/CMD (V)", "VTAM Machines / VIRT CPU/CMD (V)"), ""),
        ("SFS Servers / TOT CPU/CMD (V)", ("SFS Servers / CP CPU/CMD (V)", "SFS Servers / VIRT CPU/CMD (V)"), ""),
    ],
)
def test_every_run_against_plain_arithmetic(
    tables: dict[str, TableAudit], column: str, parts: tuple[str, ...], over: str
) -> None:
    seen = 0
    for number in RUNS:
        worked = {cell.label: cell for cell in tables[f"table-{number:02d}"].cells if cell.column == column}
        for run, cells in printed_runs(number).items():
            if any(cells.get(name, "na") in ("na", "") for name in (column, *parts)):
                assert run not in worked or worked[run].computed is None
                continue
            slow = sum(Decimal(cells[part]) for part in parts) / (Decimal(cells[over]) if over else 1)
            assert float(worked[run].computed.value) == pytest.approx(float(slow), rel=1e-12)  # type: ignore[union-attr]
            seen += 1
    assert seen >= 27


def test_a_run_has_the_same_numbers_in_every_table() -> None:
    """The report prints many runs in several tables; ratios have another base in each."""
    readings: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number in RUNS:
        for run, cells in printed_runs(number).items():
            for row, cell in cells.items():
                if not row.startswith("Run / ") and "ITRR" not in row and cell:
                    readings[run, row][cell].append(number)
    shared = [one for one in readings.values() if sum(map(len, one.values())) > 1]
    assert len(shared) > 700
    assert {place: dict(one) for place, one in readings.items() if len(one) > 1} == {
        ("Y34F2644", "Proc. Usage / PBT/CMD"): {"27.580": [6], "27.501": [18, 19]}
    }


def test_intercepts_are_whole_percents_of_sies(tables: dict[str, TableAudit]) -> None:
    """What is rounded away of SIE INTCPT/CMD leaves a hundredth of a percent at most."""
    shares = [
        float(cell.computed.value)
        for number in RUNS
        if number != 12
        for cell in tables[f"table-{number:02d}"].cells
        if cell.column == "PRIVOPs / SIE INTCPT %" and cell.computed is not None
    ]
    assert len(shares) > 40
    assert all(abs(share - round(share)) < 0.01 for share in shares)


@pytest.mark.parametrize(
    ("file", "old", "new", "place"),
    [
        ("table_09.csv", "35.36", "35.63", ("table-09", "L13R0911", "Throughput / ITR (H)")),
        ("table_20.csv", "12.972", "12.792", ("table-20", "Y63F480B", "Paging / XSTOR/CMD")),
        ("table_24.csv", "575.70", "575.07", ("table-24", "BNTV310", "Chan Path/DASD Data / I/O Interrupts/Tran")),
        ("table_29.csv", "311.7", "317.1", ("table-29", "PD10606G", "I/O / DASD I/O per second")),
    ],
)
def test_two_digits_changed_round_are_found(
    tmp_path: Path, file: str, old: str, new: str, place: tuple[str, str, str]
) -> None:
    shutil.copytree(studies_path() / NAME, tmp_path / NAME)
    path = tmp_path / NAME / file
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    wrong = {
        (one.table.id, cell.label, cell.column)
        for one in audit(load_study(NAME, tmp_path)).tables
        for cell in one.disagree
        if not cell.note
    }
    assert place in wrong
