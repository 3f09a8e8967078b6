"""Selections by time, system, shift and class, against a slow selection that shares no code."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.errors import NothingUsableError, UnreadableInputError, UsageError
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import attach, evaluate, facts
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import Selection, between, intervals_there, read_shifts, resolve, shift, window
from plexlens.metrics.selection.raw import show_selected
from tests.draws import draws
from tests.metrics.raw import inputs as raw_inputs
from tests.metrics.raw import row, rows_of
from tests.oracle.slow_selection import DAYS, in_shift, in_window

PERIOD = GRAINS["workload_period"]
#: The night of 27 October 2024: clocks in Europe go back at 01:00 UTC.
CHANGE = datetime(2024, 10, 27, 1, 0, tzinfo=UTC)


def period(number: int, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A period of SMF 72-3 and the control section of its record."""
    name = {"r723mcnm": fields.pop("class_name", "ONLINE"), "r723mwnm": fields.pop("workload", "WORK")}
    name["r723mscf"] = fields.pop("r723mscf", 0)
    base = row(number, r723cper=1, r723crcp=float(number), **fields)
    control = {key: value for key, value in base.items() if not key.startswith("r723")} | name
    return base, control


def periods(*made: tuple[dict[str, Any], dict[str, Any]]) -> Inputs:
    return raw_inputs(smf72_3_period=[one for one, _ in made], smf72_3_wlm_control=[one for _, one in made])


def quarter(number: int, start: datetime, system: str, offset: float | None, **fields: Any) -> Any:
    end = start + timedelta(minutes=15)
    return period(number, system=system, utc_offset=offset, interval_start=start, interval_end=end, **fields)


def numbers(inputs: Inputs, selection: Selection) -> list[int]:
    """Numbers of the records whose facts are selected: each counts as many transactions as its number says."""
    chosen = Inputs(inputs.connection, resolve(selection, inputs.connection, "x"))
    return sorted(int(one["transactions"]) for one in rows_of(facts(chosen, PERIOD)))


@pytest.fixture(scope="module")
def two_zones() -> Inputs:
    """Four days of quarters of BERL, which leaves summer time in them, and of NEWY, whose offset does not change."""
    made = []
    first = datetime(2024, 10, 25, 0, 0, tzinfo=UTC)
    for index in range(4 * 96):
        # Systems close their intervals within moments of each other.
        start = first + timedelta(minutes=15 * index) + timedelta(milliseconds=(index * 37) % 900 - 450)
        made.append(quarter(2 * index + 1, start, "BERL", 7200.0 if start < CHANGE - timedelta(seconds=1) else 3600.0))
        made.append(quarter(2 * index + 2, start, "NEWY", -14400.0, class_name="BATCH", workload="NIGHT"))
    return periods(*made)


def test_a_day_is_the_day_of_each_system(two_zones: Inputs) -> None:
    """26 October is 25 October 22:00 to 26 October 22:00 UTC in Berlin and 04:00 to 04:00 UTC in New York."""
    found = numbers(two_zones, Selection((window("2024-10-26"),)))
    berlin, new_york = [n for n in found if n % 2], [n for n in found if not n % 2]
    assert berlin == [2 * index + 1 for index in range(88, 88 + 96)]
    assert new_york == [2 * index + 2 for index in range(112, 112 + 96)]


def test_the_day_on_which_clocks_go_back_has_25_hours(two_zones: Inputs) -> None:
    found = numbers(two_zones, Selection((window("2024-10-27"),), systems=("BERL",)))
    assert len(found) == 100
    # 02:00 to 03:00 happens twice.
    hour = numbers(two_zones, Selection((window("2024-10-27T02:00..2024-10-27T03:00"),), systems=("BERL",)))
    assert hour == [2 * index + 1 for index in range(192, 200)]


def test_a_time_with_an_offset_is_one_moment_for_all(two_zones: Inputs) -> None:
    found = numbers(two_zones, Selection((between("2024-10-26T00:00+00:00", "2024-10-26T01:00Z"),)))
    assert found == list(range(2 * 96 + 1, 2 * 100 + 1))


def test_an_interval_that_straddles_a_bound_is_where_it_starts(two_zones: Inputs) -> None:
    found = numbers(two_zones, Selection((between("2024-10-26T00:05Z", "2024-10-26T00:35Z"),), systems=("BERL",)))
    # The quarters of 00:15 and 00:30; that of 00:00 starts before.
    assert found == [2 * 97 + 1, 2 * 98 + 1]


