"""Every metric that simulated records feed equals what really happened, within the resolution of its fields.

The oracle is the simulator's own account, added up here by hand, never through the records. Resolutions:

- SMF70WAT, QWSA and QWAC times: 2**-12 microseconds; SMF70PDT, R744SSTM, R744SQTM, R744PBSY, QWACESC: 1 microsecond,
  per engine or section.
- SMF74CNN: 128 microseconds a device; SMF74IOS: a hexadecimal float of 4 bytes, 21 bits at least.
- R723: hexadecimal floats of 8 bytes, 53 bits at least; goals: 1 millisecond.
- SMF 30: processor time 0.01 s, DASD times 128 microseconds.
- Counts: exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.simulate.scenario import beginning
from tests.simulate.conftest import Measured

#: Half of a microsecond, rounded up for the floating point of sums.
MICROSECOND = 0.51e-6

Row = Mapping[str, Any]
Found = dict[tuple[str, ...], Row]


def rows(measured: Measured, grain: str, *keys: str, number: int | None = None) -> Found:
    """Rows of a grain in an interval (all together where none is given), by the values of keys."""
    table = evaluate(measured.inputs, GRAINS[grain], by=keys, time="all" if number is None else "interval")
    assert table is not None, f"nothing for {grain}"
    moment = None if number is None else beginning({}) + timedelta(seconds=20.0 * number)
    found = {}
    for row in table.rows():
        time: datetime | None = row.get("time")
        if moment is None or time == moment:
            found[tuple(str(row[key]) for key in keys)] = row
    return found


def truth(measured: Measured, number: int) -> dict[str, Any]:
    interval: dict[str, Any] = measured.run.results["intervals"][number]
    return interval


def near(found: float | None, expected: float, within: float) -> bool:
    return found is not None and math.isclose(found, expected, rel_tol=1e-12, abs_tol=within + 1e-12)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_processors(measured: Measured, number: int) -> None:
    found = rows(measured, "cpu_system", "system", "processor_type", number=number)
    for used in truth(measured, number)["systems"]:
        name = used["name"]
        general, ziip = found[name, "CP"], found[name, "IIP"]
        # Two engines and one zIIP in an interval of 20 s.
        assert near(general["mvs_busy"], used["busy"] / 40, 1e-9)
        assert near(ziip["mvs_busy"], used["ziip_busy"] / 20, 1e-9)
        assert near(general["processors_used"], used["busy"] / 20, 2 * MICROSECOND / 20)
        assert near(general["lpar_busy"], used["busy"] / 40, 2 * MICROSECOND / 40)
        charged = sum(space["cpu"] for space in used["spaces"])
        assert near(general["capture_ratio"], charged / used["busy"], 2 * MICROSECOND / used["busy"] * 1.1)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_address_spaces(measured: Measured, number: int) -> None:
    """Report classes are address spaces, service classes sums of them; zIIPs are as fast as the other engines here."""
    found = rows(measured, "workload_period", "system", "class_kind", "class_name", number=number)
    for used in truth(measured, number)["systems"]:
        spaces = {space["name"]: space for space in used["spaces"]}
        for name, space in spaces.items():
            row = found[used["name"], "report class", name]
            assert near(row["cpu_seconds"], space["cpu"] + space["ziip"], 1e-9)
            assert near(row["cp_seconds"], space["cpu"], 1e-9)
            assert near(row["ziip_engine_seconds"], space["ziip"], 1e-9)
            assert near(row["ziip_on_cp_seconds"], space["ziip_on_cp"], 1e-9)
        member = {"SYS1": "DB1", "SYS2": "DB2"}[used["name"]]
        database = spaces[f"{member}DBM1"]["cpu"] + spaces[f"{member}MSTR"]["cpu"]
        assert near(found[used["name"], "service class", "STCDB2"]["cp_seconds"], database, 1e-9)
        lock_manager = spaces[f"{member}IRLM"]["cpu"]
        assert near(found[used["name"], "service class", "STCIRLM"]["cp_seconds"], lock_manager, 1e-9)
        regions = sum(space["cpu"] for name, space in spaces.items() if name[1:3] == "OR")
        assert near(found[used["name"], "service class", "CICSRGN"]["cp_seconds"], regions, 1e-9)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_responses(measured: Measured, number: int) -> None:
    found = rows(measured, "workload_period", "system", "class_kind", "class_name", number=number)
    goals = 0
    for used in truth(measured, number)["classes"]:
        for counts in used["systems"]:
            response = counts["response"]
            if used["name"] == "SCAN" and counts["system"] == "SYS2":
                assert response["count"] == 0
                continue
            row = found[counts["system"], "service class", used["name"]]
            count, mean = response["count"], response["seconds"] / response["count"]
            assert row["transactions"] == count
            assert near(row["transactions_per_second"], count / 20, 0)
            assert near(row["response_time"], mean, 1e-10)
            deviation = math.sqrt(response["squares"] / count - mean**2)
            assert near(row["response_deviation"], deviation, 1e-7)
            if used["name"] == "UPDA":
                goals += 1
                assert near(row["performance_index"], mean / 0.05, 1e-9)
    assert goals == 2


@pytest.mark.parametrize("number", [0, 1, 2])
def test_structures(measured: Measured, number: int) -> None:
    found = rows(measured, "coupling_structure", "system", "structure", number=number)
    checked = 0
    for used in truth(measured, number)["structures"]:
        row = found[used["system"], used["name"]]
        timing = used["synchronous"]
        count, mean = timing["count"], timing["seconds"] / timing["count"]
        assert near(row["requests_per_second"], count / 20, 0)
        assert near(row["sync_service_time"], mean, MICROSECOND / count)
        assert near(row["sync_processors"], timing["seconds"] / 20, MICROSECOND / 20)
        deviation = math.sqrt(max(timing["squares"] / count - mean**2, 0))
        # Squares are in squared microseconds, sums in microseconds.
        assert near(row["sync_service_deviation"] ** 2, deviation**2, (1e-12 + 2 * mean * MICROSECOND) / count)
        assert row["async_per_second"] == 0
        waits = used["subchannel_waits"]
        assert near(row["delayed_fraction"], waits["count"] / count, 0)
        assert near(row["delay_of_all"], waits["seconds"] / count, MICROSECOND / count)
        if used["lock"]:
            checked += used["contentions"]
            assert near(row["contention_fraction"], used["contentions"] / count, 0)
            assert near(row["false_contention_fraction"], used["false_contentions"] / count, 0)
            assert row["lock_entries"] == 4096
    assert checked > 0


@pytest.mark.parametrize("number", [0, 1, 2])
def test_cache_structure_and_facility(measured: Measured, number: int) -> None:
    interval = truth(measured, number)
    pools = [member["pools"][0] for member in interval["members"]]

    def both(name: str) -> int:
        return sum(pool["member"][name] for pool in pools)

    reads = [
        both(name) for name in ("misses_with_data", "misses_without_data", "invalid_with_data", "invalid_without_data")
    ]
    row = rows(measured, "coupling_structure", "structure", number=number)["DSNG_GBP1",]
    assert near(row["reads_per_second"], sum(reads) / 20, 0)
    assert near(row["read_hit_fraction"], (reads[0] + reads[2]) / sum(reads), 0)
    assert near(row["writes_per_second"], both("sync_writes") / 20, 0)
    assert near(row["castouts_per_second"], pools[0]["group"]["castout_pages"] / 20, 0)
    assert both("sync_writes") > 0 and reads[0] + reads[2] > 0
    for used in interval["facilities"]:
        row = rows(measured, "coupling_facility", "facility", number=number)[used["name"],]
        assert near(row["utilization"], used["busy"] / 20, MICROSECOND / 20)
        asked = sum(one["synchronous"]["count"] for one in interval["structures"] if one["facility"] == used["name"])
        assert near(row["requests_per_second"], asked / 20, 0)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_pools(measured: Measured, number: int) -> None:
    found = rows(measured, "db2_pool", "subsystem", "pool", number=number)
    for member in truth(measured, number)["members"]:
        row, local = found[member["name"], "BP1"], member["pools"][0]["local"]
        for fact, names in {
            "getpages": ("getpages",),
            "getpages_sequential": ("getpages_sequential",),
            "sync_reads": ("sync_reads_random", "sync_reads_sequential"),
            "sequential_prefetch_requests": ("sequential_requests",),
            "sequential_prefetch_pages": ("sequential_pages",),
            "dynamic_prefetch_pages": ("dynamic_pages",),
            "buffer_updates": ("updates",),
            "pages_written": ("pages_written",),
            "async_writes": ("async_writes",),
        }.items():
            assert row[fact] == sum(local[name] for name in names), fact
        assert row["getpages"] > 5_000 and row["sync_reads"] > 0


@pytest.mark.parametrize("number", [0, 1, 2])
def test_group_pools(measured: Measured, number: int) -> None:
    found = rows(measured, "db2_group_pool", "subsystem", "group_pool", number=number)
    castouts = 0.0
    for member in truth(measured, number)["members"]:
        row, used = found[member["name"], "GBP1"], member["pools"][0]["member"]
        with_data = used["misses_with_data"] + used["invalid_with_data"]
        reads = with_data + used["misses_without_data"] + used["invalid_without_data"]
        assert near(row["reads_per_second"], reads / 20, 0)
        assert near(row["read_hit_fraction"], with_data / reads, 0)
        assert near(row["changed_pages_per_second"], (used["sync_writes"] + used["async_writes"]) / 20, 0)
        castouts += row["pages_castout"]
        for fact, name in {
            "register_page_lists": "register_lists",
            "prefetch_pages_retrieved": "prefetched_pages",
            "unregister_pages": "unregistered",
            "unlock_castout": "castout_unlocks",
            "read_castout_class": "castout_classes",
            "read_castout_statistics": "castout_statistics",
            "castout_class_threshold": "class_threshold",
            "castout_pool_threshold": "pool_threshold",
            "delete_name": "deleted_names",
        }.items():
            assert row[fact] == used[name], fact
        # Scans run in the first system alone.
        assert (row["register_page_lists"] > 0) == (member["name"] == "DB1")
        physical = member["pools"][0]["page_locks"]
        assert row["page_lock_requests"] == physical["requests"] > 0
        assert row["page_lock_suspensions"] == physical["suspensions"] > 0
        assert row["page_lock_negotiations"] == physical["negotiations"] > 0
        assert row["page_unlock_requests"] == physical["unlocks"]
    assert castouts == truth(measured, number)["members"][0]["pools"][0]["group"]["castout_pages"]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_locking(measured: Measured, number: int) -> None:
    found = rows(measured, "db2_locking", "subsystem", number=number)
    for member in truth(measured, number)["members"]:
        row, used = found[member["name"],], member["locking"]
        assert row["lock_requests"] == used["locks"] > 0
        assert row["unlock_requests"] == used["unlocks"]
        assert row["deadlocks"] == used["deadlocks"]
        assert row["timeouts"] == used["timeouts"]
        assert row["suspensions_lock"] == used["suspensions"]["count"]
        physical = member["pools"][0]["page_locks"]
        asked = used["global_locks"] + used["page_set_locks"] + used["global_unlocks"]
        asked += physical["requests"] + physical["unlocks"]
        assert row["plock_lock_requests"] == used["page_set_locks"] + physical["requests"]
        assert row["plock_unlock_requests"] == physical["unlocks"]
        assert row["page_plock_negotiations"] == physical["negotiations"]
        assert near(row["xes_requests_per_second"], asked / 20, 0)
        assert near(row["false_contention_fraction"], used["false_contentions"] / asked, 0)
        assert near(row["xes_contention_fraction"], used["xes_contentions"] / asked, 0)
        assert near(row["irlm_contention_fraction"], used["real_contentions"] / asked, 0)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_subsystems(measured: Measured, number: int) -> None:
    interval = truth(measured, number)
    services = rows(measured, "db2_subsystem", "subsystem", number=number)
    logs = rows(measured, "db2_log", "subsystem", number=number)
    spaces = rows(measured, "db2_address_space", "subsystem", "address_space", number=number)
    used = {space["name"]: space for system in interval["systems"] for space in system["spaces"]}
    for member in interval["members"]:
        name = member["name"]
        assert services[name,]["commits_phase_2"] == member["commits"] > 0
        assert services[name,]["rollbacks"] == member["rollbacks"]
        # Two copies of the log.
        assert logs[name,]["write_requests"] == 2 * member["log_writes"] > 0
        for space in ("DBM1", "MSTR", "IRLM"):
            row = spaces[name, space]
            assert near(row["cp_processors"], used[name + space]["cpu"] / 20, 1e-9)
            assert near(row["iip_processors"], used[name + space]["ziip"] / 20, 1e-9)


def test_accounting(measured: Measured) -> None:
    """Over the run: accounting is gathered by quarters of an hour."""
    found = rows(measured, "db2_accounting", "subsystem", "plan")
    for number, values in enumerate(measured.run.scenario.values["class"]):
        for place, member in enumerate(("DB1", "DB2")):
            counts = [one["classes"][number]["systems"][place] for one in measured.run.results["intervals"]]
            ended = sum(one["response"]["count"] for one in counts)
            if ended == 0:
                assert (member, values["name"]) not in found
                continue

            def used(name: str, counts: list[Row] = counts) -> float:
                return float(sum(one["used"][name] for one in counts))

            row = found[member, values["name"]]
            assert row["commits"] == ended
            assert near(row["class2_elapsed_seconds"], used("db2_elapsed"), 3e-9)
            assert near(row["class1_elapsed_seconds"], used("thread_elapsed"), 3 * 2 * MICROSECOND)
            assert used("thread_elapsed") > used("db2_elapsed")
            assert near(row["class2_cp_cpu_seconds"], used("db2_cpu") - used("db2_ziip"), 3e-9)
            assert near(row["class2_se_cpu_seconds"], used("db2_ziip"), 3e-9)
            assert near(row["class1_secp_cpu_seconds"], used("db2_ziip_on_cp"), 3e-9)
            assert near(row["class3_database_io_seconds"], used("wait_sync_read"), 3e-9)
            assert near(row["class3_other_read_io_seconds"], used("wait_other_read"), 3e-9)
            assert near(row["class3_log_write_io_seconds"], used("wait_log"), 3e-9)
            assert near(row["class3_irlm_lock_latch_seconds"], used("wait_lock"), 3e-9)
            assert near(row["class3_global_contention_seconds"], used("wait_contention") + used("wait_page_lock"), 6e-9)
            assert row["class3_log_write_io_events"] == used("waits_log")
            assert row["class3_irlm_lock_latch_events"] == used("waits_lock")
            assert row["lock_requests"] == used("locks")
            assert row["unlock_requests"] == used("unlocks")
            assert row["getpages"] == used("getpages")
            assert row["sync_reads"] == used("sync_reads")
            assert row["buffer_updates"] == used("updates")


def test_page_lock_waits_agree_with_suspensions(measured: Measured) -> None:
    """Each suspension of SMF 100 is a wait for a page P-lock in SMF 101, of two messages and more: 0.3 ms at least.

    Suspensions count when they begin and waits when their transaction has ended, so what is under way differs.
    """
    classes = rows(measured, "db2_accounting_sharing", "subsystem", "plan")
    pools = rows(measured, "db2_group_pool", "subsystem", "group_pool")
    names = {one["name"]: number for number, one in enumerate(measured.run.scenario.values["class"])}
    for (member, plan), row in classes.items():
        place = {"DB1": 0, "DB2": 1}[member]
        used = [one["classes"][names[plan]]["systems"][place]["used"] for one in measured.run.results["intervals"]]
        assert near(row["page_lock_wait_seconds"], sum(one["wait_page_lock"] for one in used), 3e-9)
        assert near(row["l_lock_wait_seconds"], sum(one["wait_contention"] for one in used), 3e-9)
    waits = measured.inputs.connection.execute(
        "select sum(qwacarno)::double, sum(qwacawto), sum(qwacarnk)::double, sum(qwacarnj)::double "
        "from smf101_ifcid3_qwac"
    ).fetchone()
    assert waits is not None
    suspended = sum(row["page_lock_suspensions"] for row in pools.values())
    assert suspended > 500
    assert abs(waits[0] - suspended) <= 5
    assert 0.0003 <= waits[1] / waits[0] < 0.0005
    # Locks of rows and pages are child locks; the simulator has no parent locks that contend.
    assert waits[2] > 500 and waits[3] == 0


@pytest.mark.parametrize("number", [0, 1, 2])
def test_devices(measured: Measured, number: int) -> None:
    found = rows(measured, "dasd_device", "system", "volume", number=number)
    systems = truth(measured, number)["systems"]
    assert len(found) == 64 * len(systems) == 128
    for system in systems:
        assert sum(used["requests"] for used in system["volumes"]) > 0
        for at, used in enumerate(system["volumes"]):
            row, count = found[system["name"], f"SIM{at:03d}"], used["requests"]
            assert near(row["io_rate"], count / 20, 0)
            if count:
                expected = (used["queued"] + used["service"]) / count
                # Connect, pending and disconnect time are rounded each for itself.
                assert near(row["response_time"], expected, (3 * 64e-6 + used["queued"] * 2**-20) / count)
                assert near(row["pending_time"], used["pending"] / count, 64e-6 / count)
                assert near(row["disconnect_time"], used["disconnected"] / count, 64e-6 / count)
                assert near(row["ios_queue_time"], used["queued"] / count, used["queued"] * 2**-20 / count)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_regions_by_statistics(measured: Measured, number: int) -> None:
    """SMF 110-2: clocks of 2**-12 microseconds, counts exact."""
    modes = rows(measured, "cics_tcb", "applid", "mode", number=number)
    regions = rows(measured, "cics_region", "applid", number=number)
    connections = rows(measured, "cics_db2", "applid", "thread_kind", number=number)
    used_by = truth(measured, number)["regions"]
    assert {name for name, _ in modes} == {used["name"] for used in used_by} == {"TOR1", "TOR2", "AOR1", "AOR2"}
    for used in used_by:
        name = used["name"]
        main = modes[name, "QR"]
        assert near(main["dispatch_seconds"], used["qr_dispatched"], 1e-9)
        assert near(main["cpu_seconds"], used["qr_cpu"], 1e-9)
        assert near(main["dispatch_seconds"] + main["wait_seconds"], 20.0, 1e-9)
        assert regions[name,]["transactions"] == used["attached"] > 0
        if name.startswith("AOR"):
            opened = modes[name, "L8"]
            assert near(opened["dispatch_seconds"], used["open_dispatched"], 1e-9)
            assert near(opened["cpu_seconds"], used["open_cpu"], 1e-9)
            assert opened["allocations"] == connections[name, "pool"]["thread_creations"] == used["threads"] > 0
            assert connections[name, "pool"]["thread_waits"] == used["thread_waits"]["count"]
            assert connections[name, "pool"]["peak_threads"] == used["most_threads"] > 0


@pytest.mark.parametrize("number", [0, 1, 2])
def test_samples_of_service_classes(measured: Measured, number: int) -> None:
    """Four samples per second of what spaces use and wait for."""
    found = rows(measured, "workload_period", "system", "class_kind", "class_name", number=number)
    for used in truth(measured, number)["systems"]:
        for space in used["spaces"]:
            row = found[used["name"], "report class", space["name"]]
            using, delay = space["cpu"] + space["ziip"], space["cpu_delay"] + space["ziip_delay"]
            assert abs(row["using_samples"] - 4 * using) <= 1
            assert abs(row["delay_samples"] - 4 * delay) <= 1
            if using + delay > 2.0:
                assert abs(row["velocity"] - using / (using + delay)) < 2 / (4 * (using + delay))
        database = found[used["name"], "service class", "STCDB2"]
        volumes = used["volumes"]
        assert database["dasd_requests"] == sum(one["requests"] for one in volumes)
        disconnected = sum(one["disconnected"] for one in volumes)
        assert near(database["dasd_disconnect_seconds"], disconnected, 1e-9)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_group_pools_threads_and_log(measured: Measured, number: int) -> None:
    interval = truth(measured, number)
    services = rows(measured, "db2_subsystem", "subsystem", number=number)
    logs = rows(measured, "db2_log", "subsystem", number=number)
    for at, member in enumerate(interval["members"]):
        ended = [one["systems"][at] for one in interval["classes"]]
        updates = sum(one["used"]["updates"] for one in ended)
        forces = sum(one["used"]["waits_log"] for one in ended)
        log = logs[member["name"],]
        assert log["records_created"] == updates + 2 * forces > 0
        assert log["control_intervals_written"] >= log["write_requests"] > 0
        threads = sum(one["threads"] for one in interval["regions"] if one["system"] == member["system"])
        assert services[member["name"],]["threads_created"] == threads > 0


def ios(member: Mapping[str, Any]) -> int:
    """I/Os of a member by what its pools counted: reads, prefetches and the writes of castout."""
    (pool,) = member["pools"]
    local, shared = pool["local"], pool["member"]
    reads = local["sync_reads_random"] + local["sync_reads_sequential"]
    prefetches = local["sequential_reads"] + local["dynamic_reads"] + local["list_reads"]
    return int(reads + prefetches + local["async_writes"] + local["sync_writes"] + shared["castout_unlocks"])


@pytest.mark.parametrize("number", [0, 1, 2])
def test_address_spaces_by_smf_30(measured: Measured, number: int) -> None:
    """Processor time by kind; zIIPs are as fast as the other engines here. Intervals are shorter than a minute."""
    found = rows(measured, "address_space", "system", "job", number=number)
    interval = truth(measured, number)
    regions = {used["name"]: used for used in interval["regions"]}
    members = {used["name"]: used for used in interval["members"]}
    assert len(found) == sum(len(used["spaces"]) for used in interval["systems"])
    for used in interval["systems"]:
        for space in used["spaces"]:
            name = space["name"]
            row = found[used["name"], name]
            assert near(row["tcb_seconds"] + row["srb_seconds"], space["cpu"], 0.005)
            assert near(row["ziip_engine_seconds"], space["ziip"], 0.005)
            assert near(row["ziip_on_cp_seconds"], space["ziip_on_cp"], 0.005)
            assert row["address_space_seconds"] == 20.0
            # 16,000 service units per second of an engine.
            assert abs(row["service_units"] - (space["cpu"] + space["ziip"]) * 16_000) <= 1
            if name in regions:
                assert row["srb_seconds"] == row["excps"] == 0
                assert near(row["highest_task_fraction"], regions[name]["qr_cpu"] / 20, 0.005)
            elif name.endswith("DBM1"):
                member, volumes = members[name.removesuffix("DBM1")], used["volumes"]
                assert row["srb_seconds"] == 0
                assert row["preemptable_srb_seconds"] == row["tcb_seconds"]
                assert row["excps"] == row["dasd_ios"] == ios(member) > 0
                # One member on each system: its I/Os are those of the volumes.
                assert row["dasd_ios"] == sum(volume["requests"] for volume in volumes)
                assert near(row["dasd_disconnect_seconds"], sum(one["disconnected"] for one in volumes), 64e-6)
                assert near(row["dasd_pending_seconds"], sum(one["pending"] for one in volumes), 64e-6)
                # 2000 buffers of 4 KiB.
                assert row["above_bar_bytes"] == 8_192_000
                assert row["above_bar_frames"] == 2000
                assert row["memory_limit_bytes"] is None
            else:
                assert row["tcb_seconds"] == row["excps"] == 0


@pytest.mark.parametrize("number", [0, 1, 2])
def test_signals_between_regions(measured: Measured, number: int) -> None:
    found = rows(measured, "coupling_xcf_member", "group", "member", number=number)
    regions = truth(measured, number)["regions"]
    assert set(found) == {("DFHIR000", used["name"]) for used in regions}
    for used in regions:
        row = found["DFHIR000", used["name"]]
        assert row["signals_sent"] == used["shipped"]
        assert row["signals_received"] == used["received"]
    sent = sum(used["shipped"] for used in regions)
    assert sent > 0
    # What is on its way at either end of the interval is counted at one end only.
    assert abs(sum(used["received"] for used in regions) - sent) <= 2


@pytest.mark.parametrize("number", [0, 1, 2])
def test_what_moves_through_a_group_buffer_pool(measured: Measured, number: int) -> None:
    """Pages of 4 KiB; the dependent getpages of a member are a part of its getpages."""
    interval = truth(measured, number)
    structures = rows(measured, "coupling_structure", "system", "structure", number=number)
    pools = rows(measured, "db2_pool", "subsystem", number=number)
    shared = rows(measured, "db2_group_pool", "subsystem", number=number)
    for member in interval["members"]:
        (pool,) = member["pools"]
        used = pool["member"]
        row = structures[member["system"], "DSNG_GBP1"]
        read = used["misses_with_data"] + used["invalid_with_data"] + used["prefetched_pages"] + used["castout_pages"]
        assert row["bytes_written"] == 4096 * (used["sync_writes"] + used["async_writes"]) > 0
        assert row["bytes_read"] == 4096 * read > 0
        assert row["changed_entries"] == pool["changed_in_group"] <= 3000
        dependent = shared[member["name"],]["dependent_getpages"]
        assert dependent == pool["page_locks"]["dependent_getpages"] > 0
        assert dependent <= pools[member["name"],]["getpages"]


def test_whoever_came_in_is_in_the_region(measured: Measured) -> None:
    """Terminal regions have tasks as long as their transactions run elsewhere."""
    regions = rows(measured, "cics_region", "applid")
    assert all(row["peak_tasks"] > 0 for row in regions.values())


def test_the_laws_hold(measured: Measured) -> None:
    laws = {law["name"]: law for law in measured.run.results["laws"]}
    assert len(laws) == 3 + 2
    for name, law in laws.items():
        within = 1e-9 if name.startswith("Little") else 1e-3
        assert math.isclose(law["by_level"], law["by_time"], rel_tol=within)
