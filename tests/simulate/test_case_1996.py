"""The 1996 case study: what is compared is what the tables print, and the fit is as good as the page says."""

from __future__ import annotations

import copy
import math
from pathlib import Path

import pytest

from plexlens.example import studies_path
from plexlens.example.printed import Study, number
from plexlens.simulate import Scenario, read_scenario
from plexlens.simulate.estimates import Estimate, estimate, estimates
from plexlens.simulate.scenario import Simulated
from tools.beside_print import Line
from tools.case_1996 import printed_rate, run_b1, with_rates
from tools.case_1996.comparisons import LESS_MANAGEMENT, compared, printed_difference_in_differences
from tools.case_1996.measured import measure
from tools.case_1996.measured import runs as run_all
from tools.case_1996.page import page
from tools.case_1996.provenance import SourcesError, numbers, read_sources
from tools.case_1996.structures import kind_lines, structure_lines
from tools.case_1996.terms import Term, with_term
from tools.case_1996.transactions import printed_mean
from tools.case_1996.variants import changed, without_sysplex

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return read_scenario(ROOT / "scenarios" / "sysplex-1996.toml")


@pytest.fixture(scope="module")
def study() -> Study:
    return Study(studies_path() / "sysplex-1996")


def test_estimates() -> None:
    """1, 2, 3: deviation 1, Student's t for two degrees of freedom 4.303, half width 4.303 / sqrt(3) = 2.484."""
    found = estimate([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert math.isclose(found.half_width, 2.4843, rel_tol=1e-3)
    assert str(found) == "2.00 ± 2.48"
    assert str(Estimate(251.53, 1.26)) == "252 ± 1"
    assert str(estimate([0.0])) == "0"
    assert estimates([{"a": 1.0, "b": 1.0}, {"a": 3.0}])["a"].mean == 2.0


def test_rates_are_those_of_table_11(scenario: Scenario, study: Study) -> None:
    """6.0 + 5.9, 6.9 + 6.8, .27 + .23, .48 + .47."""
    rates = {one["name"]: one["rate"] for one in scenario.values["class"] if "rate" in one}
    assert rates == {"INQ1": 11.9, "INQ2": 13.7, "INQ3": 0.5, "UPDA": 0.95}
    for name, rate in rates.items():
        assert math.isclose(printed_rate(study, "A3", name), rate)
    # Table 13: 18.6 + 18.1.
    assert math.isclose(printed_rate(study, "A1", "INQ1"), 36.7)


def test_the_column_of_b2_is_that_of_b1_divided(study: Study) -> None:
    """What the page says of table 7: each row, to the last digit that is printed."""
    rows = [row for row in study.table("table_07") if row["Adjusted B2 CPU/tran"]]
    for row in rows:
        divided = number(row["Adjusted B1 CPU/tran"]) / 1.15
        # The digits of B1 are rounded themselves: half a unit of it, and half of one of B2.
        assert abs(divided - number(row["Adjusted B2 CPU/tran"])) <= 0.00005 / 1.15 + 0.00005, row
    assert len(rows) == 12


def test_one_image_shares_with_nobody(scenario: Scenario) -> None:
    alone = without_sysplex(scenario)
    found = run_all(_short(alone, warm_up=10.0, seconds=60.0), [1])[0]
    assert not [name for name in found if name.startswith(("requests", "service"))]
    assert found["transactions"] > 1000
    assert scenario.values["system"][1]["name"] == "SYS2", "the scenario itself stays as it was"


def _short(scenario: Scenario, *, warm_up: float, seconds: float) -> Scenario:
    run = scenario.values["run"] | {"warm_up": warm_up, "seconds": seconds}
    return changed(scenario, scenario.values | {"run": run})


def _off(line: Line) -> float:
    assert line.printed is not None
    return abs(line.simulated.mean / line.printed - 1)


def test_requests_are_predicted(scenario: Scenario, study: Study) -> None:
    """Mean error of requests and service times below 10 %, of read hits below 8 points, in A3 and in A1."""
    for run in ("A3", "A1"):
        rates = {name: printed_rate(study, run, name) for name in ("INQ1", "INQ2", "INQ3", "UPDA")}
        found = estimates(run_all(_short(with_rates(scenario, rates), warm_up=400.0, seconds=400.0), [11]))
        lines = list(structure_lines(study, run, found))
        rates_off = [_off(one) for one in lines if one.unit == "requests/s"]
        hits_off = [abs(one.simulated.mean - (one.printed or 0.0)) for one in lines if one.unit == "read hit, %"]
        assert len(rates_off) == 12 and len(hits_off) == 6
        assert sum(rates_off) / 12 < 0.10
        assert sum(hits_off) / 6 < 8
        services_off = [_off(one) for one in lines if one.unit == "service, µs"]
        assert len(services_off) == 12 and sum(services_off) / 12 < 0.10
        # One of the twelve in A3 was fitted (the stages of the distribution), in A1 none.
        deviations_off = [_off(one) for one in lines if one.unit == "deviation, µs"]
        assert len(deviations_off) == 12 and sum(deviations_off) / 12 < 0.25


def test_processor_times_of_b1_are_those_of_table_7(scenario: Scenario, study: Study) -> None:
    """What the scenario is calibrated on, with a seed that calibrated nothing: within 3 %."""
    found = run_all(_short(run_b1(scenario, study), warm_up=120.0, seconds=600.0), [21])[0]
    for workload, space in (("TOR1", "TOR"), ("DB2I1 Total", "DBI"), ("DB2U1 Total", "DBU"), ("AOR: UPD1", "UPD")):
        printed = number(study.row("table_07", Workload=workload)["Adjusted B1 CPU/tran"])
        assert math.isclose(found[f"space {space}"] / found["transactions"] * 0.9, printed, rel_tol=0.03), workload


def test_tcb_times_are_those_of_table_4a(scenario: Scenario, study: Study) -> None:
    found = run_all(_short(scenario, warm_up=120.0, seconds=600.0), [22])[0]
    # (19,936 x 3.4 + 1,143 x 71.0) / 21,079 ms.
    assert math.isclose(printed_mean(study, "INQ1", "DB2 TCB Time (sec)"), 0.0070655, rel_tol=1e-4)
    for name in ("INQ1", "INQ2", "UPDA", "INS2", "UPDB"):
        assert math.isclose(found[f"db2_cpu {name}"], printed_mean(study, name, "DB2 TCB Time (sec)"), rel_tol=0.03), (
            name
        )


def test_other_requests_are_registrations_of_prefetch(scenario: Scenario, study: Study) -> None:
    """Figure 2 counts 1231 requests of other kinds in ten minutes; nothing was fitted to them."""
    run = scenario.values["run"] | {"warm_up": 300.0, "seconds": 600.0}
    found = estimates(run_all(changed(scenario, scenario.values | {"run": run}), [12]))
    others = next(one for one in kind_lines(study, found) if one.unit == "Other Requests")
    assert others.printed == 1231
    assert _off(others) < 0.15


def test_difference_in_differences(study: Study) -> None:
    """By hand: 214,775.82 / (192,457.48 x 0.9) = 1.23996, 82,914.713 / 74,859.951 = 1.10760; 1.11950."""
    assert math.isclose(printed_difference_in_differences(study), 11.950, abs_tol=0.005)


def test_comparison_by_hand() -> None:
    """20 % busy and 1,000 transactions in partitions, 15 % and 900 on the RX3: ITR 1,000 / 18 and 900 / 12.75."""
    spaces = {f"space {name}": 1.0 for name in ("DBI", "TOR", "INQ", "DBU", "UPD")}
    ended = {f"ended {name}": 0.0 for name in ("INQ1", "INQ2", "INQ3", "UPDA")}
    sharing = {"transactions": 1000.0, "busy": 20.0, "seconds": 10.0, **spaces, **ended}
    alone = {"transactions": 900.0, "busy": 15.0, "seconds": 10.0, **spaces, **ended}
    found = compared(sharing, alone, LESS_MANAGEMENT)
    assert math.isclose(found["efficiency"], (1000 / 18) / (900 / 12.75) * 100)
    assert math.isclose(found["increase"], ((900 / 12.75) / (1000 / 18) - 1) * 100)
    # 1 s by 1,000, times 0.9, over 1 s by 900, times 0.85.
    assert math.isclose(found["space TOR"], (0.9 / 1000 / (0.85 / 900) - 1) * 100)


def test_deviation_by_hand() -> None:
    """Two requests of 100 and 300 microseconds: mean 200, deviation 100; one contention in two is 50 %."""
    requests = {"count": 2, "seconds": 4e-4, "squares": 1e-8 + 9e-8}
    structure = {
        "name": "G_LOCK1", "system": "SYS1", "lock": True, "synchronous": requests, "contentions": 1,
        "false_contentions": 0,
    }  # fmt: skip
    interval = {"start": 0.0, "end": 10.0, "structures": [structure], "facilities": [], "members": [], "systems": []}
    counts = {"response": {"count": 1, "seconds": 1.0}, "used": dict.fromkeys(
        ("terminal_cpu", "region_cpu", "db2_cpu", "db2_elapsed", "wait_sync_read", "getpages", "sync_reads"), 1.0
    )}  # fmt: skip
    classes = [{"name": name, "systems": [counts]} for name in ("INQ1", "INQ2", "INQ3", "UPDA")]
    system = {"name": "SYS1", "busy": 10.0, "spaces": []}
    run = Simulated(None, {"intervals": [interval | {"classes": classes, "systems": [system]}]})  # type: ignore[arg-type]
    found = measure(run)
    assert math.isclose(found["service G_LOCK1 SYS1"], 200.0)
    assert math.isclose(found["deviation G_LOCK1 SYS1"], 100.0, rel_tol=1e-6)
    assert math.isclose(found["requests G_LOCK1 SYS1"], 0.2)
    assert found["contention G_LOCK1 SYS1"] == 50.0
    assert found["busy"] == 10.0


def test_every_number_has_a_source(scenario: Scenario, tmp_path: Path) -> None:
    """A number without a row is refused, and so are a row without a number and a kind that is none."""
    assert len(read_sources(scenario)) > 40
    file = tmp_path / "s.toml"
    kept = (ROOT / "scenarios" / "sysplex-1996.sources.csv").read_text(encoding="utf-8")

    def refusal(table: str, values: object = scenario.values) -> str:
        file.with_suffix(".sources.csv").write_text(table, encoding="utf-8")
        with pytest.raises(SourcesError) as refused:
            read_sources(Scenario(file, values, {}))  # type: ignore[arg-type]
        return str(refused.value)

    assert "coupling.lock_us has 0 rows" in refusal(
        "\n".join(line for line in kept.splitlines() if "coupling.lock_us" not in line)
    )
    assert "no number for a.b" in refusal(kept + "a.b,printed,A3,nothing\n")
    assert "has 2 rows" in refusal(kept + "coupling.lock_us,printed,A3,again\n")
    assert "there is no kind guessed" in refusal(kept + "a.b,guessed,A3,nothing\n")
    more = copy.deepcopy(scenario.values) | {"dasd": scenario.values["dasd"] | {"new": 1.0}}
    assert "dasd.new has 0 rows" in refusal(kept, more)


def test_terms_change_what_they_say(scenario: Scenario) -> None:
    term = Term("", {"db2.*.path.dependent_us": 20.0, "coupling.sync_host_us": 1.0}, "")
    before, after = dict(numbers(scenario.values)), dict(numbers(with_term(scenario, term).values))
    assert {key for key in after if after[key] != before.get(key)} == {
        "coupling.sync_host_us", "db2.DSNDB2I.path.dependent_us", "db2.DSNDB2U.path.dependent_us",
    }  # fmt: skip


def test_the_page(scenario: Scenario, study: Study) -> None:
    """The page in the docs has the rows that the module writes, and every number of the compared tables."""
    text = page(_short(scenario, warm_up=20.0, seconds=60.0), study, seeds=(1, 2))
    kept = (ROOT / "docs" / "sysplex-1996.md").read_text(encoding="utf-8")

    def printed(of: str) -> list[list[str]]:
        return [line.split("|")[1:4] for line in of.splitlines() if line.startswith("| ")]

    def labels(of: str) -> list[str]:
        return [line.split("|")[1] for line in of.splitlines() if line.startswith("| ")]

    assert labels(text) == labels(kept)
    rows = [row for row in printed(text) if len(row) == 3]
    for table, column, unit in (
        ("table_12", "#REQ/SEC", "requests/s"), ("table_14", "#REQ/SEC", "requests/s"),
        ("table_12", "STD_DEV", "deviation, µs"), ("table_14", "STD_DEV", "deviation, µs"),
    ):  # fmt: skip
        for row in study.table(table):
            expected = [f" {row['pool']}, {row['system']} ", f" {unit} ", f" {number(row[column]):.4g} "]
            assert expected in rows
    for row in study.table("table_08"):
        for column in ("CICS Application CPU time", "DB2 TCB time", "CICS+DB2 CPU Time"):
            expected = [f" {row['transaction']} ", f" increase of {column}, % ", f" {number(row[column]):.4g} "]
            assert expected in rows
