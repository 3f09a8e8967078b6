"""SMF 70-1 of a machine of two partitions, each number worked by hand."""

from __future__ import annotations

from plexlens.smf_rows.smf70_1 import Engine, Image, Machine, Partition, sections


def test_two_partitions_seen_by_the_second() -> None:
    machine = Machine("M", {"CP": 3, "IIP": 1}, adjustment=500, ziip_factor=2.0, msu=345)
    first = Partition("ONE", 100, [Engine("CP", 10.0), Engine("CP", 20.0)])
    second = Partition("TWO", 50, [Engine("CP", 30.0, 1.5), Engine("CP", 6.0), Engine("IIP", 7.0)])
    made = sections(machine, [first, second], Image(1, interruptions=11), seconds=60.0, samples=60)
    (control,) = made["smf70_1_cpu_control"]
    # Four physical engines; the second partition has one zIIP.
    assert (control["smf70bnp"], control["smf70sup"], control["smf70mcr"]) == (4, 1, 345)
    assert (control["smf70cpa"], control["smf70adj"]) == (500, 500)
    # z/OS waits for what its engines are not busy; eleven interruptions are shared by two general engines, 6 and 5.
    assert [row["smf70wat"] for row in made["smf70_1_cpu_data"]] == [30.0, 54.0, 53.0]
    assert [row["smf70nio"] for row in made["smf70_1_cpu_data"]] == [6, 5, 0]
    assert [row["smf70typ"] for row in made["smf70_1_cpu_data"]] == [0, 0, 2]
    # The first partition's two logical engines stand before the second's three.
    assert [(row["smf70bds"], row["smf70bdn"], row["smf70bda"]) for row in made["smf70_1_partition"]] == [
        (0, 2, 120),
        (2, 3, 180),
    ]
    logical = made["smf70_1_logical_processor"]
    assert [row["smf70cix"] for row in logical] == [1, 1, 1, 1, 2]
    assert [row["smf70vpa"] for row in logical] == [0, 1, 0, 1, 2]
    # Effective dispatch time is without the second and a half that PR/SM spends.
    assert (logical[2]["smf70pdt"], logical[2]["smf70edt"], logical[2]["smf70wst"]) == (30.0, 28.5, 30.0)
    assert [row["smf70ctn"] for row in made["smf70_1_cpu_identification"]] == [3, 1]