def test_a_night_shift_belongs_to_the_day_on_which_it_starts(two_zones: Inputs) -> None:
    """Friday 25 October 22:00 to Saturday 06:00 local time: in New York 02:00 to 10:00 UTC."""
    found = numbers(two_zones, Selection(shifts=(shift("fri/22:00-06:00"),), systems=("NEWY",)))
    assert found == [2 * index + 2 for index in range(104, 136)]


def test_several_shifts_add_up(two_zones: Inputs) -> None:
    one, two = shift("sat/08:00-09:00"), shift("sat/08:30-10:00")
    assert len(numbers(two_zones, Selection(shifts=(one, two), systems=("NEWY",)))) == 8


def test_classes_by_name_and_workload(two_zones: Inputs) -> None:
    for name in ("BATCH", "bat*", "NIGHT"):
        found = numbers(two_zones, Selection((window("2024-10-26"),), classes=(name,)))
        assert len(found) == 96 and all(not n % 2 for n in found)


def test_a_grain_without_a_class_is_not_restricted_by_it() -> None:
    made = [period(1, class_name="A"), period(2, class_name="B")]
    tables = {"smf72_3_period": [a for a, _ in made], "smf72_3_wlm_control": [b for _, b in made]}
    tables["smf74_1_device"] = [row(9, smf74num=1), row(10, smf74num=2)]
    tables["rmf_product_section"] = [row(9, smf7xsam=900), row(10, smf7xsam=900)]
    inputs = raw_inputs(**tables)
    chosen = Inputs(inputs.connection, resolve(Selection(classes=("A",)), inputs.connection, "x"))
    assert len(rows_of(facts(chosen, PERIOD))) == 1
    assert len(rows_of(facts(chosen, GRAINS["dasd_device"]))) == 2


def test_what_a_preferred_source_leaves_out_does_not_come_back_from_another() -> None:
    """SMF and XML hold the same interval; class B of the XML report stays out though SMF has class A selected."""
    a, b = period(1, class_name="A"), period(2, class_name="B")
    xml = row(1, source_id="x", class_kind="service class", class_name="A", period=1, transactions=7.0)
    inputs = raw_inputs(smf72_3_period=[a[0], b[0]], smf72_3_wlm_control=[a[1], b[1]], rmf_xml_workload_period=[xml])
    chosen = Inputs(inputs.connection, resolve(Selection(classes=("A",)), inputs.connection, "x"))
    assert {one["source_kind"] for one in rows_of(facts(chosen, PERIOD))} == {"SMF 72-3"}
    # The other way round SMF has no row of class A, and the report is still not asked.
    inputs = raw_inputs(smf72_3_period=[b[0]], smf72_3_wlm_control=[b[1]], rmf_xml_workload_period=[xml])
    chosen = Inputs(inputs.connection, resolve(Selection(classes=("A",)), inputs.connection, "x"))
    assert rows_of(facts(chosen, PERIOD)) == []


OFFSETS = (None, 0.0, 7200.0, -14400.0, 19800.0, -12600.0, 3599.98)


@st.composite
def _intervals(draw: st.DrawFn) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    made = []
    for number in range(1, draw(st.integers(1, 12)) + 1):
        start = CHANGE + timedelta(seconds=draw(st.integers(-4 * 86400, 4 * 86400)))
        length = timedelta(seconds=draw(st.integers(60, 3600)))
        fields = {
            "interval_start": draw(st.sampled_from([start, start, start, None])),
            "interval_end": start + length,
            "utc_offset": draw(st.sampled_from(OFFSETS)),
            "system": draw(st.sampled_from(["SYS1", "SYS2", "PRDA", None])),
            "class_name": draw(st.sampled_from(["ONLINE", "BATCH", "DDF"])),
            "workload": draw(st.sampled_from(["W1", "W2"])),
        }
        made.append(period(number, **fields))
    return made


_BOUNDS = st.one_of(
    st.none(),
    st.integers(-5 * 24 * 60, 5 * 24 * 60).map(lambda m: (CHANGE + timedelta(minutes=m)).replace(tzinfo=None)),
    st.tuples(st.integers(-5 * 24 * 60, 5 * 24 * 60), st.sampled_from([0, 120, -240, 330])).map(
        lambda one: (CHANGE + timedelta(minutes=one[0])).astimezone(timezone(timedelta(minutes=one[1])))
    ),
)


