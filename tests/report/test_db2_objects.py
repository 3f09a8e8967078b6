"""The page of Db2 objects: ranked by I/O, with what it costs in a day, and the devices behind them."""

from __future__ import annotations

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.report import Report, render_html, render_text
from plexlens.report.build import build
from plexlens.report.model import Missing, Note, Table
from tests.metrics.raw import inputs, rows_of
from tests.metrics.test_db2_data_set import data_set
from tests.metrics.test_db2_statistics import two
from tests.pools.test_responses import FAST, database, pair
from tests.report import shop


def table(report: Report, name: str) -> list[dict[str, object]]:
    (found,) = [
        block for block in report.section("db2_objects").blocks if isinstance(block, Table) and block.name == name
    ]
    return [dict(zip((column.name for column in found.columns), row, strict=True)) for row in found.rows]


@pytest.fixture(scope="module")
def report() -> Report:
    # Two objects in ten minutes: 600 + 60 I/Os, and 3,000 + 60.
    objects = [
        data_set(seconds, number, section, qw0199ob=section, qw0199sr=reads, qw0199ar=60, qw0199sa=0.002)
        for number, seconds in ((1, 0), (2, 600))
        for section, reads in ((1, 600), (2, 3000))
    ]
    return build(pair(smf102_ifcid199=objects), shop.readings())


def test_objects_stand_by_their_io(report: Report) -> None:
    rows = table(report, "db2_data_sets")
    assert [row["page_set"] for row in rows] == ["2", "1"]
    # 3,060 I/Os in 600 s: 5.1 a second; 86,400 x 5.1 x 33 µs of CPU and 86,400 x 5 x 2 ms of delay in a day.
    assert rows[0]["ios_per_second"] == pytest.approx(5.1)
    assert rows[0]["cpu_per_day"] == pytest.approx(86400 * 5.1 * 33e-6)
    assert rows[0]["sync_delay_per_day"] == pytest.approx(864.0)


def test_pairs_are_explained_and_every_number_is_defined(report: Report) -> None:
    section = report.section("db2_objects")
    notes = [block.text for block in section.blocks if isinstance(block, Note)]
    assert any("PAYDB.PAYTS and PAYDB.PAYIX" in text and "miss the cache" in text for text in notes)
    rows = table(report, "responses")
    assert [row["object"] for row in rows] == ["PAYDB.PAYTS", "PAYDB.PAYIX", "CUSDB.CUSTTS"]
    assert rows[0]["response_time"] == pytest.approx(0.002)
    for block in section.blocks:
        if isinstance(block, Table):
            for column in block.columns:
                assert not column.definition or column.definition in report.definitions
    assert render_html(report)
    assert "PAYDB.PAYTS" in render_text(report)


def test_data_sets_of_others_make_no_page_of_objects() -> None:
    """SMF 42-6 without a Db2: the page says what would fill it, among those without data."""
    report = build(database(("PROD.PAYROLL.MASTER", "VOL001", FAST)), shop.readings())
    blocks = report.section("db2_objects").blocks
    assert all(isinstance(block, Missing) for block in blocks)


def test_pools_show_their_cpu_in_a_day() -> None:
    # 600 + 60 + 6 + 6 read I/Os in a minute: 11.2 a second.
    source = two(
        "smf100_ifcid2_qbst",
        {"qbstpid": 2, "qbstrio": 1000, "qbstpio": 100, "qbstlio": 10, "qbstdio": 1},
        {"qbstpid": 2, "qbstrio": 1600, "qbstpio": 160, "qbstlio": 16, "qbstdio": 7},
    )
    (found,) = rows_of(evaluate(source, GRAINS["db2_pool"]))
    assert found["read_ios_per_second"] == pytest.approx(11.2)
    assert found["read_cpu_per_day"] == pytest.approx(11.2 * 33e-6 * 86400)
    assert evaluate(inputs(), GRAINS["db2_pool"]) is None
