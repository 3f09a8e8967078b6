"""The 1992 VM/ESA report from table 31 on: cells by hand, slow sums straight from the files, planted typing errors."""

from __future__ import annotations

import csv
import math
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from plexlens.compare import Audit, TableAudit, load_study, studies_path
from plexlens.compare.analysis.analysis import analyse
from plexlens.compare.audit.audit import audit
from plexlens.compare.formulas.catalogue import FORMULAS
from plexlens.compare.numbers.quantity import UndefinedError, exact, printed
from tests.compare.audited import audited

FOLDER = studies_path() / "vmesa-1992"

#: Tables of file pool counters.
SFS = [
    "sfs_9021_720",
    "sfs_9021_720_storage",
    "sfs_9021_720_data_spaces",
    "sfs_9021_580",
    "sfs_9121_480",
    "sfs_9121_480_data_spaces",
    "sfs_9121_320",
    "sfs_9221_170",
]


@pytest.fixture(scope="module")
def report() -> Audit:
    return audited("vmesa-1992")


def table(report: Audit, table_id: str) -> TableAudit:
    return next(one for one in report.tables if one.table.id == table_id)


def computed(report: Audit, table_id: str, label: str, column: str) -> float:
    (found,) = [one for one in table(report, table_id).cells if (one.label, one.column) == (label, column)]
    assert found.computed is not None, found.arithmetic
    return float(found.computed.value)


def rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def by_run(name: str) -> dict[str, dict[str, str]]:
    """Columns of a table of runs: cells by item."""
    found: dict[str, dict[str, str]] = {}
    for row in rows(name):
        for run in list(row)[2:]:
            found.setdefault(run, {})[row["item"]] = row[run]
    return found


def worked(name: str, **arguments: str) -> float:
    return float(FORMULAS[name]({key: exact(value) for key, value in arguments.items()}).value)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        # 0.3 ms pending, 17.5 ms disconnected, 4 ms on the channel; 6.6 ms before that in the queue
        ("dasd_service_ms", {"pending": "0.3", "disconnect": "17.5", "connect": "4"}, 21.8),
        ("dasd_queue_ms", {"response": "28.4", "service": "21.8"}, 6.6),
        ("dasd_response_ms", {"service": "21.8", "queue": "6.6"}, 28.4),
        # 100 I/Os a second of 20 ms keep two volumes busy; four are half busy
        ("dasd_busy_percent", {"rate": "100", "service": "20", "volumes": "4"}, 50),
        # every other I/O reads, and all reads and half of the writes hit
        ("dasd_fast_percent", {"read_percent": "50", "read_hits": "100", "write_hits": "50"}, 75),
        ("dasd_write_percent", {"read_percent": "19"}, 81),
        # 12 I/Os under way on average, 2 after the change: 10 s a second less, for 50 commands a second
        ("response_saved_by_dasd", {"before": "12000", "after": "2000", "commands": "50"}, 0.2),
        # 10 ms an I/O before, 6 ms after
        ("cpu_ms_saved_per_io", {"before": "100", "ios_before": "10000", "after": "30", "ios_after": "5000"}, 4),
        ("cpu_seconds_saved", {"ios": "162810", "saved_ms": "0.31"}, 50.4711),
        ("cpu_seconds_projected", {"cpu_seconds": "225.5", "ios": "162810", "saved_ms": "0.31"}, 175.0289),
        ("itr_projected", {"itr": "10", "before": "30", "after": "20"}, 15),
        # 90 s of 1800 s
        ("server_cpu_ms_per_second", {"cpu_seconds": "90", "elapsed_seconds": "1800"}, 50),
        # 20 % dormant; of the other 80 % half idle on test: 40 % active
        ("server_active_ms_per_second", {"dormant": "20", "non_dormant": "80", "test_idle": "50"}, 400),
        ("server_capacity_factor", {"before": "300", "after": "200"}, 1.5),
        ("servers_needed", {"busy": "2507.7", "limit": "1000"}, 3),
        ("servers_needed", {"busy": "3000", "limit": "1000"}, 3),
        ("server_taken_percent", {"per_hour": "3600", "ms": "250"}, 25),
        # 200 ms a command, 100 commands a second
        ("file_pool_agents", {"ms_per_command": "200", "commands": "100"}, 20),
        ("checkpoint_percent", {"duration": "5", "seconds_between": "20"}, 25),
        ("percent_of_base", {"difference": "-10", "base": "40"}, -25),
        ("kilobytes_per_second", {"bytes": "4000", "ms": "8"}, 500),
        # six engines with five times the throughput of one
        ("engine_efficiency_percent", {"itrr": "5", "engines": "6", "base_engines": "1"}, 500 / 6),
        # a tenth of the users with half of the processor time that is used
        (
            "weight_per_user",
            {"cpu_percent": "40", "sum_of_cpu": "80", "users_percent": "10", "sum_of_users": "100"},
            5,
        ),
    ],
)
def test_formulas_by_hand(name: str, arguments: Mapping[str, str], expected: float) -> None:
    assert worked(name, **arguments) == pytest.approx(expected, rel=1e-12)