@given(
    made=_intervals(),
    start=_BOUNDS,
    end=_BOUNDS,
    hours=st.one_of(
        st.none(),
        st.tuples(st.sets(st.sampled_from(DAYS), min_size=1), st.integers(0, 1439), st.integers(0, 1439)),
    ),
    systems=st.sampled_from([(), ("SYS*",), ("PRDA", "sys2")]),
    classes=st.sampled_from([(), ("ONLINE",), ("W2",), ("B*", "DDF")]),
)
@settings(max_examples=draws(60), deadline=None)
def test_against_a_slow_selection(
    *, made: Any, start: datetime | None, end: datetime | None, hours: Any, systems: Any, classes: Any
) -> None:
    def text(bound: datetime | None) -> str:
        return bound.isoformat() if bound is not None else ""

    inputs = periods(*made)
    if start and end and (start.tzinfo is None) == (end.tzinfo is None) and end <= start:
        with pytest.raises(UsageError, match="ends before it starts"):
            between(text(start), text(end))
        return
    shifts: tuple[Any, ...] = ()
    if hours is not None:
        days, first, last = hours
        if first == last:
            last = (first + 60) % 1440
        clock = f"{first // 60:02d}:{first % 60:02d}-{last // 60:02d}:{last % 60:02d}"
        shifts = (shift(f"{','.join(sorted(days))}/{clock}"),)
    names = {"SYS*": {"SYS1", "SYS2"}, "sys2": {"SYS2"}, "B*": {"BATCH"}}
    wanted_systems = set().union(*(names.get(one, {one}) for one in systems)) if systems else None
    wanted_classes = set().union(*(names.get(one, {one}) for one in classes)) if classes else None

    def place_and_time(one: dict[str, Any]) -> bool:
        if wanted_systems is not None and one["system"] not in wanted_systems:
            return False
        if (start is not None or end is not None) and not in_window(one, start, end):
            return False
        return hours is None or in_shift(one, sorted(days), first, last)

    expected = [
        int(base["r723crcp"])
        for base, control in made
        if place_and_time(base)
        and (wanted_classes is None or {control["r723mcnm"], control["r723mwnm"]} & wanted_classes)
    ]
    windows = (between(text(start), text(end)),) if start or end else ()
    selection = Selection(windows, shifts, systems, classes)
    if not selection:
        return
    try:
        resolved = resolve(selection, inputs.connection, "x")
    except NothingUsableError as error:
        there_are = {base["system"] for base, _ in made}
        known = {value for _, c in made for value in (c["r723mcnm"], c["r723mwnm"])}
        missing = any(not names.get(one, {one}) & there_are for one in systems)
        missing = missing or any(not names.get(one, {one}) & known for one in classes)
        nothing = not any(place_and_time(base) for base, _ in made)
        assert missing or nothing, str(error)
        return
    chosen = Inputs(inputs.connection, resolved)
    assert sorted(int(one["transactions"]) for one in rows_of(facts(chosen, PERIOD))) == sorted(expected)
    assert sorted(int(one["r723crcp"]) for one in rows_of(chosen.selected("smf72_3_period", "r723crcp"))) == sorted(
        expected
    )


def test_sql_sees_only_what_is_selected() -> None:
    inputs = periods(*[quarter(n, CHANGE + timedelta(hours=n), "S", 3600.0, class_name="ABC"[n]) for n in range(3)])
    connection = inputs.connection
    chosen = Inputs(
        connection, resolve(Selection((between("", "2024-10-27T03:59"),), classes=("B", "C")), connection, "x")
    )
    attach(chosen, {"workload_period"})
    show_selected(connection, chosen.selection, {"smf72_3_period", "smf72_3_wlm_control", "workload_period"})
    # Starts are 02:00, 03:00 and 04:00 local time, of classes A, B and C.
    assert connection.execute("select record_no from smf72_3_period").fetchall() == [(1,)]
    assert connection.execute("select r723mcnm from smf72_3_wlm_control").fetchall() == [("B",)]
    assert connection.execute("select class_name from workload_period").fetchall() == [("B",)]
    assert sorted(name for (name,) in connection.execute("show tables").fetchall()) == [
        "smf72_3_period", "smf72_3_wlm_control", "workload_period",
    ]  # fmt: skip


def test_a_roll_up_is_of_the_selection(two_zones: Inputs) -> None:
    chosen = Inputs(
        two_zones.connection, resolve(Selection((window("2024-10-26"),), systems=("BERL",)), two_zones.connection, "x")
    )
    (whole,) = rows_of(evaluate(chosen, PERIOD, by=("system",), time="all"))
    assert whole["transactions"] == sum(2 * index + 1 for index in range(88, 88 + 96))
    assert whole["intervals"] == 96


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(systems=("BERN",)), r"x: no system is called 'BERN'; did you mean BERL\?"),
        (Selection(systems=("Q",)), r"it has the systems BERL, NEWY"),
        (Selection(classes=("ONLIN",)), r"no class is called 'ONLIN'; did you mean ONLINE\?"),
        (
            Selection((window("2020-01-01"),)),
            r"nothing matches 2020-01-01 00:00 to 2020-01-02 00:00, local time of each system; it holds "
            r"BERL \(UTC\+01:00 and UTC\+02:00\): 2024-10-25 02:00 to 2024-10-29 00:45; "
            r"NEWY \(UTC-04:00\): 2024-10-24 20:00 to 2024-10-28 19:45",
        ),
        (Selection((window("2024-10-26"),), shifts=(shift("sun/08:00-09:00"),)), "nothing matches"),
    ],
)
def test_nothing_selected_says_what_there_is(two_zones: Inputs, selection: Selection, message: str) -> None:
    with pytest.raises(NothingUsableError, match=message) as raised:
        resolve(selection, two_zones.connection, "x")
    assert raised.value.exit_code == 4


