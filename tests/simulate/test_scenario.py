"""Scenarios that cannot be: the message names file, line, key and what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.errors import UnreadableInputError
from plexlens.simulate import ScenarioFileError, parse_scenario, read_scenario, run_scenario, write_smf
from plexlens.simulate.devices import serial_of
from plexlens.simulate.dump import check_names
from tests.simulate.conftest import TWO_MEMBERS

TEXT = TWO_MEMBERS.read_text(encoding="utf-8")


def _line(text: str, wanted: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if wanted in line)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rate = 100.0", "rate = -1.0", "class[0].rate: -1 is not possible; give 0 or more"),
        (
            'page_set = "DB.IX"\ngetpages',
            'page_set = "DB.IY"\ngetpages',
            "class[0].references[0].page_set: there is no page set DB.IY; name one of DB.TS, DB.IX",
        ),
        (
            'page_set = "DB.TS", getpages = 200.0',
            'page_set = "DB.TZ", getpages = 200.0',
            "class[2].references[0].page_set: there is no page set DB.TZ; name one of DB.TS, DB.IX",
        ),
        (
            'name = "DB.IX", pool = 1',
            'name = "DB.IX", pool = 9',
            "db2[0].page_set[1].pool: there is no pool 9 in group DSNG; give one of 1",
        ),
        ("pages = 500", "pages = 0", "db2[0].page_set[1].pages: 0 is not possible; give more than 0"),
        (
            "entries = 4096",
            "entries = 4294967296",
            "db2[0].lock.entries: 4294967296 is not possible; give 1 to 2147483648",
        ),
        ("seed = 5", "sample = 1e-300", "run.sample: 1e-300 is not possible; give 0.001 or more"),
        ("lock_avoidance = 0.5", "lock_avoidance = 1.5", "db2[0].lock_avoidance: 1.5 is no share"),
        ("db2_cpu = 0.01", "db2_cpu = nan", "class[2].db2_cpu: nan is not possible; give a finite number"),
        ("db2_cpu = 0.01", "db2_cpu = 2026-01-01", "class[2].db2_cpu: 2026-01-01 is a date or time"),
    ],
)
def test_wrong_values(old: str, new: str, message: str) -> None:
    assert TEXT.count(old) == 1
    text = TEXT.replace(old, new)
    with pytest.raises(ScenarioFileError) as caught:
        run_scenario(parse_scenario(text, file="s.toml"))
    line = _line(text, new.splitlines()[0])
    assert str(caught.value).startswith(f"s.toml: line {line}: {message}")
    assert caught.value.exit_code == 2


def test_more_volumes_than_device_numbers() -> None:
    """Device numbers are four hexadecimal digits, from X'1000': 61,440 volumes."""
    with pytest.raises(ScenarioFileError) as caught:
        run_scenario(parse_scenario(f"dasd = {{volumes = 61441}}\n{TEXT}", file="s.toml"))
    assert str(caught.value) == "s.toml: line 1: dasd.volumes: 61441 is not possible; give 0 to 61440"


def test_serials_of_thousands_of_volumes() -> None:
    serials = {serial_of(volume) for volume in range(61_440)}
    assert len(serials) == 61_440
    assert {len(serial) for serial in serials} == {6}


def test_an_unknown_key() -> None:
    text = TEXT.replace("goal = 0.05", "gaol = 0.05")
    with pytest.raises(ScenarioFileError) as caught:
        run_scenario(parse_scenario(text, file="s.toml"))
    assert f"line {_line(text, 'gaol')}: class[0].gaol: unknown field `gaol`, expected one of" in str(caught.value)
    assert "`goal`" in str(caught.value)


def test_a_key_of_the_wrong_kind() -> None:
    text = TEXT.replace("goal = 0.05", 'goal = "fast"')
    with pytest.raises(ScenarioFileError) as caught:
        run_scenario(parse_scenario(text, file="s.toml"))
    expected = f'line {_line(text, "goal")}: class[0].goal: invalid type: string "fast", expected a number'
    assert expected in str(caught.value)


def test_a_missing_key_is_said_where_it_belongs() -> None:
    text = TEXT.replace("users = 3\n", "users = 3\n").replace('regions = ["AOR1"]\n', "")
    with pytest.raises(ScenarioFileError) as caught:
        run_scenario(parse_scenario(text, file="s.toml"))
    assert "missing field `regions`" in str(caught.value)
    assert caught.value.line == _line(text, '"SCAN"') - 1


def test_no_toml_at_all(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match=r"this is not valid TOML: .*see docs"):
        parse_scenario("[[cec", file="s.toml")
    (tmp_path / "s.toml").write_bytes(b"a = '\xff'")
    with pytest.raises(UnreadableInputError, match="byte 5: this is not UTF-8 text"):
        read_scenario(tmp_path / "s.toml")
    with pytest.raises(UnreadableInputError, match="cannot be read"):
        read_scenario(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('"SYS1"', '"SYSTEM1"', "system[0].name"),
        ('"UPDA"', '"update"', "class[0].name"),
        ('"UPDA"', '"CICSRGN"', "class[0].name"),
        ('"DB1"', '"DB123"', "db2[0].member[0].name"),
        ('"DSNG"', '"DSNGROUP1"', "db2[0].group"),
        ("interval = 20.0", "interval = 6000.0", "run.interval"),
    ],
)
def test_names_that_records_cannot_hold(old: str, new: str, key: str) -> None:
    """They can be simulated but not written."""
    text = TEXT.replace(old, new)
    with pytest.raises(ScenarioFileError, match=key.replace("[", r"\[")) as caught:
        check_names(parse_scenario(text, file="s.toml"))
    assert caught.value.line is not None
    assert new.strip('"') in text.splitlines()[caught.value.line - 1] or "interval" in key


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    run = run_scenario(read_scenario(TWO_MEMBERS).with_run(seconds=1.0))
    with pytest.raises(Exception, match="cannot be written"):
        write_smf(run, tmp_path / "none" / "two.smf")
