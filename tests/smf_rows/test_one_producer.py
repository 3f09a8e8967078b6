"""One room makes rows of SMF records: nobody else that writes records names a field of one."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

import pytest

from plexlens import _core
from plexlens.simulate.scenario import beginning
from plexlens.smf_rows.dump import open_dump
from plexlens.smf_rows.record import Record, given

ROOT = Path(__file__).parents[2]
WRITERS = ("example", "simulate", "pools")

#: Sections whose fields are plain words: CICS monitoring has names of the dictionary (``start``, ``tran``).
PLAIN = ("smf110_1_performance", "smf110_clock_12")


def fields_of_layouts() -> set[str]:
    found: set[str] = set()
    for path in sorted((ROOT / "layouts").glob("*.csv")):
        if path.stem not in PLAIN:
            with path.open(encoding="utf-8", newline="") as file:
                found |= {row["field"].lower() for row in csv.DictReader(file)}
    return found


def literals(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@pytest.mark.parametrize("writer", WRITERS)
def test_only_the_producer_names_fields_of_records(writer: str) -> None:
    fields = fields_of_layouts()
    assert len(fields) > 3000
    named = {
        f"{path.name}: {text}"
        for path in sorted((ROOT / "src" / "plexlens" / writer).glob("*.py"))
        for text in literals(path) & fields
    }
    assert named == set()


def test_a_field_that_no_layout_has_is_refused(tmp_path: Path) -> None:
    record = Record("smf74_1", "SYS1", beginning({}), {"smf74_1_device": [{"smf74zzz": 1}]})
    with (
        pytest.raises(KeyError, match="smf74_1_device has no field smf74zzz"),
        open_dump(tmp_path / "d.smf", "SYS1", beginning({}).replace(tzinfo=None)) as dump,
    ):
        dump.write(record)
    assert not (tmp_path / "d.smf").exists()


def test_a_number_beyond_its_field_is_named(tmp_path: Path) -> None:
    """SMF74NUM is a device number, two bytes: 65,535 at most."""
    record = Record("smf74_1", "SYS1", beginning({}), {"smf74_1_device": [{"smf74num": 1}, {"smf74num": 65_536}]})
    with (
        pytest.raises(_core.SmfError, match="smf74_1_device, column smf74num, row 1: 65536 does not fit in uint16"),
        open_dump(tmp_path / "d.smf", "SYS1", beginning({}).replace(tzinfo=None)) as dump,
    ):
        dump.write(record)
    assert not (tmp_path / "d.smf").exists()


def test_what_is_not_given_is_not_in_the_row() -> None:
    assert given(a=0, b=None, c="") == {"a": 0, "c": ""}
