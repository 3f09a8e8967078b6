"""The tables for other programs, on the day of `tests.cost.day`, by hand."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import pytest

from tests.cli.command import run
from tests.cost.day import write_day


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[str]]]:
    folder = tmp_path_factory.mktemp("export")
    write_day(folder / "day.smf")
    done = run("cost", "day.smf", "-o", "cost.zip", cwd=folder)
    assert done.returncode == 0, done.stderr
    results = {}
    with zipfile.ZipFile(folder / "cost.zip") as archive:
        for name in archive.namelist():
            if Path(name).stem in ("cost_n5", "cost_n7", "cost_sums", "cost_zpcr"):
                text = archive.read(name).decode("utf-8-sig")
                lines = [line for line in text.splitlines() if line and not line.startswith("#")]
                results[Path(name).stem] = list(csv.reader(io.StringIO("\n".join(lines))))
    return results


def _row(rows: list[list[str]], name: str) -> list[str]:
    return next(row for row in rows if name in row)


def test_the_peaks_of_partitions(files: dict[str, list[list[str]]]) -> None:
    """The averages of SYB by hour: 6.5 / 48 of 96 and so on up to 96 in the hours of 02:00, then 36.9, 31.3, 61.3."""
    row = _row(files["cost_n5"], "SYB")
    # Twice 96 (both hours of 02:00): the first at 00:00 UTC. Second highest: (5.5 of the hour before are missing) the
    # fourth hour, 42.5 / 48 x 96 = 85.
    assert [float(row[2]), float(row[3]), float(row[5]), float(row[6])] == [96, 2, 85, 1]
    assert "2026-10-25" in row[4]
    # SYA: 72 at 05:00; 66.5 twice, which is 67 in whole MSU.
    row = _row(files["cost_n5"], "SYA")
    assert [float(row[2]), float(row[3]), float(row[5]), float(row[6])] == [72, 1, 67, 2]
    # The machine: 66.5 + 96 = 162.5, then 54.5 + 96 = 150.5.
    row = _row(files["cost_n5"], "CPC")
    assert [float(row[2]), float(row[5])] == [163, 151]


def test_what_was_consumed(files: dict[str, list[list[str]]]) -> None:
    # `tests.cost.test_day_by_hand`: 624 and 876 MSU-hours; SYB has 120 MSU from 05:00 on, SYA 96 from 02:00 on.
    consumed = {row[1]: (float(row[2]), float(row[3])) for row in files["cost_n7"] if row[1] in ("SYA", "SYB", "CPC")}
    assert consumed == {
        "SYA": pytest.approx((624, 96)), "SYB": pytest.approx((876, 120)), "CPC": pytest.approx((1500, 216)),
    }  # fmt: skip


def test_what_a_user_of_zpcr_types_in(files: dict[str, list[list[str]]]) -> None:
    row = _row(files["cost_zpcr"], "SYA")
    # Machine, model, partition, processor; four general processors in the machine, two logical ones of weight 100 each.
    assert [row[0], *row[2:4]] == ["M1", "SYA", "CP"]
    assert [float(cell) for cell in row[4:7]] == [4, 2, 200]
    # 4 x 48 + 2 x 96 + 2 x 96 + 48 = 624 MSU-hours of 2 x 100 MSU x 9 hours.
    assert float(row[8]) in (pytest.approx(624 / 1800, abs=1e-3), pytest.approx(34.7, abs=0.1))


def test_every_hour_of_the_machine_and_of_z_os(files: dict[str, list[list[str]]]) -> None:
    """The hour of 02:00 in winter time: 66.5 + 96 on the average, 66.5 + 60 count; an hour without records has none."""
    for kind, name in (("machine", "M1"), ("product", "z/OS")):
        rows = [row for row in files["cost_sums"] if row[:2] == [kind, name]]
        assert len(rows) == 10
        assert [float(cell) for cell in rows[5][-2:]] == pytest.approx([162.5, 126.5])
        assert rows[6][-2:] == ["", ""]
