"""XCF metrics against values worked by hand."""

from __future__ import annotations

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from tests.metrics.raw import inputs, row, rows_of


def test_transport_class() -> None:
    raw = inputs(
        smf74_2_system=[
            row(
                1,
                r742snme="SYS2",
                r742sdir=0x40,
                r742stcn="DEFAULT",
                r742sbig=90,
                r742sfit=540,
                r742ssml=270,
                r742sbsy=9,
            )
        ]
    )
    (found,) = rows_of(evaluate(raw, GRAINS["coupling_xcf_class"]))
    assert (found["other_system"], found["direction"], found["transport_class"]) == ("SYS2", "outbound", "DEFAULT")
    assert found["messages_per_second"] == pytest.approx(1.0)
    assert found["big_fraction"] == pytest.approx(0.1)
    assert found["fit_fraction"] == pytest.approx(0.6)
    assert found["small_fraction"] == pytest.approx(0.3)
    assert found["no_buffer_fraction"] == pytest.approx(0.01)


def test_path_is_named_by_structure_or_device() -> None:
    ctc = {"r742pona": "SYS2", "r742pdev": "4F40", "r742ptyp": 1, "r742pstr": "", "r742pdir": 0x80}
    structure = {"r742pona": "SYS2", "r742pdev": "", "r742ptyp": 3, "r742pstr": "IXCSTR1", "r742pdir": 0x40}
    raw = inputs(
        smf74_2_path=[
            row(1, 1, r742psig=1800, r742psus=75, r742papp=25, r742piot=0.002, **ctc),
            row(1, 2, r742psig=900, r742psus=0, r742papp=0, r742piot=0.001, **structure),
        ]
    )
    found = {r["path"]: r for r in rows_of(evaluate(raw, GRAINS["coupling_xcf_path"]))}
    assert found["4F40"]["signals_per_second"] == pytest.approx(2.0)
    assert found["4F40"]["busy_fraction"] == pytest.approx(0.25)
    assert found["4F40"]["transfer_time"] == pytest.approx(0.002)
    assert (found["4F40"]["path_type"], found["4F40"]["direction"]) == ("CTC", "inbound")
    assert found["IXCSTR1"]["path_type"] == "list structure"
    assert found["IXCSTR1"]["busy_fraction"] is None


def test_member_traffic_over_two_intervals() -> None:
    member = {"r742mgrp": "IXCLO001", "r742mmem": "M1", "r742msys": "SYS1"}
    raw = inputs(
        smf74_2_member=[
            row(1, r742msnt=900, r742mrcv=0, **member),
            row(2, interval=1, r742msnt=2700, r742mrcv=450, **member),
        ]
    )
    (found,) = rows_of(evaluate(raw, GRAINS["coupling_xcf_member"], by=("group", "member"), time="all"))
    # 3,600 signals in 1,800 s.
    assert found["sent_per_second"] == pytest.approx(2.0)
    assert found["received_per_second"] == pytest.approx(0.25)
