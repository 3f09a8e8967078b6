"""Ways into CICS: costs by hand from the printed tables, limits by hand, and nothing extrapolated in silence."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.compare import Audit
from plexlens.compare.analysis.ways_in import Advice, Way, Wish, advise, payload_bytes
from plexlens.errors import UsageError
from tests.cli.command import run
from tests.compare.audited import audited
from tests.draws import draws

W = 32_768


@pytest.fixture(scope="module")
def study() -> Audit:
    return audited("cics-2012")


def way(advice: Advice, name: str) -> Way:
    return next(one for one in advice.ways if one.id == name)


def test_a_measured_rate_gives_the_printed_numbers(study: Audit) -> None:
    """Table 16, last row: 37.11 + 11.73 + 37.37 of general-purpose processors, 40.23 of a zAAP, 3564.75 a second."""
    one = way(advise(Wish(W, 3564.75), study), "ctg-exci")
    assert one.general_ms == pytest.approx(862.1 / 3564.75)
    assert one.specialty_ms == pytest.approx(402.3 / 3564.75)
    assert one.general_engines == pytest.approx(0.8621)
    assert one.specialty_engines == pytest.approx(0.4023)
    assert one.response_ms == 1


def test_between_two_rates_the_processor_time_is_interpolated(study: Audit) -> None:
    """Table 8: half-way from 1232.03 to 2462.41, half-way from 25.88 + 4.06 to 52.63 + 7.29 percent."""
    rate = (1232.03 + 2462.41) / 2
    one = way(advise(Wish(W, rate), study), "http-pooled")
    assert one.total_ms == pytest.approx((29.94 + 59.92) / 2 * 10 / rate)


def test_limits_by_hand(study: Audit) -> None:
    handshake = {one.name: one.rate for one in way(advise(Wish(W, 500, "per-request"), study), "https-full").limits}
    # 65,000 ports of which each stays for 60 seconds; 0.710 ms of the coprocessor for each handshake.
    assert handshake["ephemeral ports of the client"] == pytest.approx(65_000 / 60)
    assert handshake["cryptographic coprocessor"] == pytest.approx(1000 / 0.710)
    # 97.99 % of a processor at 787.34 a second.
    assert handshake["QR TCB, at worst"] == pytest.approx(787.34 / 0.9799)
    ssl = {one.name: one.rate for one in way(advise(Wish(W, 2000, "persistent", "ssl"), study), "https-pooled").limits}
    assert ssl["QR TCB"] == pytest.approx(3499.03 * (41.164024 + 21.818431) / 41.164024)
    single = way(advise(Wish(W, 900), study), "sockets-iterative")
    assert (single.binding.name, single.binding.rate) == ("single-threaded server", 957.62)
    terminal = way(advise(Wish(1920, 5000), study), "3270")
    assert (terminal.binding.name, terminal.binding.rate) == ("QR TCB", 10160.81)


def test_ranking_and_filters(study: Audit) -> None:
    advice = advise(Wish(W, 2000, "persistent", "none"), study)
    assert [one.total_ms for one in advice.ways] == sorted(one.total_ms for one in advice.ways)
    assert all((one.connection, one.security) == ("persistent", "none") for one in advice.ways)
    by_general = advise(Wish(W, 2000, "persistent", "none", rank="general"), study)
    assert [one.general_ms for one in by_general.ways] == sorted(one.general_ms for one in by_general.ways)
    # The gateway's Java work is not on general-purpose processors: it gains places by that rank.
    place = [one.id for one in advice.ways].index("ctg-ipic")
    assert [one.id for one in by_general.ways].index("ctg-ipic") < place


def test_every_way_is_ranked_or_left_out_with_a_reason(study: Audit) -> None:
    advice = advise(Wish(W, 700, "per-request"), study)
    assert len(advice.ways) + len(advice.left_out) == 21
    assert all(one.reason for one in advice.left_out)
    assert any("at most 1,920 bytes" in one.reason for one in advice.left_out)


def test_nothing_is_extrapolated_unless_asked_for(study: Audit) -> None:
    plain = advise(Wish(W, 3500), study)
    assert not [one for one in plain.ways if one.beyond]
    assert any("measured from" in one.reason for one in plain.left_out)
    with pytest.raises(UsageError, match="no way into CICS was measured"):
        advise(Wish(8192, 2000), study)
    asked = advise(Wish(8192, 2000, extrapolate=True), study)
    assert all(one.beyond for one in asked.ways)
    assert all("upper bound" in one.beyond[0] for one in asked.ways)


def test_measured_ways_stand_before_extrapolated_ones(study: Audit) -> None:
    marks = [bool(one.beyond) for one in advise(Wish(W, 3500, extrapolate=True), study).ways]
    assert marks == sorted(marks) and True in marks and False in marks


def test_a_hard_limit_is_not_extrapolated(study: Audit) -> None:
    advice = advise(Wish(2 * W, 1000, extrapolate=True), study)
    assert {"3270", "mq-3270-bridge", "ctg-exci"} <= {one.id for one in advice.left_out}


def test_how_many_of_what_binds(study: Audit) -> None:
    one = way(advise(Wish(W, 5000, "per-request", "none", extrapolate=True), study), "sockets-iterative")
    assert one.needed(5000) == math.ceil(5000 / 957.62)
    assert one.response_ms is None


@settings(max_examples=draws(30), deadline=None)
@given(st.floats(330, 4000))
def test_cost_lies_within_what_was_measured(study: Audit, rate: float) -> None:
    """Interpolated processor time over rate cannot leave the range of the measured costs beside it."""
    for one in advise(Wish(W, rate, extrapolate=True), study).ways:
        if one.beyond:
            continue
        table = study.study.tables[one.table]
        column = next(head for head in table.columns if head.upper().startswith("TOTAL MS"))
        costs = [cell.computed for part in study.tables for cell in part.cells
                 if part.table.id == one.table and cell.column == column and cell.computed is not None]  # fmt: skip
        assert min(float(cost.low) for cost in costs) <= one.total_ms <= max(float(cost.high) for cost in costs)


@pytest.mark.parametrize(
    ("text", "expected"), [("1920", 1920), ("32KB", W), ("32 KiB", W), ("0.5k", 512), ("10 bytes", 10)]
)
def test_payloads(text: str, expected: int) -> None:
    assert payload_bytes(text) == expected


@pytest.mark.parametrize("text", ["", "many", "32MB", "-1", "1e3"])
def test_payloads_refused(text: str) -> None:
    with pytest.raises(UsageError, match="payload"):
        payload_bytes(text)


@pytest.mark.parametrize(
    "wish",
    [
        {"payload": W, "rate": 0}, {"payload": W, "rate": math.nan}, {"payload": 0, "rate": 1},
        {"payload": W, "rate": 1, "connection": "both"}, {"payload": W, "rate": 1, "security": "tls"},
        {"payload": W, "rate": 1, "engines": 0}, {"payload": W, "rate": 1, "rank": "price"},
    ],
)  # fmt: skip
def test_wishes_refused(wish: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Wish(**wish)  # type: ignore[arg-type]


def test_command(tmp_path: Path) -> None:
    done = run("ways-in", "--rate", "2000", "--connection", "persistent", "--json", cwd=tmp_path)
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert answer["ways"][0]["id"] == "dpl-ipic"
    text = run("ways-in", "--rate", "2000", "--payload", "8KB", "--extrapolate", cwd=tmp_path).stdout
    assert "NOT measured" in text and "EXTRAPOLATED" in text
    refused = run("ways-in", "--rate", "2000", "--payload", "8KB", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--extrapolate" in refused.stderr
    page = run("ways-in", "--rate", "2000", "-o", "ways.html", cwd=tmp_path)
    assert page.returncode == 0 and (tmp_path / "ways.html").read_text().startswith("<!DOCTYPE html>")