def test_servers_are_whole_within_what_rounding_leaves() -> None:
    """2000.0 to within 0.05 may need a third server."""
    busy = printed("2000.0")
    assert busy is not None
    needed = FORMULAS["servers_needed"]({"busy": busy, "limit": exact(1000)})
    assert (needed.low, needed.value, needed.high) == (2, 2, 3)


@pytest.mark.parametrize("name", ["response_saved_by_dasd", "server_capacity_factor", "checkpoint_percent"])
def test_nothing_is_divided_by_what_may_be_zero(name: str) -> None:
    formula = FORMULAS[name]
    maybe_zero = printed("0")
    assert maybe_zero is not None
    with pytest.raises(UndefinedError):
        formula(dict.fromkeys(formula.arguments, maybe_zero))


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        # six engines do 5.284 times what one does
        (("table-31", "Y64R5865", "Throughput / throughput of an engine, % of that of the first run"), 528.4 / 6),
        # 205.97 commands a second at 522.88 of 600 %
        (("table-31", "Y64R5865", "Throughput / ITR (H)"), 205.97 * 600 / 522.88),
        (("table-33", "Y64F480E", "PAGE/CMD Delta"), 13.142 - 10.095),
        # 256 MiB and 512 MiB for 4800 users
        (("table-34", "Y64F4808", "Environment / real and expanded storage per user, KiB"), 768 * 1024 / 4800),
        # 14 volumes share 123.2 I/Os a second of 21.9 ms each
        (("table-39", "Y34R309E", "busy by rate and service time, %"), 123.2 * 2.19 / 14),
        (("table-39", "Y34R309E", "Serv"), 0.3 + 4.0 + 17.5),
        (("table-39", "Y34R309H", "time in queue, ms"), 57.8 - 25.5),
        # 19 % read, of which 61 % hit; 81 % write, of which 83 % hit
        (("table-39", "Y34R309G", "reads and writes that meet the cache, %"), 0.19 * 61 + 0.81 * 83),
        (("table-48", "AVG", "DELTA / Shared"), 7 / 6),
        (("table-49", "9b", "Pathlength / Delta"), 57500 - 82850),
        (("table-57", "32000", "TRANSFER RATE (Kb/sec)"), 32000 / 87.91),
        (("sfs-9221-170", "H14M0241", "Derived results / Avg File Pool Request Time (msec)"), 48.7258 / 1.3752),
        (("sfs-9021-720", "Y64F480M", "Derived results / Agents Held"), 119.4016 * 169.93 / 1000),
        (("sfs-9021-580", "Y34F2645", "Derived results / Checkpoint Utilization"), 560 / 29.5),
        (("customer-classes", "VIO1", "users"), 1445 * 0.759),
        # 15.3 % of the processor time that is used belongs to 0.7 % of the users
        (("customer-classes", "VIO5", "CPU use of a user, times the mean"), (11.5 / 75.4) / (0.7 / 100.2)),
        # 350,000 an hour of 2.8 ms
        (("customer-growth", "VTAM work units an hour", "VTAM taken up, %"), 350 * 2.8 / 36),
    ],
)
def test_cells_by_hand(report: Audit, place: tuple[str, str, str], expected: float) -> None:
    assert computed(report, *place) == pytest.approx(expected, rel=1e-12)