def test_a_system_of_which_some_records_tell_no_offset() -> None:
    start = datetime(2024, 10, 27, 12, 0, tzinfo=UTC)
    inputs = periods(quarter(1, start, "WAY1", 0.0), quarter(2, start, "WAY1", None), quarter(3, start, "NONE", None))
    message = (
        r"it holds NONE \(offset from UTC unknown\): .*; "
        r"WAY1 \(UTC; some records do not tell their offset\): 2024-10-27 12:00 to 2024-10-27 12:00; "
        r"choose among these$"
    )
    with pytest.raises(NothingUsableError, match=message):
        resolve(Selection((window("2020-01-01"),)), inputs.connection, "x")


def test_rows_without_a_time_are_not_of_any_time() -> None:
    timed, untimed = period(1), period(2, interval_start=None, interval_end=None)
    inputs = periods(timed, untimed)
    assert numbers(inputs, Selection((between("2000-01-01", ""),))) == [1]
    assert numbers(inputs, Selection(systems=("SYS1",))) == [1, 2]


@pytest.mark.parametrize(
    "chosen", [Selection(), Selection(windows=(window("2024-10-27"),)), Selection(systems=("BERL",))]
)
def test_intervals_listed_once_serve_several_selections(two_zones: Inputs, chosen: Selection) -> None:
    there = intervals_there(two_zones.connection)
    assert resolve(chosen, two_zones.connection, "pdb", there) == resolve(chosen, two_zones.connection, "pdb")


def test_what_is_selected_in_words(two_zones: Inputs) -> None:
    selection = Selection((between("2024-10-26T08:00", "2024-10-26"),), (shift("08:00-17:00"),), ("b*",), ("on*",))
    found = resolve(selection, two_zones.connection, "x")
    assert found.text == (
        "2024-10-26 08:00 to 2024-10-27 00:00, local time of each system; shift 08:00-17:00, local time of each system;"
        " system BERL; class ONLINE"
    )
    assert found.extent is not None
    (berlin,) = [one for one in found.extent.systems if one.system == "BERL"]
    assert berlin.taken_first == datetime(2024, 10, 26, 8) and berlin.taken_last == datetime(2024, 10, 26, 16, 45)


@pytest.mark.parametrize(
    "text", ["", "8-17", "mon-fri", "25:00-26:00", "08:60-09:00", "xyz/08:00-09:00", "08:00-08:00", "24:00-06:00"]
)
def test_shifts_that_are_none(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        shift(text)
    assert "\n" not in str(raised.value)


def test_named_shifts(tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    site.write_text('[shifts]\nprime = "mon-fri/08:00-17:00"\nends = "sat,sun/00:00-24:00; fri/17:00-24:00"\n')
    named = read_shifts(site)
    assert shift("Prime", named).spans == shift("mon-fri/08:00-17:00").spans
    assert len(shift("ends", named).spans) == 3
    with pytest.raises(UsageError, match=r"no shift 'prim'; name one of prime"):
        shift("prim", named)
    with pytest.raises(UsageError, match=r"\[shifts\] in the site file"):
        shift("prime")


@pytest.mark.parametrize("content", ["shifts = 1", "[shifts]\nx = 1", '[shifts]\nx = "9 to 5"', "[shifts", "\xff"])
def test_a_site_file_that_is_wrong(tmp_path: Path, content: str) -> None:
    site = tmp_path / "site.toml"
    site.write_bytes(content.encode("latin-1"))
    with pytest.raises(UsageError, match=r"site\.toml"):
        read_shifts(site)


def test_a_site_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="cannot be read"):
        read_shifts(tmp_path / "none.toml")


@pytest.mark.parametrize("text", ["yesterday", "2024-13-01", "2024-10-26T25:00", "9999-12-31T99"])
def test_times_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match=r"write a date"):
        between(text, "")


def test_the_last_day_there_is() -> None:
    assert between("", "9999-12-31").end is None
