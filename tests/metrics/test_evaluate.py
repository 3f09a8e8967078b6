"""How facts of several sources and many rows become one answer."""

from __future__ import annotations

from datetime import timedelta

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import attach, evaluate
from tests.metrics.raw import START, inputs, row, rows_of

FACILITY = GRAINS["coupling_facility"]


def smf(offset: float = 0.0) -> dict:
    return {
        "smf74_4_local_cf": [row(1, r744fnam="CF1", r744ftor=900.0, utc_offset=offset)],
        "smf74_4_processor": [row(1, r744pbsy=90.0, r744pwai=810.0, utc_offset=offset)],
    }


def xml(shift: float = 0.0, **fields: object) -> dict:
    """A report without a system, as the sysplex report has none; its times are local."""
    at = {"system": None, "utc_offset": None}
    start = START + timedelta(seconds=shift)
    when = {"interval_start": start, "interval_end": start + timedelta(seconds=900)}
    return {
        "rmf_xml_coupling_facility": [
            row(
                1,
                cf_name="CF1",
                interval_seconds=900.0,
                busy_percent=50.0,
                processor_seconds=900.0,
                processors_defined=1.0,
                **at | when | fields,
            )
        ]
    }


def test_one_interval_told_by_a_dump_and_a_report_counts_once() -> None:
    (found,) = rows_of(evaluate(inputs(**smf(), **xml()), FACILITY, by=("facility",), time="all"))
    # The dump is preferred: 10 % busy, not 50 % and not a mixture.
    assert found["utilization"] == pytest.approx(0.1)
    assert found["intervals"] == 1


def test_a_report_in_local_time_is_recognised_by_the_offset_of_the_dump() -> None:
    # The dump says that local time is five hours behind UTC; the report of the same interval is five hours earlier.
    raw = inputs(**smf(offset=-18000.0), **xml(shift=-18000))
    (found,) = rows_of(evaluate(raw, FACILITY, by=("facility",), time="all"))
    assert found["intervals"] == 1
    assert found["utilization"] == pytest.approx(0.1)


def test_a_report_of_an_hour_of_which_the_dump_has_quarters_counts_once() -> None:
    hour = {"interval_start": START, "interval_end": START + timedelta(seconds=3600)}
    raw = {
        "smf74_4_local_cf": [row(n, interval=n, r744fnam="CF1", r744ftor=900.0) for n in range(4)],
        "smf74_4_processor": [row(n, interval=n, r744pbsy=90.0, r744pwai=810.0) for n in range(4)],
    }
    (found,) = rows_of(evaluate(inputs(**raw, **xml(**hour)), FACILITY, by=("facility",), time="all"))
    assert found["intervals"] == 4
    assert found["utilization"] == pytest.approx(0.1)


def test_another_interval_of_the_report_is_kept() -> None:
    raw = inputs(**smf(), **xml(shift=900))
    (found,) = rows_of(evaluate(raw, FACILITY, by=("facility",), time="all"))
    assert found["intervals"] == 2
    # 90 of 900 and 450 of 900 seconds.
    assert found["utilization"] == pytest.approx(0.3)


def test_another_sysplex_is_kept() -> None:
    found = rows_of(evaluate(inputs(**smf(), **xml(sysplex="OTHER")), FACILITY, by=("sysplex",), time="all"))
    assert {r["sysplex"]: r["utilization"] for r in found} == {
        "PLEX": pytest.approx(0.1),
        "OTHER": pytest.approx(0.5),
    }


def test_hours_and_days() -> None:
    raw = inputs(
        smf74_4_local_cf=[row(n, interval=n, r744fnam="CF1", r744ftor=900.0 * (n + 1)) for n in range(6)],
    )
    hours = {r["time"].hour: r["requests_per_second"] for r in rows_of(evaluate(raw, FACILITY, time="hour"))}
    # Quarters with 1, 2, 3, 4 requests a second in the first hour, 5 and 6 in the half of the second.
    assert hours == {8: pytest.approx(2.5), 9: pytest.approx(5.5)}
    (day,) = rows_of(evaluate(raw, FACILITY, time="day"))
    assert day["requests_per_second"] == pytest.approx(3.5)


def test_unknown_choices_are_answered_with_the_valid_ones() -> None:
    raw = inputs(**smf())
    with pytest.raises(ValueError, match="facility"):
        evaluate(raw, FACILITY, by=("structure",))
    with pytest.raises(ValueError, match="interval, quarter_hour, hour, day, week, month, all"):
        evaluate(raw, FACILITY, time="fortnight")


def test_no_source_is_no_table() -> None:
    assert evaluate(inputs(other=[row(1)]), FACILITY) is None


def test_grains_become_views() -> None:
    raw = inputs(**smf())
    assert attach(raw) == ("coupling_facility",)
    (value,) = raw.connection.execute("select utilization from coupling_facility").fetchone()
    assert value == pytest.approx(0.1)
    assert attach(raw, ["coupling_structure"]) == ()
