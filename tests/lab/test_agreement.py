"""Both accounts of CPU time per request, from made runs: numbers by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from plexlens.driver.outcome import Outcome
from plexlens.driver.process import Driven
from plexlens.lab import WAYS, Lab, Measured
from plexlens.lab.agreement import agreements
from plexlens.lab.measure import Part, Window
from plexlens.lab.page.report import lab_report
from plexlens.report.forms import Form, render
from tests.cli.command import run

PLAIN = next(way for way in WAYS if way.id == "socket-plain-new")
DRIVEN = Driven(Path("requests.csv"), 100, {Outcome.GOOD: 100}, 10.0, 100, None)


def made(repeat: int, *windows: tuple[float, float, float, float | None]) -> Measured:
    """Windows of rate, busy share, CPU seconds per request by the server's own account, and by its group."""
    parts = tuple(
        Window(rate, 0.004, Part(busy, own, group), Part(busy * 2, own * 2)) for rate, busy, own, group in windows
    )
    return Measured(PLAIN, repeat, DRIVEN, parts)


def lab(*runs: Measured) -> Lab:
    return Lab(runs, (), 12.0, datetime(2026, 3, 2, tzinfo=UTC))


def test_differences_and_variation_by_hand(tmp_path: Path) -> None:
    """At 20 per second: 4 and 5 % busy are 2.0 and 2.5 ms per request; the server itself says 2.0 and 2.4 ms.

    Means 2.25 and 2.2: 2.27 % apart. Largest run 0.1 of 2.4. Variation: 0.35355 of 2.25.
    """
    first = made(1, (20.0, 0.04, 0.002, 0.0021), (40.0, 0.10, 0.0025, 0.0025))
    second = made(2, (20.0, 0.05, 0.0024, 0.0023), (40.0, 0.11, 0.0025, 0.0025))
    compared = agreements(lab(first, second), tmp_path)
    assert [(entry.part, entry.rates) for entry in compared] == [
        ("server", (20.0, 20.0)), ("driver", (20.0, 20.0)), ("server", (40.0, 40.0)), ("driver", (40.0, 40.0)),
    ]  # fmt: skip
    server = compared[0]
    assert server.by_ways_in == pytest.approx((0.002, 0.0025))
    assert server.difference == pytest.approx(2.25 / 2.2 - 1)
    assert server.largest == pytest.approx(0.1 / 2.4)
    assert server.variation == pytest.approx(0.35355339 / 2.25)
    assert server.of_group == pytest.approx(0.0)
    assert server.agrees
    # 10 and 11 % of 40 per second: 2.5 and 2.75 ms, against 2.5 twice.
    assert compared[2].difference == pytest.approx(0.05)
    assert not compared[2].agrees
    text = render(lab_report(lab(first, second), compared), Form.TEXT)
    assert isinstance(text, str)
    assert "2 of 4 comparisons agree within 3%" in text
    assert "socket-plain-new, server, 40.0 per second: +5.00%" in text


def test_one_run_has_no_variation(tmp_path: Path) -> None:
    (server, *_) = agreements(lab(made(1, (20.0, 0.04, 0.002, None), (40.0, 0.1, 0.0025, None))), tmp_path)
    assert (server.variation, server.of_group) == (None, None)


def test_the_study_is_read_by_study_and_ways_in(tmp_path: Path) -> None:
    """Half way between 20 and 40 per second: server 7 %, driver 14 % busy, 7 ms in all; the study finds no error."""
    agreements(lab(made(1, (20.0, 0.04, 0.002, None), (40.0, 0.1, 0.0025, None))), tmp_path)
    folder = str(tmp_path / "repeat-1")
    done = run("ways-in", "--study", folder, "--rate", "30", "--payload", "1024", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (way,) = json.loads(done.stdout)["ways"]
    assert way["id"] == "socket-plain-new"
    assert way["cpu_ms"] == pytest.approx(7.0)
    assert way["parts_ms"]["server CPU%"] == pytest.approx(70 / 30)
    # A server without a CICS region has no QR TCB.
    assert [limit["name"] for limit in way["limits"]] == ["general-purpose processors"]
    studied = run("study", folder, "--json", cwd=tmp_path)
    assert studied.returncode == 0, studied.stderr
    assert '"disagree":[]' in studied.stdout.replace(" ", "")


def test_ways_are_named_and_planned_each_differently() -> None:
    assert len({way.id for way in WAYS}) == len(WAYS) == 21
    assert len({way.plan(1, 10, Path("server.crt") if way.security != "none" else None, 1) for way in WAYS}) == 21


def test_wrong_use(tmp_path: Path) -> None:
    done = run("lab", "--way", "carrier-pigeon", cwd=tmp_path)
    assert done.returncode == 2
    assert "socket-plain-new" in done.stderr
    done = run("ways-in", "--study", str(tmp_path), "--rate", "30", cwd=tmp_path)
    assert done.returncode in (2, 3)
    assert str(tmp_path) in done.stderr
