"""Data sets and limits of open TCBs in records, against the simulator's own account."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.simulate import Simulated, simulate_to_smf
from plexlens.simulate.scenario import ScenarioFileError, parse_scenario
from tests.simulate.conftest import read_back

SCENARIO = """
[run]
seed = 3
warm_up = 2.0
seconds = 60.0
interval = 60.0
[[cec]]
name = "C1"
engines = 4
[[system]]
name = "SYS1"
cec = "C1"
[dasd]
volumes = 4
[[data_set]]
name = "STOCK.KSDS"
volumes = [0]
[[db2]]
group = "DBP0"
member = [{name = "DBP1", system = "SYS1"}]
pool = [{number = 1, size = 500}]
page_set = [{name = "ITEMS", pool = 1, pages = 50000, volumes = [2, 3]}]
[[region]]
name = "AOR1"
system = "SYS1"
db2 = "DBP0"
open_tcbs = 1
[[class]]
name = "SALE"
rate = 40.0
regions = ["AOR1"]
cpu = 0.001
db2_cpu = 0.005
files = [{data_set = "STOCK.KSDS", ios = 2.0}]
references = [{page_set = "ITEMS", getpages = 3.0, update = 0.2}]
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Simulated, Inputs]:
    folder = tmp_path_factory.mktemp("data-sets")
    run, _ = simulate_to_smf(parse_scenario(SCENARIO), folder / "one.smf", transactions=True)
    return run, read_back(folder / "one.smf", folder / "pdb")


def test_each_data_set_on_each_volume(written: tuple[Simulated, Inputs]) -> None:
    run, inputs = written
    (interval,) = run.results["intervals"]
    by = ("system", "job", "data_set", "volume", "device", "service_class")
    found = {(row["job"], row["volume"]): row for row in rolled_up(inputs, GRAINS["data_set"], by=by, time="all")}
    assert {key: row["data_set"] for key, row in found.items()} == {
        ("AOR1", "SIM000"): "STOCK.KSDS",
        ("DBP1DBM1", "SIM002"): "DBP0.DSNDBD.SIMDB.ITEMS.I0001.A001",
        ("DBP1DBM1", "SIM003"): "DBP0.DSNDBD.SIMDB.ITEMS.I0001.A001",
    }
    for truth in interval["data_sets"]:
        row, used = found[truth["job"], f"SIM{truth['volume']:03d}"], truth["used"]
        assert row["device"] == f"{0x1000 + truth['volume']:04X}"
        assert row["service_class"] == ("CICSRGN" if truth["job"] == "AOR1" else "STCDB2")
        assert row["ios"] == used["requests"]
        # Means are in whole microseconds.
        near = 0.51e-6 * used["requests"]
        assert row["response_seconds"] == pytest.approx(used["service"] + used["queued"], abs=near)
        assert row["pending_seconds"] == pytest.approx(used["pending"], abs=near)
        assert row["disconnect_seconds"] == pytest.approx(used["disconnected"], abs=near)
        assert row["connect_seconds"] == pytest.approx(
            used["service"] - used["pending"] - used["disconnected"], abs=near
        )


def test_io_of_regions_is_that_of_their_class(written: tuple[Simulated, Inputs]) -> None:
    """SMF 72-3: what the region read is CICSRGN's, the rest STCDB2's; together they are the volumes' of SMF 74-1."""
    run, inputs = written
    (interval,) = run.results["intervals"]
    rows = rolled_up(inputs, GRAINS["workload_period"], by=("class_kind", "class_name"), time="all")
    found = {row["class_name"]: row["dasd_requests"] for row in rows if row["class_kind"] == "service class"}
    of_region = sum(one["used"]["requests"] for one in interval["data_sets"] if not one["group"])
    assert found["CICSRGN"] == of_region > 4000
    assert found["STCDB2"] + of_region == sum(one["requests"] for one in interval["systems"][0]["volumes"])


def test_waits_for_files_and_open_tcbs(written: tuple[Simulated, Inputs]) -> None:
    run, inputs = written
    (interval,) = run.results["intervals"]
    (region,), used = interval["regions"], interval["classes"][0]["systems"][0]["used"]
    (pool,) = rolled_up(inputs, GRAINS["cics_tcb_pool"], by=("applid", "pool"), time="all")
    assert (pool["limit"], pool["limit_waits"]) == (1, region["open_tcb_waits"]["count"])
    assert pool["limit_wait_seconds"] == pytest.approx(region["open_tcb_waits"]["seconds"], abs=1e-6)
    assert region["open_tcb_waits"]["count"] > 100
    # Of one TCB the limit is reached by whoever gets it without a wait.
    gets = region["open_tcbs"] - region["open_tcb_waits"]["count"]
    assert pool["times_at_limit"] == pytest.approx(gets, abs=1)
    assert pool["peak_waiting"] > 1
    modes = {row["mode"]: row for row in rolled_up(inputs, GRAINS["cics_tcb"], by=("mode",), time="all")}
    # It waits before the call and, after the last I/O to a file, before the commit.
    assert modes["L8"]["waits"] == pytest.approx(2 * region["ended"], abs=3)
    (tasks,) = rolled_up(inputs, GRAINS["cics_transaction"], by=("transaction",), time="all")
    assert tasks["file_io_waits"] == used["waits_file"]
    assert tasks["file_io_seconds"] == pytest.approx(used["wait_file"], abs=1e-6 * used["waits_file"])
    # Of tasks that ended in the interval; a few began or end outside.
    assert tasks["open_tcb_limit_waits"] == pytest.approx(region["open_tcb_waits"]["count"], abs=5)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("STOCK.KSDS", "STOCK..KSDS", "data_set[0].name: 'STOCK..KSDS' is not a data set name"),
        ("ITEMS", "ITEMS_AND_MORE", "page_set[0].name"),
        ("volumes = [2, 3]", "volumes = [2, 9]", "there is no volume 9"),
        ("open_tcbs = 1", "open_tcbs = 0", "region[0].open_tcbs: 0 is not possible"),
        ('files = [{data_set = "STOCK.KSDS"', 'files = [{data_set = "STOCK"', "there is no data set STOCK"),
    ],
)
def test_wrong_values_are_refused(key: str, value: str, said: str, tmp_path: Path) -> None:
    text = SCENARIO.replace(key, value)
    with pytest.raises(ScenarioFileError) as caught:
        simulate_to_smf(parse_scenario(text, file="s.toml"), tmp_path / "no.smf")
    assert said in str(caught.value)
    assert not list(tmp_path.iterdir())