def test_servers_of_the_fast_write_study(report: Audit) -> None:
    """Busy and active time bound the Calendar machine to 1.42 to 1.63 times the work; one Mailbox machine does."""

    def factor(measure: str, column: str) -> float:
        return computed(report, "table-42", measure, column)

    busy = factor("Busy Msec/Sec", "work that a server can do, times as before")
    active = factor("Active Msec/Sec", "work that a server can do, times as before by active time")
    assert (busy, active) == (pytest.approx(261.1 / 159.9), pytest.approx(310 / 219))
    assert computed(report, "table-44", "Busy Msec/Sec", "servers needed, DFW OFF") == 3
    assert computed(report, "table-44", "Busy Msec/Sec", "servers needed, DFW ON") == 1
    saved = "Response Time / less by faster DASD, expected"
    assert computed(report, "table-46", "Y34V3252", saved) == pytest.approx((12650.3 - 3204.6) / 60.56 / 1000)


@pytest.mark.parametrize("name", SFS)
def test_totals_of_file_pool_counters_by_a_slow_sum(name: str) -> None:
    """Blocks and I/Os straight from the file, in floating point."""
    for run, cells in by_run(name).items():
        blocks = [cell for item, cell in cells.items() if item.endswith((" Blocks Read", " Blocks Written"))]
        ios = [cell for item, cell in cells.items() if item.startswith("I/O Requests to ")]
        for total, parts in (("Total DASD Block Transfers", blocks), ("Total I/O Requests", ios)):
            assert len(parts) >= 6
            # The right edge of this run's page is lost, up to a thousandth of each part.
            lost = 1e-3 if run == "Y64F480F" else 0.5e-4
            assert math.fsum(map(float, parts)) == pytest.approx(float(cells[total]), abs=lost * (len(parts) + 1))


@pytest.mark.parametrize(
    "name", [path.stem for path in sorted(FOLDER.glob("trace_*.csv")) if path.stem != "trace_data_spaces"]
)
def test_sums_and_means_of_traces_by_a_slow_sum(name: str) -> None:
    seen = rows(name)
    for column in list(seen[0])[2:]:
        cells = [row[column] for row in seen if row["kind"] == "command"]
        if "" in cells:
            continue
        (total,) = [row[column] for row in seen if row["kind"] == "sum"]
        (mean,) = [row[column] for row in seen if row["kind"] == "mean"]
        places = len(mean.partition(".")[2])
        assert sum(map(int, cells)) == int(total)
        assert abs(sum(map(int, cells)) / len(cells) - float(mean)) <= 0.5 * 10**-places


def test_a_run_that_several_tables_print_has_the_same_numbers_in_all(report: Audit) -> None:
    """Two transcriptions of one run; the exceptions are what the report prints differently."""
    seen: dict[tuple[str, str], tuple[str, str]] = {}
    differ: set[tuple[str, str, str, str]] = set()
    twice = 0
    for one in report.study.tables.values():
        if not {"Throughput / ETR (T)", "Counters / SAC Calls"} & set(one.columns):
            continue
        for row in one.rows:
            for column, cell in row.items():
                if column.startswith("Run /") or "ITRR" in column or cell in ("", "na"):
                    continue
                first = seen.setdefault((row["column"], column), (one.id, cell))
                twice += first[0] != one.id
                if first[1] != cell:
                    differ.add((row["column"], column, first[1], cell))
    assert twice > 1000
    assert differ == {("Y34F2644", "Proc. Usage / PBT/CMD", "27.580", "27.501")}


