"""The pages of cost and forecast: their numbers are those by hand, their address holds everything, errors say what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from plexlens.cost.prices import read_prices
from plexlens.pdb import Pdb, ingest
from plexlens.serve.app import application
from plexlens.serve.guard import Door
from plexlens.serve.workspace import Workspace
from tests.cli.command import run
from tests.cost.day import write_day
from tests.cost.test_day_by_hand import PRICES
from tests.forecast.test_command import PEAKS
from tests.serve.client import ask
from tests.serve.test_attack import POISONS, is_harmless


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> ASGIApp:
    """The day of `tests.cost.day`, with prices."""
    folder = tmp_path_factory.mktemp("cost")
    write_day(folder / "day.smf")
    (folder / "prices.toml").write_text(PRICES)
    list(ingest([folder / "day.smf"], Pdb.create(folder / "pdb")))
    prices = read_prices(folder / "prices.toml")
    return application(Workspace(folder / "pdb", "512MiB"), Door(port=8711), folder / "cache", prices)


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> ASGIApp:
    """Six weeks whose peak is one hour of each day; see `tests.forecast.test_command`."""
    folder = tmp_path_factory.mktemp("weeks")
    intervals = [
        (120 + number * 1440 + hour * 60, 60, PEAKS[(number + 1) % 7] if hour == 10 else 10.0, 10.0)
        for number in range(42)
        for hour in range(24)
    ]
    write_day(folder / "weeks.smf", intervals, ipl=False)
    list(ingest([folder / "weeks.smf"], Pdb.create(folder / "pdb")))
    return application(Workspace(folder / "pdb", "512MiB"), Door(port=8711), folder / "cache")


def test_the_page_of_cost_has_the_numbers_by_hand(day: ASGIApp) -> None:
    # Peak 126.5 MSU (02:00 of winter time, SYB at its limit of 60): `tests.cost.test_day_by_hand`.
    answer = ask(day, "/cost")
    assert answer.status == 200
    assert "126.5" in answer.words
    assert "Price per month, EUR" in answer.words
    assert answer.page.xpath("//nav//a[@aria-current='page']/@href") == ["/cost"]


def test_a_what_if_stands_in_the_address(day: ASGIApp) -> None:
    # With a limit of SYB above all averages: 66.5 + 96 = 162.5.
    answer = ask(day, "/cost?defined=SYB%3D500&weight=&saves=")
    assert "Defined capacity of SYB: 500 MSU" in answer.words
    assert "162.5" in answer.words
    chips = answer.page.xpath("//ul[@class='chips']//a")
    assert [(" ".join(chip.text_content().split()[:-1]), chip.get("href")) for chip in chips] == [
        ("Defined capacity SYB=500", "/cost")
    ]
    hidden = answer.page.xpath("//form[@class='number']//input[@type='hidden']")
    assert [(field.get("name"), field.get("value")) for field in hidden] == [("defined", "SYB=500")]


def test_the_tables_of_cost_as_files(day: ASGIApp) -> None:
    values = json.loads(ask(day, "/cost/tables.json?defined=SYB%3D500").body)
    assert values["what_ifs"][0]["charged"]["M1"] == pytest.approx(162.5)
    # z/OS: 100 + 50 x 10 + 50 x 4 + 62.5 x 1 = 862.5; DB runs in SYA alone, whose peak is 72: 144.
    assert values["what_ifs"][0]["amount"] == pytest.approx(862.5 + 144)
    assert ask(day, "/cost/tables.zip").body[:2] == b"PK"
    assert ask(day, "/cost/tables.txt").status == 404


def test_a_part_of_the_day(day: ASGIApp) -> None:
    # Of the first hour alone: 6.5 / 48 of 48 and 96 MSU.
    answer = ask(day, "/cost/tables.json?from=2026-10-24T22:00&to=2026-10-24T23:00")
    assert json.loads(answer.body)["machines"][0]["peak"]["msu"] == pytest.approx(6.5 / 48 * (48 + 96))
    shown = ask(day, "/cost?from=2026-10-24T22:00&to=2026-10-24T23:00&saves=")
    assert "/forecast?from=2026-10-24T22%3A00&to=2026-10-24T23%3A00" in shown.page.xpath("//nav//a/@href")


def test_the_page_of_the_forecast_has_the_values_by_hand(weeks: ASGIApp) -> None:
    answer = ask(weeks, "/forecast?days=14&what=cpu")
    assert answer.status == 200
    assert "weekday and trend did no better than last week's value, which is used" in answer.words
    assert answer.page.xpath("//form[@class='number']//input[@name='days']/@value") == ["14"]
    values = json.loads(ask(weeks, "/forecast/tables.json?days=14&what=cpu").body)
    (sya,) = [series for series in values["series"] if series["name"] == "SYA"]
    expected = [PEAKS[(len(sya["values"]) + 1 + number) % 7] / 100 for number in range(14)]
    assert sya["forecast"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("address", "status", "said"),
    [
        ("/cost?defined=SYB", 400, "Parameter defined: 'SYB' is not of the form PARTITION=MSU."),
        ("/cost?defined=SYB%3D-1", 400, "Parameter defined: 'SYB=-1' is out of range."),
        ("/cost?defined=SYX%3D5", 400, "Parameter defined: SYX: the data has no such partition"),
        ("/cost?move=X%3D5", 400, "Parameter move: 'X=5' is not of the form NAME=HH-HH:HH."),
        ("/cost?move=X%3D08-08:20", 400, "Parameter move: 'X=08-08:20' does not move work"),
        ("/cost?saves=X%3D5", 400, "Parameter saves: X: the data has no such class, job, transaction or plan."),
        ("/cost?define=SYB%3D5", 400, "did you mean defined?"),
        ("/cost?" + "&".join(f"defined=SYB%3D{msu}" for msu in range(13)), 400, "ask for at most 12"),
        ("/cost?from=2030-01-01", 404, "Nothing matches"),
        ("/forecast?days=0", 400, "Parameter days: '0' is not a number from 1 to 366."),
        ("/forecast?days=7&days=8", 400, "it is given twice"),
        ("/forecast?what=tape", 400, "Parameter what: there is no kind of series 'tape'"),
        ("/forecast", 404, "a forecast needs a week"),
        ("/forecast/tables.exe", 404, "ask for one of csv"),
    ],
)
def test_what_is_wrong_is_said(day: ASGIApp, address: str, status: int, said: str) -> None:
    answer = ask(day, address)
    assert (answer.status, said.lower() in answer.words.lower()) == (status, True), answer.words


def test_data_without_partitions_says_what_to_add(tmp_path: Path) -> None:
    from tests.records import dump, record

    (tmp_path / "a.smf").write_bytes(dump(record(200, "SYS1", b"one")))
    list(ingest([tmp_path / "a.smf"], Pdb.create(tmp_path / "pdb")))
    app = application(Workspace(tmp_path / "pdb", "512MiB"), Door(port=8711), tmp_path / "cache")
    answer = ask(app, "/cost")
    assert answer.status == 404
    assert "Add SMF 70-1 or an RMF CPU activity report" in answer.words


@pytest.mark.parametrize("poison", POISONS)
def test_nothing_gets_in_by_a_parameter(day: ASGIApp, poison: str) -> None:
    from urllib.parse import quote

    text = quote(poison.encode("utf-8", "surrogatepass"))
    for name in ("defined", "group", "weight", "move", "ziip", "saves", "days", "what"):
        path = "/forecast" if name in ("days", "what") else "/cost"
        for value in (text, f"{text}%3D5"):
            answer = ask(day, f"{path}?{name}={value}")
            assert answer.status in (400, 404), (name, poison)
            assert is_harmless(answer)


def test_the_server_takes_prices_and_says_what_is_wrong_with_them(tmp_path: Path) -> None:
    write_day(tmp_path / "day.smf")
    assert run("ingest", "day.smf", "--pdb", "pdb", cwd=tmp_path).returncode == 0
    (tmp_path / "prices.toml").write_text('currency = "EUR"\nprise = 1\n')
    done = run("serve", "pdb", "--port", "0", "--prices", "prices.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "prices.toml" in done.stderr
    assert "prise" in done.stderr
    assert run("serve", "pdb", "--port", "0", "--prices", "none.toml", cwd=tmp_path).returncode == 3