@pytest.mark.parametrize(
    ("place", "parts"),
    [
        (("table-33", "XSTOR/CMD Pct."), ("36.925", "15.661", "135.7768", "136.0%")),
        (("table-38", "SFS Servers / TOT CPU/CMD (V)"), ("0.0388 + 0.0917", "0.0529")),
        (("table-43", "Y34V3251"), ("49.4 + 260.6", "309.0")),
        (("table-47", "Privops / Delta"), ("206", "208", "-2", "printed 2")),
        (("table-50", "Total / Pipes"), ("108 + 49", "157", "156")),
        (("table-56", "TRANSFER RATE (Kb/sec)"), ("20,000 / 67.9", "294.0")),
        (("table-61", "Utilization"), ("1.9 + 63.8", "65.7", "66.7")),
        (("sfs-9221-170", "Counters / Total File Pool Requests"), ("1.3773", "1.3752")),
        (("configuration-31-63", "RSTOR"), ("348M",)),
    ],
)
def test_what_is_wrong_in_print_is_flagged(report: Audit, place: tuple[str, str], parts: tuple[str, ...]) -> None:
    table_id, column = place
    (found,) = [cell for cell in table(report, table_id).disagree if cell.column == column]
    assert all(part in found.arithmetic for part in parts), found.arithmetic
    assert found.note


def test_every_disagreement_has_its_reason(report: Audit) -> None:
    found = [(one.table.id, cell.label, cell.column) for one in report.tables for cell in one.disagree if not cell.note]
    assert not found


@pytest.mark.parametrize(
    ("name", "old", "new", "place"),
    [
        # 8.4 I/Os a second of 29.7 ms are 249 ms a second, not 234; and they keep the volume busier.
        ("table_42", "Resp,27.9", "Resp,29.7", ("table-42", "DASD Resp Msec/Sec", "Y34V3251")),
        ("table_31", "16.293", "16.923", ("table-31", "Y34R3122", "Proc. Usage / CP/CMD")),
        ("table_61", "9.7,16.4", "9.7,14.6", ("table-61", "VSCS", "Utilization")),
        ("trace_edf_shared", "XEDIT,command,80", "XEDIT,command,8", ("trace-edf-shared", "TOTAL", "1.0 370")),
        ("sfs_9021_580", "0.4010", "0.4100", ("sfs-9021-580", "Y33F2642", "Counters / Total File Pool Requests")),
        ("customer_classes", "75.9%", "79.5%", ("customer-classes", "all", "NUMERICAL DISTRIBUTION")),
        ("table_57", "24000,65.84", "24000,68.54", ("table-57", "24000", "TRANSFER RATE (Kb/sec)")),
    ],
)
def test_a_mistyped_cell_is_found(tmp_path: Path, name: str, old: str, new: str, place: tuple[str, str, str]) -> None:
    shutil.copytree(FOLDER, tmp_path / "studies" / "vmesa-1992")
    path = tmp_path / "studies" / "vmesa-1992" / f"{name}.csv"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    found = audit(load_study("vmesa-1992", tmp_path / "studies"))
    table_id, label, column = place
    wrong = [cell for cell in table(found, table_id).disagree if (cell.label, cell.column) == (label, column)]
    assert len(wrong) == 1
    assert not wrong[0].note


def test_claims_of_the_text(report: Audit) -> None:
    """The text states some numbers that its tables do not give; each comes with its reason."""
    wrong = {claim.text_number: claim for claim in analyse(report).claims if not claim.agrees}
    assert {"0.41", "34", "22", "0.07", "8.2"} <= set(wrong)
    assert all(claim.note for claim in wrong.values())
